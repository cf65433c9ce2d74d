//! The clients' listening socket, unix or TCP, with the files by which clients find the socket.
use super::{
    port_files::{PORT_FILE, PORT_LINK, PortFiles, is_directory, write_port},
    socket_file::SocketFile,
};
use crate::stream::{ListeningSocket, Stream, extend_backlog, is_open, limit_receive_buffer, limit_send_buffer};
use acm_sansio::Time;
use acm_wire::files::opts::{Options, ServerMode, Sharing};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use mio::{
    Interest, Registry, Token,
    net::{TcpListener, UnixListener},
};
use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

/// Names in the run directory (rdma-core's `IBACM_*`): ib_acme uses the socket, librdmacm the link.
const UNIX_SOCKET: &str = "ibacm-unix.sock";
const UNIX_LINK: &str = "ibacm.sock";

/// Reason why the daemon cannot listen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenError {
    /// Another process serves clients in this run directory.
    #[error(
        "socket {0}: another process serves it; stop that first (systemctl stop acm-mio.socket ibacm.socket, or see \
         ss -xlp), or give another --run-dir"
    )]
    Taken(PathBuf),
    /// A directory has the name of a file that the start creates.
    #[error("{0} is a directory; remove it, or give another --run-dir")]
    Directory(PathBuf),
    /// The unix socket cannot be created.
    #[error("socket {0}: {1}; run as root, or give a --run-dir that you may write to")]
    Unix(PathBuf, io::Error),
    /// The TCP port cannot be bound.
    #[error("TCP {0}: {1}; stop what uses it, or give another server_port")]
    Tcp(SocketAddr, io::Error),
    /// The port file cannot be written.
    #[error("port file {0}: {1}; run as root, or give a --run-dir that you may write to")]
    PortFile(PathBuf, io::Error),
    /// The socket passed by systemd cannot be used.
    #[error("systemd passed no stream socket that can be used: {0}; see ListenStream= in the socket unit")]
    Systemd(io::Error),
}

/// Accepts clients. The socket's files are removed when it is closed.
#[derive(Debug)]
pub(crate) struct Listener {
    /// `None` if it is closed.
    socket: Option<ListeningSocket>,
    files: Vec<PathBuf>,
    /// The file by which clients find a unix socket.
    socket_file: Option<SocketFile>,
}

impl Listener {
    /// Listens in `run_dir` or on TCP, as the options request. Replaces the files of a process that has ended.
    pub(crate) fn bind(options: &Options<'_>, run_dir: &Path) -> Result<Self, ListenError> {
        if let Some(taken) = taken_socket(run_dir) {
            return Err(ListenError::Taken(taken));
        }
        if let Some(directory) = directory_in_the_way(options, run_dir) {
            return Err(directory);
        }
        let link = !options.acme_plus_kernel_only;
        let Some(address) = tcp_address(options) else { return Self::bind_unix(run_dir, link) };
        if address.ip().is_unspecified() {
            tracing::warn!(
                target: "listen",
                "server_mode open: anybody who reaches TCP port {} can ask this daemon",
                options.server_port
            );
        }
        Self::bind_tcp(address, run_dir, link)
    }

    fn bind_unix(run_dir: &Path, link: bool) -> Result<Self, ListenError> {
        let path = run_dir.join(UNIX_SOCKET);
        // Clients prefer a port file to the socket: a stale port file would lead them to a closed port.
        for stale in [UNIX_SOCKET, UNIX_LINK, PORT_FILE, PORT_LINK] {
            let _ = fs::remove_file(run_dir.join(stale));
        }
        if let Some((what, advice)) = PortFiles::of(run_dir).problem() {
            tracing::warn!(target: "listen", "{what}: {advice}");
        }
        let failed = |error| ListenError::Unix(path.clone(), error);
        let socket = Some(UnixListener::bind(&path).map_err(failed)?.into());
        let socket_file = Some(SocketFile::new(&path));
        let mut listener = Self { socket, files: vec![path.clone()], socket_file };
        // Programs of all users connect to this socket.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).map_err(failed)?;
        if link {
            let link = run_dir.join(UNIX_LINK);
            listener.link(UNIX_SOCKET, link.clone()).map_err(|error| ListenError::Unix(link, error))?;
        }
        Ok(listener)
    }

    fn bind_tcp(address: SocketAddr, run_dir: &Path, link: bool) -> Result<Self, ListenError> {
        let socket = TcpListener::bind(address).map_err(|error| ListenError::Tcp(address, error))?;
        // Connections inherit the limits.
        limit_send_buffer(&socket);
        limit_receive_buffer(&socket);
        extend_backlog(&socket);
        for stale in [UNIX_SOCKET, UNIX_LINK, PORT_FILE, PORT_LINK] {
            let _ = fs::remove_file(run_dir.join(stale));
        }
        let path = run_dir.join(PORT_FILE);
        let failed = |error| ListenError::PortFile(path.clone(), error);
        let port = socket.local_addr().map_err(failed)?.port();
        write_port(run_dir, port).map_err(failed)?;
        let mut listener =
            Self { socket: Some(ListeningSocket::Tcp(socket)), files: vec![path.clone()], socket_file: None };
        if link {
            let link = run_dir.join(PORT_LINK);
            listener.link(PORT_FILE, link.clone()).map_err(|error| ListenError::PortFile(link, error))?;
        }
        Ok(listener)
    }

