//! RMPP headers of tables from ibsim. ibsim does not support RMPP, and stores the length of a datagram outside of the
//! datagram.
use ib_mad::{
    Method,
    rmpp::{RMPP_VERSION, RmppFlags, RmppHeader, RmppType},
    sa::SaMad,
    wire::Be32,
};

/// Bytes before the payload of a segment.
const HEADERS: u64 = 36;

/// Returns the response with the RMPP header of a first segment. OpenSM relies on the kernel to write this header. The
/// bytes after `length` are random memory of OpenSM. ibsim keeps only the first 256 bytes of a longer response.
pub(super) fn as_segment(response: &SaMad, length: u64) -> SaMad {
    if response.header.method != Method::GET_TABLE_RESP || response.rmpp.rmpp_type == RmppType::DATA {
        return *response;
    }
    let flags = RmppFlags::default().with_active(true).with_first(true);
    let is_whole = usize::try_from(length).is_ok_and(|length| length <= size_of::<SaMad>());
    let payload = u32::try_from(length.saturating_sub(HEADERS)).unwrap_or(u32::MAX);
    let rmpp = RmppHeader {
        version: RMPP_VERSION,
        rmpp_type: RmppType::DATA,
        flags: flags.with_last(is_whole),
        data1: Be32::new(1),
        data2: Be32::new(payload),
        ..RmppHeader::default()
    };
    SaMad { rmpp, ..*response }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{
        AttributeId, MadRef, TransactionId, as_bytes,
        sa::McMemberRecord,
        wire::{Be16, Octets},
    };

    #[test]
    fn only_records_within_the_length_are_read() {
        let mut response = SaMad::request(Method::GET_TABLE_RESP, AttributeId::MC_MEMBER_RECORD, TransactionId::new(1));
        response.sa.attribute_offset = Be16::new(7);
        response.data = Octets([0x5a; 200]);
        // The flags with which OpenSM passes a response to the kernel.
        response.rmpp.flags = RmppFlags::default().with_active(true);
        let records = |length| {
            let segment = as_segment(&response, length);
            let count = MadRef::new(as_bytes(&segment)).unwrap().records::<McMemberRecord>().unwrap().count();
            (count, segment.rmpp.flags.last())
        };
        assert_eq!([56, 56 + 56, 56 + 3 * 56, 56 + 4 * 56].map(records), [(0, true), (1, true), (3, true), (3, false)]);
        let get = SaMad { header: ib_mad::MadHeader { method: Method::GET_RESP, ..response.header }, ..response };
        assert_eq!(as_segment(&get, 100), get);
    }
}
