//! `--status`: asks a daemon that runs.
use super::server::STATUS_SOCKET;
use core::time::Duration;
use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

/// How long to wait for a daemon that is busy.
const LIMIT: Duration = Duration::from_secs(10);
/// Where the service unit has its run directory.
const UNIT: &str = "/run/acm-mio";

/// Prints what the daemon of this run directory has and has counted; whether there is one.
pub(crate) fn run(run_dir: &Path) -> bool {
    let mut places = vec![run_dir.join(STATUS_SOCKET)];
    if run_dir == Path::new("/run") {
        places.insert(0, Path::new(UNIT).join(STATUS_SOCKET));
    }
    match ask(&places) {
        Ok(text) => io::stdout().write_all(text.as_bytes()).is_ok(),
        Err(problem) => {
            let _ = writeln!(io::stderr(), "acm-mio: {problem}");
            false
        }
    }
}

fn ask(places: &[PathBuf]) -> Result<String, String> {
    let mut problems = Vec::new();
    for place in places {
        match get(place) {
            Ok(text) => return Ok(text),
            Err(error) => problems.push(format!("{}: {error}", place.display())),
        }
    }
    let problems = problems.join("; ");
    Err(format!("no daemon answers: {problems}; is it running, are you root or of its group, is --run-dir right?"))
}

fn get(place: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(place)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    stream.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    match text.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200 ") => Ok(body.to_owned()),
        _ => Err(io::Error::other("it does not answer as acm-mio does")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::unix::net::UnixListener, thread};

    /// A daemon at this place that says this once.
    fn says(place: &Path, answer: &'static str) -> thread::JoinHandle<String> {
        let listener = UnixListener::bind(place).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 24];
            stream.read_exact(&mut asked).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(asked.to_vec()).unwrap()
        })
    }

    #[test]
    fn the_first_that_answers_is_heard() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["none", "other", "ours"].map(|name| folder.path().join(name));
        let other = says(&places[1], "HTTP/1.1 404 Not Found\r\n\r\nno");
        let ours = says(&places[2], "HTTP/1.1 200 OK\r\nx: y\r\n\r\nall is well\n");
        assert_eq!(ask(&places).unwrap(), "all is well\n");
        for asked in [other, ours] {
            assert_eq!(asked.join().unwrap(), "GET /status HTTP/1.0\r\n\r\n");
        }
        let problem = ask(&places[..1]).unwrap_err();
        assert!(problem.starts_with(&format!("no daemon answers: {}: ", places[0].display())), "{problem}");
    }

    #[test]
    fn whether_one_answers_in_its_run_directory() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!run(folder.path()));
        let answering = says(&folder.path().join(STATUS_SOCKET), "HTTP/1.1 200 OK\r\n\r\n");
        assert!(run(folder.path()));
        answering.join().unwrap();
    }
}
