//! `/dev/infiniband/umadN`. The descriptor is a socket to the subnet's server, so that the kernel does `poll` and
//! `epoll`. This file has the calls that a socket does not support, or that need the checks of the umad driver.
//!
//! The facts are from Linux's `drivers/infiniband/core/user_mad.c` (ABI version 5).
#![expect(unsafe_code, reason = "replaces functions of the C library")]
use crate::{
    environment::Environment,
    errno::{minus_one, set_errno},
    next::next,
    segments,
};
use core::{
    ffi::{c_int, c_ulong, c_void},
    mem::{MaybeUninit, offset_of},
    slice,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};
use ib_mad::{MgmtClass, Wire, umad::UmadHeader};
use ib_sim::client;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};

/// Descriptors from this number on cannot be umad devices.
const MAX_FD: usize = 65_536;
/// Greatest number of agents of one file.
const AGENTS: u32 = 32;
/// Bytes of the shortest frame: the umad header, a MAD header and an RMPP header.
const MIN_FRAME: usize = size_of::<UmadHeader>() + 36;

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
const SUPPORTED_FLAGS: u32 = 1;

/// The state of one descriptor.
struct File {
    /// The socket's inode; 0 if the descriptor is not a umad device. After a descriptor was closed without `close` and
    /// its number used again, the inode differs.
    inode: AtomicU64,
    /// Bits 0 to 31: the registered agents. Bit 32: frames have a P_Key index.
    state: AtomicU64,
    /// True if the port sends no frame without a global route.
    grh_required: AtomicBool,
}

impl File {
    const fn new(inode: u64) -> Self {
        Self { inode: AtomicU64::new(inode), state: AtomicU64::new(0), grh_required: AtomicBool::new(false) }
    }
}

const PKEY_ON: u64 = 1 << 32;

static FILES: [File; MAX_FD] = [const { File::new(0) }; MAX_FD];

fn slot(fd: c_int) -> Option<&'static File> {
    let file = FILES.get(usize::try_from(fd).ok()?)?;
    (file.inode.load(Ordering::Acquire) != 0).then_some(file)
}

/// Returns the state of a descriptor if it is a umad device.
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
    // SAFETY: the call fills the structure or fails, also for a bad descriptor.
    unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init().st_ino) }
}

/// Opens the device of a port. Returns a descriptor, or -1 and errno.
pub(crate) fn open(host: &Environment, (device, port): (u8, u8), flags: c_int) -> c_int {
    let (socket, grh_required) = match client::open_umad(&host.socket, &host.device(device), port) {
        Ok(opened) => opened,
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
    // SAFETY: the descriptor belongs to `socket`; no memory is involved.
    unsafe {
        if flags & libc::O_NONBLOCK != 0 {
            libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK);
        }
        if flags & libc::O_CLOEXEC == 0 {
            libc::fcntl(fd, libc::F_SETFD, 0);
        }
    }
    file.state.store(0, Ordering::Relaxed);
    file.grh_required.store(grh_required, Ordering::Relaxed);
    file.inode.store(inode, Ordering::Release);
    socket.into_raw_fd()
}

/// The result of an `ioctl`, with the errno of a failure.
type IoctlResult = Result<(), c_int>;

