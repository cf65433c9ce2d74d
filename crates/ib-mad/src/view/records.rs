//! Records of subnet administration in a datagram or message.
use super::{
    AttributeRef, MadRef,
    layout::{Format, check_versions},
};
#[cfg(feature = "opa")]
use crate::opa::OpaAttribute;
use crate::{
    AttributeId, DecodeError, Method, MgmtClass, Status, Wire,
    rmpp::{RmppHeader, RmppType},
    sa::{Records, SaAttribute, SaHeader, SaRecord},
};

/// Maximum size of the CRCs that a capture may keep after a datagram, in bytes.
const CHECK_SUMS: usize = 6;

impl<'a> MadRef<'a> {
    /// Returns the records in a datagram of subnet administration, or in a message reassembled from RMPP segments.
    ///
    /// A request and a response to Get, Set or Delete have one record. A response to a table request has any number. A
    /// response with the status [`Status::SA_NO_RECORDS`] has none.
    ///
    /// ```
    /// use ib_mad::{Method, MadRef, TransactionId, as_bytes, sa::{PathRecord, Query}};
    /// let mut answer = Query::<PathRecord>::new().hop_limit(3).request(Method::GET, TransactionId::new(1));
    /// answer.header.method = ib_mad::Method::GET_RESP;
    /// let mut records = MadRef::new(as_bytes(&answer))?.records::<PathRecord>()?;
    /// assert_eq!(records.next().map(|path| path.flow_hop.hop_limit()), Some(3));
    /// assert!(records.next().is_none());
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// The length of a table is the payload length in a single RMPP segment, or the length of a reassembled message.
    /// For a segment after the first, no records are returned. The specification requires RMPP for a table; a table
    /// without RMPP ends with the last record that is not all zero. Up to 6 bytes after a datagram are regarded as
    /// CRCs.
    ///
    /// # Errors
    /// [`DecodeError::ErrorResponse`] if the response reports another error.
    /// [`DecodeError::BadValue`] if the class, a version or the attribute differs from that of `R`, if the distance
    /// between the records of a table is less than the size of a record, or if the datagram ends within the header of
    /// subnet administration (then `what` is the class).
    pub fn records<R: SaRecord>(&self) -> Result<Records<'a, R>, DecodeError> {
        if self.class() != MgmtClass::SUBN_ADM {
            return Err(DecodeError::BadValue { what: "mgmt_class", value: self.class().get().into() });
        }
        check_versions(self.header(), R::VERSIONS)?;
        self.records_of(R::ID)
    }

    /// Returns the paths in an Omni-Path datagram; the rules for their number are those of [`records`](Self::records).
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the base version is not that of Omni-Path, if the class or the attribute is not
    /// that of path records, or if the distance between the records of a table is less than the size of a record.
    #[cfg(feature = "opa")]
    pub fn opa_paths(&self) -> Result<Records<'a, crate::opa::OpaPathRecord>, DecodeError> {
        if self.format() != Format::OmniPath {
            return Err(DecodeError::BadValue { what: "base_version", value: self.header().base_version.into() });
        }
        self.records_of(AttributeId::PATH_RECORD)
    }

    fn records_of<R: Wire>(&self, expected: AttributeId) -> Result<Records<'a, R>, DecodeError> {
        let sa = self.sa().ok_or(DecodeError::BadValue { what: "mgmt_class", value: self.class().get().into() })?;
        let id = self.record_id();
        if id != expected {
            return Err(DecodeError::BadValue { what: "attribute_id", value: id.get().into() });
        }
        if self.is_response() && self.status() == Status::SA_NO_RECORDS {
            return Records::new(&[], 0);
        }
        self.header().check_status()?;
        let offset = sa.attribute_offset.get();
        match self.is_table() {
            true if self.has_no_data_length() => Records::new(self.without_zeros(), offset),
            true => Records::new(self.record_bytes(), offset),
            false => Records::new(self.record_bytes(), 0),
        }
    }

    /// True for an RMPP segment after the first. The data of such a segment may start in the middle of a record.
    #[must_use]
    pub fn is_later_segment(&self) -> bool {
        self.is_one_datagram() && self.rmpp().is_some_and(|rmpp| rmpp.flags.active() && !rmpp.flags.first())
    }

    /// Returns the attribute id of the records.
    pub(super) fn record_id(&self) -> AttributeId {
        match (self.method(), self.header().attribute_id) {
            // The response to GetMulti keeps the id of MultiPathRecord and has path records.
            (Method::GET_MULTI_RESP, AttributeId::MULTI_PATH_RECORD) => AttributeId::PATH_RECORD,
            (_, id) => id,
        }
    }

    fn is_table(&self) -> bool {
        matches!(self.method(), Method::GET_TABLE_RESP | Method::GET_TRACE_TABLE_RESP | Method::GET_MULTI_RESP)
    }

    /// Returns the records of a table; `None` if the datagram has no table that starts with a record of this crate.
    pub(super) fn table(&self) -> Option<impl Iterator<Item = AttributeRef<'a>> + Clone> {
        if !self.is_table() || self.is_later_segment() || self.header().check_status().is_err() {
            return None;
        }
        let step = usize::from(self.sa()?.attribute_offset.get()) * 8;
        let bytes = if self.has_no_data_length() { self.without_zeros() } else { self.record_bytes() };
        // Without a distance between the records, there is at most one.
        let step = if step == 0 { bytes.len().max(1) } else { step };
        let (id, format) = (self.record_id(), self.format());
        let records = bytes.chunks(step).map_while(move |bytes| match format {
            #[cfg(feature = "opa")]
            Format::OmniPath => {
                OpaAttribute::parse(MgmtClass::SUBN_ADM, id, bytes).ok().flatten().map(AttributeRef::Opa)
            }
            Format::InfiniBand => SaAttribute::parse(id, bytes).ok().flatten().map(AttributeRef::Sa),
            _ => None,
        });
        (bytes.is_empty() || records.clone().next().is_some()).then_some(records)
    }

    fn is_one_datagram(&self) -> bool {
        self.as_bytes().len() <= self.format().mad_size() + CHECK_SUMS
    }

    /// True if the datagram does not contain the length of its data: it has no RMPP header, or the kernel is to fill in
    /// the RMPP header.
    fn has_no_data_length(&self) -> bool {
        let counts = |rmpp: &RmppHeader| rmpp.flags.active() && rmpp.rmpp_type != RmppType::NONE;
        self.is_one_datagram() && !self.rmpp().is_some_and(counts)
    }

    /// Returns the data without CRCs after the datagram.
    fn data_without_crcs(&self) -> &'a [u8] {
        match self.data() {
            data if self.is_one_datagram() => data.get(..self.format().mad_size() - HEADERS).unwrap_or(data),
            data => data,
        }
    }

    /// Returns the part of the data that may have records; empty if there are none.
    pub(super) fn record_bytes(&self) -> &'a [u8] {
        let data = self.data_without_crcs();
        let Some(rmpp) = self.rmpp().filter(|rmpp| rmpp.flags.active()) else { return data };
        match (rmpp.flags.first(), rmpp.flags.last()) {
            _ if !matches!(rmpp.rmpp_type, RmppType::DATA | RmppType::NONE) => &[],
            (true, true) => {
                let payload = usize::try_from(rmpp.data2.get()).unwrap_or(usize::MAX);
                data.get(..payload.saturating_sub(size_of::<SaHeader>())).unwrap_or(data)
            }
            // Segments after the first may start in the middle of a record.
            (false, _) if self.is_one_datagram() => &[],
            _ => data,
        }
    }

    /// Returns the data up to the end of the last record that is not all zero.
    fn without_zeros(&self) -> &'a [u8] {
        let data = self.data_without_crcs();
        let Some(last) = data.iter().rposition(|byte| *byte != 0) else { return &[] };
        let step = self.sa().map_or(0, |sa| usize::from(sa.attribute_offset.get()) * 8);
        (last + 1).checked_next_multiple_of(step).and_then(|end| data.get(..end)).unwrap_or(data)
    }
}

