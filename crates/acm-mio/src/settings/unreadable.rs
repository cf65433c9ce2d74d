//! Files that exist and cannot be read. The daemon does not start with the defaults in their place: ibacm ran as root, so
//! that such files exist, and a node with another group of multicast than its peers would be the result.
use crate::{preload::Files, regular};
use acm_wire::files::opts::Options;
use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

/// A file that exists and cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{what} {path}: {error}")]
pub(crate) struct UnreadableFile {
    what: &'static str,
    path: PathBuf,
    error: String,
    advice: String,
}

impl UnreadableFile {
    /// Returns the reason for the error of a file, unless the file is absent. A link to an absent file is not absent.
    pub(super) fn new(what: &'static str, path: &Path, error: &io::Error) -> Option<Self> {
        let text = match error.kind() {
            ErrorKind::NotFound if path.symlink_metadata().is_err() => return None,
            ErrorKind::NotFound => "it is a link to a file that does not exist".to_owned(),
            _ => error.to_string(),
        };
        Some(Self { what, path: path.to_owned(), error: text, advice: advice(path, error.kind()) })
    }

    /// Returns advice to the administrator, with the path.
    pub(crate) fn advice(&self) -> &str {
        &self.advice
    }

    /// Returns the preload files of the options that cannot be read.
    pub(super) fn preload(options: &Options<'_>, start_dir: &Path) -> impl Iterator<Item = Self> + use<> {
        let Files { routes, hosts } = Files::new(options, start_dir);
        let files = [("route_data_file", routes), ("addr_data_file", hosts)];
        files.into_iter().filter_map(|(what, path)| {
            let path = path?;
            regular::open(&path).err().and_then(|error| Self::new(what, &path, &error))
        })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns the command that lets the daemon's user read a file, if there is one. A file behind a directory that the user
/// may not enter is not helped by its own mode.
fn advice(path: &Path, kind: ErrorKind) -> String {
    let shown = path.display();
    let first = if kind != ErrorKind::PermissionDenied {
        return format!("replace {shown}, or remove it; the daemon does not start without it");
    } else if let Some(above) = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok())
        && path.symlink_metadata().is_err()
    {
        format!("let the daemon's user enter its directory (chmod a+x {})", above.display())
    } else {
        format!("let the daemon's user read it (chmod a+r {shown})")
    };
    format!("{first}, or remove it; the daemon does not start without it")
}

#[cfg(test)]
mod tests {
    use super::{super::Settings, *};
    use crate::cli::Args;
    use clap::Parser as _;
    use std::{fs, os::unix::fs::symlink};

    // Root may read everything: the kinds are given here.
    #[test]
    fn advice_names_what_to_change() {
        let dir = tempfile::tempdir().unwrap();
        let (file, absent) = (dir.path().join("opts"), dir.path().join("none/opts"));
        fs::write(&file, "").unwrap();
        let rest = "or remove it; the daemon does not start without it";
        let (shown, closed) = (file.display(), dir.path().display());
        let denied = advice(&file, ErrorKind::PermissionDenied);
        assert_eq!(denied, format!("let the daemon's user read it (chmod a+r {shown}), {rest}"));
        let denied = advice(&absent, ErrorKind::PermissionDenied);
        assert_eq!(denied, format!("let the daemon's user enter its directory (chmod a+x {closed}), {rest}"));
        assert_eq!(advice(&file, ErrorKind::IsADirectory), format!("replace {shown}, {rest}"));
    }

    /// A link to a file that does not exist is no absence: somebody has made it.
    // docs/deviations.md: missing-file
    #[test]
    fn each_file_that_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let [opts, addrs] = ["opts", "addrs"].map(path);
        fs::write(
            &opts,
            "route_preload opensm_full_v1\nroute_data_file routes\naddr_preload acm_hosts\naddr_data_file hosts\n",
        )
        .unwrap();
        let args =
            Args::try_parse_from(["acm-mio", "-O", opts.to_str().unwrap(), "-A", addrs.to_str().unwrap()]).unwrap();
        let unreadable = || -> Vec<String> {
            let found = Settings::read(&args);
            let files = found.unreadable(dir.path());
            files.map(|file| file.to_string().replace(dir.path().to_str().unwrap(), "")).collect()
        };
        assert_eq!(unreadable(), [""; 0], "absent files");
        symlink("none", &addrs).unwrap();
        for name in ["routes", "hosts"] {
            fs::create_dir(path(name)).unwrap();
        }
        assert_eq!(
            unreadable(),
            [
                "address file /addrs: it is a link to a file that does not exist",
                "route_data_file /routes: not a regular file",
                "addr_data_file /hosts: not a regular file"
            ]
        );
        fs::write(&opts, "").unwrap();
        assert_eq!(unreadable().len(), 1, "files that the options do not name");
    }
}
