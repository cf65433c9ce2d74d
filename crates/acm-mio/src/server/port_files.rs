//! Port files: `ibacm-tcp.port` has the port of a daemon with TCP, `ibacm.port` is a link to it.
//!
//! librdmacm opens the link first. If it has a number, librdmacm connects to that port and, unlike to a closed socket,
//! tries nothing else: a file that an earlier daemon left behind leads all its programs astray.
use core::net::Ipv4Addr;
use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, ErrorKind, Write},
    net::TcpListener,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Names in the run directory (rdma-core's `IBACM_*`): ib_acme uses the file, librdmacm the link.
pub(super) const PORT_FILE: &str = "ibacm-tcp.port";
pub(super) const PORT_LINK: &str = "ibacm.port";

/// The port files of a directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PortFiles {
    /// There is none.
    Absent,
    /// Nothing listens on the port of this file.
    Stale(PathBuf),
    /// A process listens on the port of this file.
    Served(PathBuf, u16),
    /// A directory has the name of a file.
    Directory(PathBuf),
}

impl PortFiles {
    /// Returns the state of the port files in this directory.
    pub(crate) fn of(dir: &Path) -> Self {
        let paths = [PORT_LINK, PORT_FILE].map(|name| dir.join(name));
        let Some(path) = paths.into_iter().find(|path| path.symlink_metadata().is_ok()) else { return Self::Absent };
        match fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
            Some(port) if is_served(port) => Self::Served(path, port),
            _ if is_directory(&path) => Self::Directory(path),
            _ => Self::Stale(path),
        }
    }

    /// Removes the port files of this directory, unless a process listens on their port. Returns the files that are left.
    pub(crate) fn remove_stale(dir: &Path) -> Self {
        if let Self::Stale(_) = Self::of(dir) {
            for name in [PORT_LINK, PORT_FILE] {
                let _ = fs::remove_file(dir.join(name));
            }
        }
        Self::of(dir)
    }

    /// Returns what is wrong, and what to do about it, if a daemon listens on a unix socket in the same directory.
    pub(crate) fn problem(&self) -> Option<(String, String)> {
        let programs = "programs with librdmacm connect there, and to no other socket";
        match self {
            Self::Absent => None,
            Self::Stale(path) => {
                let what = format!("{}: nothing listens on its port; {programs}", path.display());
                let folder = path.parent().unwrap_or(path).display();
                Some((
                    what,
                    format!("rm {folder}/{PORT_LINK} {folder}/{PORT_FILE}, as acm-mio.socket does at its start"),
                ))
            }
            Self::Directory(path) => Some((
                format!("{} is a directory: {programs}", path.display()),
                "remove it: the daemon removes files of this name only".to_owned(),
            )),
            Self::Served(path, port) => Some((
                format!("{}: another daemon listens on port {port}; {programs}", path.display()),
                format!("stop it (ss -ltnp 'sport = {port}' names it)"),
            )),
        }
    }
}

/// True if the path itself, and not a link at it, is a directory.
pub(super) fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Reports whether a process of this machine listens on this TCP port. The process does not notice.
fn is_served(port: u16) -> bool {
    port != 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}

/// Writes the port into the port file of this directory. Programs of all users read it.
pub(super) fn write_port(dir: &Path, port: u16) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(dir.join(PORT_FILE))?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(format!("{port}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn stale_port_files_are_removed_and_those_of_a_daemon_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join(PORT_FILE), dir.path().join(PORT_LINK));
        assert_eq!(PortFiles::remove_stale(dir.path()), PortFiles::Absent);
        let daemon = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = daemon.local_addr().unwrap().port();
        write_port(dir.path(), port).unwrap();
        symlink(PORT_FILE, &link).unwrap();
        assert_eq!(PortFiles::remove_stale(dir.path()), PortFiles::Served(link.clone(), port));
        assert!(file.exists() && link.exists());
        let (what, advice) = PortFiles::of(dir.path()).problem().unwrap();
        assert!(what.contains(&format!("another daemon listens on port {port}; programs with librdmacm")), "{what}");
        assert!(advice.contains(&format!("sport = {port}")), "{advice}");
        for text in ["", "0\n", "none\n", "70000\n"] {
            fs::write(&file, text).unwrap();
            assert_eq!(PortFiles::of(dir.path()), PortFiles::Stale(link.clone()), "{text}");
            assert_eq!(PortFiles::remove_stale(dir.path()), PortFiles::Absent);
            assert!(!file.exists() && link.symlink_metadata().is_err());
            symlink(PORT_FILE, &link).unwrap();
        }
        assert_eq!(PortFiles::remove_stale(dir.path()), PortFiles::Absent, "a link to no file");
        for (path, is_link) in [(&link, false), (&file, true)] {
            fs::create_dir(path).unwrap();
            if is_link {
                symlink(PORT_FILE, &link).unwrap();
            }
            let found = PortFiles::remove_stale(dir.path());
            assert_eq!(found, PortFiles::Directory(path.clone()));
            assert!(found.problem().unwrap().0.contains(" is a directory: programs with librdmacm"));
            fs::remove_dir(path).unwrap();
        }
    }

    #[test]
    fn port_file_can_be_read_by_all_and_written_by_its_owner() {
        for umask in [0, 0o077] {
            let dir = tempfile::tempdir().unwrap();
            crate::testing::with_umask(umask, || write_port(dir.path(), 7)).unwrap();
            let mode = fs::metadata(dir.path().join(PORT_FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o644);
        }
    }
}
