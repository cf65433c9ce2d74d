//! Responses of the daemon.
use super::{
    ClientStatus, Entry, EntryFlags, Header, Opcode,
    entry::{ENTRY_SIZE, RESPONSE_PATH_FLAGS},
    header::{CONDITIONAL, HEADER_SIZE, SHARED},
};
use crate::Address;
use core::{fmt, ops::Deref};
use ib_mad::{
    Guid, Pkey,
    sa::PathRecord,
    wire,
    wire::{Be16, Reserved, Text},
};

const DATA2: usize = core::mem::offset_of!(Header, data2);

/// A response to RESOLVE or PERF in a buffer of fixed size: up to 160 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    bytes: [u8; HEADER_SIZE + 2 * ENTRY_SIZE],
    length: u8,
}

impl Reply {
    fn start(header: Header) -> Self {
        let mut reply = Self { bytes: [0; HEADER_SIZE + 2 * ENTRY_SIZE], length: 0 };
        reply.push(ib_mad::as_bytes(&header));
        reply
    }

    fn push(&mut self, bytes: &[u8]) {
        let free = self.bytes.get_mut(usize::from(self.length)..).unwrap_or_default();
        if let (Some(room), Ok(length)) = (free.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            room.copy_from_slice(bytes);
            self.length += length;
        }
    }

    /// Returns a response with these bytes, for a replay of a trace; `None` if there are more than 160 bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reply = Self { bytes: [0; HEADER_SIZE + 2 * ENTRY_SIZE], length: 0 };
        reply.push(bytes);
        (reply.len() == bytes.len()).then_some(reply)
    }

    /// Returns a response with a path, and with the source if the daemon chose it.
    #[must_use]
    pub fn resolved(tid: [u8; 8], path: &PathRecord, chosen_source: Option<&Address>) -> Self {
        let length = if chosen_source.is_some() { 160 } else { 88 };
        let mut reply = Self::start(Header::new(Opcode::RESOLVE, ClientStatus::SUCCESS, length, tid));
        reply.push(ib_mad::as_bytes(&Entry::path(RESPONSE_PATH_FLAGS, path)));
        if let Some(source) = chosen_source {
            reply.push(ib_mad::as_bytes(&Entry::address(EntryFlags::SOURCE, source)));
        }
        reply
    }

    /// Marks that the path has the conditions of the request.
    pub const fn mark_conditional(&mut self) {
        self.bytes[DATA2] |= CONDITIONAL;
    }

    /// Marks that the daemon has a cache that clients read without a request.
    pub fn mark_shared(&mut self) {
        mark_shared(&mut self.bytes);
    }

    /// Returns the response to a failed resolution: only a header, and an opcode without the response bit, as in
    /// ibacm's provider.
    #[must_use]
    pub fn unresolved(tid: [u8; 8], status: ClientStatus) -> Self {
        Self::start(Header::new(Opcode::RESOLVE, status, 16, tid))
    }

    /// Returns the response to a request that was rejected before any lookup: only a header, and an opcode with the
    /// response bit, as in ibacm's core.
    #[must_use]
    pub fn refused(opcode: Opcode, tid: [u8; 8], status: ClientStatus) -> Self {
        Self::start(Header::new(opcode.ack(), status, 16, tid))
    }

    /// Returns the response to a query of the subnet administrator, 88 bytes: a header and the entry of the request. If
    /// the query returned a path, this path replaces the path in the entry.
    #[must_use]
    pub fn queried(tid: [u8; 8], entry: &Entry, result: Result<&PathRecord, ClientStatus>) -> Self {
        let status = result.err().unwrap_or(ClientStatus::SUCCESS);
        let mut reply = Self::start(Header::new(Opcode::RESOLVE.ack(), status, 88, tid));
        let mut entry = *entry;
        if let Ok(path) = result {
            entry.info = Entry::path(0, path).info;
        }
        reply.push(ib_mad::as_bytes(&entry));
        reply
    }

    /// Returns the response to PERF.
    #[must_use]
    pub fn counters(tid: [u8; 8], counters: &Counters) -> Self {
        let mut header = Header::new(Opcode::PERF.ack(), ClientStatus::SUCCESS, 16 + 7 * 8, tid);
        header.data0 = 7;
        let mut reply = Self::start(header);
        for counter in counters.0 {
            reply.push(&counter.to_be_bytes());
        }
        reply
    }

    /// Returns the status in the header.
    #[must_use]
    pub const fn status(&self) -> ClientStatus {
        ClientStatus::new(self.bytes[2])
    }
}

