//! The messages of a datagram, and their header.
use ib_mad::{
    DecodeError, Wire, as_bytes, wire,
    wire::{Host16, Host32},
};

/// Bit of [`NlHeader::flags`]: the message is a request (`NLM_F_REQUEST`).
pub const FLAG_REQUEST: u16 = 0x0001;
/// Bit of [`NlHeader::flags`] in a response: the request failed (`RDMA_NL_LS_F_ERR`).
pub const FLAG_ERROR: u16 = 0x0100;

wire! {
    /// Header of every netlink message (`struct nlmsghdr`), 16 bytes.
    pub struct NlHeader [16] {
        /// Length of the message with this header, without padding, in bytes.
        pub length: Host32,
        /// Client and operation in one number: see [`NlHeader::message_type`].
        pub raw_type: Host16,
        /// [`FLAG_REQUEST`], [`FLAG_ERROR`] and others.
        pub flags: Host16,
        /// Sequence number, which a response copies from its request.
        pub sequence: Host32,
        /// Netlink port id of the sender; 0 is the kernel. Not trustworthy, because each sender can write any number.
        pub port_id: Host32,
    }
}

/// Type of a message of `NETLINK_RDMA`: client and operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// Local service: resolution of a path (`RDMA_NL_LS_OP_RESOLVE`).
    Resolve,
    /// Local service: time-out of the kernel (`RDMA_NL_LS_OP_SET_TIMEOUT`).
    SetTimeout,
    /// Local service: resolution of an IP address to a GID (`RDMA_NL_LS_OP_IP_RESOLVE`).
    IpResolve,
    /// Any other client or operation, as numbers.
    Other {
        /// Netlink client, 6 bits; 4 is the local service.
        client: u8,
        /// Operation of the client, 10 bits.
        operation: u16,
    },
}

/// Client number of the local service (`RDMA_NL_LS`).
const LOCAL_SERVICE: u8 = 4;

impl MessageType {
    /// Returns the type of the number in a header. Numbers that `NETLINK_RDMA` does not use are also
    /// [`MessageType::Other`].
    #[must_use]
    pub const fn from_raw(raw: u16) -> Self {
        let (client, operation) = ((raw >> 10).to_be_bytes()[1], raw & 0x3ff);
        match (client, operation) {
            (LOCAL_SERVICE, 0) => Self::Resolve,
            (LOCAL_SERVICE, 1) => Self::SetTimeout,
            (LOCAL_SERVICE, 2) => Self::IpResolve,
            _ => Self::Other { client, operation },
        }
    }

    /// Returns the number in a header; client and operation are truncated to their widths.
    #[must_use]
    pub const fn into_raw(self) -> u16 {
        let (client, operation) = match self {
            Self::Resolve => (LOCAL_SERVICE, 0),
            Self::SetTimeout => (LOCAL_SERVICE, 1),
            Self::IpResolve => (LOCAL_SERVICE, 2),
            Self::Other { client, operation } => (client, operation),
        };
        (client as u16) << 10 | operation & 0x3ff
    }
}

impl NlHeader {
    /// Returns the type of the message.
    #[must_use]
    pub const fn message_type(&self) -> MessageType {
        MessageType::from_raw(self.raw_type.get())
    }

    /// True if the message is a request. The kernel's messages are requests.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        self.flags.get() & FLAG_REQUEST != 0
    }

    /// Returns the header of a response to this message, sent by `port_id`. `length` is the size of the response with
    /// its header, in bytes.
    #[must_use]
    pub const fn response(&self, length: u32, flags: u16, port_id: u32) -> Self {
        Self {
            length: Host32::new(length),
            raw_type: self.raw_type,
            flags: Host16::new(flags),
            sequence: self.sequence,
            port_id: Host32::new(port_id),
        }
    }
}

/// A message of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NlMessage<'a> {
    /// Netlink header of the message, 16 bytes.
    pub header: &'a NlHeader,
    /// Bytes after the header.
    pub payload: &'a [u8],
}

/// Returns the messages of a datagram. An invalid length is an error and ends the iteration.
#[must_use]
pub const fn messages(datagram: &[u8]) -> Messages<'_> {
    Messages { rest: datagram }
}

/// Iterator over the messages of a datagram, from [`messages`].
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<NlMessage<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let first = first(self.rest);
        self.rest = first.map_or(&[], |(_, rest)| rest);
        Some(first.map(|(message, _)| message))
    }
}

impl core::iter::FusedIterator for Messages<'_> {}

fn first(datagram: &[u8]) -> Result<(NlMessage<'_>, &[u8]), DecodeError> {
    let header = NlHeader::parse(datagram)?;
    let bad = DecodeError::BadValue { what: "nlmsghdr.length", value: header.length.get().into() };
    let length = usize::try_from(header.length.get()).map_err(|_| bad)?;
    let payload = datagram.get(as_bytes(header).len()..length).ok_or(bad)?;
    Ok((NlMessage { header, payload }, after(datagram, length)))
}

/// Returns the bytes after the first `length` bytes and their padding. The padding may be missing at the end.
pub(super) fn after(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(length.next_multiple_of(4)..).unwrap_or_default()
}
