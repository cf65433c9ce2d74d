//! How much of a table arrived: ibsim says the length of a datagram beside it, and knows no RMPP.
use ib_mad::{
    Method,
    rmpp::{RMPP_VERSION, RmppFlags, RmppHeader, RmppType},
    sa::SaMad,
    wire::Be32,
};

/// Bytes before the payload of a segment.
const HEADERS: u64 = 36;

/// The answer with the header that a first segment has, which OpenSM leaves to the kernel: what is behind `length` is
/// whatever lay in OpenSM's memory, and of a longer answer ibsim has no more than this.
pub(super) fn as_segment(answer: &SaMad, length: u64) -> SaMad {
    if answer.header.method != Method::GET_TABLE_RESP || answer.rmpp.rmpp_type == RmppType::DATA {
        return *answer;
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
    SaMad { rmpp, ..*answer }
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
    fn what_lies_behind_an_answer_is_no_record() {
        let mut answer = SaMad::request(Method::GET_TABLE_RESP, AttributeId::MC_MEMBER_RECORD, TransactionId::new(1));
        answer.sa.attribute_offset = Be16::new(7);
        answer.data = Octets([0x5a; 200]);
        // As OpenSM hands it to the kernel.
        answer.rmpp.flags = RmppFlags::default().with_active(true);
        let records = |length| {
            let segment = as_segment(&answer, length);
            let count = MadRef::new(as_bytes(&segment)).unwrap().records::<McMemberRecord>().unwrap().count();
            (count, segment.rmpp.flags.last())
        };
        assert_eq!([56, 56 + 56, 56 + 3 * 56, 56 + 4 * 56].map(records), [(0, true), (1, true), (3, true), (3, false)]);
        let get = SaMad { header: ib_mad::MadHeader { method: Method::GET_RESP, ..answer.header }, ..answer };
        assert_eq!(as_segment(&get, 100), get);
    }
}
