//! The kernel's messages about added and removed RDMA devices (netlink KOBJECT_UEVENT).
//!
//! When a message arrives, the device exists, but udev may not yet have set owner and mode of the device files. If a
//! file cannot be opened, retry after the next message or after a short time.
use crate::{Error, Result};
use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, socket},
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Multicast group of the kernel's messages. Group 2 has udev's messages, which have another format.
const KERNEL_GROUP: u32 = 1;
/// Length of the buffer for a message in bytes. The kernel's messages have at most 2048 bytes (UEVENT_BUFFER_SIZE).
const BUFFER_LENGTH: usize = 8192;

/// A socket that receives the kernel's messages about devices.
#[derive(Debug)]
pub struct UeventSocket {
    fd: OwnedFd,
}

/// An event of the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hotplug {
    /// A device or interface was added, removed or changed.
    Device(Uevent),
    /// Messages were lost because the program read too slowly. Scan all devices again.
    Lost,
}

/// A message about an RDMA device or one of its interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uevent {
    /// The kernel's action.
    pub action: Action,
    /// The class of the device or interface.
    pub subsystem: Subsystem,
    /// The kernel's name: `mlx5_0`, `umad0`, `uverbs0`.
    pub name: String,
}

/// An action of the kernel on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The device was added.
    Add,
    /// The device was removed.
    Remove,
    /// The device was renamed to the name in the message.
    Move,
    /// Another action (change, bind, unbind, online, offline).
    Other,
}

/// A class in `/sys/class`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subsystem {
    /// `infiniband`: devices.
    Infiniband,
    /// `infiniband_mad`: umad and issm files.
    Mad,
    /// `infiniband_verbs`: uverbs files.
    Verbs,
}

impl UeventSocket {
    /// Opens the socket and joins the kernel's group. Needs no privilege.
    ///
    /// # Errors
    /// [`Error::Call`] if the kernel has no such socket, as in some containers.
    pub fn open() -> Result<Self> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Netlink, SockType::Datagram, flags, SockProtocol::NetlinkKObjectUEvent)
            .map_err(Error::call("socket"))?;
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_GROUP)).map_err(Error::call("bind"))?;
        Ok(Self { fd })
    }

    /// Returns the next message about RDMA; `None` if no message has arrived.
    ///
    /// # Errors
    /// [`Error::Call`] if the socket cannot be read.
    pub fn next_event(&self) -> Result<Option<Hotplug>> {
        let mut buffer = [0; BUFFER_LENGTH];
        loop {
            match receive(&self.fd, &mut buffer) {
                Ok((length, true)) => {
                    if let Some(event) = buffer.get(..length).and_then(Uevent::parse) {
                        return Ok(Some(Hotplug::Device(event)));
                    }
                }
                Ok((_, false)) | Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::ENOBUFS) => return Ok(Some(Hotplug::Lost)),
                Err(errno) => return Err(Error::call("recvfrom")(errno)),
            }
        }
    }
}

/// Receives a message. Returns the length of the message, and true if the kernel is the sender.
fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> core::result::Result<(usize, bool), Errno> {
    let (length, sender) = recvfrom::<NetlinkAddr>(fd.as_raw_fd(), buffer)?;
    Ok((length, sender.is_some_and(|sender| sender.pid() == 0)))
}

impl AsFd for UeventSocket {
    /// Returns the socket, which is readable while there are messages.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Uevent {
    /// Parses a message: `ACTION@PATH`, then `KEY=VALUE`, each ended by a NUL. `None` if the message is not about RDMA,
    /// or not in the kernel's format.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(message).ok()?;
        let mut lines = text.split_terminator('\0');
        lines.next()?.contains('@').then_some(())?;
        let (mut action, mut subsystem, mut path) = (None, None, None);
        for (key, value) in lines.filter_map(|line| line.split_once('=')) {
            match key {
                "ACTION" => action = Some(value),
                "SUBSYSTEM" => subsystem = Some(value),
                "DEVPATH" => path = Some(value),
                _ => {}
            }
        }
        Some(Self {
            subsystem: match subsystem? {
                "infiniband" => Subsystem::Infiniband,
                "infiniband_mad" => Subsystem::Mad,
                "infiniband_verbs" => Subsystem::Verbs,
                _ => return None,
            },
            action: match action? {
                "add" => Action::Add,
                "remove" => Action::Remove,
                "move" => Action::Move,
                _ => Action::Other,
            },
            name: path?.rsplit('/').next()?.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{MsgFlags, getsockname, sendto};
    use proptest::prelude::*;

    const ADD: &[u8] = b"add@/devices/virtual/infiniband/rxe0\0ACTION=add\0DEVPATH=/devices/virtual/infiniband/rxe0\0\
        SUBSYSTEM=infiniband\0NAME=rxe0\0SEQNUM=1803\0";

    #[test]
    fn only_kernel_messages_about_rdma_are_parsed() {
        let rxe = Uevent { action: Action::Add, subsystem: Subsystem::Infiniband, name: "rxe0".into() };
        assert_eq!(Uevent::parse(ADD), Some(rxe));
        let net = b"add@/devices/virtual/net/v0\0ACTION=add\0DEVPATH=/devices/virtual/net/v0\0SUBSYSTEM=net\0";
        assert_eq!(Uevent::parse(net), None);
        assert_eq!(Uevent::parse(b"libudev\0\xfe\xed\xca\xfe"), None);
        assert_eq!(Uevent::parse(b""), None);
        for (text, action) in [("remove", Action::Remove), ("move", Action::Move), ("bind", Action::Other)] {
            let text = format!("ACTION={text}\0DEVPATH=/devices/x/infiniband_mad/umad0\0SUBSYSTEM=infiniband_mad\0");
            let bytes = [b"x@/x\0", text.as_bytes()].concat();
            assert_eq!(Uevent::parse(&bytes), Some(Uevent { action, subsystem: Subsystem::Mad, name: "umad0".into() }));
        }
    }

    #[test]
    fn message_of_another_sender_than_the_kernel_is_ignored() {
        let ours = UeventSocket::open().unwrap();
        let address: NetlinkAddr = getsockname(ours.fd.as_raw_fd()).unwrap();
        let flags = SockFlag::SOCK_CLOEXEC;
        let theirs = socket(AddressFamily::Netlink, SockType::Datagram, flags, SockProtocol::NetlinkKObjectUEvent);
        let sent = sendto(theirs.unwrap().as_raw_fd(), ADD, &NetlinkAddr::new(address.pid(), 0), MsgFlags::empty());
        // The kernel lets only root send.
        assert!(matches!(sent, Ok(_) | Err(Errno::EPERM)), "{sent:?}");
        while let Some(event) = ours.next_event().unwrap() {
            assert!(!matches!(&event, Hotplug::Device(device) if device.name == "rxe0"), "{event:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0..ADD.len()) {
            let _ = Uevent::parse(&bytes);
            let _ = Uevent::parse(&ADD[..cut]);
        }
    }
}
