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
