//! Mappings of sealed files in memory.
#![expect(unsafe_code, reason = "mmap and munmap")]
use crate::{
    layout::Layout,
    memory::{Memory, Words},
    reader::{Invalid, Reader},
    sync::AtomicU64,
    time::Time,
    writer::{Identity, Writer},
};
use core::{ptr, ptr::NonNull, slice};
use rustix::{
    fs::{
        FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags, fallocate, fchmod, fcntl_add_seals, fcntl_get_seals,
        fstat, memfd_create, open,
    },
    io::{Errno, retry_on_intr},
    mm::{MapFlags, ProtFlags, mmap, munmap},
};
use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};
use thiserror::Error;

/// A mapped file, which cannot become shorter.
#[derive(Debug)]
struct Mapping {
    start: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the mapping belongs to no thread, and atomics can be used by all threads.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `words` words of a file that is sealed against shrinking and has that length.
    fn new(file: impl AsFd, words: usize, access: ProtFlags) -> io::Result<Self> {
        let length = words.checked_mul(size_of::<AtomicU64>()).ok_or(Errno::FBIG)?;
        // SAFETY: without an address the kernel chooses one where nothing is mapped.
        let start = unsafe { mmap(ptr::null_mut(), length, access, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { start, words })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: `new` mapped this many words, and only `drop` unmaps them. Every value of eight bytes is a valid
        // `AtomicU64`, and the start of a page is aligned. The file cannot become shorter, so every word can be
        // accessed. Other processes change words only by atomic stores; whatever else they do, every load here is
        // atomic. Of read-only words there are only relaxed loads, because `Memory` cannot be used outside of this
        // crate.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this range. References to its words borrow the mapping.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.words * size_of::<AtomicU64>()) };
    }
}

/// Memory of a writer: a file without a name that readers can map, but neither change nor truncate.
#[derive(Debug)]
pub struct Shared {
    mapping: Mapping,
    /// The file, opened for reading.
    file: OwnedFd,
}

impl Memory for Shared {}
impl Words for Shared {
    fn words(&self) -> &[AtomicU64] {
        self.mapping.words()
    }
}

/// Memory of a reader.
#[derive(Debug)]
pub struct ReadOnly(Mapping);

impl Memory for ReadOnly {}
impl Words for ReadOnly {
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        self.0.words()
    }
}

/// Reason why a file cannot be mapped as a cache.
#[derive(Debug, Error)]
pub enum MapError {
    /// The system rejects the mapping, or the file has no seals.
    #[error("cannot map the cache of path records")]
    System(#[from] io::Error),
    /// The file could become shorter, which would end the program.
    #[error("the file of the cache is not sealed against shrinking")]
    NotSealed,
    /// The file has other contents.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Writer<Shared> {
    /// Creates a mapping with room for `room` keys. All of its memory is allocated now: who allocates a page pays for it,
    /// and may page it out. Later calls would wait for the lock of the file, which readers can take.
    ///
    /// # Errors
    /// If the room is 0 or too large, the system has not enough memory or descriptors, or `/proc` is not mounted.
    pub fn create(room: usize, identity: Identity, now: Time) -> io::Result<Self> {
        let layout = Layout::new(room).ok_or(Errno::INVAL)?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Linux before 6.3 rejects NOEXEC_SEAL.
        let create = |flags| memfd_create("ibacm.cache", flags);
        let file = create(flags | MemfdFlags::NOEXEC_SEAL).or_else(|_| create(flags))?;
        // Who may open the file for writing may page it out (MADV_PAGEOUT), and the writer would wait for the disk.
        fchmod(&file, Mode::RUSR)?;
        let length = u64::try_from(layout.words()).unwrap_or(u64::MAX).saturating_mul(8);
        retry_on_intr(|| fallocate(&file, FallocateFlags::empty(), 0, length))?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
        let mapping = Mapping::new(&file, layout.words(), ProtFlags::READ | ProtFlags::WRITE)?;
        // From now on nobody can map the file for writing, or write to it.
        fcntl_add_seals(&file, SealFlags::FUTURE_WRITE | SealFlags::SEAL)?;
        // A reader with a descriptor for writing could hold the lock of the file for long (fallocate).
        let name = format!("/proc/self/fd/{}", file.as_raw_fd());
        let file = open(name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self::new(Shared { mapping, file }, layout, identity, now))
    }

    /// Returns the file, to be passed to readers.
    #[must_use]
    pub fn file(&self) -> BorrowedFd<'_> {
        self.memory().file.as_fd()
    }
}

