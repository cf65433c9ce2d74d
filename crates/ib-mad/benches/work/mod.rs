//! Measured operations: by time in `benches/mad.rs`, by instructions in acm-tests' `mad_instructions`.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "code by offsets is the comparison; each program uses a part of this file"
)]
use core::{fmt::Write, time::Duration};
use ib_mad::{
    Gid, Lid, Method, Mtu, Pkey, PortState, Rate, Selector, ServiceLevel, TransactionId, as_bytes,
    rmpp::{Reassembler, ReassemblerLimits, Received, RmppType, Segmenter, SegmenterLimits},
    sa::{JoinState, McMemberRecord, PathRecord, Query, SaMad},
    smp::PortInfo,
};

/// Number of records of the reassembled table, 64 bytes each.
pub const RECORDS: usize = 1000;

/// Does not check the class, as the code by hand.
#[inline(never)]
pub fn five_fields(bytes: &[u8]) -> Option<(Gid, Gid, Lid, Lid, Pkey)> {
    let record = <SaMad as ib_mad::Wire>::parse(bytes).ok()?.record::<PathRecord>().ok()?;
    Some((record.dgid, record.sgid, record.dlid, record.slid, record.pkey))
}

#[inline(never)]
pub fn five_fields_by_hand(bytes: &[u8]) -> Option<([u8; 16], [u8; 16], u16, u16, u16)> {
    if bytes.len() < 256 || bytes[16..18] != [0, 0x35] || (bytes[3] & 0x80 != 0 && bytes[4..6] != [0, 0]) {
        return None;
    }
    let sixteen = |at: usize| bytes[at..at + 16].try_into().ok();
    let two = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    Some((sixteen(64)?, sixteen(80)?, two(96), two(98), two(106)))
}

#[inline(never)]
pub fn path_query(sgid: Gid, dgid: Gid) -> SaMad {
    Query::<PathRecord>::new()
        .sgid(sgid)
        .dgid(dgid)
        .pkey(Pkey::DEFAULT_FULL)
        .num_path(1)
        .request(Method::GET, TransactionId::new(1))
}

/// Builds a request of subnet administration without its record: common header and SA header.
fn request_by_hand(method: u8, attribute: u8, mask: u64) -> [u8; 256] {
    let mut mad = [0; 256];
    mad[..4].copy_from_slice(&[1, 3, 2, method]);
    mad[8..16].copy_from_slice(&1u64.to_be_bytes());
    mad[17] = attribute;
    mad[45] = if attribute == 0x35 { 8 } else { 7 };
    mad[48..56].copy_from_slice(&mask.to_be_bytes());
    mad
}

#[inline(never)]
pub fn path_query_by_hand(sgid: [u8; 16], dgid: [u8; 16]) -> [u8; 256] {
    let mut mad = request_by_hand(1, 0x35, 0x300c);
    mad[64..80].copy_from_slice(&dgid);
    mad[80..96].copy_from_slice(&sgid);
    mad[105] = 1;
    mad[106..108].copy_from_slice(&[0xff, 0xff]);
    mad
}

#[inline(never)]
pub fn join_by_hand(mgid: [u8; 16], port_gid: [u8; 16]) -> [u8; 256] {
    let mut mad = request_by_hand(2, 0x38, 0x1_1333);
    mad[56..72].copy_from_slice(&mgid);
    mad[72..88].copy_from_slice(&port_gid);
    (mad[94], mad[98], mad[100], mad[104]) = (0x84, 0x83, 0x10, 1);
    mad
}

#[inline(never)]
pub fn join(mgid: Gid, port_gid: Gid) -> SaMad {
    Query::<McMemberRecord>::new()
        .mgid(mgid)
        .port_gid(port_gid)
        .mtu(Selector::Exactly, Mtu::B2048)
        .rate(Selector::Exactly, Rate::GBPS_10)
        .sl(ServiceLevel::of::<1>())
        .join_state(JoinState::FULL_MEMBER)
        .request(Method::SET, TransactionId::new(1))
}

/// Contains a panic path, to test the search for panic paths.
#[inline(never)]
pub fn index_at(bytes: &[u8], at: usize) -> u8 {
    bytes[at]
}

/// Returns a response with a path record.
pub fn answer(gid: Gid) -> SaMad {
    let mut answer = path_query(gid, gid);
    answer.header.method = Method::GET_RESP;
    answer
}

/// Returns a PortInfo with some fields set.
pub fn port_info() -> PortInfo {
    let mut port = PortInfo { lid: Lid::new(4), ..PortInfo::default() };
    port.speed_state = port.speed_state.with_port_state(PortState::ACTIVE);
    port
}

#[inline(never)]
pub fn dissect(port: &PortInfo, text: &mut String) {
    text.clear();
    write!(text, "{port:?}").unwrap();
}

/// Writes as many names and numbers as [`dissect`].
#[inline(never)]
pub fn dissect_by_hand(bytes: &[u8], text: &mut String) {
    text.clear();
    for byte in bytes {
        write!(text, "name_of_field={byte}, ").unwrap();
    }
}

/// Returns the segments of a response with [`RECORDS`] records.
pub fn table_segments() -> Vec<[u8; 256]> {
    let mut message = as_bytes(&answer(Gid::ZERO))[..56].to_vec();
    message.resize(56 + 64 * RECORDS, 1);
    let mut sender = Segmenter::new(&message, SegmenterLimits::default()).unwrap();
    (1..=sender.segments())
        .map(|number| {
            let segment = sender.poll_send(Duration::ZERO).unwrap();
            let mut ack = segment;
            ack[25] = RmppType::ACK.get();
            ack[28..32].copy_from_slice(&number.to_be_bytes());
            ack[32..36].copy_from_slice(&(number + 1).to_be_bytes());
            sender.handle(Duration::ZERO, &ack).unwrap();
            segment
        })
        .collect()
}

/// Concatenates the data of the segments and returns the length of the message.
#[inline(never)]
pub fn reassemble_by_hand(segments: &[[u8; 256]], buffer: &mut [u8]) -> usize {
    let mut length = 0;
    for (number, segment) in (1_u32..).zip(segments) {
        if segment[25] != 1 || segment[28..32] != number.to_be_bytes() {
            return 0;
        }
        if number == 1 {
            buffer[..56].copy_from_slice(&segment[..56]);
            length = 56;
        }
        buffer[length..length + 200].copy_from_slice(&segment[56..]);
        length += 200;
    }
    length
}

/// Reassembles the segments and returns the length of the message.
#[inline(never)]
pub fn reassemble(segments: &[[u8; 256]], buffer: &mut [u8]) -> usize {
    let mut receiver = Reassembler::new(buffer, ReassemblerLimits::default());
    segments.iter().for_each(|segment| if let Ok(Received::Done(_)) = receiver.handle(Duration::ZERO, segment) {});
    receiver.message().map_or(0, <[u8]>::len)
}
