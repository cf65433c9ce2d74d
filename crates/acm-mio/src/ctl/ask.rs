//! Sends requests to a running daemon.
use crate::{metrics::STATUS_SOCKET, output::Failure};
use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    thread,
};

/// Maximum time to wait for the daemon's response.
const LIMIT: Duration = Duration::from_secs(10);
/// Time before another attempt, if the daemon has no room for a further client.
const PAUSE: Duration = Duration::from_millis(50);
/// Number of attempts, in [`LIMIT`].
const ATTEMPTS: u32 = 200;
/// Text with which acm-mio refuses a request that it does not have.
const UNKNOWN_REQUEST: &str = "GET /metrics";
/// Run directory of the service unit.
const UNIT: &str = "/run/acm-mio";

/// Sends a request with a method and a target to the daemon, and returns the response.
pub(super) type Ask<'a> = &'a dyn Fn(&str, &str) -> Result<String, Failure>;

/// Parses a response.
///
/// # Errors
/// It has another form than those of this version.
pub(super) fn json_of<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Failed(format!("the daemon is of another version: {error}")))
}

/// Parses a response with one value in each line.
///
/// # Errors
/// As [`json_of`].
pub(super) fn lines_of<T: serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, Failure> {
    text.lines().map(json_of).collect()
}

/// Returns the sockets to try. The service unit has a run directory of its own, which is tried before the default one.
fn sockets(run_dir: &Path) -> Vec<PathBuf> {
    let unit = (run_dir == Path::new("/run")).then(|| Path::new(UNIT));
    unit.into_iter().chain([run_dir]).map(|folder| folder.join(STATUS_SOCKET)).collect()
}

/// Returns the run directory of the daemon that [`ask`] reaches, as far as a socket shows it.
pub(super) fn folder(run_dir: &Path) -> PathBuf {
    let found = sockets(run_dir).into_iter().find(|socket| socket.exists());
    found.and_then(|socket| socket.parent().map(Path::to_path_buf)).unwrap_or_else(|| run_dir.to_path_buf())
}

/// Sends a request to the daemon in this run directory and returns the response. With the default directory, the daemon
/// of the service unit comes first.
///
/// # Errors
/// Why no daemon responded, or the reason for which it refused the request.
pub(super) fn ask(run_dir: &Path, method: &str, target: &str) -> Result<String, Failure> {
    first_response(&sockets(run_dir), method, target)
}

fn first_response(sockets: &[PathBuf], method: &str, target: &str) -> Result<String, Failure> {
    let mut problems = Vec::new();
    for socket in sockets {
        match response(socket, method, target) {
            Ok(Ok(text)) => return Ok(text),
            Ok(Err(reason)) => return Err(Failure::Failed(reason)),
            // It runs, and the hints below do not help.
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                return Err(Failure::NoDaemon(format!("{}: {error}", socket.display())));
            }
            Err(error) => problems.push((socket.display().to_string(), error)),
        }
    }
    Err(Failure::NoDaemon(format!("no daemon answers: {}", causes(&problems))))
}

/// Returns why no daemon answered at these sockets. If one exists, those that do not exist are left out.
fn causes(problems: &[(String, io::Error)]) -> String {
    let (missing, others): (Vec<_>, Vec<_>) =
        problems.iter().partition(|(_, error)| error.kind() == ErrorKind::NotFound);
    if others.is_empty() {
        let paths: Vec<&str> = missing.iter().map(|(path, _)| path.as_str()).collect();
        return format!("there is no {}: it does not run, or --run-dir is wrong", paths.join(" and no "));
    }
    let cause = |(path, error): &(String, io::Error)| match error.kind() {
        ErrorKind::ConnectionRefused => format!("nobody listens at {path}: it has ended"),
        ErrorKind::PermissionDenied => format!("only root and members of its group may connect to {path}"),
        _ => format!("{path}: {error}"),
    };
    others.into_iter().map(cause).collect::<Vec<_>>().join("; ")
}

/// Returns the response of a daemon, or the reason for which it refuses the request. Tries again while the daemon closes
/// the connection without a response, because it has no room for a further client.
fn response(socket: &Path, method: &str, target: &str) -> io::Result<Result<String, String>> {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    for _ in 1..ATTEMPTS {
        match attempt(socket, method, target) {
            Err(error) if matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof) => thread::sleep(PAUSE),
            other => return other,
        }
    }
    attempt(socket, method, target)
}

fn attempt(socket: &Path, method: &str, target: &str) -> io::Result<Result<String, String>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    stream.write_all(format!("{method} {target} HTTP/1.0\r\n\r\n").as_bytes()).map_err(no_response)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(no_response)?;
    if text.is_empty() {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closes the connection without a response"));
    }
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    match head.split(' ').nth(1) {
        Some("200") => Ok(Ok(body.to_owned())),
        Some("400" | "403" | "409") => Ok(Err(body.to_owned())),
        // Only acm-mio sends this text.
        Some("404" | "405") if body.starts_with(UNKNOWN_REQUEST) => {
            Ok(Err("the daemon is of a previous version, which does not have this command".to_owned()))
        }
        _ => Err(io::Error::other("it does not answer as acm-mio does")),
    }
}