impl File {
    /// Allocates the lowest free agent number. Every class, version and method mask is accepted.
    ///
    /// # Errors
    /// EINVAL for a queue pair other than 0 and 1; ENOMEM if all numbers are in use.
    fn register(&self, qpn: u32, flags: u64) -> Result<u32, c_int> {
        if qpn > 1 {
            return Err(libc::EINVAL);
        }
        let before = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            let id = (!state).trailing_zeros();
            (id < AGENTS).then(|| state | 1 << id | flags)
        });
        before.map(|before| (!before).trailing_zeros()).map_err(|_| libc::ENOMEM)
    }

    /// Registers an agent for requests of the methods in a mask. The kernel fails if another program at the port has
    /// one of the methods. This function cannot detect that: the first program continues to receive the requests.
    fn serve(&self, fd: c_int, agent: u32, class: u8, class_version: u8, methods: [u64; 2]) -> IoctlResult {
        if methods == [0; 2] {
            return Ok(());
        }
        // SAFETY: `file` compared the descriptor's inode before, so that it is open. Closing it in another thread at
        // the same time is a race in the program.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) };
        let served = client::register_umad_agent(socket, agent, MgmtClass::new(class), class_version, methods);
        served.map_err(|error| {
            self.state.fetch_and(!(1 << agent), Ordering::AcqRel);
            error.raw_os_error().unwrap_or(libc::EIO)
        })
    }

    fn unregister(&self, fd: c_int, id: u32) -> IoctlResult {
        let bit = 1u64.checked_shl(id).filter(|_| id < AGENTS).ok_or(libc::EINVAL)?;
        if self.state.fetch_and(!bit, Ordering::AcqRel) & bit == 0 {
            return Err(libc::EINVAL);
        }
        // SAFETY: `file` compared the descriptor's inode before, so that it is open. Closing it in another thread at
        // the same time is a race in the program.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) };
        client::unregister_umad_agent(socket, id).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }

    fn enable_pkey(&self) -> IoctlResult {
        // The kernel accepts it only as the first request.
        let first = self.state.compare_exchange(0, PKEY_ON, Ordering::AcqRel, Ordering::Acquire);
        first.map(drop).map_err(|_| libc::EINVAL)
    }

    /// Performs an `ioctl`.
    ///
    /// # Safety
    /// `argument` is the one that the request requires.
    unsafe fn control(&self, fd: c_int, request: u32, argument: *mut c_void) -> IoctlResult {
        if request == ENABLE_PKEY {
            return self.enable_pkey();
        }
        if argument.is_null() {
            return Err(libc::EFAULT);
        }
        // SAFETY: by the caller's promise `argument` is a structure of the request's size, which is part of its number.
        // It can be read and written, and may have any alignment.
        unsafe {
            match request {
                REGISTER_AGENT => {
                    let mut registration = argument.cast::<RegisterAgent>().read_unaligned();
                    registration.id = self.register(registration.qpn.into(), 0)?;
                    self.serve(
                        fd,
                        registration.id,
                        registration.mgmt_class,
                        registration.mgmt_class_version,
                        registration.method_mask,
                    )?;
                    argument.cast::<RegisterAgent>().write_unaligned(registration);
                }
                REGISTER_AGENT2 => {
                    let mut registration = argument.cast::<RegisterAgent2>().read_unaligned();
                    if registration.flags & !SUPPORTED_FLAGS != 0 {
                        // The kernel returns the flags that it supports.
                        registration.flags = SUPPORTED_FLAGS;
                        argument.cast::<RegisterAgent2>().write_unaligned(registration);
                        return Err(libc::EINVAL);
                    }
                    registration.id = self.register(registration.qpn, PKEY_ON)?;
                    self.serve(
                        fd,
                        registration.id,
                        registration.mgmt_class,
                        registration.mgmt_class_version,
                        registration.method_mask,
                    )?;
                    argument.cast::<RegisterAgent2>().write_unaligned(registration);
                }
                UNREGISTER_AGENT => return self.unregister(fd, argument.cast::<u32>().read_unaligned()),
                _ => return Err(libc::ENOTTY),
            }
        }
        Ok(())
    }

    /// Checks a frame as the kernel does before it sends it.
    fn check_frame(&self, frame: &[u8]) -> IoctlResult {
        let state = self.state.load(Ordering::Acquire);
        let (header, _) = UmadHeader::parse_prefix(frame).map_err(|_| libc::EINVAL)?;
        let agent = 1u64.checked_shl(header.id.get()).filter(|_| header.id.get() < AGENTS);
        let is_registered = agent.is_some_and(|bit| state & bit != 0);
        let has_route = header.grh_present != 0 || !self.grh_required.load(Ordering::Acquire);
        // The kernel accepts frames without a P_Key index from old programs. This library does not support them.
        (state & PKEY_ON != 0 && is_registered && has_route && frame.len() >= MIN_FRAME)
            .then_some(())
            .ok_or(libc::EINVAL)
    }
}

