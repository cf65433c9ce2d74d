//! The kernel's messages about added and removed devices. A NETLINK_KOBJECT_UEVENT socket is a connection to the
//! subnet's server, which sends messages in the kernel's format. There are no messages about the machine's own devices.
//!
//! This file has the calls that a unix socket does not support: `bind` to a netlink group, and `recvfrom` with a
//! sender.
#![expect(unsafe_code, reason = "replaces functions of the C library")]
use crate::{environment, errno::set_errno, next::next};
use core::{
    ffi::{c_int, c_void},
    mem::{self, MaybeUninit},
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};
use ib_sim::{client, proto::UEVENTS_LOST};
use std::os::{
    fd::{AsRawFd, IntoRawFd},
    unix::net::UnixDatagram,
};

/// Descriptors from this number on are never sockets of this file.
const MAX_FD: usize = 1024;
/// The inode of each socket to the server by descriptor; 0 if there is none. After a descriptor was closed and its
/// number used again, the inode differs.
static SOCKETS: [AtomicU64; MAX_FD] = [const { AtomicU64::new(0) }; MAX_FD];

fn slot(fd: c_int) -> Option<&'static AtomicU64> {
    SOCKETS.get(usize::try_from(fd).ok()?)
}

fn is_uevent_socket(fd: c_int) -> bool {
    let inode = slot(fd).map_or(0, |slot| slot.load(Ordering::Acquire));
    inode != 0 && inode_of(fd) == Some(inode)
}

fn inode_of(fd: c_int) -> Option<u64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call fills the structure or fails, also for a bad descriptor.
    unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init().st_ino) }
}

/// Opens a socket to the server with the requested flags. Returns `None` if the environment names no node, or no server
/// runs.
fn open(flags: c_int) -> Option<c_int> {
    let host = environment::get()?;
    let socket = client::open_uevents(&host.socket, &host.node).ok()?;
    let fd = socket.as_raw_fd();
    let (slot, inode) = (slot(fd)?, inode_of(fd)?);
    // SAFETY: the descriptor belongs to `socket`; no memory is involved.
    unsafe {
        if flags & libc::SOCK_NONBLOCK != 0 {
            libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK);
        }
        if flags & libc::SOCK_CLOEXEC == 0 {
            libc::fcntl(fd, libc::F_SETFD, 0);
        }
    }
    slot.store(inode, Ordering::Release);
    Some(socket.into_raw_fd())
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if domain == libc::AF_NETLINK
        && protocol == libc::NETLINK_KOBJECT_UEVENT
        && let Some(fd) = open(kind)
    {
        return fd;
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { next!(c"socket", fn(domain => c_int, kind => c_int, protocol => c_int) -> c_int, -1) }
}

/// Replaces the C library's function of this name. A socket to the server accepts every group.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn bind(fd: c_int, address: *const c_void, length: libc::socklen_t) -> c_int {
    if is_uevent_socket(fd) {
        return 0;
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { next!(c"bind", fn(fd => c_int, address => *const c_void, length => libc::socklen_t) -> c_int, -1) }
}

/// Replaces the C library's function of this name. A packet of the server begins with the sender's port id.
///
/// # Safety
/// The requirements of the C library's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    to: *mut c_void,
    count: usize,
    flags: c_int,
    sender: *mut c_void,
    sender_length: *mut libc::socklen_t,
) -> isize {
    // SAFETY: the caller meets the requirements of the C library's function.
    unsafe {
        if is_uevent_socket(fd) {
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

/// Reads a message of the server: the sender's port id, then the message in the kernel's format.
///
/// # Safety
/// The requirements of the C library's `recvfrom`.
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
    // SAFETY: all fields are numbers and pointers, which may be null.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    let received = loop {
        // SAFETY: `port_id` may be written, and `to` by the caller's promise.
        let received = unsafe { libc::recvmsg(fd, &raw mut message, flags) };
        if received != 0 || !replace_by_silent(fd) {
            break received;
        }
    };
    let Some(length) = received.checked_sub_unsigned(port_id.len()).filter(|length| *length >= 0) else {
        return received;
    };
    let port_id = u32::from_ne_bytes(port_id);
    if port_id == UEVENTS_LOST {
        set_errno(libc::ENOBUFS);
        return -1;
    }
    if !sender.is_null() && !sender_length.is_null() {
        // SAFETY: by the requirements of `recvfrom`, `sender_length` can be read and written, and `sender` has room for
        // that many bytes.
        unsafe { write_sender(port_id, sender, sender_length) };
    }
    length
}

/// Replaces the socket to a server that has ended by one that receives nothing: the kernel's sockets have no end, and a
/// program may read until there is no message. Returns false if the process has no descriptor for it.
fn replace_by_silent(fd: c_int) -> bool {
    let Ok(silent) = UnixDatagram::unbound() else { return false };
    // SAFETY: both descriptors are open, and no memory is involved. `fd` stays the program's.
    unsafe {
        let (flags, close) = (libc::fcntl(fd, libc::F_GETFL), libc::fcntl(fd, libc::F_GETFD));
        libc::dup2(silent.as_raw_fd(), fd) == fd
            && libc::fcntl(fd, libc::F_SETFL, flags) == 0
            && libc::fcntl(fd, libc::F_SETFD, close) == 0
    }
}

/// Writes the sender's address.
///
/// # Safety
/// `length` can be read and written, and that many bytes can be written to `sender`.
unsafe fn write_sender(port_id: u32, sender: *mut c_void, length: *mut libc::socklen_t) {
    // SAFETY: all fields are numbers.
    let mut address: libc::sockaddr_nl = unsafe { mem::zeroed() };
    address.nl_family = libc::sa_family_t::try_from(libc::AF_NETLINK).unwrap_or_default();
    address.nl_pid = port_id;
    address.nl_groups = 1;
    // SAFETY: by the caller's promise `length` can be read and written and is the size of `sender`. No more bytes are
    // copied than both structures have.
    unsafe {
        let room = usize::try_from(length.read()).unwrap_or(0).min(size_of_val(&address));
        ptr::copy_nonoverlapping((&raw const address).cast::<u8>(), sender.cast(), room);
        length.write(libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn socket_of_a_server_that_has_ended_receives_nothing() {
        let (socket, server) = UnixStream::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        let fd = socket.as_raw_fd();
        slot(fd).unwrap().store(inode_of(fd).unwrap(), Ordering::Release);
        drop(server);
        for _ in 0..2 {
            let mut buffer = [0; 16];
            // SAFETY: the buffer has the length, and no sender is wanted.
            let received = unsafe { recvfrom(fd, buffer.as_mut_ptr().cast(), 16, 0, ptr::null_mut(), ptr::null_mut()) };
            assert_eq!((received, std::io::Error::last_os_error().raw_os_error()), (-1, Some(libc::EAGAIN)));
        }
        // SAFETY: no memory is involved.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_GETFD) }, libc::FD_CLOEXEC);
    }
}
