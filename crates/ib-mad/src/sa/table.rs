//! Responses with many records, as messages for the segmenter (IBTA 15.3, 13.6).
use super::{SaHeader, SaMad, SaRecord};
use crate::{
    DecodeError, MgmtClass, Status, Wire,
    mad::{ATTRIBUTE_OFFSET, RMPP_HEADER, words},
    rmpp::{RmppFlags, RmppHeader, RmppType},
    wire::Be16,
};
use core::marker::PhantomData;
use zerocopy::IntoBytes as _;

/// Bytes before the records. The RMPP payload length includes the header of subnet administration.
const HEADERS: usize = MgmtClass::SUBN_ADM.data_offset();

/// Error of writing a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The buffer is too short for the headers, or for another record.
    #[error("the buffer has no room for another record")]
    NoRoom,
    /// The response to the request consists of records of another type.
    #[error(transparent)]
    Request(#[from] DecodeError),
}

/// Writes a response with many records into a buffer: headers, then the records at multiples of 8 bytes.
/// [`finish`](Self::finish) returns the message for a [`Segmenter`](crate::rmpp::Segmenter).
///
/// ```
/// use core::time::Duration;
/// use ib_mad::{Method, Lid, TransactionId, rmpp::{Segmenter, SegmenterLimits}, sa::{NodeRecord, Query, TableWriter, table_length}};
/// let request = Query::<NodeRecord>::new().request(Method::GET_TABLE, TransactionId::new(1));
/// let mut table = TableWriter::new(&request, vec![0; table_length::<NodeRecord>(3)])?;
/// for lid in [4, 5, 6] {
///     table.push(&NodeRecord { lid: Lid::new(lid), ..NodeRecord::default() })?;
/// }
/// // The transfer owns the message; a server keeps one transfer for each request.
/// let mut transfer = Segmenter::new(table.finish(), SegmenterLimits::default())?;
/// assert_eq!(transfer.segments(), 2);
/// assert_eq!(transfer.poll_send(Duration::ZERO).map(|segment| segment.len()), Some(256));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableWriter<R, B> {
    buffer: B,
    length: usize,
    record: PhantomData<R>,
}

/// Returns the size of a message with this number of records, in bytes.
#[must_use]
pub const fn table_length<R: SaRecord>(records: usize) -> usize {
    HEADERS.saturating_add(records.saturating_mul(size_of::<R>().next_multiple_of(8)))
}

impl<R: SaRecord, B: AsMut<[u8]>> TableWriter<R, B> {
    /// Distance between records, in bytes.
    const STEP: usize = size_of::<R>().next_multiple_of(8);

    /// Starts a response without records. The size of `buffer` is the maximum size of the message.
    ///
    /// # Errors
    /// [`TableError::NoRoom`] if the headers do not fit; [`TableError::Request`] if `request` is for records of another
    /// type, or is not a request.
    pub fn new(request: &SaMad, mut buffer: B) -> Result<Self, TableError> {
        request.check_record::<R>()?;
        let answer = request.answer(Status::OK)?;
        let target = buffer.as_mut().first_chunk_mut::<HEADERS>().ok_or(TableError::NoRoom)?;
        target.iter_mut().zip(answer.as_bytes()).for_each(|(to, from)| *to = *from);
        Ok(Self { buffer, length: HEADERS, record: PhantomData })
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.length - HEADERS).checked_div(Self::STEP).unwrap_or_default()
    }

    /// True if there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == HEADERS
    }

    /// Appends a record.
    ///
    /// # Errors
    /// [`TableError::NoRoom`] if the record does not fit; the table stays unchanged.
    pub fn push(&mut self, record: &R) -> Result<(), TableError> {
        let end = self.length.checked_add(Self::STEP).ok_or(TableError::NoRoom)?;
        let target = self.buffer.as_mut().get_mut(self.length..end).ok_or(TableError::NoRoom)?;
        let (own, padding) = target.split_at_mut_checked(size_of::<R>()).ok_or(TableError::NoRoom)?;
        own.copy_from_slice(record.as_bytes());
        padding.fill(0);
        self.length = end;
        Ok(())
    }

    /// Returns the message. Its headers contain the distance between records, and the length as in a single segment.
    ///
    /// A table without records is a valid response; its distance between records is 0.
    #[must_use]
    pub fn finish(mut self) -> Table<B> {
        let payload = self.length - HEADERS + size_of::<SaHeader>();
        let is_empty = self.is_empty();
        let headers = self.buffer.as_mut();
        if let Ok(rmpp) = RmppHeader::parse_mut(headers.get_mut(RMPP_HEADER..).unwrap_or_default()) {
            let flags = RmppFlags::ZERO.with_first(true).with_last(true);
            *rmpp = RmppHeader::new(RmppType::DATA, flags, 1, u32::try_from(payload).unwrap_or(u32::MAX));
        }
        if let Ok(offset) = Be16::parse_mut(headers.get_mut(ATTRIBUTE_OFFSET..).unwrap_or_default()) {
            *offset = if is_empty { Be16::new(0) } else { words::<R>() };
        }
        Table { buffer: self.buffer, length: self.length }
    }
}

/// A [written](TableWriter) table: a message of any length in its buffer.
#[derive(Clone, Debug)]
pub struct Table<B> {
    buffer: B,
    length: usize,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// Returns the whole message, with its headers.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.buffer.as_ref().get(..self.length).unwrap_or_default()
    }
}

impl<B> Table<B> {
    /// Returns the buffer and the length of the message in it.
    #[must_use]
    pub fn into_buffer(self) -> (B, usize) {
        (self.buffer, self.length)
    }
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Table<B> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}