    fn link(&mut self, target: &str, path: PathBuf) -> io::Result<()> {
        symlink(target, &path)?;
        self.files.push(path);
        Ok(())
    }

    /// Returns the stream socket that systemd passed; `None` if systemd passed no stream socket. systemd removes the
    /// files of this socket. Stale port files beside it are removed, or reported if that fails.
    pub(crate) fn from_systemd(passed: &mut listenfd::ListenFd) -> Result<Option<Self>, ListenError> {
        for index in 0..passed.len() {
            // systemd passes sockets in any order. Sockets of other types, such as netlink, are used elsewhere.
            if let Ok(Some(listener)) = passed.take_unix_listener(index) {
                listener.set_nonblocking(true).map_err(ListenError::Systemd)?;
                let address = listener.local_addr().map_err(ListenError::Systemd)?;
                if let Some(dir) = address.as_pathname().and_then(Path::parent)
                    && let Some((what, advice)) = PortFiles::remove_stale(dir).problem()
                {
                    tracing::warn!(target: "listen", "{what}: {advice}");
                }
                let socket = Some(UnixListener::from_std(listener).into());
                let socket_file = address.as_pathname().map(SocketFile::new);
                return Ok(Some(Self { socket, files: Vec::new(), socket_file }));
            }
        }
        Ok(None)
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let register = |socket: &mut ListeningSocket| registry.register(socket.source(), token, Interest::READABLE);
        self.socket.as_mut().map_or(Ok(()), register)
    }

    /// Reports whether clients may read cached paths from memory. With `auto`, a request must show every user the same.
    pub(crate) fn shares(&self, option: Sharing) -> bool {
        match option {
            Sharing::On => true,
            Sharing::Off => false,
            Sharing::Auto => self.socket_file.as_ref().is_some_and(SocketFile::is_for_all),
        }
    }

    /// Removes the files and closes the socket, before the connections of clients are closed: a client that connects
    /// again at once must not come into the queue of this daemon. A socket of systemd stays open there.
    pub(crate) fn close(&mut self) {
        for file in self.files.drain(..) {
            let _ = fs::remove_file(file);
        }
        (self.socket, self.socket_file) = (None, None);
    }

    /// Reports a socket whose file was replaced or removed. A look needs no event of its own: others are frequent enough.
    pub(crate) fn look_at_file(&mut self, now: Time) {
        if let Some(problem) = self.socket_file.as_mut().and_then(|file| file.look(now)) {
            tracing::error!(target: "listen", "{problem}");
        }
    }

    pub(crate) fn accept(&self) -> io::Result<Stream> {
        let Some(socket) = &self.socket else { return Err(io::ErrorKind::WouldBlock.into()) };
        let stream = socket.accept()?;
        match &stream {
            Stream::Unix(stream) => limit_send_buffer(stream),
            // Without TCP_NODELAY a response could be delayed until the next one.
            Stream::Tcp(stream) => {
                let _ = stream.set_nodelay(true);
            }
        }
        Ok(stream)
    }
}

/// Returns the address for TCP of the options; `None` for a unix socket.
pub(crate) fn tcp_address(options: &Options<'_>) -> Option<SocketAddr> {
    let ip = match options.server_mode {
        ServerMode::Unix => return None,
        ServerMode::Loop => Ipv4Addr::LOCALHOST,
        ServerMode::Open => Ipv4Addr::UNSPECIFIED,
    };
    Some(SocketAddr::new(IpAddr::V4(ip), options.server_port))
}

/// Returns the clients' socket in this directory, or their link to one, if a process has the socket open.
pub(crate) fn taken_socket(run_dir: &Path) -> Option<PathBuf> {
    [UNIX_SOCKET, UNIX_LINK].map(|name| run_dir.join(name)).into_iter().find(|path| is_open(path))
}