impl Deref for Reply {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ib_mad::Wire::parse(self) {
            Ok::<&Header, _>(header) => write!(f, "Reply{{{header:?}, {} bytes}}", self.length),
            Err(_) => f.write_str("Reply{}"),
        }
    }
}

/// A counter of [`Counters`], in the order of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Counter {
    /// Failed requests, except the requests counted in `NoData`.
    Error,
    /// Requests of clients and the kernel for a path or an address.
    Resolve,
    /// Requests for which the daemon has no data.
    NoData,
    /// Multicast requests that were sent.
    AddrQuery,
    /// Requests for which the cache had the address, but no path.
    AddrCache,
    /// Queries sent to the subnet administrator.
    RouteQuery,
    /// Requests whose path was cached or preloaded.
    RouteCache,
}

impl Counter {
    /// All counters, in the order of the protocol.
    pub const ALL: [Self; 7] = [
        Self::Error,
        Self::Resolve,
        Self::NoData,
        Self::AddrQuery,
        Self::AddrCache,
        Self::RouteQuery,
        Self::RouteCache,
    ];
}

/// The seven counters of PERF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counters(
    /// Values in the order of [`Counter`].
    pub [u64; 7],
);

impl Counters {
    /// Names in the order of the protocol, as `ib_acme -P` prints them.
    pub const NAMES: [&'static str; 7] = [
        "Error Count",
        "Resolve Count",
        "No Data",
        "Addr Query Count",
        "Addr Cache Count",
        "Route Query Count",
        "Route Cache Count",
    ];

    /// Adds 1 to a counter.
    pub fn count(&mut self, counter: Counter) {
        if let Some(value) = self.0.get_mut(counter as usize) {
            *value = value.wrapping_add(1);
        }
    }

    /// Returns the value of a counter.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.0.get(counter as usize).copied().unwrap_or_default()
    }
}

wire! {
    /// The part of an EP response before the addresses; 80 bytes, in network byte order.
    pub struct EpHead [80] {
        /// GUID of the endpoint's device.
        pub device_guid: Guid,
        /// Port number on the device, from 1.
        pub port: u8,
        /// Number of ports of the device.
        pub port_count: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// P_Key of the endpoint.
        pub pkey: Pkey,
        /// Number of addresses that follow, 64 bytes of text each.
        pub address_count: Be16,
        /// Name of the provider that serves the endpoint.
        pub provider: Text<64>,
    }
}

/// Marks in a RESOLVE or EP response that the daemon has a cache that clients read without a request.
pub fn mark_shared(response: &mut [u8]) {
    if let Some(byte) = response.get_mut(DATA2) {
        *byte |= SHARED;
    }
}

/// Maximum number of addresses in an EP response.
pub const MAX_EP_ADDRESSES: usize = (u16::MAX as usize - HEADER_SIZE - size_of::<EpHead>()) / 64;

/// Writes an EP response: calls `put` with consecutive pieces of the message. Addresses after the first
/// [`MAX_EP_ADDRESSES`] are left out.
pub fn ep_reply<'a>(
    tid: [u8; 8],
    index: u8,
    head: &EpHead,
    addresses: impl ExactSizeIterator<Item = &'a Address>,
    mut put: impl FnMut(&[u8]),
) {
    let count = u16::try_from(addresses.len().min(MAX_EP_ADDRESSES)).unwrap_or_default();
    let mut header = Header::new(Opcode::EP.ack(), ClientStatus::SUCCESS, 16 + 80 + count * 64, tid);
    header.data0 = index;
    put(ib_mad::as_bytes(&header));
    put(ib_mad::as_bytes(&EpHead { address_count: Be16::new(count), ..*head }));
    for address in addresses.take(count.into()) {
        let mut text = AddressText([0; 64], 0);
        // Text that does not fit is truncated.
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{address}"));
        put(&text.0);
    }
}

struct AddressText([u8; 64], usize);

