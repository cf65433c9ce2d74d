//! `/dev/infiniband/umadN`: the descriptor is a socket to the subnet's server, so that `poll`, `epoll` and `read` are the
//! kernel's own; here are the calls that a socket does not have.
//!
//! Facts are those of Linux's `drivers/infiniband/core/user_mad.c` (ABI version 5).
#![expect(unsafe_code, reason = "stands in for functions of the C library")]
use crate::{
    environment::Environment,
    next::{next, set_errno},
};
use core::{
    ffi::{c_int, c_ulong, c_void},
    mem::{MaybeUninit, offset_of},
    slice,
    sync::atomic::{AtomicU64, Ordering},
};
use ib_mad::{MgmtClass, Wire, umad::UmadHeader};
use ib_sim::client;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};

/// Descriptors from here on cannot be umad devices.
const MAX_FD: usize = 65_536;
/// Agents of one file.
const AGENTS: u32 = 32;
/// Shortest frame: a MAD header and an RMPP header behind the frame's own.
const SHORTEST: usize = size_of::<UmadHeader>() + 36;

const REGISTER_AGENT: u32 = 0xc01c_1b01;
const UNREGISTER_AGENT: u32 = 0x4004_1b02;
const ENABLE_PKEY: u32 = 0x1b03;
const REGISTER_AGENT2: u32 = 0xc028_1b04;

/// `struct ib_user_mad_reg_req`.
#[repr(C, packed(4))]
struct RegisterAgent {
    id: u32,
    method_mask: [u64; 2],
    qpn: u8,
    mgmt_class: u8,
    mgmt_class_version: u8,
    oui: [u8; 3],
    rmpp_version: u8,
    padding: u8,
}
const _: () = assert!(size_of::<RegisterAgent>() == 28);

/// `struct ib_user_mad_reg_req2`.
#[repr(C)]
struct RegisterAgent2 {
    id: u32,
    qpn: u32,
    mgmt_class: u8,
    mgmt_class_version: u8,
    reserved: u16,
    flags: u32,
    method_mask: [u64; 2],
    oui: u32,
    rmpp_version: u8,
    reserved2: [u8; 3],
}
const _: () = assert!(size_of::<RegisterAgent2>() == 40 && offset_of!(RegisterAgent2, method_mask) == 16);
/// `IB_USER_MAD_REG_FLAGS_CAP`: the program may handle RMPP itself.
const KNOWN_FLAGS: u32 = 1;

/// One descriptor. An inode of 0: not a umad device.
struct File {
    /// The socket's inode: a number that was closed behind our back may be another file's by now.
    inode: AtomicU64,
    /// Agents as a bit set; bit 32: frames with a P_Key index are on.
    state: AtomicU64,
}

const PKEY_ON: u64 = 1 << 32;

static FILES: [File; MAX_FD] = [const { File { inode: AtomicU64::new(0), state: AtomicU64::new(0) } }; MAX_FD];

fn slot(fd: c_int) -> Option<&'static File> {
    let file = FILES.get(usize::try_from(fd).ok()?)?;
    (file.inode.load(Ordering::Acquire) != 0).then_some(file)
}

/// The umad device behind a descriptor.
fn file(fd: c_int) -> Option<&'static File> {
    let file = slot(fd)?;
    if inode(fd) == Some(file.inode.load(Ordering::Acquire)) {
        return Some(file);
    }
    file.inode.store(0, Ordering::Release);
    None
}

fn inode(fd: c_int) -> Option<u64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call fills the structure or fails; it does not mind a bad descriptor.
    unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init().st_ino) }
}

/// Opens the device of a port: a descriptor, or -1 and errno.
pub(crate) fn open(at: &Environment, (device, port): (u8, u8), flags: c_int) -> c_int {
    let socket = match client::open_umad(&at.socket, &at.device(device), port) {
        Ok(socket) => socket,
        Err(client::ClientError::Refused(_)) => {
            set_errno(libc::ENOENT);
            return -1;
        }
        Err(_) => {
            set_errno(libc::ENODEV);
            return -1;
        }
    };
    let fd = socket.as_raw_fd();
    let file = usize::try_from(fd).ok().and_then(|fd| FILES.get(fd));
    let (Some(file), Some(inode)) = (file, inode(fd)) else {
        set_errno(libc::EMFILE);
        return -1;
    };
    // SAFETY: flags of our own descriptor are set; no memory is involved.
    unsafe {
        if flags & libc::O_NONBLOCK != 0 {
            libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK);
        }
        if flags & libc::O_CLOEXEC == 0 {
            libc::fcntl(fd, libc::F_SETFD, 0);
        }
    }
    file.state.store(0, Ordering::Relaxed);
    file.inode.store(inode, Ordering::Release);
    socket.into_raw_fd()
}

