//! Converts addresses, messages and path records between Rust and C. All functions accept arbitrary bytes.
use acm_provider::abi::{EpAddrData, EpInfo, Header, MESSAGE_ENTRIES, Message};
use acm_sansio::api::SaError;
use acm_wire::Address;
use ib_mad::acm::AcmAddressType;
use nix::libc;

/// Size of a message's header in bytes.
pub const HEADER: usize = size_of::<Header>();
/// Size of a message with all its entries in bytes.
pub const MESSAGE: usize = size_of::<Message>();
/// Size of an entry in bytes.
const ENTRY: usize = size_of::<EpAddrData>();
const _: () = assert!(HEADER == 16 && ENTRY == 72 && MESSAGE == HEADER + MESSAGE_ENTRIES * ENTRY);

/// Returns the type and the bytes of an address.
#[must_use]
pub fn address(address: &Address) -> (u16, EpInfo) {
    let (kind, bytes) = address.encode();
    (kind.get().into(), EpInfo(bytes))
}

/// Returns the address of an entry; `None` if the type is unknown or that of a path record.
#[must_use]
pub fn to_address(kind: u16, info: &EpInfo) -> Option<Address> {
    Address::decode(AcmAddressType::new(u8::try_from(kind).ok()?), &info.0)
}

/// Converts bytes to a message. Missing bytes are zero, and excess bytes are ignored.
#[must_use]
pub fn message(bytes: &[u8]) -> Message {
    let mut all = [0; MESSAGE];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = *from;
    }
    let mut rest = Bytes(&all);
    let header = Header {
        version: rest.byte(),
        opcode: rest.byte(),
        status: rest.byte(),
        data: rest.take(),
        length: u16::from_ne_bytes(rest.take()),
        tid: u64::from_ne_bytes(rest.take()),
    };
    let entries = core::array::from_fn(|_| EpAddrData {
        flags: u32::from_ne_bytes(rest.take()),
        kind: u16::from_ne_bytes(rest.take()),
        reserved: u16::from_ne_bytes(rest.take()),
        info: EpInfo(rest.take()),
    });
    Message { header, entries }
}

/// Returns the length of a message in bytes: the length in its header, limited to at least the header and at most the
/// whole structure.
#[must_use]
pub fn length(header: &Header) -> usize {
    usize::from(header.length).clamp(HEADER, MESSAGE)
}

/// Converts a message to bytes, up to its [`length`].
#[must_use]
pub fn bytes(message: &Message) -> Vec<u8> {
    let Header { version, opcode, status, data, length: header_length, tid } = message.header;
    let mut bytes = Vec::with_capacity(MESSAGE);
    bytes.extend([version, opcode, status]);
    bytes.extend(data);
    bytes.extend(header_length.to_ne_bytes());
    bytes.extend(tid.to_ne_bytes());
    for EpAddrData { flags, kind, reserved, info } in &message.entries {
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(reserved.to_ne_bytes());
        bytes.extend(info.0);
    }
    bytes.truncate(length(&message.header));
    bytes
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((bytes, rest)) => {
                self.0 = rest;
                *bytes
            }
            None => [0; N],
        }
    }

    fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }
}

/// Fields of a path record: the range of bytes, the bits in each byte, and the bit of the component mask (IBTA
/// 15.2.5.16).
const FIELDS: [(core::ops::Range<usize>, u8, u64); 19] = [
    (0..8, 0xff, 0x3),         // service id
    (8..24, 0xff, 0x4),        // DGID
    (24..40, 0xff, 0x8),       // SGID
    (40..42, 0xff, 0x10),      // DLID
    (42..44, 0xff, 0x20),      // SLID
    (44..47, 0xff, 0x100),     // flow label
    (47..48, 0xff, 0x200),     // hop limit
    (48..49, 0xff, 0x400),     // traffic class
    (49..50, 0x80, 0x800),     // reversible
    (50..52, 0xff, 0x2000),    // P_Key
    (52..53, 0xff, 0x4000),    // QoS class, upper part
    (53..54, 0xf0, 0x4000),    // QoS class, lower part
    (53..54, 0x0f, 0x8000),    // SL
    (54..55, 0xc0, 0x1_0000),  // MTU selector
    (54..55, 0x3f, 0x2_0000),  // MTU
    (55..56, 0xc0, 0x4_0000),  // rate selector
    (55..56, 0x3f, 0x8_0000),  // rate
    (56..57, 0xc0, 0x10_0000), // lifetime selector
    (56..57, 0x3f, 0x20_0000), // lifetime
];

