//! The kernel's messages about RDMA devices that come and go (netlink KOBJECT_UEVENT).
//!
//! A message says that something is there, not that its device files have their owner and mode yet: udev sets those
//! a moment later. Who may not open a file yet tries again with the next message or a little later.
use crate::{Error, Result};
use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, socket},
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Group of the kernel's own messages (2 is udev's, in a format of its own).
const KERNEL_GROUP: u32 = 1;
/// The kernel makes no message longer than this (its UEVENT_BUFFER_SIZE is 2048).
const LONGEST: usize = 8192;

/// A socket that the kernel tells about devices.
#[derive(Debug)]
pub struct UeventSocket {
    fd: OwnedFd,
}

/// What the kernel told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hotplug {
    /// One thing came, went or changed.
    Device(Uevent),
    /// Messages were lost because nobody read them in time: look at everything again.
    Lost,
}

/// A message about an RDMA device or one of its interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uevent {
    /// What the kernel did with the device.
    pub action: Action,
    /// To what kind of thing.
    pub subsystem: Subsystem,
    /// Its name: `mlx5_0`, `umad0`, `uverbs0`.
    pub name: String,
}

/// What the kernel did with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is there now.
    Add,
    /// It is not there any more.
    Remove,
    /// It has a new name, the one in the message.
    Move,
    /// Something else (change, bind, unbind, online, offline).
    Other,
}

/// The class below `/sys/class`.
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
    /// Starts to listen. Needs no privilege.
    ///
    /// # Errors
    /// [`Error::Call`] if the kernel has no such socket (some containers).
    pub fn open() -> Result<Self> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Netlink, SockType::Datagram, flags, SockProtocol::NetlinkKObjectUEvent)
            .map_err(Error::call("socket"))?;
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_GROUP)).map_err(Error::call("bind"))?;
        Ok(Self { fd })
    }

    /// The next message about RDMA; `None` when there is none for now.
    ///
    /// # Errors
    /// [`Error::Call`] if the socket cannot be read.
    pub fn next_event(&self) -> Result<Option<Hotplug>> {
        let mut buffer = [0; LONGEST];
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

/// Length of the next message, and whether the kernel sent it.
fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> core::result::Result<(usize, bool), Errno> {
    let (length, sender) = recvfrom::<NetlinkAddr>(fd.as_raw_fd(), buffer)?;
    Ok((length, sender.is_some_and(|sender| sender.pid() == 0)))
}

impl AsFd for UeventSocket {
    /// Readable when there are messages.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Uevent {
    /// From the bytes of a message: `ACTION@PATH`, then `KEY=VALUE`, each ended by a NUL. `None` if it is not about
    /// RDMA, or not a message of the kernel's.
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
    use proptest::prelude::*;

    const ADD: &[u8] = b"add@/devices/virtual/infiniband/rxe0\0ACTION=add\0DEVPATH=/devices/virtual/infiniband/rxe0\0\
        SUBSYSTEM=infiniband\0NAME=rxe0\0SEQNUM=1803\0";

    #[test]
    fn messages() {
        let rxe = Uevent { action: Action::Add, subsystem: Subsystem::Infiniband, name: "rxe0".into() };
        assert_eq!(Uevent::parse(ADD), Some(rxe));
        let net = b"add@/devices/virtual/net/v0\0ACTION=add\0DEVPATH=/devices/virtual/net/v0\0SUBSYSTEM=net\0";
        assert_eq!(Uevent::parse(net), None);
        assert_eq!(Uevent::parse(b"libudev\0\xfe\xed\xca\xfe"), None);
        assert_eq!(Uevent::parse(b""), None);
        for (said, action) in [("remove", Action::Remove), ("move", Action::Move), ("bind", Action::Other)] {
            let text = format!("ACTION={said}\0DEVPATH=/devices/x/infiniband_mad/umad0\0SUBSYSTEM=infiniband_mad\0");
            let bytes = [b"x@/x\0", text.as_bytes()].concat();
            assert_eq!(Uevent::parse(&bytes), Some(Uevent { action, subsystem: Subsystem::Mad, name: "umad0".into() }));
        }
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0..ADD.len()) {
            let _ = Uevent::parse(&bytes);
            let _ = Uevent::parse(&ADD[..cut]);
        }
    }
}
