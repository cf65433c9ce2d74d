//! Paths that the checks read.
use ib_device::sysfs::Sysfs;
use std::path::PathBuf;

/// Paths that the checks read; tests use others.
#[derive(Debug)]
pub(super) struct Paths {
    /// `/sys/class`.
    pub(super) class: PathBuf,
    /// `/dev/infiniband`.
    pub(super) dev: PathBuf,
    /// `/proc/self/status`.
    pub(super) status: PathBuf,
    /// Directories of systemd's units, in the order of their precedence.
    pub(super) units: Vec<PathBuf>,
    /// The administrator's udev rule in place of the package's.
    pub(super) udev_override: PathBuf,
    /// `/etc/logrotate.d`.
    pub(super) rotations: PathBuf,
}

impl Default for Paths {
    fn default() -> Self {
        let units = ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"];
        Self {
            class: "/sys/class".into(),
            dev: "/dev/infiniband".into(),
            status: "/proc/self/status".into(),
            units: units.map(PathBuf::from).into(),
            udev_override: "/etc/udev/rules.d/60-acm-mio.rules".into(),
            rotations: "/etc/logrotate.d".into(),
        }
    }
}

impl Paths {
    pub(super) fn sysfs(&self) -> Sysfs {
        Sysfs::new(&self.class, &self.dev)
    }
}