/// Returns the component mask of the fields of a path record that are not zero, as `acm_path_comp_mask` but in host
/// byte order.
#[must_use]
pub fn component_mask(path: &[u8; 64]) -> u64 {
    let is_set = |range: &core::ops::Range<usize>, mask: u8| {
        path.get(range.clone()).is_some_and(|bytes| bytes.iter().any(|byte| byte & mask != 0))
    };
    let fields = FIELDS.iter().filter(|(range, mask, _)| is_set(range, *mask)).map(|(_, _, bit)| *bit);
    fields.fold(0, |all, bit| all | bit)
}

/// Parses the hardware address of an interface, such as `80:00:02:08:fe:80:...`. Returns the GID, which is the last 16
/// of 20 bytes.
#[must_use]
pub fn gid_of_interface(text: &str) -> Option<[u8; 16]> {
    let bytes: Result<Vec<u8>, _> = text.trim_end().split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
    let [_, _, _, _, gid @ ..] = bytes.ok()?.try_into().ok().filter(|bytes: &[u8; 20]| text.len() >= bytes.len())?;
    Some(gid)
}

/// Returns the `errno` that a provider receives in place of a response.
#[must_use]
pub const fn errno(error: SaError) -> u32 {
    let errno = match error {
        SaError::TimedOut | SaError::NoTurn | SaError::Unneeded => libc::ETIMEDOUT,
        SaError::PortDown => libc::ENETDOWN,
        SaError::NotSent => libc::EIO,
        SaError::BadResponse => libc::EBADMSG,
        // An error status is part of the response.
        SaError::Status(_) => 0,
    };
    errno.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn length_of_a_message_is_at_least_its_header_and_at_most_the_structure() {
        let of = |length| super::length(&Header { version: 1, opcode: 1, status: 0, data: [0; 3], length, tid: 0 });
        assert_eq!([0, 15, 16, 17].map(of), [16, 16, 16, 17]);
        assert_eq!([MESSAGE, MESSAGE + 1].map(|length| of(length.try_into().unwrap())), [MESSAGE; 2]);
    }

    #[test]
    fn each_field_of_a_path_sets_its_component_bit() {
        let mask = |at: usize, value: u8| {
            let mut record = [0; 64];
            record[at] = value;
            component_mask(&record)
        };
        assert_eq!(component_mask(&[0; 64]), 0);
        let bytes =
            [(7, 1, 0x3), (8, 1, 0x4), (39, 1, 0x8), (41, 1, 0x10), (42, 1, 0x20), (46, 1, 0x100), (47, 1, 0x200)];
        let others =
            [(48, 1, 0x400), (49, 0x80, 0x800), (49, 0x7f, 0), (50, 1, 0x2000), (52, 1, 0x4000), (53, 0x10, 0x4000)];
        let rest =
            [(53, 1, 0x8000), (54, 0x40, 0x1_0000), (54, 1, 0x2_0000), (55, 0x80, 0x4_0000), (55, 0x20, 0x8_0000)];
        let last = [(56, 0x40, 0x10_0000), (56, 1, 0x20_0000), (57, 0xff, 0), (63, 0xff, 0)];
        for (at, value, bit) in bytes.into_iter().chain(others).chain(rest).chain(last) {
            assert_eq!(mask(at, value), bit, "byte {at}");
        }
    }

    #[test]
    fn gid_is_the_end_of_an_interface_address() {
        let text = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:01:02:ff\n";
        let gid = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 1, 2, 0xff];
        assert_eq!(gid_of_interface(text), Some(gid));
        assert_eq!(gid_of_interface("52:54:00:12:34:56\n"), None);
        assert_eq!(gid_of_interface(""), None);
    }

    proptest! {
        #[test]
        fn messages_survive_a_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
            let message = message(&bytes);
            let back = super::bytes(&message);
            prop_assert_eq!(back.len(), length(&message.header));
            let count = back.len().min(bytes.len());
            prop_assert_eq!(&back[..count], &bytes[..count]);
            prop_assert!(back[count..].iter().all(|byte| *byte == 0));
        }

        #[test]
        fn addresses_survive_a_round_trip(bytes in any::<[u8; 32]>(), kind in 1u16..=5) {
            let mut info = EpInfo([0; 64]);
            info.0[..32].copy_from_slice(&bytes);
            let found = to_address(kind, &info).unwrap();
            let (back, info) = address(&found);
            prop_assert_eq!(back, kind);
            prop_assert_eq!(to_address(back, &info), Some(found));
        }
    }
}
