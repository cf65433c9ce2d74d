//! The list of installed files.
use super::{Destination, InstallError};
use crate::command;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The daemon's path in the files of `dist/`.
const PROGRAM: &str = "/usr/sbin/acm-mio";
/// The prefix in the library's .pc file.
const PREFIX: &str = "prefix=/usr\n";

/// The directory of an installed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folder {
    /// Below the prefix.
    Prefix(&'static str),
    /// For systemd, by kind.
    Systemd(&'static str),
    /// Independent of the prefix.
    Fixed(&'static str),
}

/// The source of an installed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A file in `dist/`.
    Dist(&'static str),
    /// The daemon.
    Daemon,
    /// The client `ib_acme`.
    Client,
    /// A library for C, by its name in the directory that cargo has built it in.
    Library(&'static str),
    /// The provider for C ibacm.
    Provider,
    /// A file that belongs to the library for C, by its path in the workspace.
    Workspace(&'static str),
}

/// The programs and libraries that cargo has built.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    pub(super) daemon: Option<PathBuf>,
    pub(super) client: Option<PathBuf>,
    /// The directory of the libraries for C.
    pub(super) library: Option<PathBuf>,
    pub(super) provider: Option<PathBuf>,
}

/// A file that is installed.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    source: Source,
    folder: Folder,
    name: &'static str,
    pub(super) mode: u32,
    /// True if an administrator may change the file. A changed file is neither overwritten nor removed.
    pub(super) is_configuration: bool,
}

const fn dist_file(source: &'static str, folder: Folder, name: &'static str) -> File {
    File { source: Source::Dist(source), folder, name, mode: 0o644, is_configuration: false }
}

const fn library_file(source: &'static str, folder: &'static str, name: &'static str) -> File {
    File {
        source: Source::Workspace(source),
        folder: Folder::Prefix(folder),
        name,
        mode: 0o644,
        is_configuration: false,
    }
}

const fn program(source: Source, folder: Folder, name: &'static str) -> File {
    File { source, folder, name, mode: 0o755, is_configuration: false }
}

const fn configuration(source: &'static str, folder: Folder, name: &'static str) -> File {
    File { is_configuration: true, ..dist_file(source, folder, name) }
}

/// All installed files. The units come last: when systemd can start them, all other files are complete.
pub(super) const FILES: &[File] = &[
    program(Source::Daemon, Folder::Prefix("sbin"), "acm-mio"),
    // Debian's ibacm has /usr/bin/ib_acme.
    program(Source::Client, Folder::Prefix("bin"), "acm-ib_acme"),
    program(Source::Library("libibacm.so"), Folder::Prefix("lib"), "libibacm.so.1"),
    File { mode: 0o644, ..program(Source::Library("libibacm.a"), Folder::Prefix("lib"), "libibacm.a") },
    // A directory of its own: ibacm loads every library in its directory.
    File { mode: 0o644, ..program(Source::Provider, Folder::Prefix("lib/ibacm"), "libacmrs.so") },
    library_file("dist/libibacm.so", "lib", "libibacm.so"),
    library_file("dist/libibacm.pc", "lib/pkgconfig", "libibacm.pc"),
    library_file("crates/acm-capi/include/libacm.h", "include/ibacm", "libacm.h"),
    dist_file("acm-ib_acme.1", Folder::Prefix("share/man/man1"), "acm-ib_acme.1"),
    dist_file("acm-mio.8", Folder::Prefix("share/man/man8"), "acm-mio.8"),
    dist_file("grafana-dashboard.json", Folder::Prefix("share/acm-mio"), "grafana-dashboard.json"),
    dist_file("wireshark/acm.lua", Folder::Prefix("share/acm-mio"), "acm.lua"),
    configuration("acm-mio.logrotate", Folder::Fixed("/etc/logrotate.d"), "acm-mio"),
    dist_file("acm-mio.sysusers", Folder::Systemd("sysusers.d"), "acm-mio.conf"),
    dist_file("acm-mio.socket", Folder::Systemd("systemd/system"), "acm-mio.socket"),
    dist_file("acm-mio.service", Folder::Systemd("systemd/system"), "acm-mio.service"),
];

/// Directories that are created besides: the daemon's options and addresses.
pub(super) const FOLDERS: &[&str] = &["/etc/rdma"];

impl File {
    /// The path, without `--root`.
    pub(super) fn path(&self, destination: &Destination) -> PathBuf {
        let folder = match self.folder {
            Folder::Prefix(folder) => destination.below(folder),
            Folder::Systemd(kind) => destination.systemd(kind),
            Folder::Fixed(folder) => folder.into(),
        };
        folder.join(self.name)
    }

    /// True if the file is installed. With `--program`, clients and libraries are installed only if an argument names
    /// them.
    pub(super) fn is_installed(&self, programs: &Programs) -> bool {
        let is_named = match self.source {
            Source::Client => programs.client.is_some(),
            Source::Provider => programs.provider.is_some(),
            Source::Library(_) | Source::Workspace(_) => programs.library.is_some(),
            Source::Dist(_) | Source::Daemon => true,
        };
        is_named || programs.daemon.is_none()
    }

    /// The content. Empty for a program that has not been built, which happens only in a dry run.
    pub(super) fn bytes(&self, destination: &Destination, programs: &Programs) -> Result<Vec<u8>, InstallError> {
        let of_program = |program: &Option<PathBuf>| program.as_deref().map_or(Ok(Vec::new()), read);
        let path = match self.source {
            Source::Dist(name) => dist(name),
            Source::Workspace(path) => command::root().join(path),
            Source::Daemon => return of_program(&programs.daemon),
            Source::Client => return of_program(&programs.client),
            Source::Provider => return of_program(&programs.provider),
            Source::Library(name) => return of_program(&programs.library.as_ref().map(|folder| folder.join(name))),
        };
        let with_paths = |text: String| {
            let text = text.replace(PROGRAM, &destination.below("sbin/acm-mio").to_string_lossy());
            text.replace(PREFIX, &format!("prefix={}\n", destination.prefix().display()))
        };
        let bytes = read(&path)?;
        Ok(String::from_utf8(bytes).map_or_else(|error| error.into_bytes(), |text| with_paths(text).into_bytes()))
    }
}

/// A file of `dist/`.
pub(super) fn dist(name: &str) -> PathBuf {
    command::root().join("dist").join(name)
}

fn read(path: &Path) -> Result<Vec<u8>, InstallError> {
    fs::read(path).map_err(InstallError::io("reading", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in_dist() -> impl Iterator<Item = &'static str> {
        FILES.iter().filter_map(|file| match file.source {
            Source::Dist(name) => Some(name),
            Source::Workspace(path) => path.strip_prefix("dist/"),
            _ => None,
        })
    }

    #[test]
    fn every_file_of_dist_is_installed() {
        let mut there = Vec::new();
        let mut folders = vec![dist("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    there.push(path.strip_prefix(dist("")).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        there.sort();
        let mut listed: Vec<&str> = names_in_dist().collect();
        listed.sort_unstable();
        assert_eq!(there, listed);
    }

    #[test]
    fn files_of_dist_name_the_daemon_by_one_path() {
        for file in names_in_dist() {
            let text = fs::read_to_string(dist(file)).unwrap();
            let named = text.lines().filter(|line| line.contains("sbin/") || line.contains("/acm-mio -"));
            assert!(named.clone().all(|line| line.contains(PROGRAM)), "{file}: {:?}", named.collect::<Vec<_>>());
        }
    }

    #[test]
    fn pkg_config_file_has_the_version() {
        let text = fs::read_to_string(dist("libibacm.pc")).unwrap();
        assert!(text.contains(&format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    }
}
