//! What is installed: the one list.
use super::{InstallError, Place};
use crate::command;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The daemon as the files of `dist/` name it.
const PROGRAM: &str = "/usr/sbin/acm-mio";
/// The prefix as the library's .pc file has it.
const PREFIX: &str = "prefix=/usr\n";

/// Which folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folder {
    /// Below the prefix.
    Prefix(&'static str),
    /// Of systemd, by kind.
    Systemd(&'static str),
    /// This one, whatever the prefix is.
    Fixed(&'static str),
}

/// Where a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// From `dist/`, by this name.
    Dist(&'static str),
    /// It is the daemon.
    Daemon,
    /// It is the client for shells.
    Client,
    /// The library for C, by this name in the folder that it was built into.
    Library(&'static str),
    /// The provider for C ibacm.
    Provider,
    /// A file about the library: from the workspace's folder, by this name.
    OfLibrary(&'static str),
}

/// What was built.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    pub(super) daemon: Option<PathBuf>,
    pub(super) client: Option<PathBuf>,
    /// The folder that has the library.
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
    /// Whether it is the administrator's once it is there.
    pub(super) is_configuration: bool,
}

const fn of_dist(source: &'static str, folder: Folder, name: &'static str) -> File {
    File { source: Source::Dist(source), folder, name, mode: 0o644, is_configuration: false }
}

const fn of_library(source: &'static str, folder: &'static str, name: &'static str) -> File {
    File {
        source: Source::OfLibrary(source),
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
    File { is_configuration: true, ..of_dist(source, folder, name) }
}

/// All of them. The units last: whoever starts them finds the rest.
pub(super) const FILES: &[File] = &[
    program(Source::Daemon, Folder::Prefix("sbin"), "acm-mio"),
    // Not by the name of Debian's, which stays what it was.
    program(Source::Client, Folder::Prefix("bin"), "acm-ib_acme"),
    program(Source::Library("libibacm.so"), Folder::Prefix("lib"), "libibacm.so.1"),
    File { mode: 0o644, ..program(Source::Library("libibacm.a"), Folder::Prefix("lib"), "libibacm.a") },
    // A folder of its own: ibacm loads every library of its folder, whether it is to be used or not.
    File { mode: 0o644, ..program(Source::Provider, Folder::Prefix("lib/ibacm"), "libacmrs.so") },
    of_library("dist/libibacm.so", "lib", "libibacm.so"),
    of_library("dist/libibacm.pc", "lib/pkgconfig", "libibacm.pc"),
    of_library("crates/acm-capi/include/libacm.h", "include/ibacm", "libacm.h"),
    of_dist("acm-ib_acme.1", Folder::Prefix("share/man/man1"), "acm-ib_acme.1"),
    of_dist("acm-mio.8", Folder::Prefix("share/man/man8"), "acm-mio.8"),
    of_dist("grafana-dashboard.json", Folder::Prefix("share/acm-mio"), "grafana-dashboard.json"),
    of_dist("wireshark/acm.lua", Folder::Prefix("share/acm-mio"), "acm.lua"),
    configuration("acm-mio.logrotate", Folder::Fixed("/etc/logrotate.d"), "acm-mio"),
    of_dist("acm-mio.sysusers", Folder::Systemd("sysusers.d"), "acm-mio.conf"),
    of_dist("acm-mio.socket", Folder::Systemd("systemd/system"), "acm-mio.socket"),
    of_dist("acm-mio.service", Folder::Systemd("systemd/system"), "acm-mio.service"),
];

/// Folders that are made besides: where the daemon looks for options and addresses.
pub(super) const FOLDERS: &[&str] = &["/etc/rdma"];

impl File {
    /// Where it goes.
    pub(super) fn path(&self, place: &Place) -> PathBuf {
        let folder = match self.folder {
            Folder::Prefix(folder) => place.below(folder),
            Folder::Systemd(kind) => place.systemd(kind),
            Folder::Fixed(folder) => folder.into(),
        };
        folder.join(self.name)
    }

    /// Whether it is installed: who names a daemon and no client wants none, and no library, and no provider.
    pub(super) fn is_wanted(&self, programs: &Programs) -> bool {
        let is_named = match self.source {
            Source::Client => programs.client.is_some(),
            Source::Provider => programs.provider.is_some(),
            Source::Library(_) | Source::OfLibrary(_) => programs.library.is_some(),
            Source::Dist(_) | Source::Daemon => true,
        };
        is_named || programs.daemon.is_none()
    }

    /// What is in it. A rehearsal has no program.
    pub(super) fn bytes(&self, place: &Place, programs: &Programs) -> Result<Vec<u8>, InstallError> {
        let of_program = |program: &Option<PathBuf>| program.as_deref().map_or(Ok(Vec::new()), read);
        let path = match self.source {
            Source::Dist(name) => dist(name),
            Source::OfLibrary(path) => command::root().join(path),
            Source::Daemon => return of_program(&programs.daemon),
            Source::Client => return of_program(&programs.client),
            Source::Provider => return of_program(&programs.provider),
            Source::Library(name) => return of_program(&programs.library.as_ref().map(|folder| folder.join(name))),
        };
        let with_place = |text: String| {
            let text = text.replace(PROGRAM, &place.below("sbin/acm-mio").to_string_lossy());
            text.replace(PREFIX, &format!("prefix={}\n", place.prefix().display()))
        };
        let bytes = read(&path)?;
        Ok(String::from_utf8(bytes).map_or_else(|error| error.into_bytes(), |text| with_place(text).into_bytes()))
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
            Source::OfLibrary(path) => path.strip_prefix("dist/"),
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
    fn the_program_has_one_name() {
        for file in names_in_dist() {
            let text = fs::read_to_string(dist(file)).unwrap();
            let named = text.lines().filter(|line| line.contains("sbin/") || line.contains("/acm-mio -"));
            assert!(named.clone().all(|line| line.contains(PROGRAM)), "{file}: {:?}", named.collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_library_says_its_version() {
        let text = fs::read_to_string(dist("libibacm.pc")).unwrap();
        assert!(text.contains(&format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    }
}
