//! The records of a subnet administration datagram or message.
use super::{MadRef, layout::check_version};
use crate::{
    AttributeId, DecodeError, Method, MgmtClass, Wire,
    rmpp::{RmppHeader, RmppType},
    sa::{Records, SaHeader, SaRecord},
};

/// Bytes of the check sums that a capture may keep behind a datagram.
const CHECK_SUMS: usize = 6;

impl<'a> MadRef<'a> {
    /// The records in a datagram of subnet administration, or in a message that was put together from several:
    /// one in an answer to Get, Set or Delete and in a request; in the answer to a table as many as it says; none if
    /// the status is an error.
    ///
    /// ```
    /// use ib_mad::{MadRef, TransactionId, as_bytes, sa::{PathRecord, Query}};
    /// let mut answer = Query::<PathRecord>::new().hop_limit(3).get(TransactionId::new(1));
    /// answer.header.method = ib_mad::Method::GET_RESP;
    /// let mut records = MadRef::new(as_bytes(&answer))?.records::<PathRecord>()?;
    /// assert_eq!(records.next().map(|path| path.flow_hop.hop_limit()), Some(3));
    /// assert!(records.next().is_none());
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// The length of a table is that of the first and only segment's RMPP payload; else that of the message. A segment
    /// after the first has no records of its own. A table without RMPP, which the specification does not know, ends
    /// with its last byte that is not zero. Up to 6 bytes behind a datagram are check sums.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the class or a version is another, if the attribute is not the record's, if the records
    /// of a table are nearer to each other than their size, or if the datagram ends before subnet administration's header
    /// does (`what` is the class then).
    pub fn records<R: SaRecord>(&self) -> Result<Records<'a, R>, DecodeError> {
        if self.class() != MgmtClass::SUBN_ADM {
            return Err(DecodeError::BadValue { what: "mgmt_class", value: self.class().get().into() });
        }
        check_version(self.header())?;
        self.records_of(R::ID)
    }

    /// The paths of an Omni-Path datagram, as [`records`](Self::records) counts them.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the base version is not Omni-Path's, if the class or the attribute is another, or if the
    /// records of a table are nearer to each other than their size.
    #[cfg(feature = "opa")]
    pub fn opa_paths(&self) -> Result<Records<'a, crate::opa::OpaPathRecord>, DecodeError> {
        if self.format() != super::layout::Format::OmniPath {
            return Err(DecodeError::BadValue { what: "base_version", value: self.header().base_version.into() });
        }
        self.records_of(AttributeId::PATH_RECORD)
    }

    fn records_of<R: Wire>(&self, wanted: AttributeId) -> Result<Records<'a, R>, DecodeError> {
        let sa = self.sa().ok_or(DecodeError::BadValue { what: "mgmt_class", value: self.class().get().into() })?;
        let id = self.record_id();
        if id != wanted {
            return Err(DecodeError::BadValue { what: "attribute_id", value: id.get().into() });
        }
        if !self.status().is_ok() {
            return Records::new(&[], 0);
        }
        let offset = sa.attribute_offset.get();
        match self.is_table() {
            true if self.counts_nothing() => Records::new(self.without_zeros(), offset),
            true => Records::new(self.record_bytes(), offset),
            false => Records::new(self.record_bytes(), 0),
        }
    }

    /// Whether it is a segment of RMPP after the first: its data goes on anywhere in a record.
    #[must_use]
    pub fn is_later_segment(&self) -> bool {
        self.is_one_datagram() && self.rmpp().is_some_and(|rmpp| rmpp.flags.active() && !rmpp.flags.first())
    }

    /// Which records these are.
    pub(super) fn record_id(&self) -> AttributeId {
        match (self.method(), self.header().attribute_id) {
            // The answer to a multi-path question keeps its number and has path records.
            (Method::GET_MULTI_RESP, AttributeId::MULTI_PATH_RECORD) => AttributeId::PATH_RECORD,
            (_, id) => id,
        }
    }

    fn is_table(&self) -> bool {
        matches!(self.method(), Method::GET_TABLE_RESP | Method::GET_TRACE_TABLE_RESP | Method::GET_MULTI_RESP)
    }

    fn is_one_datagram(&self) -> bool {
        self.as_bytes().len() <= self.format().mad_size() + CHECK_SUMS
    }

    /// Whether nothing says how much of the datagram's data counts: there is no RMPP header, or one that is still to be
    /// filled in, as a program writes it to its kernel.
    fn counts_nothing(&self) -> bool {
        let counts = |rmpp: &RmppHeader| rmpp.flags.active() && rmpp.rmpp_type != RmppType::NONE;
        self.is_one_datagram() && !self.rmpp().is_some_and(counts)
    }

    /// The data without the check sums behind a datagram.
    fn data_alone(&self) -> &'a [u8] {
        match self.data() {
            data if self.is_one_datagram() => data.get(..self.format().mad_size() - HEADERS).unwrap_or(data),
            data => data,
        }
    }

    /// Where records can be; empty if there are none.
    pub(super) fn record_bytes(&self) -> &'a [u8] {
        let data = self.data_alone();
        let Some(rmpp) = self.rmpp().filter(|rmpp| rmpp.flags.active()) else { return data };
        match (rmpp.flags.first(), rmpp.flags.last()) {
            _ if !matches!(rmpp.rmpp_type, RmppType::DATA | RmppType::NONE) => &[],
            (true, true) => {
                let payload = usize::try_from(rmpp.data2.get()).unwrap_or(usize::MAX);
                data.get(..payload.saturating_sub(size_of::<SaHeader>())).unwrap_or(data)
            }
            // Segments after the first go on anywhere in a record.
            (false, _) if self.is_one_datagram() => &[],
            _ => data,
        }
    }

    /// The data up to the end of the last record that is not all zero.
    fn without_zeros(&self) -> &'a [u8] {
        let data = self.data_alone();
        let Some(last) = data.iter().rposition(|byte| *byte != 0) else { return &[] };
        let step = self.sa().map_or(0, |sa| usize::from(sa.attribute_offset.get()) * 8);
        (last + 1).checked_next_multiple_of(step).and_then(|end| data.get(..end)).unwrap_or(data)
    }
}

