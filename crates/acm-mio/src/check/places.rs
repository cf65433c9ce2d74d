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
    /// Where systemd finds units, those of this machine first.
    pub(super) units: Vec<PathBuf>,
    /// `/etc/logrotate.d`.
    pub(super) rotations: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        let units = ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"];
        Self {
            class: "/sys/class".into(),
            dev: "/dev/infiniband".into(),
            status: "/proc/self/status".into(),
            units: units.map(PathBuf::from).into(),
            rotations: "/etc/logrotate.d".into(),
        }
    }
}

impl Places {
    pub(super) fn sysfs(&self) -> Sysfs {
        Sysfs::new(&self.class, &self.dev)
    }
}
