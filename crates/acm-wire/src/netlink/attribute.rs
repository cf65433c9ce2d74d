//! Attributes of a message.
use super::header::after;
use ib_mad::{DecodeError, Wire, as_bytes, wire, wire::Host16};

wire! {
    /// Header of an attribute (`struct nlattr`), 4 bytes.
    pub struct AttributeHeader [4] {
        /// Length of the attribute with this header, without padding, in bytes.
        pub length: Host16,
        /// Number of an [`AttributeType`], and three flags.
        pub raw_type: Host16,
    }
}

/// Type of an attribute of the local service (`LS_NLA_TYPE_*`). Unknown types are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttributeType(u16);

impl AttributeType {
    /// Path record with its flags.
    pub const PATH_RECORD: Self = Self(1);
    /// The kernel's time-out for responses in milliseconds, `u32`.
    pub const TIMEOUT: Self = Self(2);
    /// Service id, `u64` in host byte order.
    pub const SERVICE_ID: Self = Self(3);
    /// Destination GID, 16 bytes.
    pub const DGID: Self = Self(4);
    /// Source GID, 16 bytes.
    pub const SGID: Self = Self(5);
    /// Traffic class, `u8`.
    pub const TRAFFIC_CLASS: Self = Self(6);
    /// `P_Key`, `u16` in host byte order.
    pub const PKEY: Self = Self(7);
    /// Quality of service class, `u16` in host byte order.
    pub const QOS_CLASS: Self = Self(8);
    /// IPv4 address in network byte order.
    pub const IPV4: Self = Self(9);
    /// IPv6 address, 16 bytes.
    pub const IPV6: Self = Self(10);

    /// Bit of the raw type (`RDMA_NLA_F_MANDATORY`): a receiver rejects the message if the attribute is unknown.
    const MANDATORY: u16 = 1 << 13;
    /// The two flags of netlink (nested, network byte order) and the flag "mandatory" of the local service.
    const FLAGS: u16 = 7 << 13;

    /// Returns the type with this number. The upper three bits are flags and are dropped.
    #[must_use]
    pub const fn new(value: u16) -> Self {
        Self(value & !Self::FLAGS)
    }
    /// Returns the number of the type without flags.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
    /// Returns the number with the flag "mandatory".
    #[must_use]
    pub const fn mandatory(self) -> Host16 {
        Host16::new(self.0 | Self::MANDATORY)
    }
    /// Returns the number without flags.
    #[must_use]
    pub const fn optional(self) -> Host16 {
        Host16::new(self.0)
    }
}

/// A parsed attribute: type, flag "mandatory" and value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute<'a> {
    pub(super) attribute_type: AttributeType,
    pub(super) mandatory: bool,
    pub(super) value: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// Returns the value if it has exactly `N` bytes.
    pub(super) fn exactly<const N: usize>(&self, what: &'static str) -> Result<[u8; N], DecodeError> {
        match self.value.try_into() {
            Ok(value) => Ok(value),
            Err(_) if self.value.len() < N => Err(DecodeError::TooShort { what, need: N, got: self.value.len() }),
            Err(_) => Err(DecodeError::BadValue { what, value: u64::try_from(self.value.len()).unwrap_or(u64::MAX) }),
        }
    }
}

/// Returns the attributes in `bytes`. An invalid length is an error and ends the iteration.
pub(super) fn attributes(bytes: &[u8]) -> impl Iterator<Item = Result<Attribute<'_>, DecodeError>> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let first = first(rest);
        rest = first.map_or(&[], |(_, rest)| rest);
        Some(first.map(|(attribute, _)| attribute))
    })
}

fn first(bytes: &[u8]) -> Result<(Attribute<'_>, &[u8]), DecodeError> {
    let header = AttributeHeader::parse(bytes)?;
    let (length, raw_type) = (usize::from(header.length.get()), header.raw_type.get());
    let bad = DecodeError::BadValue { what: "nlattr.length", value: header.length.get().into() };
    let attribute = Attribute {
        attribute_type: AttributeType::new(raw_type),
        mandatory: raw_type & AttributeType::MANDATORY != 0,
        value: bytes.get(as_bytes(header).len()..length).ok_or(bad)?,
    };
    Ok((attribute, after(bytes, length)))
}
