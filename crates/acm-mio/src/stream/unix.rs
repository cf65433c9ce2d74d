//! A connection over a unix socket, on which the daemon takes no descriptors.
//!
//! Closing a descriptor that a client made may take as long as the client chooses: a TCP socket with SO_LINGER, or the
//! last reference to a large memfd. A client passes descriptors with SCM_RIGHTS, and they are closed with the message
//! that contains them. So the loop must neither read such a message nor close a socket in whose queue one may be.
//!
//! Since Linux 6.16, SO_PASSRIGHTS lets the kernel refuse them to the sender (EPERM). On older kernels, and for
//! connections from before the option was set, each read looks at the message first, and [`Closing`] closes the socket.
//!
//! [`Closing`]: crate::closing::Closing
use core::cell::Cell;
use mio::net::UnixStream;
use nix::{
    getsockopt_impl, libc, setsockopt_impl, sockopt_impl,
    sys::socket::{GetSockOpt, SetSockOpt},
};
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, ReturnFlags, Shutdown, recv, recvmsg, shutdown, sockopt::set_socket_oobinline,
};
use std::{
    io::{self, IoSliceMut, Read},
    os::fd::{AsFd, BorrowedFd},
};

/// `SO_PASSRIGHTS` (asm-generic/socket.h, Linux 6.16).
const SO_PASSRIGHTS: i32 = 83;
/// Number of bytes that are dropped at once.
const DROPPED: usize = 4096;

sockopt_impl!(
    /// True if the other end may send descriptors to this socket. Connections inherit the value of their listening
    /// socket.
    PassRights,
    Both,
    libc::SOL_SOCKET,
    SO_PASSRIGHTS,
    bool
);

/// Refuses descriptors on all future connections of a listening socket, if the kernel can.
pub(super) fn refuse_descriptors(listener: &impl AsFd) {
    let _ = PassRights.set(listener, &false);
}

/// A client has sent descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it sent file descriptors")]
pub(crate) struct SentDescriptors;

/// A connection over a unix socket.
#[derive(Debug)]
pub(crate) struct Unix {
    stream: UnixStream,
    /// True if descriptors may be in the queue of received bytes.
    may_hold_descriptors: bool,
    /// True if the client can send no more.
    is_shut: Cell<bool>,
}

impl Unix {
    pub(crate) fn new(stream: UnixStream) -> Self {
        let may_hold_descriptors = PassRights.get(&stream).unwrap_or(true);
        if may_hold_descriptors {
            // Otherwise the kernel drops an out-of-band byte, with its descriptors, while it reads the bytes after it.
            let _ = set_socket_oobinline(&stream, true);
        }
        Self { stream, may_hold_descriptors, is_shut: Cell::new(false) }
    }

    /// Prevents the client from sending more, and drops what it has sent up to the first descriptors. Reports whether
    /// there are any.
    pub(crate) fn ends_with_descriptors(&self) -> bool {
        if !self.may_hold_descriptors {
            return false;
        }
        // Each shutdown is an event of this socket.
        if !self.is_shut.replace(true) {
            let _ = shutdown(&self.stream, Shutdown::Read);
        }
        let mut dropped = [0; DROPPED];
        loop {
            match self.receive(&mut dropped) {
                Ok(1..) => {}
                Ok(0) => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.get_ref().is_some_and(|reason| reason.is::<SentDescriptors>()),
            }
        }
    }

    pub(super) const fn source(&mut self) -> &mut UnixStream {
        &mut self.stream
    }

    /// Returns the number of bytes that can be read without taking descriptors, at most `room`.
    fn without_descriptors(&self, room: &mut [u8]) -> io::Result<usize> {
        // Without room for descriptors, a look at a message closes no file: the message still refers to it.
        let mut no_room = RecvAncillaryBuffer::default();
        let seen = recvmsg(&self.stream, &mut [IoSliceMut::new(room)], &mut no_room, RecvFlags::PEEK)?;
        if seen.flags.contains(ReturnFlags::CTRUNC) {
            return Err(io::Error::other(SentDescriptors));
        }
        Ok(seen.bytes)
    }
}

impl AsFd for Unix {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Unix {
    /// Reads available bytes. The error contains [`SentDescriptors`] if the next bytes came with descriptors.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut room = buffer;
        if self.may_hold_descriptors {
            let count = self.without_descriptors(room)?;
            if count == 0 {
                return Ok(0);
            }
            // Bytes that have arrived since may come with descriptors.
            room = room.get_mut(..count).unwrap_or_default();
        }
        let (count, _) = recv(&self.stream, room, RecvFlags::empty())?;
        Ok(count)
    }
}

impl Read for Unix {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.receive(buffer)
    }
}

#[cfg(test)]
impl Unix {
    /// Lets future connections of a listening socket send descriptors, as kernels before Linux 6.16 do.
    pub(crate) fn allow_descriptors(listener: &impl AsFd) {
        // An older kernel does not know the option.
        let _ = PassRights.set(listener, &true);
    }

    /// Reports whether the kernel can refuse descriptors.
    pub(crate) fn kernel_refuses_descriptors() -> bool {
        let (socket, _other) = UnixStream::pair().unwrap();
        PassRights.set(&socket, &false).is_ok()
    }
}
