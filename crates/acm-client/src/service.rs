//! The address of the daemon.
use core::{fmt, str::FromStr};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Directory of the sockets of ibacm and acm-mio.
const RUN_DIR: &str = "/run";
/// Default of ibacm's option `server_port`.
const DEFAULT_PORT: u16 = 6125;

/// The address of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// A TCP port. The daemon's option `server_mode` determines whether the local host or all hosts may connect.
    Tcp {
        /// Host name or IP address.
        host: String,
        /// TCP port; the default of ibacm is 6125.
        port: u16,
    },
}

/// The reason why the address of the daemon is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The port file contains no port.
    #[error("{path}: {text:?} is no TCP port")]
    PortFile {
        /// The port file.
        path: PathBuf,
        /// The first line of the file.
        text: String,
    },
    /// The port file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The port file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The text is not an address.
    #[error("{0:?}: expected /path/to/socket, host or host:port")]
    Text(String),
}

impl Service {
    /// Returns the address that librdmacm uses: the TCP port in `/run/ibacm.port` if this file exists, otherwise the
    /// socket `/run/ibacm.sock`.
    ///
    /// # Errors
    /// [`ServiceError`] if the file cannot be read or contains no port.
    pub fn find() -> Result<Self, ServiceError> {
        Self::find_in(Path::new(RUN_DIR))
    }

    /// Returns the address of a daemon that was started with `--run-dir`.
    ///
    /// # Errors
    /// As [`Service::find`].
    pub fn find_in(run_dir: &Path) -> Result<Self, ServiceError> {
        let path = run_dir.join("ibacm.port");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Unix(run_dir.join("ibacm.sock"))),
            Err(source) => return Err(ServiceError::Io { path, source }),
        };
        let text = text.lines().next().unwrap_or_default().trim();
        match text.parse() {
            Ok(port @ 1..) => Ok(Self::Tcp { host: "127.0.0.1".into(), port }),
            _ => Err(ServiceError::PortFile { path, text: text.into() }),
        }
    }
}

impl FromStr for Service {
    type Err = ServiceError;

    /// Parses `/path/to/socket`, `host`, `host:port` or `[IPv6]:port`. The default port is 6125.
    fn from_str(text: &str) -> Result<Self, ServiceError> {
        let wrong = || ServiceError::Text(text.into());
        if text.contains('/') {
            return Ok(Self::Unix(text.into()));
        }
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port),
            // A bare IPv6 address has several colons.
            None if text.matches(':').count() > 1 => (text, ""),
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| wrong())?,
            None if port.is_empty() => DEFAULT_PORT,
            None => return Err(wrong()),
        };
        let stray = |letter: char| letter.is_whitespace() || letter == '[' || letter == ']';
        if host.is_empty() || port == 0 || host.contains(stray) {
            return Err(wrong());
        }
        Ok(Self::Tcp { host: host.into(), port })
    }
}

impl fmt::Display for Service {
    /// Formats the address as [`FromStr`] parses it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Service {
        Service::Tcp { host: host.into(), port }
    }

    #[test]
    fn address_survives_a_round_trip_as_text() {
        for (text, service, again) in [
            ("/run/ibacm.sock", Service::Unix("/run/ibacm.sock".into()), "/run/ibacm.sock"),
            ("./s", Service::Unix("./s".into()), "./s"),
            ("node1", tcp("node1", 6125), "node1:6125"),
            ("node1:7", tcp("node1", 7), "node1:7"),
            ("10.0.0.1:65535", tcp("10.0.0.1", 65535), "10.0.0.1:65535"),
            ("::1", tcp("::1", 6125), "[::1]:6125"),
            ("[::1]", tcp("::1", 6125), "[::1]:6125"),
            ("[::1]:7", tcp("::1", 7), "[::1]:7"),
        ] {
            assert_eq!(text.parse::<Service>().unwrap(), service, "{text}");
            assert_eq!(service.to_string(), again);
            assert_eq!(again.parse::<Service>().unwrap(), service, "{again}");
        }
        for text in ["", ":7", "node1:", "node1:x", "node1:0", "node1:65536", "[::1]7", "[::1", "a b"] {
            assert!(text.parse::<Service>().is_err(), "{text:?} {:?}", text.parse::<Service>());
        }
    }

    #[test]
    fn port_file_has_precedence_over_the_socket() {
        let run_dir = tempfile::tempdir().unwrap();
        let file = run_dir.path().join("ibacm.port");
        assert_eq!(Service::find_in(run_dir.path()).unwrap(), Service::Unix(run_dir.path().join("ibacm.sock")));
        for text in ["6125", "6125\n", " 6125 \nmore"] {
            fs::write(&file, text).unwrap();
            assert_eq!(Service::find_in(run_dir.path()).unwrap(), tcp("127.0.0.1", 6125), "{text:?}");
        }
        for text in ["", "x", "0", "65536", "-1"] {
            fs::write(&file, text).unwrap();
            let error = Service::find_in(run_dir.path()).unwrap_err().to_string();
            assert_eq!(error, format!("{}: {text:?} is no TCP port", file.display()));
        }
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert!(matches!(Service::find_in(run_dir.path()), Err(ServiceError::Io { .. })));
    }
}