impl Reader<ReadOnly> {
    /// Maps the file of a writer.
    ///
    /// # Errors
    /// If the file is not sealed, cannot be mapped, or has other contents.
    pub fn map(file: impl AsFd) -> Result<Self, MapError> {
        if !fcntl_get_seals(&file).map_err(io::Error::from)?.contains(SealFlags::SHRINK) {
            return Err(MapError::NotSealed);
        }
        let length = fstat(&file).map_err(io::Error::from)?.st_size;
        let words = usize::try_from(length).unwrap_or(0) / size_of::<AtomicU64>();
        if words == 0 {
            return Err(Invalid::Magic.into());
        }
        Ok(Self::new(ReadOnly(Mapping::new(&file, words, ProtFlags::READ)?))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Lookup,
        tests::{LATER, NOW, identity, key, path},
    };
    use rustix::fs::memfd_create;
    use std::{fs::File, io::Write, os::unix::fs::MetadataExt};

    #[test]
    #[cfg_attr(miri, ignore = "no mmap of files")]
    fn mapped_file_follows_its_writer_and_outlives_it() {
        let mut writer = Writer::create(16, identity(1), NOW).unwrap();
        let readers = [0, 1].map(|_| Reader::map(writer.file()).unwrap());
        for number in 0..5 {
            writer.insert(&key(1), &path(number), LATER).unwrap();
            assert!(readers.iter().all(|reader| reader.lookup(&key(1), NOW) == Lookup::Path(path(number))));
        }
        drop(writer);
        assert!(readers.iter().all(|reader| reader.lookup(&key(1), NOW) == Lookup::Path(path(4))));
        assert!(Writer::create(0, identity(1), NOW).is_err());
        assert!(Writer::create(u32::MAX as usize, identity(1), NOW).is_err());
    }

    /// `shared_cache off` and the end of a client free the memory.
    #[test]
    #[cfg_attr(miri, ignore = "no mmap of files")]
    fn dropped_writers_and_readers_keep_no_memory() {
        let writer = Writer::create(16, identity(1), NOW).unwrap();
        // As long as this descriptor is open, no other file has this number.
        let file = File::from(writer.file().try_clone_to_owned().unwrap());
        let inode = file.metadata().unwrap().ino();
        let mappings = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let is_it = |line: &&str| line.split_whitespace().nth(4) == Some(inode.to_string().as_str());
            maps.lines().filter(|line| line.contains("ibacm.cache")).filter(is_it).count()
        };
        let descriptors = || {
            let files = std::fs::read_dir("/proc/self/fd").unwrap();
            let all = files.filter_map(|entry| std::fs::metadata(entry.ok()?.path()).ok());
            all.filter(|other| other.ino() == inode && other.dev() == file.metadata().unwrap().dev()).count()
        };
        let reader = Reader::map(writer.file()).unwrap();
        assert_eq!((mappings(), descriptors()), (2, 2));
        drop(writer);
        assert_eq!((mappings(), descriptors()), (1, 1));
        drop(reader);
        assert_eq!((mappings(), descriptors()), (0, 1));
    }

    #[test]
    #[cfg_attr(miri, ignore = "no mmap of files")]
    fn reader_cannot_change_the_file_or_hold_its_lock() {
        let writer = Writer::create(16, identity(1), NOW).unwrap();
        let (file, status) = (writer.file(), fstat(writer.file()).unwrap());
        assert_eq!(status.st_size, 640 + 8 * 64 + 16 * 128 + 16 * 32);
        let refused = Mapping::new(file, 16, ProtFlags::READ | ProtFlags::WRITE).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(rustix::io::write(file, &[1]), Err(Errno::BADF));
        assert_eq!(fallocate(file, FallocateFlags::empty(), 0, 8), Err(Errno::BADF));
        // Also for who may open it for writing.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        assert!(fcntl_get_seals(file).unwrap().contains(seals));
    }

    /// A reader that allocated a page would pay for it, and could page it out.
    #[test]
    #[cfg_attr(miri, ignore = "no mmap of files")]
    fn all_memory_is_allocated_from_the_start() {
        let writer = Writer::create(32_768, identity(1), NOW).unwrap();
        let status = fstat(writer.file()).unwrap();
        assert!(status.st_blocks * 512 >= status.st_size, "{} of {} bytes", status.st_blocks * 512, status.st_size);
    }

    #[test]
    #[cfg_attr(miri, ignore = "no mmap of files")]
    fn file_may_be_opened_by_its_owner_only() {
        let writer = Writer::create(16, identity(1), NOW).unwrap();
        assert_eq!(fstat(writer.file()).unwrap().st_mode & 0o777, 0o400);
    }

    #[test]
    #[cfg_attr(miri, ignore = "no mmap of files")]
    fn other_files_are_refused() {
        let sealed = |bytes: &[u8], seals| {
            let mut file = File::from(memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap());
            file.write_all(bytes).unwrap();
            fcntl_add_seals(&file, seals).unwrap();
            Reader::map(&file).unwrap_err()
        };
        assert!(matches!(sealed(&[0; 4096], SealFlags::GROW), MapError::NotSealed));
        assert!(matches!(sealed(&[0; 4096], SealFlags::SHRINK), MapError::Invalid(Invalid::Magic)));
        assert!(matches!(sealed(&[0; 7], SealFlags::SHRINK), MapError::Invalid(Invalid::Magic)));
        assert!(matches!(Reader::map(File::open("/proc/version").unwrap()), Err(MapError::System(_))));
    }
}
