//! The directories to install into.
use crate::command;
use clap::Args;
use std::{
    env,
    path::{Component, Path, PathBuf},
};

/// Directories that the unit's sandbox hides from the daemon. Nothing may be installed there.
const HIDDEN: &[&str] = &["/home", "/root", "/run", "/tmp", "/var/tmp", "/proc", "/sys", "/dev"];

/// The directories to install into.
#[derive(Args, Clone, Debug)]
pub(crate) struct Destination {
    /// The daemon goes to DIR/sbin, other files to DIR/bin, DIR/lib, DIR/include and DIR/share.
    #[arg(long, value_name = "DIR", default_value = "/usr/local", value_parser = prefix)]
    prefix: PathBuf,
    /// Put everything below this directory, for a package or an image. The paths in the files are as without it.
    #[arg(long, value_name = "DESTDIR")]
    root: Option<PathBuf>,
    /// Print what would be written or removed, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Parses a prefix: a directory that a unit may name without quotes.
fn prefix(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) || !text.bytes().all(is_plain)
    {
        return Err("an absolute path of letters, digits, '.', '_', '-' and '+'".to_owned());
    }
    // Without double slashes and a slash at the end.
    let path: PathBuf = path.components().collect();
    match HIDDEN.iter().find(|hidden| path.starts_with(hidden)) {
        Some(hidden) => Err(format!("the daemon's unit hides {hidden} from it")),
        None => Ok(path),
    }
}

impl Destination {
    /// The prefix, without `--root`.
    pub(super) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// A directory below the prefix.
    pub(super) fn below(&self, folder: &str) -> PathBuf {
        self.prefix.join(folder)
    }

    /// The directory of systemd's files of this kind (`systemd/system`, `sysusers.d`): below `/etc` if systemd does not
    /// look below the prefix.
    pub(super) fn systemd(&self, kind: &str) -> PathBuf {
        let looks_there = ["/usr", "/usr/local"].map(Path::new).contains(&self.prefix.as_path());
        if looks_there { self.below("lib").join(kind) } else { Path::new("/etc").join(kind) }
    }

    /// The file that lists the installed files.
    pub(super) fn record(&self) -> PathBuf {
        self.below("share/acm-mio/installed")
    }

    /// A path with `--root`.
    pub(super) fn real(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// True if nothing is to be written or removed.
    pub(super) const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// True if the task must run as root, and does not. Files for an image or a package (`--root`) need no root.
    pub(super) fn needs_root(&self) -> bool {
        self.root.is_none() && !self.dry_run && !command::is_root()
    }

    /// The arguments of a command with the same destination.
    pub(super) fn arguments(&self) -> Vec<PathBuf> {
        let mut words = vec!["--prefix".into(), self.prefix.clone()];
        if let Some(root) = &self.root {
            words.extend(["--root".into(), root.clone()]);
        }
        words
    }

    /// The command of a task with the same destination, for a shell.
    pub(super) fn command(&self, task: &str) -> String {
        let is_default = self.prefix == Path::new("/usr/local");
        let prefix = if is_default { String::new() } else { format!(" --prefix {}", self.prefix.display()) };
        let root = self.root.as_deref().map(|root| format!(" --root {}", quoted(root)));
        format!("cargo xtask {task}{prefix}{}", root.unwrap_or_default())
    }
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.bytes().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns `true` for bytes that neither units nor shells treat specially.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte)
}

/// The path of this program.
pub(super) fn own() -> PathBuf {
    env::current_exe().unwrap_or_else(|_| "xtask".into())
}

#[cfg(test)]
mod tests {
    use super::{Destination, prefix};
    use std::path::Path;

    #[test]
    fn prefix_is_an_absolute_path_without_special_characters() {
        assert_eq!(prefix("/usr/local//").unwrap(), Path::new("/usr/local"));
        assert_eq!(prefix("/opt/acm-0.1").unwrap(), Path::new("/opt/acm-0.1"));
        for bad in ["usr", "", "/opt/../usr", "/opt/a b", "/opt/%i", "/opt/$x", "/home/me", "/tmp/x", "/root"] {
            assert!(prefix(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn uninstall_command_names_the_same_prefix_and_root() {
        let destination = |prefix: &str, root: Option<&str>| Destination {
            prefix: prefix.into(),
            root: root.map(Into::into),
            dry_run: false,
        };
        for (destination, options) in [
            (destination("/usr/local", None), ""),
            (destination("/opt/acm", None), " --prefix /opt/acm"),
            (destination("/usr/local", Some("/tmp/image")), " --root /tmp/image"),
            (destination("/usr", Some("an image's")), r" --prefix /usr --root 'an image'\''s'"),
        ] {
            assert_eq!(destination.command("uninstall"), format!("cargo xtask uninstall{options}"));
        }
    }
}
