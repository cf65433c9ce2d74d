//! Tables from ibsim. ibsim does not support RMPP, and stores the length of a datagram outside of the datagram. It
//! passes on the first 256 bytes of a longer table, unless `ib-sim-preload` in OpenSM's process makes segments of it.
use alloc::{boxed::Box, collections::BTreeMap, vec, vec::Vec};
use core::time::Duration;
use ib_mad::{
    Method, as_bytes,
    rmpp::{RMPP_VERSION, Reassembler, ReassemblerLimits, Received, RmppFlags, RmppHeader, RmppType},
    sa::SaMad,
    wire::Be32,
};

/// Longest table in bytes, and the number of tables whose segments are incomplete.
const MAX_TABLE: usize = 65_536;
const MAX_TABLES: usize = 8;

/// The tables whose segments are incomplete, by transaction id.
#[derive(Debug, Default)]
pub(super) struct Tables(BTreeMap<u64, Reassembler<Vec<u8>>>);

/// The result of a response's datagram.
pub(super) enum Response {
    /// A whole response.
    Mad(Box<SaMad>),
    /// A table, complete.
    Table(Vec<u8>),
    /// A segment of an incomplete table.
    Segment,
}

impl Tables {
    /// Handles a datagram of a response and its length. Segments are not acknowledged: ibsim loses none, and
    /// `ib-sim-preload` sends all of them.
    pub(super) fn handle(&mut self, datagram: &SaMad, length: u64) -> Response {
        if !datagram.rmpp.flags.active() || datagram.rmpp.rmpp_type != RmppType::DATA {
            return Response::Mad(Box::new(as_segment(datagram, length)));
        }
        let tid = datagram.header.transaction_id.get();
        if self.0.len() >= MAX_TABLES && !self.0.contains_key(&tid) {
            self.0.pop_first();
        }
        let limits = ReassemblerLimits::default();
        let table = self.0.entry(tid).or_insert_with(|| Reassembler::new(vec![0; MAX_TABLE], limits));
        match table.handle(Duration::ZERO, as_bytes(datagram)) {
            Ok(Received::More(_)) => return Response::Segment,
            Ok(Received::Done(_)) => {}
            // The request ends by its time-out.
            Ok(Received::Failed(..)) | Err(_) => {
                self.0.remove(&tid);
                return Response::Segment;
            }
        }
        let message = table.message().map(<[u8]>::to_vec);
        self.0.remove(&tid);
        message.map_or(Response::Segment, Response::Table)
    }
}

/// Bytes before the payload of a segment.
const HEADERS: u64 = 36;

/// Returns the response with the RMPP header of a first segment. OpenSM relies on the kernel to write this header. The
/// bytes after `length` are random memory of OpenSM. ibsim keeps only the first 256 bytes of a longer response.
fn as_segment(response: &SaMad, length: u64) -> SaMad {
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
        AttributeId, MadRef, TransactionId,
        rmpp::{Segmenter, SegmenterLimits},
        sa::{McMemberRecord, PathRecord, Query, TableWriter, table_length},
        wire::{Be16, Octets},
    };

    #[test]
    fn table_is_complete_with_its_last_segment() {
        let request = |tid| Query::<PathRecord>::new().request(Method::GET_TABLE, TransactionId::new(tid));
        let table = |tid| {
            let mut table = TableWriter::new(&request(tid), vec![0; table_length::<PathRecord>(300)]).unwrap();
            (0..300).for_each(|_| table.push(&PathRecord::default()).unwrap());
            table.finish().as_bytes().to_vec()
        };
        // The segments of two tables alternate.
        let mut tables = Tables::default();
        let mut senders = [1, 2].map(|tid| {
            let sender = Segmenter::new(table(tid), SegmenterLimits::default()).unwrap();
            (sender, Reassembler::new(vec![0; MAX_TABLE], ReassemblerLimits::default()))
        });
        let mut complete = Vec::new();
        for _ in 0..100 {
            for (sender, receiver) in &mut senders {
                let Some(segment) = sender.poll_send(Duration::ZERO) else { continue };
                match tables.handle(SaMad::parse(&segment).unwrap(), 256) {
                    Response::Table(message) => complete.push(message.len()),
                    Response::Segment => {}
                    Response::Mad(mad) => panic!("{mad:?}"),
                }
                if let Ok(Received::More(Some(ack)) | Received::Done(Some(ack))) =
                    receiver.handle(Duration::ZERO, &segment)
                {
                    sender.handle(Duration::ZERO, &ack).unwrap();
                }
            }
        }
        assert_eq!((complete, tables.0.len()), (vec![table_length::<PathRecord>(300); 2], 0));
    }

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