/// Replaces the C library's function of this name. The third argument is variadic in C: see `files.rs`.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    let Some(file) = file(fd) else {
        // SAFETY: the arguments are passed on unchanged.
        return unsafe { next!(c"ioctl", fn(fd => c_int, request => c_ulong, argument => *mut c_void) -> c_int, -1) };
    };
    // The kernel reads 32 bits of the number, and some callers extend the sign.
    let request = u32::try_from(request & 0xffff_ffff).unwrap_or_default();
    // SAFETY: the caller meets the requirements of the C library's function, so that the argument fits the request.
    minus_one(unsafe { file.control(fd, request, argument) })
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn write(fd: c_int, from: *const c_void, count: usize) -> isize {
    if let Some(file) = slot(fd).and_then(|_| file(fd)) {
        // SAFETY: the caller meets the requirements of the C library's function: `count` bytes can be read.
        let frame = unsafe { slice::from_raw_parts(from.cast::<u8>(), count) };
        if let Err(errno) = file.check_frame(frame) {
            set_errno(errno);
            return -1;
        }
    } else if count > size_of::<UmadHeader>()
        && let Some(frames) = {
            // SAFETY: the caller meets the requirements of the C library's function: `count` bytes can be read.
            segments::of_frame(unsafe { slice::from_raw_parts(from.cast::<u8>(), count) })
        }
    {
        for frame in frames {
            let (bytes, length) = (frame.as_ptr().cast::<c_void>(), frame.len());
            // SAFETY: the frame lives through the call.
            let written =
                unsafe { next!(c"write", fn(fd => c_int, bytes => *const c_void, length => usize) -> isize, -1) };
            if written < 0 {
                return written;
            }
        }
        return isize::try_from(count).unwrap_or(isize::MAX);
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { next!(c"write", fn(fd => c_int, from => *const c_void, count => usize) -> isize, -1) }
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn read(fd: c_int, to: *mut c_void, count: usize) -> isize {
    if slot(fd).and_then(|_| file(fd)).is_some() {
        if count < size_of::<UmadHeader>() {
            set_errno(libc::EINVAL);
            return -1;
        }
        // SAFETY: the caller meets the requirements of the C library's function: `count` bytes may be written.
        return unsafe { read_frame(fd, to, count) };
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { next!(c"read", fn(fd => c_int, to => *mut c_void, count => usize) -> isize, -1) }
}

/// Reads a frame. A frame longer than `count` stays in the queue: its beginning is copied and errno is ENOSPC. The
/// caller can read the length from the header and retry with a longer buffer.
///
/// # Safety
/// `count` bytes may be written to `to`.
unsafe fn read_frame(fd: c_int, to: *mut c_void, count: usize) -> isize {
    // SAFETY: by the caller's promise `count` bytes may be written to `to`.
    let length = unsafe { libc::recv(fd, to, count, libc::MSG_PEEK | libc::MSG_TRUNC) };
    match usize::try_from(length) {
        Ok(length) if length > count => {
            set_errno(libc::ENOSPC);
            -1
        }
        // 0: the server closed the connection, as if the device were unplugged.
        Ok(0) => {
            set_errno(libc::EIO);
            -1
        }
        // SAFETY: by the caller's promise `count` bytes may be written to `to`.
        Ok(_) => unsafe { libc::recv(fd, to, count, 0) },
        Err(_) => length,
    }
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Some(file) = slot(fd) {
        file.inode.store(0, Ordering::Release);
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { next!(c"close", fn(fd => c_int) -> c_int, -1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::as_bytes;

    #[test]
    fn agent_gets_the_lowest_free_number() {
        let file = File::new(1);
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
    fn frame_without_agent_or_too_short_is_rejected() {
        let file = File::new(1);
        let frame = [as_bytes(&UmadHeader::default()), &[0; 36]].concat();
        assert_eq!(file.check_frame(&frame), Err(libc::EINVAL));
        file.register(0, PKEY_ON).unwrap();
        assert_eq!(file.check_frame(&frame), Ok(()));
        assert_eq!(file.check_frame(&frame[1..]), Err(libc::EINVAL));
        let other = UmadHeader { id: 40.into(), ..UmadHeader::default() };
        assert_eq!(file.check_frame(&[as_bytes(&other), &[0; 36]].concat()), Err(libc::EINVAL));
    }

    #[test]
    fn frame_without_a_global_route_is_rejected_at_a_port_that_requires_one() {
        let file = File { grh_required: AtomicBool::new(true), ..File::new(1) };
        file.register(1, PKEY_ON).unwrap();
        let check = |grh_present| {
            let header = UmadHeader { grh_present, ..UmadHeader::default() };
            file.check_frame(&[as_bytes(&header), &[0; 36]].concat())
        };
        assert_eq!((check(0), check(1)), (Err(libc::EINVAL), Ok(())));
    }

    #[test]
    fn structures_have_the_sizes_in_the_request_numbers() {
        assert_eq!(REGISTER_AGENT >> 16 & 0x3fff, u32::try_from(size_of::<RegisterAgent>()).unwrap());
        assert_eq!(REGISTER_AGENT2 >> 16 & 0x3fff, u32::try_from(size_of::<RegisterAgent2>()).unwrap());
        assert_eq!(offset_of!(RegisterAgent, qpn), 20);
    }
}
