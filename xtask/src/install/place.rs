//! Where things go.
use crate::command;
use clap::Args;
use std::{
    env,
    path::{Component, Path, PathBuf},
};

/// What the unit's sandbox hides from the daemon: nothing of it may lie there.
const HIDDEN: &[&str] = &["/home", "/root", "/run", "/tmp", "/var/tmp", "/proc", "/sys", "/dev"];

/// Where things go.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// The daemon goes to DIR/sbin, other files to DIR/bin, DIR/lib, DIR/include and DIR/share.
    #[arg(long, value_name = "DIR", default_value = "/usr/local", value_parser = prefix)]
    prefix: PathBuf,
    /// Put everything below this directory, for a package or an image. The paths in the files are as without it.
    #[arg(long, value_name = "DESTDIR")]
    root: Option<PathBuf>,
    /// Only say what would be written or removed.
    #[arg(long)]
    dry_run: bool,
}

/// A folder that units may name without quoting.
fn prefix(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) || !text.bytes().all(is_plain)
    {
        return Err("an absolute path of letters, digits, '.', '_', '-' and '+'".to_owned());
    }
    // With no slash at the end, and none twice.
    let path: PathBuf = path.components().collect();
    match HIDDEN.iter().find(|hidden| path.starts_with(hidden)) {
        Some(hidden) => Err(format!("the daemon's unit hides {hidden} from it")),
        None => Ok(path),
    }
}

impl Place {
    /// Where it goes below.
    pub(super) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// A folder below the prefix.
    pub(super) fn below(&self, folder: &str) -> PathBuf {
        self.prefix.join(folder)
    }

    /// Where systemd looks for files of this kind (`systemd/system`, `sysusers.d`): with the prefix, or else in `/etc`.
    pub(super) fn systemd(&self, kind: &str) -> PathBuf {
        let looks_there = ["/usr", "/usr/local"].map(Path::new).contains(&self.prefix.as_path());
        if looks_there { self.below("lib").join(kind) } else { Path::new("/etc").join(kind) }
    }

    /// The list of what was written.
    pub(super) fn record(&self) -> PathBuf {
        self.below("share/acm-mio/installed")
    }

    /// Where a path is, from here.
    pub(super) fn real(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// Whether this is only a rehearsal.
    pub(super) const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Whether it is for a machine that is not running here.
    pub(super) const fn is_elsewhere(&self) -> bool {
        self.root.is_some()
    }

    /// Whether somebody else must do it.
    pub(super) fn needs_root(&self) -> bool {
        !self.is_elsewhere() && !self.dry_run && !command::is_root()
    }

    /// The arguments that say the same.
    pub(super) fn arguments(&self) -> Vec<PathBuf> {
        let mut words = vec!["--prefix".into(), self.prefix.clone()];
        if let Some(root) = &self.root {
            words.extend(["--root".into(), root.clone()]);
        }
        words
    }

    /// The task's command for the same place, for a shell.
    pub(super) fn command(&self, task: &str) -> String {
        let is_default = self.prefix == Path::new("/usr/local");
        let prefix = if is_default { String::new() } else { format!(" --prefix {}", self.prefix.display()) };
        let root = self.root.as_deref().map(|root| format!(" --root {}", quoted(root)));
        format!("cargo xtask {task}{prefix}{}", root.unwrap_or_default())
    }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.bytes().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns `true` for bytes that neither units nor shells treat specially.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte)
}

/// This program.
pub(super) fn own() -> PathBuf {
    env::current_exe().unwrap_or_else(|_| "xtask".into())
}

#[cfg(test)]
mod tests {
    use super::{Place, prefix};
    use std::path::Path;

    #[test]
    fn prefixes_that_a_unit_can_name() {
        assert_eq!(prefix("/usr/local//").unwrap(), Path::new("/usr/local"));
        assert_eq!(prefix("/opt/acm-0.1").unwrap(), Path::new("/opt/acm-0.1"));
        for bad in ["usr", "", "/opt/../usr", "/opt/a b", "/opt/%i", "/opt/$x", "/home/me", "/tmp/x", "/root"] {
            assert!(prefix(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn uninstall_command_names_the_same_prefix_and_root() {
        let place = |prefix: &str, root: Option<&str>| Place {
            prefix: prefix.into(),
            root: root.map(Into::into),
            dry_run: false,
        };
        for (place, options) in [
            (place("/usr/local", None), ""),
            (place("/opt/acm", None), " --prefix /opt/acm"),
            (place("/usr/local", Some("/tmp/image")), " --root /tmp/image"),
            (place("/usr", Some("an image's")), r" --prefix /usr --root 'an image'\''s'"),
        ] {
            assert_eq!(place.command("uninstall"), format!("cargo xtask uninstall{options}"));
        }
    }
}
