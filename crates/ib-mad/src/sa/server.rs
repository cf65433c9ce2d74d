//! Functions for a subnet administrator: read the query of a request, and respond with a status or a record.
use super::{Query, SaHeader, SaMad, SaRecord};
use crate::{
    AttributeId, DecodeError, MadHeader, Method, Status,
    mad::words,
    rmpp::{RmppHeader, RmppType},
    wire::Octets,
};

impl<R: SaRecord> Query<R> {
    /// Reads the query of a request: its record and its component mask.
    ///
    /// ```
    /// use ib_mad::{Method, TransactionId, sa::{NodeRecord, Query}};
    /// let query = Query::<NodeRecord>::new().lid(4.into());
    /// assert_eq!(Query::from_mad(&query.request(Method::GET_TABLE, TransactionId::new(1))), Ok(query));
    /// ```
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the request is for records of another type, or if the datagram is no query: a
    /// response, a report, an acknowledgement of RMPP.
    pub fn from_mad(request: &SaMad) -> Result<Self, DecodeError> {
        check_query(&request.header, &request.rmpp)?;
        Ok(Self { record: *request.record::<R>()?, mask: request.sa.component_mask.get() })
    }

    /// True if all of these components are in the component mask.
    #[must_use]
    pub fn has(&self, components: R::Mask) -> bool {
        bitflags::Flags::contains(&self.mask(), components)
    }
}

/// Checks that a datagram of subnet administration is a query: a request with data.
///
/// # Errors
/// [`DecodeError::BadValue`] if the method is that of a response or report, or if the datagram has no data because it
/// controls an RMPP transfer.
pub(crate) fn check_query(header: &MadHeader, rmpp: &RmppHeader) -> Result<(), DecodeError> {
    let has_data = !rmpp.flags.active() || matches!(rmpp.rmpp_type, RmppType::DATA | RmppType::NONE);
    match header.method {
        _ if !has_data => Err(DecodeError::BadValue { what: "rmpp_type", value: rmpp.rmpp_type.get().into() }),
        Method::GET
        | Method::GET_TABLE
        | Method::SET
        | Method::DELETE
        | Method::GET_TRACE_TABLE
        | Method::GET_MULTI => Ok(()),
        method => Err(DecodeError::BadValue { what: "method", value: method.get().into() }),
    }
}

impl SaMad {
    /// Returns the response to this request with a status, without a record, and with an SM_Key of zero (IBTA 15.4.1).
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if this datagram is a response.
    pub fn answer(&self, status: Status) -> Result<Self, DecodeError> {
        let mut header = self.header;
        header.answer(status)?;
        let sa = SaHeader { component_mask: self.sa.component_mask, ..SaHeader::default() };
        Ok(Self { header, rmpp: RmppHeader::default(), sa, data: Octets([0; 200]) })
    }

    /// Returns the response to this request with one record.
    ///
    /// ```
    /// use ib_mad::{Method, Status, TransactionId, sa::{PathRecord, Query, SaMad}};
    /// let request = Query::<PathRecord>::new().dlid(4.into()).request(Method::GET, TransactionId::new(1));
    /// let path = PathRecord { dlid: 4.into(), ..PathRecord::default() };
    /// let response = request.answer_with(&path)?;
    /// assert_eq!((response.header.method, response.record::<PathRecord>()?), (Method::GET_RESP, &path));
    /// let empty = request.answer(Status::SA_NO_RECORDS)?;
    /// assert_eq!(empty.header.status, Status::SA_NO_RECORDS);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the request is for records of another type, or has no response.
    pub fn answer_with<R: SaRecord>(&self, record: &R) -> Result<Self, DecodeError> {
        self.check_record::<R>()?;
        let mut own = self.answer(Status::OK)?;
        own.sa.attribute_offset = words::<R>();
        own.data = Octets::of(record);
        Ok(own)
    }

    /// Returns the response to this `Get`: the record if `found` has exactly one, otherwise the status
    /// [`Status::SA_NO_RECORDS`] or [`Status::SA_TOO_MANY_RECORDS`].
    ///
    /// ```
    /// use ib_mad::{Method, Status, TransactionId, sa::{NodeRecord, Query}};
    /// let nodes = [4, 5].map(|lid| NodeRecord { lid: lid.into(), ..NodeRecord::default() });
    /// let query = Query::<NodeRecord>::new().lid(5.into());
    /// let request = query.request(Method::GET, TransactionId::new(1));
    /// assert_eq!(request.answer_one(query.select(&nodes))?.record::<NodeRecord>()?, &nodes[1]);
    /// assert_eq!(request.answer_one(&nodes)?.header.status, Status::SA_TOO_MANY_RECORDS);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`answer_with`](Self::answer_with).
    pub fn answer_one<'a, R: SaRecord + 'a>(
        &self,
        found: impl IntoIterator<Item = &'a R>,
    ) -> Result<Self, DecodeError> {
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(record), None) => self.answer_with(record),
            (None, _) => self.answer(Status::SA_NO_RECORDS),
            _ => self.answer(Status::SA_TOO_MANY_RECORDS),
        }
    }

    /// Checks that the response to this request consists of records `R`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if it consists of other records.
    pub(super) fn check_record<R: SaRecord>(&self) -> Result<(), DecodeError> {
        match self.header.attribute_id {
            id if id == R::ID => Ok(()),
            // GetMulti is for a MultiPathRecord and its response has PathRecords.
            AttributeId::MULTI_PATH_RECORD if R::ID == AttributeId::PATH_RECORD => Ok(()),
            id => Err(DecodeError::BadValue { what: "attribute_id", value: id.get().into() }),
        }
    }
}
