//! Responses to the kernel. Each kind of response has a fixed size, and its structure is the whole message.
use super::{
    attribute::{AttributeHeader, AttributeType, attributes},
    error::KernelMessageError,
    header::{FLAG_ERROR, FLAG_REQUEST, MessageType, NlHeader, NlMessage},
};
use core::time::Duration;
use ib_mad::{
    DecodeError, Gid, Wire,
    sa::PathRecord,
    wire,
    wire::{Host16, Host32, Reserved},
};

bitflags::bitflags! {
    /// Uses of a path record in a response (`IB_PATH_*`). Unknown bits are kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct PathFlags: u32 {
        /// For management datagrams of general services (GMPs).
        const GMP = 1;
        /// The path to use first.
        const PRIMARY = 1 << 1;
        /// Alternate path, used if the primary path fails.
        const ALTERNATE = 1 << 2;
        /// From the requester to the destination.
        const OUTBOUND = 1 << 3;
        /// From the destination to the requester.
        const INBOUND = 1 << 4;
        /// The outbound path is reversible: it is also valid from the destination to the requester.
        const INBOUND_REVERSE = 1 << 5;
        const _ = !0;
    }
}

wire! {
    /// Value of a path record attribute, 72 bytes.
    pub struct PathData [72] {
        /// Uses of the path: bits of [`PathFlags`].
        pub flags: Host32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Path record, in network byte order.
        pub path: PathRecord,
    }
}

wire! {
    /// Response to a RESOLVE request with one path, 92 bytes.
    pub struct PathResponse [92] {
        /// Netlink header, from the header of the request.
        pub header: NlHeader,
        /// Header of an attribute of type [`AttributeType::PATH_RECORD`].
        pub attribute: AttributeHeader,
        /// The path and its uses.
        pub data: PathData,
    }
}

wire! {
    /// Response to an IP_RESOLVE request with a GID, 36 bytes.
    pub struct IpResponse [36] {
        /// Netlink header, from the header of the request.
        pub header: NlHeader,
        /// Header of an attribute of type [`AttributeType::DGID`].
        pub attribute: AttributeHeader,
        /// GID of the requested IP address.
        pub gid: Gid,
    }
}

wire! {
    /// Request to the kernel to set its time-out for responses, 24 bytes. The kernel rejects values below 100 ms and
    /// above 200 s.
    pub struct SetTimeout [24] {
        /// Netlink header of the message.
        pub header: NlHeader,
        /// Header of an attribute of type [`AttributeType::TIMEOUT`].
        pub attribute: AttributeHeader,
        /// Time-out of the kernel for a response, in milliseconds.
        pub timeout_ms: Host32,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "structures of at most 92 bytes")]
const fn length_of<T>() -> u32 {
    size_of::<T>() as u32
}

const fn attribute(length: u16, raw_type: Host16) -> AttributeHeader {
    AttributeHeader { length: Host16::new(4 + length), raw_type }
}

impl PathResponse {
    /// Returns a response to `request` with a path, from the netlink port `port_id`. The flags depend on the use of the
    /// path in the request: [`PathUse::response_flags`](super::PathUse::response_flags).
    #[must_use]
    pub const fn new(request: &NlHeader, port_id: u32, flags: PathFlags, path: PathRecord) -> Self {
        Self {
            header: request.response(length_of::<Self>(), 0, port_id),
            attribute: attribute(72, AttributeType::PATH_RECORD.optional()),
            data: PathData { flags: Host32::new(flags.bits()), reserved: Reserved([0; 4]), path },
        }
    }
}

impl IpResponse {
    /// Returns a response to `request` with a GID, from the netlink port `port_id`.
    #[must_use]
    pub const fn new(request: &NlHeader, port_id: u32, gid: Gid) -> Self {
        Self {
            header: request.response(length_of::<Self>(), 0, port_id),
            attribute: attribute(16, AttributeType::DGID.optional()),
            gid,
        }
    }
}

impl SetTimeout {
    /// Returns a request for the time-out `timeout`, rounded down to milliseconds.
    #[must_use]
    pub fn new(sequence: u32, port_id: u32, timeout: Duration) -> Self {
        Self {
            header: NlHeader {
                length: Host32::new(length_of::<Self>()),
                raw_type: Host16::new(MessageType::SetTimeout.into_raw()),
                flags: Host16::new(FLAG_REQUEST),
                sequence: Host32::new(sequence),
                port_id: Host32::new(port_id),
            },
            attribute: attribute(4, AttributeType::TIMEOUT.optional()),
            timeout_ms: Host32::new(u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX)),
        }
    }
}

/// Returns an error response to `request`. The kernel then queries the subnet administrator itself, without delay.
#[must_use]
pub const fn error_response(request: &NlHeader, port_id: u32) -> NlHeader {
    request.response(length_of::<NlHeader>(), FLAG_ERROR, port_id)
}

/// Contents of a response, as the kernel reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelResponse<'a> {
    /// Error response, without a result.
    Failed,
    /// The first path of the response.
    Path {
        /// Uses of the path.
        flags: PathFlags,
        /// Path record of the response.
        path: &'a PathRecord,
    },
    /// The GID of an IP address.
    Gid(Gid),
}

impl<'a> NlMessage<'a> {
    /// Reads the message as a response. The caller must compare its sequence number with that of the request.
    ///
    /// # Errors
    /// A [`KernelMessageError`]; [`KernelMessageError::Missing`] if the response lacks the requested attribute.
    pub fn response(&self) -> Result<KernelResponse<'a>, KernelMessageError> {
        let expected = match self.header.message_type() {
            MessageType::Resolve => AttributeType::PATH_RECORD,
            MessageType::IpResolve => AttributeType::DGID,
            MessageType::SetTimeout => return Err(KernelMessageError::UnknownOperation { operation: 1 }),
            MessageType::Other { client, operation } => {
                return Err(KernelMessageError::OtherClient { client, operation });
            }
        };
        if self.header.flags.get() & FLAG_ERROR != 0 {
            return Ok(KernelResponse::Failed);
        }
        let attribute = attributes(self.payload)
            .find(|attribute| attribute.is_ok_and(|found| found.attribute_type == expected) || attribute.is_err())
            .ok_or(KernelMessageError::Missing(expected))??;
        if expected == AttributeType::DGID {
            return Ok(KernelResponse::Gid(Gid::new(attribute.exactly("GID")?)));
        }
        let (data, rest) = PathData::parse_prefix(attribute.value)?;
        if !rest.is_empty() {
            let value = u64::try_from(attribute.value.len()).unwrap_or(u64::MAX);
            return Err(DecodeError::BadValue { what: "path record attribute", value }.into());
        }
        Ok(KernelResponse::Path { flags: PathFlags::from_bits_retain(data.flags.get()), path: &data.path })
    }
}
