//! The lock files: that of this daemon, and that of ibacm.
use super::Settings;
use acm_wire::files::opts::{Opt, Options};
use std::path::{Path, PathBuf};

impl Settings {
    /// Returns the path of the lock file, which is in the run directory unless the options name another file than that
    /// of ibacm.
    pub(crate) fn lock_file(&self, run_dir: &Path) -> PathBuf {
        let path = Path::new(self.options().lock_file);
        if is_ibacms(path) { run_dir.join("ibacm.pid") } else { path.to_owned() }
    }

    /// Returns the lock file of ibacm if ibacm must not run beside this daemon, whose own lock file is another one. This
    /// is so for the service of this machine, and if the option file names ibacm's lock file.
    pub(crate) fn lock_of_ibacm(&self, run_dir: &Path, is_service: bool) -> Option<PathBuf> {
        let is_named = self.set_by_file().any(|option| matches!(option, Opt::LockFile(_)));
        let is_default = is_ibacms(Path::new(self.options().lock_file));
        let is_elsewhere = !is_ibacms(&self.lock_file(run_dir));
        (is_default && is_elsewhere && (is_service || is_named)).then(|| Options::default().lock_file.into())
    }
}

/// The lock file of the run directory, for administrators.
pub(crate) const OWN_LOCK: &str = "RUN_DIR/ibacm.pid";

/// Returns an option as the daemon applies it: ibacm's lock file stands for its own.
pub(crate) fn applied<'a>(option: Opt<'a>, own_lock: &'a str) -> Opt<'a> {
    match option {
        Opt::LockFile(path) if is_ibacms(Path::new(path)) => Opt::LockFile(own_lock),
        other => other,
    }
}

/// Reports whether a path leads to ibacm's lock file, such as `/var/run/ibacm.pid`, which `ib_acme -O` wrote until 2016.
fn is_ibacms(path: &Path) -> bool {
    let resolved = |path: &Path| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let theirs = Path::new(Options::default().lock_file);
    path == theirs || resolved(path).is_some_and(|path| Some(path) == resolved(theirs))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::settings_of, *};

    #[test]
    fn lock_file_of_ibacm_stands_for_that_of_the_run_directory() {
        let path = |text: &str| settings_of(text).lock_file(Path::new("/own"));
        assert_eq!(path("lock_file /run/other.pid\n"), PathBuf::from("/run/other.pid"));
        for default in
            ["", "lock_file /run/ibacm.pid\n", "lock_file /var/run/ibacm.pid\n", "lock_file /run/./ibacm.pid\n"]
        {
            assert_eq!(path(default), PathBuf::from("/own/ibacm.pid"), "{default}");
        }
    }

    /// ibacm must not run beside the service, nor beside a daemon whose option file names the lock file of ibacm.
    #[test]
    fn lock_of_ibacm_is_that_of_the_service_and_of_a_file_that_names_it() {
        let theirs = |text: &str, run_dir: &str, is_service| {
            settings_of(text).lock_of_ibacm(Path::new(run_dir), is_service).map(|path| path.display().to_string())
        };
        let lock = Some("/run/ibacm.pid".to_owned());
        assert_eq!(theirs("", "/own", false), None);
        assert_eq!(theirs("", "/own", true), lock);
        assert_eq!(theirs("lock_file /var/run/ibacm.pid\n", "/own", false), lock);
        assert_eq!(theirs("lock_file /run/other.pid\n", "/own", true), None);
        assert_eq!(theirs("lock_file /run/ibacm.pid\n", "/run", true), None, "it is the lock of this daemon");
    }
}