/// What an `ioctl` comes to: 0, or errno.
type Outcome = Result<(), c_int>;

impl File {
    /// Takes the lowest free agent number. Any class, version and method mask will do: nobody else has agents here.
    fn register(&self, qpn: u32, flags: u64) -> Result<u32, c_int> {
        if qpn > 1 {
            return Err(libc::EINVAL);
        }
        let taken = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            let id = (!state).trailing_zeros();
            (id < AGENTS).then(|| state | 1 << id | flags)
        });
        taken.map(|before| (!before).trailing_zeros()).map_err(|_| libc::ENOMEM)
    }

    /// Lets requests of the methods in a mask come to an agent. Unlike the kernel, this cannot say that another program
    /// at the port has one of them: the one that was first goes on having it.
    fn serve(&self, fd: c_int, agent: u32, class: u8, class_version: u8, methods: [u64; 2]) -> Outcome {
        if methods == [0; 2] {
            return Ok(());
        }
        // SAFETY: as in `unregister`.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) };
        let served = client::serve_umad_agent(socket, agent, MgmtClass::new(class), class_version, methods);
        served.map_err(|error| {
            self.state.fetch_and(!(1 << agent), Ordering::AcqRel);
            error.raw_os_error().unwrap_or(libc::EIO)
        })
    }

    fn unregister(&self, fd: c_int, id: u32) -> Outcome {
        let bit = 1u64.checked_shl(id).filter(|_| id < AGENTS).ok_or(libc::EINVAL)?;
        if self.state.fetch_and(!bit, Ordering::AcqRel) & bit == 0 {
            return Err(libc::EINVAL);
        }
        // SAFETY: the descriptor is open: its inode was looked at just now, and closing it meanwhile is the caller's
        // own race.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) };
        client::forget_umad_agent(socket, id).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }

    fn enable_pkey(&self) -> Outcome {
        // Only before anything else, as in the kernel.
        let unused = self.state.compare_exchange(0, PKEY_ON, Ordering::AcqRel, Ordering::Acquire);
        unused.map(drop).map_err(|_| libc::EINVAL)
    }

    /// # Safety
    /// `argument` is what the request takes.
    unsafe fn control(&self, fd: c_int, request: u32, argument: *mut c_void) -> Outcome {
        if request == ENABLE_PKEY {
            return self.enable_pkey();
        }
        if argument.is_null() {
            return Err(libc::EFAULT);
        }
        // SAFETY: the caller's promise: a structure of the request's size (part of its number) to read and write, of
        // any alignment.
        unsafe {
            match request {
                REGISTER_AGENT => {
                    let mut asked = argument.cast::<RegisterAgent>().read_unaligned();
                    asked.id = self.register(asked.qpn.into(), 0)?;
                    self.serve(fd, asked.id, asked.mgmt_class, asked.mgmt_class_version, asked.method_mask)?;
                    argument.cast::<RegisterAgent>().write_unaligned(asked);
                }
                REGISTER_AGENT2 => {
                    let mut asked = argument.cast::<RegisterAgent2>().read_unaligned();
                    if asked.flags & !KNOWN_FLAGS != 0 {
                        // The kernel tells what it knows.
                        asked.flags = KNOWN_FLAGS;
                        argument.cast::<RegisterAgent2>().write_unaligned(asked);
                        return Err(libc::EINVAL);
                    }
                    asked.id = self.register(asked.qpn, PKEY_ON)?;
                    self.serve(fd, asked.id, asked.mgmt_class, asked.mgmt_class_version, asked.method_mask)?;
                    argument.cast::<RegisterAgent2>().write_unaligned(asked);
                }
                UNREGISTER_AGENT => return self.unregister(fd, argument.cast::<u32>().read_unaligned()),
                _ => return Err(libc::ENOTTY),
            }
        }
        Ok(())
    }

    /// Whether the kernel would take a frame.
    fn admits(&self, frame: &[u8]) -> Outcome {
        let state = self.state.load(Ordering::Acquire);
        let (header, _) = UmadHeader::parse_prefix(frame).map_err(|_| libc::EINVAL)?;
        let known = 1u64.checked_shl(header.id.get()).filter(|_| header.id.get() < AGENTS);
        let known = known.is_some_and(|bit| state & bit != 0);
        // Frames without a P_Key index, which the kernel takes from old programs, are not for us.
        (state & PKEY_ON != 0 && known && frame.len() >= SHORTEST).then_some(()).ok_or(libc::EINVAL)
    }
}

