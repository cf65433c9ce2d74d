//! Entries of a RESOLVE message.
use crate::Address;
use ib_mad::{
    Wire,
    acm::AcmAddressType,
    sa::PathRecord,
    wire,
    wire::{Host16, Host32, Octets, Reserved},
};

/// Bytes of an entry.
pub const ENTRY_SIZE: usize = 72;

bitflags::bitflags! {
    /// Flags of an entry in a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct EntryFlags: u32 {
        /// The entry is the source.
        const SOURCE = 1;
        /// The entry is the destination.
        const DEST = 1 << 1;
        /// Answer from the cache or ENODATA at once; the lookup is started all the same.
        const NO_DELAY = 1 << 30;
        /// Ask subnet administration, not the cache.
        const QUERY_SA = 1 << 31;
        const _ = !0;
    }
}

/// Flags of the path record in an answer, as `librdmacm` reads them: a GMP and primary path, outbound and
/// inbound-reverse.
pub const ANSWER_PATH_FLAGS: u32 = 0x2b;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind<'a> {
    /// Address of a source or of a destination.
    Address(Address),
    /// A path record.
    Path(&'a PathRecord),
    /// A type that is not known.
    Unknown(u16),
}

/// Number of a path record's type; the address types are [`AcmAddressType`]'s.
pub const TYPE_PATH: u16 = 0x10;

wire! {
    /// An entry of a RESOLVE message, 72 bytes; numbers in the machine's order.
    pub struct Entry [72] {
        /// [`EntryFlags`] in a request; in an answer those of a path.
        pub flags: Host32,
        /// What `info` holds: see [`Entry::kind`].
        pub entry_type: Host16,
        /// Zero.
        pub reserved: Reserved<2>,
        /// An address, zero-padded, or a path record; both in network order.
        pub info: Octets<64>,
    }
}

impl Entry {
    /// An entry that holds an address.
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

    /// An entry that holds a path record.
    #[must_use]
    pub fn path(flags: u32, path: &PathRecord) -> Self {
        let mut info = Octets([0; 64]);
        info.0.copy_from_slice(ib_mad::as_bytes(path));
        Self { flags: Host32::new(flags), entry_type: Host16::new(TYPE_PATH), info, ..Self::default() }
    }

    /// The flags of a request's entry.
    #[must_use]
    pub fn request_flags(&self) -> EntryFlags {
        EntryFlags::from_bits_retain(self.flags.get())
    }

    /// The path that it holds, if it is one.
    pub(super) fn as_path(&self) -> Option<&PathRecord> {
        (self.entry_type.get() == TYPE_PATH).then(|| PathRecord::parse(&self.info.0).ok()).flatten()
    }

    /// What the entry holds.
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
