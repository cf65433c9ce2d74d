//! Scanning all devices.
use super::{Device, UmadFile, files::Dir, port};
use crate::{Error, LinkLayer, Result};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The directories of sysfs and of the device files. The default is `/sys/class` and `/dev/infiniband`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sysfs {
    class: PathBuf,
    dev: PathBuf,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub struct Scan {
    /// The devices in the order of their names (`mlx5_2` before `mlx5_10`).
    pub devices: Vec<Device>,
    /// Devices that could not be read, with the errors. Excludes devices that were removed during the scan.
    pub failures: Vec<(String, Error)>,
}

/// An entry of `infiniband_mad`: the device and port of a umad file.
struct UmadEntry {
    device: String,
    port: u8,
    file: UmadFile,
}

impl Default for Sysfs {
    fn default() -> Self {
        Self::new("/sys/class", "/dev/infiniband")
    }
}

impl Sysfs {
    /// Uses the directories `infiniband`, `infiniband_mad` and `infiniband_verbs` in `class`, and the character devices
    /// in `dev`.
    pub fn new(class: impl Into<PathBuf>, dev: impl Into<PathBuf>) -> Self {
        Self { class: class.into(), dev: dev.into() }
    }

    /// Returns the names of the devices that have an InfiniBand port, in their order. It does not wait for firmware, as
    /// reading a device may. A device whose ports cannot be read is one of them, so that reading it gives the error.
    ///
    /// # Errors
    /// [`Error::File`] if the class directory exists and cannot be listed.
    pub fn infiniband_names(&self) -> Result<Vec<String>> {
        let has_infiniband = |name: &String| {
            let ports = self.class.join("infiniband").join(name).join("ports");
            let is_infiniband = |number: u8| {
                port::link_layer(Dir(&Dir(&ports).join(&number.to_string())))
                    .map_or(true, |layer| layer == LinkLayer::InfiniBand)
            };
            Dir(&ports).numbers().map_or(true, |numbers| numbers.into_iter().any(is_infiniband))
        };
        Ok(self.names()?.into_iter().filter(has_infiniband).collect())
    }

    /// Returns the names of all devices in their order (`mlx5_2` before `mlx5_10`), without reading the devices: reading
    /// may wait for their firmware.
    ///
    /// # Errors
    /// [`Error::File`] if the class directory exists and cannot be listed.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = Dir(&self.class.join("infiniband")).names()?;
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        Ok(names)
    }

    /// Reads all devices. Without an RDMA driver, the result is empty.
    ///
    /// # Errors
    /// [`Error::File`] if a class directory exists and cannot be listed. Errors of one device are in
    /// [`Scan::failures`].
    pub fn scan(&self) -> Result<Scan> {
        let mut scan = Scan::default();
        let umads = self.umads()?;
        let uverbs = self.uverbs()?;
        for name in self.names()? {
            match self.read(&name, &umads, &uverbs) {
                Ok(Some(device)) => scan.devices.push(device),
                Ok(None) => {}
                Err(error) => scan.failures.push((name, error)),
            }
        }
        Ok(scan)
    }

    /// Reads one device, for example after an event. Returns `None` if the device does not exist.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Text`] if the device cannot be read.
    pub fn device(&self, name: &str) -> Result<Option<Device>> {
        self.read(name, &self.umads()?, &self.uverbs()?)
    }

    fn read(&self, name: &str, umads: &[UmadEntry], uverbs: &[(String, PathBuf)]) -> Result<Option<Device>> {
        let dir = self.class.join("infiniband").join(name);
        let mut device = match Device::read(Dir(&dir), name) {
            Ok(device) => device,
            Err(error) if is_absent(&error) && !dir.exists() => return Ok(None),
            Err(error) => return Err(error),
        };
        device.uverbs = uverbs.iter().find(|(of, _)| of == name).map(|(_, path)| path.clone());
        for port in &mut device.ports {
            let umad = umads.iter().find(|umad| umad.device == name && umad.port == port.number);
            port.umad = umad.map(|umad| umad.file.clone());
        }
        Ok(Some(device))
    }

    fn umads(&self) -> Result<Vec<UmadEntry>> {
        let read = |dir: Dir<'_>, name: &str| {
            let file = UmadFile { name: name.into(), path: self.dev.join(name) };
            let port = dir.value("port", "port number", super::files::number)?;
            Ok(UmadEntry { device: dir.text("ibdev")?, port, file })
        };
        entries(&self.class.join("infiniband_mad"), "umad", read)
    }

    fn uverbs(&self) -> Result<Vec<(String, PathBuf)>> {
        let read = |dir: Dir<'_>, name: &str| Ok((dir.text("ibdev")?, self.dev.join(name)));
        entries(&self.class.join("infiniband_verbs"), "uverbs", read)
    }
}

/// Returns the entries of a class with this prefix. The prefix excludes other entries such as `abi_version` and
/// `issmN`. An entry that is removed during the scan is left out.
fn entries<T>(class: &Path, prefix: &str, read: impl Fn(Dir<'_>, &str) -> Result<T>) -> Result<Vec<T>> {
    let mut found = Vec::new();
    for name in Dir(class).names()?.iter().filter(|name| name.starts_with(prefix)) {
        match read(Dir(&class.join(name)), name) {
            Ok(entry) => found.push(entry),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// True if a file does not exist, or its device was removed while the file was open.
fn is_absent(error: &Error) -> bool {
    let Error::File { source, .. } = error else { return false };
    source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(nix::libc::ENODEV)
}

/// Returns a sort key that compares the number at the end of a name as a number.
fn natural(name: &str) -> (&str, u64, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name.get(stem.len()..).and_then(|digits| digits.parse().ok()).unwrap_or(0), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc::{EACCES, ENODEV, ENOENT};

    #[test]
    fn file_of_a_removed_device_is_absent() {
        let absent = |errno| is_absent(&Error::file(Path::new("lid"))(io::Error::from_raw_os_error(errno)));
        assert!(absent(ENODEV) && absent(ENOENT) && !absent(EACCES));
        assert!(!is_absent(&Error::Gone));
    }
}