/// Offset of the records, in bytes.
const HEADERS: usize = MgmtClass::SUBN_ADM.data_offset();

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{
        Lid, TransactionId, as_bytes,
        mad::MAD_SIZE,
        rmpp::RmppFlags,
        sa::{LinkRecord, McMemberRecord, PathRecord, SaMad},
        wire::{Be16, Be32},
    };
    use std::{vec, vec::Vec};

    /// Returns a response with one path for each LID; `dlid` identifies the path.
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

    /// Returns the message as one datagram, filled up with `fill`, with 0, 4 and 6 bytes of CRCs after it.
    fn datagrams(mut message: Vec<u8>, fill: u8) -> [Vec<u8>; 3] {
        message.resize(MAD_SIZE, fill);
        [0, 4, 6].map(|sums| [message.as_slice(), &vec![0xee; sums]].concat())
    }

    fn lids(bytes: &[u8]) -> Vec<u16> {
        let mad = MadRef::new(bytes).unwrap();
        let lids: Vec<u16> = mad.records::<PathRecord>().unwrap().map(|path| path.dlid.get()).collect();
        // The printed attribute agrees with the count.
        if mad.status().is_ok() && !mad.has_no_data_length() {
            assert_eq!(mad.attribute().unwrap().structure().is_some(), !lids.is_empty());
        }
        lids
    }

    #[test]
    fn response_to_get_has_one_record() {
        for method in [Method::GET_RESP, Method::DELETE_RESP, Method::GET] {
            for bytes in datagrams(answer(method, RmppHeader::default(), &[7, 8, 9]), 0) {
                assert_eq!(lids(&bytes), [7]);
            }
        }
    }

    #[test]
    fn single_segment_has_the_records_of_its_payload_length() {
        for records in [&[][..], &[7], &[7, 8, 9]] {
            for fill in [0, 0x55] {
                let table = answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20 + 64 * records.len()), records);
                for bytes in datagrams(table, fill) {
                    assert_eq!(lids(&bytes), records, "{fill} {}", bytes.len());
                }
            }
        }
        // A length past the end is cut off at the end of the datagram.
        for bytes in datagrams(answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 5000), &[7, 8, 9]), 0) {
            assert_eq!(lids(&bytes), [7, 8, 9]);
        }
    }

    #[test]
    fn first_segment_has_its_whole_records_and_later_segments_have_none() {
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
    fn reassembled_message_has_all_records() {
        let all: Vec<u16> = (1..=100).collect();
        for header in
            [rmpp(true, false, 1, 0), rmpp(true, true, 1, 20 + 6400), rmpp(false, false, 0, 0), RmppHeader::default()]
        {
            assert_eq!(lids(&answer(Method::GET_TABLE_RESP, header, &all)), all);
        }
        // A reassembled message may be shorter than a datagram.
        assert_eq!(lids(&answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20 + 64), &[7])), [7]);
        assert!(lids(&answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20), &[])).is_empty());
    }

    #[test]
    fn table_without_rmpp_ends_with_its_last_non_zero_record() {
        for records in [&[][..], &[7], &[7, 8, 9]] {
            let unsent = RmppHeader { flags: RmppFlags::default().with_active(true), ..RmppHeader::default() };
            for header in [RmppHeader::default(), unsent] {
                for bytes in datagrams(answer(Method::GET_TABLE_RESP, header, records), 0) {
                    assert_eq!(lids(&bytes), records, "{}", bytes.len());
                }
            }
        }
    }

    #[test]
    fn error_response_has_no_records() {
        let mut bytes = datagrams(answer(Method::GET_RESP, RmppHeader::default(), &[7]), 0)[0].clone();
        bytes[4..6].copy_from_slice(as_bytes(&Status::SA_NO_RECORDS));
        assert!(lids(&bytes).is_empty());
    }

    #[test]
    fn records_of_another_class_attribute_or_distance_are_rejected() {
        let mut bytes = answer(Method::GET_TABLE_RESP, rmpp(true, true, 1, 20 + 64), &[7]);
        bytes[45] = 7;
        let near = MadRef::new(&bytes).unwrap().records::<PathRecord>().map(drop);
        assert_eq!(near, Err(DecodeError::BadValue { what: "attribute_offset", value: 7 }));
        bytes[17] = 0x38;
        // The last record may be shorter than the distance between records.
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
    fn later_segment_is_recognized() {
        for (first, active, is_later) in [(true, true, false), (false, true, true), (false, false, false)] {
            let mut header = rmpp(first, false, 2, 0);
            header.flags = header.flags.with_active(active);
            let [datagram, ..] = datagrams(answer(Method::GET_TABLE_RESP, header, &[1, 2, 3]), 0);
            let mad = MadRef::new(&datagram).unwrap();
            assert_eq!(mad.is_later_segment(), is_later, "{first} {active}");
        }
        // A reassembled message is not a segment.
        let whole = answer(Method::GET_TABLE_RESP, rmpp(false, true, 2, 0), &[1; 9]);
        assert!(!MadRef::new(&whole).unwrap().is_later_segment());
    }
}
