//! What is answered: each answer has one size, so the structure is the whole message.
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
    /// What a path record in an answer may be used for (`IB_PATH_*`). Unknown bits are kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct PathFlags: u32 {
        /// Management datagrams of general services (GMPs).
        const GMP = 1;
        /// The path to use first.
        const PRIMARY = 1 << 1;
        /// The path to fall back to.
        const ALTERNATE = 1 << 2;
        /// From the asker to the destination.
        const OUTBOUND = 1 << 3;
        /// From the destination to the asker.
        const INBOUND = 1 << 4;
        /// An outbound path that holds in the other direction with both ends exchanged.
        const INBOUND_REVERSE = 1 << 5;
        const _ = !0;
    }
}

wire! {
    /// Value of a path record attribute, 72 bytes.
    pub struct PathData [72] {
        /// What the path may be used for: bits of [`PathFlags`].
        pub flags: Host32,
        /// Zero.
        pub reserved: Reserved<4>,
        /// The path, in network order.
        pub path: PathRecord,
    }
}

wire! {
    /// The answer to a RESOLVE request: one path, 92 bytes.
    pub struct PathAnswer [92] {
        /// Made from the request's header.
        pub header: NlHeader,
        /// Header of an attribute of type [`AttributeType::PATH_RECORD`].
        pub attribute: AttributeHeader,
        /// The path, and what it may be used for.
        pub data: PathData,
    }
}

wire! {
    /// The answer to an IP_RESOLVE request: a GID, 36 bytes.
    pub struct IpAnswer [36] {
        /// Made from the request's header.
        pub header: NlHeader,
        /// Header of an attribute of type [`AttributeType::DGID`].
        pub attribute: AttributeHeader,
        /// The GID of the address that was asked for.
        pub gid: Gid,
    }
}

wire! {
    /// Asks the kernel to wait this long for answers, 24 bytes. It refuses less than 100 ms and more than 200 s.
    pub struct SetTimeout [24] {
        /// Netlink header of the message.
        pub header: NlHeader,
        /// Header of an attribute of type [`AttributeType::TIMEOUT`].
        pub attribute: AttributeHeader,
        /// How long the kernel should wait for answers, in milliseconds.
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

impl PathAnswer {
    /// Answers `request` with a path, from the netlink port `port_id`. The flags are those of the request's use:
    /// [`PathUse::answer_flags`](super::PathUse::answer_flags).
    #[must_use]
    pub const fn new(request: &NlHeader, port_id: u32, flags: PathFlags, path: PathRecord) -> Self {
        Self {
            header: request.answer(length_of::<Self>(), 0, port_id),
            attribute: attribute(72, AttributeType::PATH_RECORD.optional()),
            data: PathData { flags: Host32::new(flags.bits()), reserved: Reserved([0; 4]), path },
        }
    }
}

impl IpAnswer {
    /// Answers `request` with a GID, from the netlink port `port_id`.
    #[must_use]
    pub const fn new(request: &NlHeader, port_id: u32, gid: Gid) -> Self {
        Self {
            header: request.answer(length_of::<Self>(), 0, port_id),
            attribute: attribute(16, AttributeType::DGID.optional()),
            gid,
        }
    }
}

impl SetTimeout {
    /// Asks for `timeout`, cut to whole milliseconds.
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

/// Answers `request` with "there is none": the kernel then asks the subnet administrator itself, at once.
#[must_use]
pub const fn error_answer(request: &NlHeader, port_id: u32) -> NlHeader {
    request.answer(length_of::<NlHeader>(), FLAG_ERROR, port_id)
}

/// What an answer says, to the one who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelAnswer<'a> {
    /// There is none.
    Failed,
    /// A path, the first of them.
    Path {
        /// What it may be used for.
        flags: PathFlags,
        /// The path record that the answer carries.
        path: &'a PathRecord,
    },
    /// The GID of an IP address.
    Gid(Gid),
}

impl<'a> NlMessage<'a> {
    /// What the message answers. Only who asked can know that it is an answer.
    ///
    /// # Errors
    /// A [`KernelMessageError`]; [`KernelMessageError::Missing`] if the answer has not what was asked for.
    pub fn answer(&self) -> Result<KernelAnswer<'a>, KernelMessageError> {
        let wanted = match self.header.message_type() {
            MessageType::Resolve => AttributeType::PATH_RECORD,
            MessageType::IpResolve => AttributeType::DGID,
            MessageType::SetTimeout => return Err(KernelMessageError::UnknownOperation { operation: 1 }),
            MessageType::Other { client, operation } => {
                return Err(KernelMessageError::OtherClient { client, operation });
            }
        };
        if self.header.flags.get() & FLAG_ERROR != 0 {
            return Ok(KernelAnswer::Failed);
        }
        let attribute = attributes(self.payload)
            .find(|attribute| attribute.is_ok_and(|attribute| attribute.attribute_type == wanted) || attribute.is_err())
            .ok_or(KernelMessageError::Missing(wanted))??;
        if wanted == AttributeType::DGID {
            return Ok(KernelAnswer::Gid(Gid::new(attribute.exactly("GID")?)));
        }
        let (data, rest) = PathData::parse_prefix(attribute.value)?;
        if !rest.is_empty() {
            let value = u64::try_from(attribute.value.len()).unwrap_or(u64::MAX);
            return Err(DecodeError::BadValue { what: "path record attribute", value }.into());
        }
        Ok(KernelAnswer::Path { flags: PathFlags::from_bits_retain(data.flags.get()), path: &data.path })
    }
}
