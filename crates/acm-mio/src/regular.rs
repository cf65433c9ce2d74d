//! Opens only regular files and `/dev/null`, because reading a pipe would block the loop until its writers close it.
use nix::{
    libc,
    sys::statfs::{DEBUGFS_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC, Statfs, TRACEFS_MAGIC, fstatfs, statfs},
    unistd::{AccessFlags, access},
};
use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

/// `/dev/null` (Linux's devices.txt), which administrators use for an empty file.
const NULL_DEVICE: u64 = libc::makedev(1, 3);

/// Identity of a file and of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(file: &Metadata) -> Self {
        Self {
            inode: (file.dev(), file.ino()),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

/// State of a path: the identity of its file, or the reason why there is no file.
pub(crate) type State = Result<Stamp, io::ErrorKind>;

/// Returns the state of a path.
pub(crate) fn state(path: &Path) -> State {
    metadata(path).map(|file| Stamp::of(&file)).map_err(|error| error.kind())
}

/// Returns the metadata of a regular file.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    let metadata = only(std::fs::metadata(path)?)?;
    not_of_the_kernel(statfs(path))?;
    Ok(metadata)
}

/// Reports whether a file could be created, or replaced by another, at this path: its directory can be written.
pub(crate) fn can_create(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    Ok(access(folder, AccessFlags::W_OK | AccessFlags::X_OK)?)
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    // The type is checked before opening, because opening a device may have an effect. O_NONBLOCK is set because a pipe
    // may have replaced the file since the check.
    metadata(path)?;
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = only(file.metadata()?)?;
    not_of_the_kernel(fstatfs(&file))?;
    Ok((file, metadata))
}

/// Fails for a file of the kernel, such as `/proc/kmsg`. It is regular by its type, but reading may remove its content, or
/// wait.
fn not_of_the_kernel(found: nix::Result<Statfs>) -> io::Result<()> {
    let kernels = [PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC];
    if kernels.contains(&found?.filesystem_type()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a file of the kernel"));
    }
    Ok(())
}

fn only(metadata: Metadata) -> io::Result<Metadata> {
    let is_null = metadata.file_type().is_char_device() && metadata.rdev() == NULL_DEVICE;
    if metadata.is_file() || is_null {
        Ok(metadata)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_not_opened() {
        for path in ["/proc/version", "/sys/kernel/uevent_seqnum"] {
            let error = open(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path}: {error}");
            assert_eq!(state(Path::new(path)), Err(io::ErrorKind::InvalidInput), "{path}");
        }
        // A link of /proc to another file, as shells make for `<(...)` and `/dev/stdin`.
        let file = tempfile::tempfile().unwrap();
        open(Path::new(&format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file)))).unwrap();
        open(Path::new("/dev/null")).unwrap();
    }
}