/// Returns the error for a time-out, which the system reports as a lack of data, or the same error.
fn no_response(error: io::Error) -> io::Error {
    if error.kind() != ErrorKind::WouldBlock {
        return error;
    }
    let seconds = LIMIT.as_secs();
    io::Error::new(ErrorKind::TimedOut, format!("no response within {seconds} s: the daemon hangs, or is busy"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::slice;
    use std::{os::unix::net::UnixListener, thread};

    /// Starts a thread that accepts one connection and sends this response. The thread returns the request.
    fn respond_once(socket: &Path, response: &'static str) -> thread::JoinHandle<String> {
        let listener = UnixListener::bind(socket).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            stream.write_all(response.as_bytes()).unwrap();
            String::from_utf8(request).unwrap()
        })
    }

    #[test]
    fn first_daemon_that_responds_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let sockets = ["none", "other", "ours"].map(|name| folder.path().join(name));
        let other = respond_once(&sockets[1], "HTTP/1.1 404 Not Found\r\n\r\nno");
        let ours = respond_once(&sockets[2], "HTTP/1.1 200 OK\r\nx: y\r\n\r\nall is well\n");
        assert_eq!(first_response(&sockets, "GET", "/status").unwrap(), "all is well\n");
        for request in [other, ours] {
            assert_eq!(request.join().unwrap(), "GET /status HTTP/1.0\r\n\r\n");
        }
        let problem = first_response(&sockets[..1], "GET", "/status").unwrap_err();
        let Failure::NoDaemon(text) = problem else { panic!("{problem}") };
        let path = sockets[0].display();
        assert_eq!(text, format!("no daemon answers: there is no {path}: it does not run, or --run-dir is wrong"));
    }

    #[test]
    fn each_cause_has_its_own_sentence() {
        let of = |kinds: &[ErrorKind]| {
            let errors = kinds.iter().map(|kind| io::Error::from(*kind));
            causes(&["/a", "/b"].map(str::to_owned).into_iter().zip(errors).collect::<Vec<_>>())
        };
        use ErrorKind::{ConnectionRefused, NotFound, Other, PermissionDenied};
        assert_eq!(of(&[NotFound, NotFound]), "there is no /a and no /b: it does not run, or --run-dir is wrong");
        assert_eq!(of(&[NotFound, ConnectionRefused]), "nobody listens at /b: it has ended");
        assert_eq!(of(&[PermissionDenied]), "only root and members of its group may connect to /a");
        assert_eq!(of(&[Other, ConnectionRefused]), "/a: other error; nobody listens at /b: it has ended");
    }

    /// The listener never accepts. The kernel completes the connection.
    #[test]
    fn daemon_that_hangs_is_reported_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("hangs");
        let _listener = UnixListener::bind(&socket).unwrap();
        let problem = first_response(slice::from_ref(&socket), "GET", "/status").unwrap_err();
        let text = format!("{}: no response within 10 s: the daemon hangs, or is busy", socket.display());
        assert_eq!(problem, Failure::NoDaemon(text));
    }

    /// The daemon closes a connection before or after it has read the request.
    #[test]
    fn client_that_is_turned_away_tries_again() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("busy");
        let listener = UnixListener::bind(&socket).unwrap();
        let daemon = thread::spawn(move || {
            drop(listener.accept().unwrap());
            for response in ["", "HTTP/1.1 200 OK\r\n\r\nup\n"] {
                let (mut stream, _) = listener.accept().unwrap();
                assert!(stream.read(&mut [0; 100]).unwrap() > 0);
                stream.write_all(response.as_bytes()).unwrap();
            }
        });
        assert_eq!(first_response(&[socket], "GET", "/status").unwrap(), "up\n");
        daemon.join().unwrap();
    }

    #[test]
    fn run_directory_of_the_unit_is_tried_before_the_default_one() {
        let unit = include_str!("../../dist/acm-mio.service");
        let words = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
        let of_unit = words.split_once("--run-dir ").unwrap().1;
        let [own, default] = [of_unit, "/run"].map(|folder| Path::new(folder).join("acm-mio.status"));
        assert_eq!(sockets(Path::new("/run")), [own, default]);
        assert_eq!(sockets(Path::new("/run/other")), [Path::new("/run/other/acm-mio.status")]);
    }

    #[test]
    fn refusal_of_the_daemon_is_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("ours");
        let ours = respond_once(&socket, "HTTP/1.1 400 Bad Request\r\nx: y\r\n\r\nno such state");
        assert_eq!(first_response(&[socket], "GET", "/cache?"), Err(Failure::Failed("no such state".to_owned())));
        ours.join().unwrap();
    }
}