/// Bytes before the records.
const HEADERS: usize = MgmtClass::SUBN_ADM.data_offset();

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{
        Lid, Status, TransactionId, as_bytes,
        mad::MAD_SIZE,
        rmpp::RmppFlags,
        sa::{LinkRecord, McMemberRecord, PathRecord, SaMad},
        wire::{Be16, Be32},
    };
    use std::{vec, vec::Vec};

    /// What answers with as many paths as there are LIDs, told by `dlid`.
    fn answer(method: Method, rmpp: RmppHeader, lids: &[u16]) -> Vec<u8> {
        let mut mad = SaMad::request(method, AttributeId::PATH_RECORD, TransactionId::new(1));
        mad.rmpp = rmpp;
        mad.sa.attribute_offset = Be16::new(if lids.is_empty() { 0 } else { 8 });
        let mut message = as_bytes(&mad)[..HEADERS].to_vec();
        for lid in lids {
            message.extend(as_bytes(&PathRecord { dlid: Lid::new(*lid), ..PathRecord::default() }));
        }
        message
    }

    fn rmpp(first: bool, last: bool, segment: u32, payload: usize) -> RmppHeader {
        RmppHeader {
            version: 1,
            rmpp_type: RmppType::DATA,
            flags: RmppFlags::default().with_active(true).with_first(first).with_last(last),
            data1: Be32::new(segment),
            data2: Be32::new(u32::try_from(payload).unwrap()),
            ..RmppHeader::default()
        }
    }

    /// One datagram, with what is sent after what counts, and with check sums behind it.
    fn datagrams(mut message: Vec<u8>, fill: u8) -> [Vec<u8>; 3] {
        message.resize(MAD_SIZE, fill);
        [0, 4, 6].map(|sums| [message.as_slice(), &vec![0xee; sums]].concat())
    }

    fn lids(bytes: &[u8]) -> Vec<u16> {
        let mad = MadRef::new(bytes).unwrap();
        let lids: Vec<u16> = mad.records::<PathRecord>().unwrap().map(|path| path.dlid.get()).collect();
        // What shows agrees with what is counted.
        if mad.status().is_ok() && !mad.counts_nothing() {
            assert_eq!(mad.attribute().unwrap().structure().is_some(), !lids.is_empty());
        }
        lids
    }

    #[test]
    fn an_answer_to_get_has_one() {
        for method in [Method::GET_RESP, Method::DELETE_RESP, Method::GET] {
            for bytes in datagrams(answer(method, RmppHeader::default(), &[7, 8, 9]), 0) {
                assert_eq!(lids(&bytes), [7]);
            }
        }
    }

    #[test]
    fn a_segment_that_is_the_whole_table_has_what_its_payload_counts() {
        for asked in [&[][..], &[7], &[7, 8, 9]] {
            for fill in [0, 0x55] {
                let table = answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20 + 64 * asked.len()), asked);
                for bytes in datagrams(table, fill) {
                    assert_eq!(lids(&bytes), asked, "{fill} {}", bytes.len());
                }
            }
        }
        // A length past the end is that of the datagram.
        for bytes in datagrams(answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 5000), &[7, 8, 9]), 0) {
            assert_eq!(lids(&bytes), [7, 8, 9]);
        }
    }

    #[test]
    fn the_first_segment_of_several_has_those_that_are_whole() {
        let table = answer(Method::GET_TABLE_RESP, rmpp(true, false, 1, 2 * 220), &[7, 8, 9]);
        for bytes in datagrams(table, 0x55) {
            assert_eq!(lids(&bytes), [7, 8, 9]);
        }
        let link = MadRef::new(&answer(Method::GET_TABLE_RESP, rmpp(true, false, 1, 440), &[7]))
            .unwrap()
            .records::<LinkRecord>()
            .map(drop);
        assert_eq!(link, Err(DecodeError::BadValue { what: "attribute_id", value: 0x35 }));
        for later in [rmpp(false, false, 2, 0), rmpp(false, true, 2, 100)] {
            for bytes in datagrams(answer(Method::GET_TABLE_RESP, later, &[7, 8, 9]), 0x55) {
                assert!(lids(&bytes).is_empty());
            }
        }
        let ack = RmppHeader { rmpp_type: RmppType::ACK, ..rmpp(false, false, 1, 64) };
        for bytes in datagrams(answer(Method::GET_TABLE, ack, &[7]), 0) {
            assert!(lids(&bytes).is_empty());
        }
    }

    #[test]
    fn a_joined_message_has_all() {
        let all: Vec<u16> = (1..=100).collect();
        for header in
            [rmpp(true, false, 1, 0), rmpp(true, true, 1, 20 + 6400), rmpp(false, false, 0, 0), RmppHeader::default()]
        {
            assert_eq!(lids(&answer(Method::GET_TABLE_RESP, header, &all)), all);
        }
        // A message of less than a datagram, as a reassembler gives it.
        assert_eq!(lids(&answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20 + 64), &[7])), [7]);
        assert!(lids(&answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20), &[])).is_empty());
    }

    #[test]
    fn a_table_without_the_protocol_ends_before_its_zeros() {
        for asked in [&[][..], &[7], &[7, 8, 9]] {
            let unsent = RmppHeader { flags: RmppFlags::default().with_active(true), ..RmppHeader::default() };
            for header in [RmppHeader::default(), unsent] {
                for bytes in datagrams(answer(Method::GET_TABLE_RESP, header, asked), 0) {
                    assert_eq!(lids(&bytes), asked, "{}", bytes.len());
                }
            }
        }
    }

    #[test]
    fn an_error_has_none() {
        let mut bytes = datagrams(answer(Method::GET_RESP, RmppHeader::default(), &[7]), 0)[0].clone();
        bytes[4..6].copy_from_slice(as_bytes(&Status::SA_NO_RECORDS));
        assert!(lids(&bytes).is_empty());
    }

    #[test]
    fn of_the_right_class_attribute_and_distance() {
        let mut bytes = answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20 + 64), &[7]);
        bytes[45] = 7;
        let near = MadRef::new(&bytes).unwrap().records::<PathRecord>().map(drop);
        assert_eq!(near, Err(DecodeError::BadValue { what: "attribute_offset", value: 7 }));
        bytes[17] = 0x38;
        // Every record but the last fills its place.
        bytes.truncate(HEADERS + 52);
        assert_eq!(MadRef::new(&bytes).unwrap().records::<McMemberRecord>().unwrap().count(), 1);
        bytes[1] = MgmtClass::PERF.get();
        let class = MadRef::new(&bytes).unwrap().records::<McMemberRecord>().map(drop);
        assert_eq!(class, Err(DecodeError::BadValue { what: "mgmt_class", value: 4 }));
        let mut multi = answer(Method::GET_MULTI_RESP, rmpp(true, true, 1, 20 + 64), &[7]);
        multi[17] = 0x3a;
        assert_eq!(lids(&multi), [7]);
        assert_eq!(PathRecord::parse(&multi[HEADERS..]).unwrap().dlid, Lid::new(7));
    }

    #[test]
    fn a_segment_after_the_first_goes_on_in_a_record() {
        for (first, active, is_later) in [(true, true, false), (false, true, true), (false, false, false)] {
            let mut header = rmpp(first, false, 2, 0);
            header.flags = header.flags.with_active(active);
            let [datagram, ..] = datagrams(answer(Method::GET_TABLE_RESP, header, &[1, 2, 3]), 0);
            let mad = MadRef::new(&datagram).unwrap();
            assert_eq!(mad.is_later_segment(), is_later, "{first} {active}");
        }
        // What was put together from several is no segment.
        let whole = answer(Method::GET_TABLE_RESP, rmpp(false, true, 2, 0), &[1; 9]);
        assert!(!MadRef::new(&whole).unwrap().is_later_segment());
    }
}
