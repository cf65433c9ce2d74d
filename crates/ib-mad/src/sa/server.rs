//! What a server does with a request: reads the query in it, and answers with a status or a record.
use super::{PathMask, Query, SaHeader, SaMad, SaRecord};
use crate::{
    AttributeId, DecodeError, Mtu, PacketLifeTime, Rate, Selected, Status,
    mad::words,
    rmpp::RmppHeader,
    sa::{McMemberMask, McMemberRecord, MultiPathMask, MultiPathRecord, PathRecord},
    wire::{Bits, Octets},
};

impl<R: SaRecord> Query<R> {
    /// The query in a request: its record, and which fields of it count.
    ///
    /// ```
    /// use ib_mad::{TransactionId, sa::{NodeRecord, Query}};
    /// let asked = Query::<NodeRecord>::new().lid(4.into());
    /// assert_eq!(Query::from_mad(&asked.get_table(TransactionId::new(1))), Ok(asked));
    /// ```
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if it asks for records of another kind.
    pub fn from_mad(request: &SaMad) -> Result<Self, DecodeError> {
        Ok(Self { record: *request.record::<R>()?, mask: request.sa.component_mask.get() })
    }

    /// Whether all of these components count.
    #[must_use]
    pub fn asks(&self, components: R::Mask) -> bool {
        bitflags::Flags::contains(&self.mask(), components)
    }
}

/// What is asked for, if it is; a value without selector means exactly that one.
fn asked<T: Bits>(counts: bool, has_selector: bool, own: Selected<T>) -> Option<Selected<T>> {
    counts.then(|| if has_selector { own } else { Selected::exactly(own.parts().1) })
}

macro_rules! selected {
    ($($record:ident $mask:ident;)*) => {$(
        impl Query<$record> {
            /// Which MTU is asked for, if one is; a value without selector means exactly that one.
            #[must_use]
            pub fn asked_mtu(&self) -> Option<Selected<Mtu>> {
                asked(self.asks($mask::MTU), self.asks($mask::MTU_SELECTOR), self.record.mtu)
            }
            /// Which rate is asked for, if one is; a value without selector means exactly that one.
            #[must_use]
            pub fn asked_rate(&self) -> Option<Selected<Rate>> {
                asked(self.asks($mask::RATE), self.asks($mask::RATE_SELECTOR), self.record.rate)
            }
            /// Which packet lifetime is asked for, if one is; a value without selector means exactly that one.
            #[must_use]
            pub fn asked_packet_life_time(&self) -> Option<Selected<PacketLifeTime>> {
                asked(self.asks($mask::LIFE), self.asks($mask::LIFE_SELECTOR), self.record.packet_life_time)
            }
        }
    )*};
}
selected! {
    PathRecord PathMask;
    MultiPathRecord MultiPathMask;
    McMemberRecord McMemberMask;
}

impl SaMad {
    /// The answer to this request with a status and without a record; nobody's SM_Key is in it (IBTA 15.4.1).
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if nothing answers it: it is an answer itself.
    pub fn answer(&self, status: Status) -> Result<Self, DecodeError> {
        let mut header = self.header;
        header.answer(status)?;
        let sa = SaHeader { component_mask: self.sa.component_mask, ..SaHeader::default() };
        Ok(Self { header, rmpp: RmppHeader::default(), sa, data: Octets([0; 200]) })
    }

    /// The answer to this request with one record.
    ///
    /// ```
    /// use ib_mad::{Method, Status, TransactionId, sa::{PathRecord, Query, SaMad}};
    /// let request = Query::<PathRecord>::new().dlid(4.into()).get(TransactionId::new(1));
    /// let path = PathRecord { dlid: 4.into(), ..PathRecord::default() };
    /// let answer = request.answer_with(&path)?;
    /// assert_eq!((answer.header.method, answer.record::<PathRecord>()?), (Method::GET_RESP, &path));
    /// let nobody = request.answer(Status::SA_NO_RECORDS)?;
    /// assert_eq!(nobody.header.status, Status::SA_NO_RECORDS);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the request asks for records of another kind, or if nothing answers it.
    pub fn answer_with<R: SaRecord>(&self, record: &R) -> Result<Self, DecodeError> {
        self.answered_by::<R>()?;
        let mut own = self.answer(Status::OK)?;
        own.sa.attribute_offset = words::<R>();
        own.data = Octets::of(record);
        Ok(own)
    }

    /// The answer to this `Get` with what was found: the one record, or the status that says that there is none, or that
    /// there are several.
    ///
    /// ```
    /// use ib_mad::{Status, TransactionId, sa::{NodeRecord, Query}};
    /// let nodes = [4, 5].map(|lid| NodeRecord { lid: lid.into(), ..NodeRecord::default() });
    /// let query = Query::<NodeRecord>::new().lid(5.into());
    /// let request = query.get(TransactionId::new(1));
    /// assert_eq!(request.answer_one(query.select(&nodes))?.record::<NodeRecord>()?, &nodes[1]);
    /// assert_eq!(request.answer_one(&nodes)?.header.status, Status::SA_TOO_MANY_RECORDS);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`answer_with`](Self::answer_with).
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

    /// # Errors
    /// [`DecodeError::BadValue`] if the answer to this request has no such records.
    pub(super) fn answered_by<R: SaRecord>(&self) -> Result<(), DecodeError> {
        match self.header.attribute_id {
            id if id == R::ID => Ok(()),
            // The answer to a question about several paths keeps its number.
            AttributeId::MULTI_PATH_RECORD if R::ID == AttributeId::PATH_RECORD => Ok(()),
            id => Err(DecodeError::BadValue { what: "attribute_id", value: id.get().into() }),
        }
    }
}