/// Stands in for the C library's function of this name. The third argument is variadic in C: see `files.rs`.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    let Some(file) = file(fd) else {
        // SAFETY: handed on as it came.
        return unsafe { next!(c"ioctl", fn(fd => c_int, request => c_ulong, argument => *mut c_void) -> c_int, -1) };
    };
    // The kernel looks at 32 bits of it, and some callers extend the sign.
    let request = u32::try_from(request & 0xffff_ffff).unwrap_or_default();
    // SAFETY: the caller keeps the C library's rules, so that the argument is the request's.
    match unsafe { file.control(fd, request, argument) } {
        Ok(()) => 0,
        Err(errno) => {
            set_errno(errno);
            -1
        }
    }
}

/// Stands in for the C library's function of this name.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn write(fd: c_int, from: *const c_void, count: usize) -> isize {
    if let Some(file) = slot(fd).and_then(|_| file(fd)) {
        // SAFETY: the caller keeps the C library's rules: so many bytes are there.
        let frame = unsafe { slice::from_raw_parts(from.cast::<u8>(), count) };
        if let Err(errno) = file.admits(frame) {
            set_errno(errno);
            return -1;
        }
    }
    // SAFETY: handed on as it came.
    unsafe { next!(c"write", fn(fd => c_int, from => *const c_void, count => usize) -> isize, -1) }
}

/// Stands in for the C library's function of this name.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn read(fd: c_int, to: *mut c_void, count: usize) -> isize {
    if slot(fd).and_then(|_| file(fd)).is_some() {
        if count < size_of::<UmadHeader>() {
            set_errno(libc::EINVAL);
            return -1;
        }
        // SAFETY: the caller keeps the C library's rules: so many bytes may be written.
        return unsafe { read_frame(fd, to, count) };
    }
    // SAFETY: handed on as it came.
    unsafe { next!(c"read", fn(fd => c_int, to => *mut c_void, count => usize) -> isize, -1) }
}

/// Reads a frame. One that does not fit stays there: its beginning is copied and errno is ENOSPC, so that the caller
/// can take its length from the header and come with more room.
///
/// # Safety
/// `count` bytes may be written to `to`.
unsafe fn read_frame(fd: c_int, to: *mut c_void, count: usize) -> isize {
    // SAFETY: the caller gives `count` bytes at `to` that may be written through this call; no more are.
    let length = unsafe { libc::recv(fd, to, count, libc::MSG_PEEK | libc::MSG_TRUNC) };
    match usize::try_from(length) {
        Ok(length) if length > count => {
            set_errno(libc::ENOSPC);
            -1
        }
        // 0: the server is gone, as if the device were unplugged.
        Ok(0) => {
            set_errno(libc::EIO);
            -1
        }
        // SAFETY: the caller gives `count` bytes at `to` that may be written through this call; no more are.
        Ok(_) => unsafe { libc::recv(fd, to, count, 0) },
        Err(_) => length,
    }
}

/// Stands in for the C library's function of this name.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Some(file) = slot(fd) {
        file.inode.store(0, Ordering::Release);
    }
    // SAFETY: handed on as it came.
    unsafe { next!(c"close", fn(fd => c_int) -> c_int, -1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::as_bytes;

    const fn new_file() -> File {
        File { inode: AtomicU64::new(1), state: AtomicU64::new(0) }
    }

    #[test]
    fn agents_are_numbered_from_the_lowest_free_one() {
        let file = new_file();
        file.enable_pkey().unwrap();
        assert_eq!(file.enable_pkey(), Err(libc::EINVAL));
        assert_eq!(file.register(2, 0), Err(libc::EINVAL));
        for id in 0..32 {
            assert_eq!(file.register(1, 0), Ok(id));
        }
        assert_eq!(file.register(1, 0), Err(libc::ENOMEM));
        assert_eq!(file.unregister(-1, 32), Err(libc::EINVAL));
    }

    #[test]
    fn frames_need_an_agent_and_a_length() {
        let file = new_file();
        let frame = [as_bytes(&UmadHeader::default()), &[0; 36]].concat();
        assert_eq!(file.admits(&frame), Err(libc::EINVAL));
        file.register(0, PKEY_ON).unwrap();
        assert_eq!(file.admits(&frame), Ok(()));
        assert_eq!(file.admits(&frame[1..]), Err(libc::EINVAL));
        let other = UmadHeader { id: 40.into(), ..UmadHeader::default() };
        assert_eq!(file.admits(&[as_bytes(&other), &[0; 36]].concat()), Err(libc::EINVAL));
    }

    #[test]
    fn layouts_have_the_sizes_in_the_request_numbers() {
        assert_eq!(REGISTER_AGENT >> 16 & 0x3fff, u32::try_from(size_of::<RegisterAgent>()).unwrap());
        assert_eq!(REGISTER_AGENT2 >> 16 & 0x3fff, u32::try_from(size_of::<RegisterAgent2>()).unwrap());
        assert_eq!(offset_of!(RegisterAgent, qpn), 20);
    }
}