impl fmt::Write for AddressText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = self.0.get_mut(self.1..63).unwrap_or_default();
        for (to, from) in free.iter_mut().zip(text.bytes()) {
            *to = from;
            self.1 += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn perf_response_is_as_the_c_ibacm_sends_it() {
        // Captured from Debian's ibacm 44: `01 82 00 07 00 00 00 48 tid8` and seven counters.
        let reply = Reply::counters([9; 8], &Counters([0, 9, 3, 3, 0, 5, 2]));
        assert_eq!(reply[..8], [1, 0x82, 0, 7, 0, 0, 0, 0x48]);
        assert_eq!(reply[8..16], [9; 8]);
        assert_eq!(reply.len(), 72);
        assert_eq!(reply[16 + 8..16 + 16], 9_u64.to_be_bytes());
    }

    #[test]
    fn each_counter_has_its_position() {
        for (position, counter) in Counter::ALL.into_iter().enumerate() {
            let mut counters = Counters([7, 8, 9, 10, 11, 12, 13]);
            let before = counters.get(counter);
            counters.count(counter);
            assert_eq!((before, counters.get(counter)), (7 + position as u64, 8 + position as u64));
            assert_eq!(counters.0[position], 8 + position as u64);
        }
    }

    #[test]
    fn each_kind_of_resolve_response_has_its_layout() {
        let path = PathRecord { dlid: ib_mad::Lid::new(17), ..PathRecord::default() };
        let reply = Reply::resolved([1; 8], &path, None);
        assert_eq!((reply.len(), reply[1], reply[2]), (88, 0x01, 0));
        assert_eq!(reply[16..20], 0x2b_u32.to_ne_bytes());
        assert_eq!(reply[20..24], [0x10_u16.to_ne_bytes(), [0, 0]].concat());
        assert_eq!(reply[24 + 40..24 + 42], [0, 17]);
        let reply = Reply::resolved([1; 8], &path, Some(&Address::from_text("10.0.0.1")));
        assert_eq!((reply.len(), reply[1]), (160, 0x01));
        assert_eq!(
            reply[88..96],
            [1_u32.to_ne_bytes(), [2_u16.to_ne_bytes(), [0, 0]].concat().try_into().unwrap()].concat()
        );
        assert_eq!(reply[96..101], [10, 0, 0, 1, 0]);
        assert_eq!(Reply::unresolved([1; 8], ClientStatus::ENODATA)[..3], [1, 0x01, 3]);
        assert_eq!(Reply::refused(Opcode::RESOLVE, [1; 8], ClientStatus::ESRCADDR)[..3], [1, 0x81, 7]);
        let entry = Entry::path(0x8000_0000, &path);
        let reply = Reply::queried([1; 8], &entry, Err(ClientStatus::ETIMEDOUT));
        assert_eq!((reply.len(), reply[1], reply[2]), (88, 0x81, 6));
        assert_eq!(reply[16..88], *ib_mad::as_bytes(&entry));
        // The entry of the request, with the path that was found.
        let found = PathRecord { dlid: ib_mad::Lid::new(18), ..path };
        let reply = Reply::queried([1; 8], &entry, Ok(&found));
        assert_eq!((reply.len(), reply[1], reply[2]), (88, 0x81, 0));
        assert_eq!(reply[16..88], *ib_mad::as_bytes(&Entry::path(0x8000_0000, &found)));
    }

    #[test]
    fn reply_is_made_from_its_bytes_if_they_fit() {
        let path = PathRecord { dlid: ib_mad::Lid::new(17), ..PathRecord::default() };
        let reply = Reply::resolved([1; 8], &path, Some(&Address::from_text("10.0.0.1")));
        assert_eq!(Reply::from_bytes(&reply), Some(reply));
        assert_eq!(Reply::from_bytes(&[0; 161]), None);
    }

    #[test]
    fn ep_response_has_no_more_addresses_than_fit() {
        let addresses = std::vec![Address::from_text("node1"); 2000];
        let mut bytes = Vec::new();
        let head = EpHead { port: 1, pkey: Pkey::DEFAULT_FULL, ..EpHead::default() };
        ep_reply([3; 8], 5, &head, addresses.iter(), |piece| bytes.extend_from_slice(piece));
        assert_eq!(bytes.len(), 96 + 1022 * 64);
        assert_eq!(bytes[..4], [1, 0x83, 0, 5]);
        assert_eq!(usize::from(u16::from_be_bytes([bytes[6], bytes[7]])), bytes.len());
        assert_eq!(bytes[16 + 14..16 + 16], 1022_u16.to_be_bytes());
        assert_eq!(bytes[96..102], *b"node1\0");
    }
}
