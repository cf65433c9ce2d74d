//! Entries of a RESOLVE message.
use crate::Address;
use ib_mad::{
    Wire,
    acm::AcmAddressType,
    sa::PathRecord,
    wire,
    wire::{Host16, Host32, Octets, Reserved},
};

/// Size of an entry in bytes.
pub const ENTRY_SIZE: usize = 72;

bitflags::bitflags! {
    /// Flags of an entry in a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct EntryFlags: u32 {
        /// The entry is the source.
        const SOURCE = 1;
        /// The entry is the destination.
        const DEST = 1 << 1;
        /// The daemon responds at once. If the path is not cached, it responds with ENODATA and starts the lookup.
        const NO_DELAY = 1 << 30;
        /// The daemon queries the subnet administrator instead of its cache.
        const QUERY_SA = 1 << 31;
        const _ = !0;
    }
}

/// Flags of the path record in a response, for `librdmacm`: GMP, primary, outbound and inbound-reverse path.
pub const RESPONSE_PATH_FLAGS: u32 = 0x2b;

/// Contents of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind<'a> {
    /// Address of a source or of a destination.
    Address(Address),
    /// A path record.
    Path(&'a PathRecord),
    /// Entry with an unknown type.
    Unknown(u16),
}

/// Type of an entry with a path record. The types of addresses are those of [`AcmAddressType`].
pub const TYPE_PATH: u16 = 0x10;

wire! {
    /// An entry of a RESOLVE message, 72 bytes; its numbers are in host byte order.
    pub struct Entry [72] {
        /// [`EntryFlags`] in a request; flags of the path in a response.
        pub flags: Host32,
        /// Type of `info`: see [`Entry::kind`].
        pub entry_type: Host16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// A zero-padded address or a path record, in network byte order.
        pub info: Octets<64>,
    }
}

impl Entry {
    /// Returns an entry with an address.
    #[must_use]
    pub fn address(flags: EntryFlags, address: &Address) -> Self {
        let (kind, info) = address.encode();
        Self {
            flags: Host32::new(flags.bits()),
            entry_type: Host16::new(kind.get().into()),
            info: Octets(info),
            ..Self::default()
        }
    }

    /// Returns an entry with a path record.
    #[must_use]
    pub fn path(flags: u32, path: &PathRecord) -> Self {
        let mut info = Octets([0; 64]);
        info.0.copy_from_slice(ib_mad::as_bytes(path));
        Self { flags: Host32::new(flags), entry_type: Host16::new(TYPE_PATH), info, ..Self::default() }
    }

    /// Returns the flags of an entry of a request.
    #[must_use]
    pub fn request_flags(&self) -> EntryFlags {
        EntryFlags::from_bits_retain(self.flags.get())
    }

    /// Returns the path record, if the entry has one.
    pub(super) fn as_path(&self) -> Option<&PathRecord> {
        (self.entry_type.get() == TYPE_PATH).then(|| PathRecord::parse(&self.info.0).ok()).flatten()
    }

    /// Returns the contents of the entry.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> EntryKind<'_> {
        if let Some(path) = self.as_path() {
            return EntryKind::Path(path);
        }
        let number = self.entry_type.get();
        u8::try_from(number)
            .ok()
            .and_then(|kind| Address::decode(AcmAddressType::new(kind), &self.info.0))
            .map_or(EntryKind::Unknown(number), EntryKind::Address)
    }
}
