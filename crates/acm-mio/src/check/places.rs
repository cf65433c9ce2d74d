//! Where the checks look; a test looks elsewhere.
use ib_device::sysfs::Sysfs;
use std::path::PathBuf;

/// Where to look.
#[derive(Debug)]
pub(super) struct Places {
    /// `/sys/class`.
    pub(super) class: PathBuf,
    /// `/dev/infiniband`.
    pub(super) dev: PathBuf,
    /// `/proc/self/status`.
    pub(super) status: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self { class: "/sys/class".into(), dev: "/dev/infiniband".into(), status: "/proc/self/status".into() }
    }
}

impl Places {
    pub(super) fn sysfs(&self) -> Sysfs {
        Sysfs::new(&self.class, &self.dev)
    }
}
