//! What the kernel says about devices that come and go: a NETLINK_KOBJECT_UEVENT socket is one to the subnet's server,
//! which says it in the kernel's words. Messages about the machine's own devices do not come.
//!
//! The calls that a unix socket does not have are here: `bind` to a netlink group, and `recvfrom` with a sender.
#![expect(unsafe_code, reason = "stands in for functions of the C library")]
use crate::{
    environment,
    next::{next, set_errno},
};
use core::{
    ffi::{c_int, c_void},
    mem::{self, MaybeUninit},
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};
use ib_sim::{client, proto::UEVENTS_LOST};
use std::os::fd::{AsRawFd, IntoRawFd};

/// Descriptors from here on are left alone.
const MAX_FD: usize = 1024;
/// The inode of each socket of ours: a number that was closed and opened again is another file's. 0: none.
static SOCKETS: [AtomicU64; MAX_FD] = [const { AtomicU64::new(0) }; MAX_FD];

fn place(fd: c_int) -> Option<&'static AtomicU64> {
    SOCKETS.get(usize::try_from(fd).ok()?)
}

fn is_ours(fd: c_int) -> bool {
    let inode = place(fd).map_or(0, |place| place.load(Ordering::Acquire));
    inode != 0 && inode_of(fd) == Some(inode)
}

fn inode_of(fd: c_int) -> Option<u64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call fills the structure or fails; it does not mind a bad descriptor.
    unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init().st_ino) }
}

/// A socket to the server with the flags that were asked for; `None` if there is no node, or nobody serves it.
fn open(flags: c_int) -> Option<c_int> {
    let at = environment::get()?;
    let socket = client::open_uevents(&at.socket, &at.node).ok()?;
    let fd = socket.as_raw_fd();
    let (place, inode) = (place(fd)?, inode_of(fd)?);
    // SAFETY: flags of our own descriptor are set; no memory is involved.
    unsafe {
        if flags & libc::SOCK_NONBLOCK != 0 {
            libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK);
        }
        if flags & libc::SOCK_CLOEXEC == 0 {
            libc::fcntl(fd, libc::F_SETFD, 0);
        }
    }
    place.store(inode, Ordering::Release);
    Some(socket.into_raw_fd())
}

/// Stands in for the C library's function of this name.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if domain == libc::AF_NETLINK
        && protocol == libc::NETLINK_KOBJECT_UEVENT
        && let Some(fd) = open(kind)
    {
        return fd;
    }
    // SAFETY: handed on as it came.
    unsafe { next!(c"socket", fn(domain => c_int, kind => c_int, protocol => c_int) -> c_int, -1) }
}

/// Stands in for the C library's function of this name: whatever group is asked for, it is the kernel's.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn bind(fd: c_int, address: *const c_void, length: libc::socklen_t) -> c_int {
    if is_ours(fd) {
        return 0;
    }
    // SAFETY: handed on as it came.
    unsafe { next!(c"bind", fn(fd => c_int, address => *const c_void, length => libc::socklen_t) -> c_int, -1) }
}

/// Stands in for the C library's function of this name: of ours, the sender is what the packet begins with.
///
/// # Safety
/// As the C library demands.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    to: *mut c_void,
    count: usize,
    flags: c_int,
    sender: *mut c_void,
    sender_length: *mut libc::socklen_t,
) -> isize {
    // SAFETY: the caller keeps the C library's rules.
    unsafe {
        if is_ours(fd) {
            return receive(fd, to, count, flags, sender, sender_length);
        }
        next!(
            c"recvfrom",
            fn(
                fd => c_int,
                to => *mut c_void,
                count => usize,
                flags => c_int,
                sender => *mut c_void,
                sender_length => *mut libc::socklen_t,
            ) -> isize,
            -1
        )
    }
}

/// Reads a message of the server's: the sender, then what the kernel would say.
///
/// # Safety
/// As the C library demands of `recvfrom`.
unsafe fn receive(
    fd: c_int,
    to: *mut c_void,
    count: usize,
    flags: c_int,
    sender: *mut c_void,
    sender_length: *mut libc::socklen_t,
) -> isize {
    let mut port_id = [0; size_of::<u32>()];
    let head = libc::iovec { iov_base: port_id.as_mut_ptr().cast(), iov_len: port_id.len() };
    let mut parts = [head, libc::iovec { iov_base: to, iov_len: count }];
    // SAFETY: all of it are numbers and pointers that may be null.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    // SAFETY: both parts may be written, the second by the caller's promise.
    let received = unsafe { libc::recvmsg(fd, &raw mut message, flags) };
    let Some(length) = received.checked_sub_unsigned(port_id.len()).filter(|length| *length >= 0) else {
        return received;
    };
    let port_id = u32::from_ne_bytes(port_id);
    if port_id == UEVENTS_LOST {
        set_errno(libc::ENOBUFS);
        return -1;
    }
    if !sender.is_null() && !sender_length.is_null() {
        // SAFETY: as for `recvfrom`, `sender_length` can be read and written, and `sender` has room for so many bytes.
        unsafe { tell_sender(port_id, sender, sender_length) };
    }
    length
}

/// # Safety
/// `length` can be read and written, and so many bytes be written to `sender`.
unsafe fn tell_sender(port_id: u32, sender: *mut c_void, length: *mut libc::socklen_t) {
    // SAFETY: all of it are numbers.
    let mut address: libc::sockaddr_nl = unsafe { mem::zeroed() };
    address.nl_family = libc::sa_family_t::try_from(libc::AF_NETLINK).unwrap_or_default();
    address.nl_pid = port_id;
    address.nl_groups = 1;
    // SAFETY: `length` can be read and written, and says how much room `sender` has; no more is copied than both hold.
    unsafe {
        let room = usize::try_from(length.read()).unwrap_or(0).min(size_of_val(&address));
        ptr::copy_nonoverlapping((&raw const address).cast::<u8>(), sender.cast(), room);
        length.write(libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default());
    }
}