/// Returns the error of a start with these options if a directory has the name of a file that it creates.
pub(crate) fn directory_in_the_way(options: &Options<'_>, run_dir: &Path) -> Option<ListenError> {
    let [file, link] = match tcp_address(options) {
        Some(_) => [PORT_FILE, PORT_LINK],
        None => [UNIX_SOCKET, UNIX_LINK],
    };
    let link = Some(link).filter(|_| !options.acme_plus_kernel_only);
    let mut paths = [Some(file), link].into_iter().flatten().map(|name| run_dir.join(name));
    paths.find(|path| is_directory(path)).map(ListenError::Directory)
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
impl Listener {
    /// Gives the kernel's queue of new clients more room.
    pub(crate) fn extend_queue(&self) {
        if let Some(ListeningSocket::Unix(socket)) = &self.socket {
            rustix::net::listen(socket, 4096).unwrap();
        }
    }

    /// Lets future clients send descriptors, as kernels before Linux 6.16 do.
    pub(crate) fn allow_descriptors(&self) {
        if let Some(ListeningSocket::Unix(socket)) = &self.socket {
            crate::stream::Unix::allow_descriptors(socket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fill_queue, until};

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    // docs/deviations.md: sockets-removed
    #[test]
    fn unix_mode_creates_socket_and_link_and_removes_both() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(PORT_FILE), "6125\n").unwrap();
        let listener = Listener::bind(&Options::default(), dir.path()).unwrap();
        assert_eq!(names(dir.path()), [UNIX_SOCKET, UNIX_LINK]);
        assert_eq!(fs::read_link(dir.path().join(UNIX_LINK)).unwrap(), Path::new(UNIX_SOCKET), "relative");
        assert_eq!(fs::metadata(dir.path().join(UNIX_SOCKET)).unwrap().permissions().mode() & 0o777, 0o777);
        drop(listener);
        assert!(names(dir.path()).is_empty());
        let options = Options { acme_plus_kernel_only: true, ..Options::default() };
        let _listener = Listener::bind(&options, dir.path()).unwrap();
        assert_eq!(names(dir.path()), [UNIX_SOCKET]);
    }

    #[test]
    fn queue_of_new_clients_has_129() {
        let dir = tempfile::tempdir().unwrap();
        let _listener = Listener::bind(&Options::default(), dir.path()).unwrap();
        assert_eq!(fill_queue(&dir.path().join(UNIX_SOCKET)), 129);
    }

    // docs/deviations.md: failed-start
    #[test]
    fn socket_of_a_living_process_is_not_replaced_and_that_of_a_dead_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = std::os::unix::net::UnixListener::bind(dir.path().join(UNIX_SOCKET)).unwrap();
        let tcp = Options { server_mode: ServerMode::Loop, server_port: 0, ..Options::default() };
        for options in [Options::default(), tcp] {
            let text = Listener::bind(&options, dir.path()).unwrap_err().to_string();
            let start = format!("socket {}: another process serves it; ", dir.path().join(UNIX_SOCKET).display());
            assert!(text.starts_with(&start) && text.ends_with(" --run-dir"), "{text}");
        }
        assert_eq!(names(dir.path()), [UNIX_SOCKET]);
        first.set_nonblocking(true).unwrap();
        assert_eq!(first.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "it does not see the attempts");
        // Closing the socket leaves its file, as the end of a process does.
        drop(first);
        drop(Listener::bind(&Options::default(), dir.path()).unwrap());
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn start_names_the_directory_in_the_way() {
        let tcp = Options { server_mode: ServerMode::Loop, server_port: 0, ..Options::default() };
        let unix = Options::default();
        for (name, options, blocks) in [
            (UNIX_SOCKET, unix, true),
            (UNIX_LINK, unix, true),
            (UNIX_LINK, Options { acme_plus_kernel_only: true, ..unix }, false),
            (PORT_LINK, unix, false),
            (PORT_FILE, tcp, true),
            (PORT_LINK, tcp, true),
            (UNIX_SOCKET, tcp, false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            let error = Listener::bind(&options, dir.path()).err().map(|error| error.to_string());
            let text = format!("{} is a directory; remove it, or give another --run-dir", path.display());
            assert_eq!(error, blocks.then_some(text));
            assert!(path.is_dir(), "{name}");
        }
    }

    // docs/deviations.md: failed-start
    #[test]
    fn link_to_a_socket_of_a_living_process_is_not_replaced() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let elsewhere = other.path().join("sock");
        let link = dir.path().join(UNIX_LINK);
        symlink(&elsewhere, &link).unwrap();
        let first = std::os::unix::net::UnixListener::bind(&elsewhere).unwrap();
        let problem = Listener::bind(&Options::default(), dir.path()).unwrap_err();
        assert!(matches!(problem, ListenError::Taken(path) if path == link));
        drop(first);
        let _listener = Listener::bind(&Options::default(), dir.path()).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(UNIX_SOCKET));
    }

    #[test]
    fn tcp_modes_create_port_files_and_remove_them() {
        let dir = tempfile::tempdir().unwrap();
        // The system chooses a port: one that this test chose could be taken.
        let mut options = Options { server_mode: ServerMode::Loop, server_port: 0, ..Options::default() };
        let listener = Listener::bind(&options, dir.path()).unwrap();
        assert_eq!(names(dir.path()), [PORT_FILE, PORT_LINK]);
        options.server_port = fs::read_to_string(dir.path().join(PORT_LINK)).unwrap().trim_end().parse().unwrap();
        let _client = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, options.server_port)).unwrap();
        let accepted = until("a client", || listener.accept().ok());
        assert!(matches!(&accepted, Stream::Tcp(stream) if stream.nodelay().unwrap()), "responses are sent at once");
        let taken = Listener::bind(&options, dir.path()).unwrap_err().to_string();
        assert!(taken.contains("server_port"), "{taken}");
        drop(listener);
        assert!(names(dir.path()).is_empty());
    }
}
