//! The answer with many records, as a message for the segmenter (IBTA 15.3, 13.6).
use super::{SaHeader, SaMad, SaRecord};
use crate::{
    DecodeError, MgmtClass, Status, Wire,
    mad::{ATTRIBUTE_OFFSET, RMPP_HEADER, words},
    rmpp::{RMPP_VERSION, RmppFlags, RmppHeader, RmppType},
    wire::{Be16, Be32},
};
use core::marker::PhantomData;
use zerocopy::IntoBytes as _;

/// Bytes before the records. RMPP counts those of subnet administration's header as payload.
const HEADERS: usize = MgmtClass::SUBN_ADM.data_offset();

/// Why a table cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The buffer ends before the headers, or before another record does.
    #[error("the buffer has no room for another record")]
    NoRoom,
    /// The request is not answered by such records.
    #[error(transparent)]
    Request(#[from] DecodeError),
}

/// Writes the answer with many records into a caller's buffer: headers once, then the records, each on a multiple of 8
/// bytes. What it [finishes](Self::finish) is a message that a [`Segmenter`](crate::rmpp::Segmenter) cuts.
///
/// ```
/// use core::time::Duration;
/// use ib_mad::{Lid, TransactionId, rmpp::{Segmenter, SegmenterLimits}, sa::{NodeRecord, Query, TableWriter, table_length}};
/// let request = Query::<NodeRecord>::new().get_table(TransactionId::new(1));
/// let mut table = TableWriter::new(&request, vec![0; table_length::<NodeRecord>(3)])?;
/// for lid in [4, 5, 6] {
///     table.push(&NodeRecord { lid: Lid::new(lid), ..NodeRecord::default() })?;
/// }
/// // The transfer owns the message; a server keeps a map of them.
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

/// Bytes of a message with so many records.
#[must_use]
pub const fn table_length<R: SaRecord>(records: usize) -> usize {
    HEADERS.saturating_add(records.saturating_mul(size_of::<R>().next_multiple_of(8)))
}

impl<R: SaRecord, B: AsMut<[u8]>> TableWriter<R, B> {
    /// From one record to the next.
    const STEP: usize = size_of::<R>().next_multiple_of(8);

    /// Begins the answer to a request, still without a record, in a buffer that bounds it.
    ///
    /// # Errors
    /// [`TableError::NoRoom`] if the headers do not fit, [`TableError::Request`] if the request asks for records of
    /// another kind, or is none.
    pub fn new(request: &SaMad, mut buffer: B) -> Result<Self, TableError> {
        request.answered_by::<R>()?;
        let answer = request.answer(Status::OK)?;
        let place = buffer.as_mut().first_chunk_mut::<HEADERS>().ok_or(TableError::NoRoom)?;
        place.iter_mut().zip(answer.as_bytes()).for_each(|(to, from)| *to = *from);
        Ok(Self { buffer, length: HEADERS, record: PhantomData })
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.length - HEADERS).checked_div(Self::STEP).unwrap_or_default()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == HEADERS
    }

    /// One record more.
    ///
    /// # Errors
    /// [`TableError::NoRoom`], and the table stays as it is.
    pub fn push(&mut self, record: &R) -> Result<(), TableError> {
        let end = self.length.checked_add(Self::STEP).ok_or(TableError::NoRoom)?;
        let place = self.buffer.as_mut().get_mut(self.length..end).ok_or(TableError::NoRoom)?;
        let (own, padding) = place.split_at_mut_checked(size_of::<R>()).ok_or(TableError::NoRoom)?;
        own.copy_from_slice(record.as_bytes());
        padding.fill(0);
        self.length = end;
        Ok(())
    }

    /// The message: its headers say how far apart the records are and how many bytes it has, as one segment would.
    ///
    /// No record is an answer too: it has no distance of records.
    #[must_use]
    pub fn finish(mut self) -> Table<B> {
        let payload = self.length - HEADERS + size_of::<SaHeader>();
        let is_empty = self.is_empty();
        let headers = self.buffer.as_mut();
        if let Ok(rmpp) = RmppHeader::parse_mut(headers.get_mut(RMPP_HEADER..).unwrap_or_default()) {
            *rmpp = RmppHeader {
                version: RMPP_VERSION,
                rmpp_type: RmppType::DATA,
                flags: RmppFlags::default().with_active(true).with_first(true).with_last(true),
                status: 0,
                data1: Be32::new(1),
                data2: Be32::new(u32::try_from(payload).unwrap_or(u32::MAX)),
            };
        }
        if let Ok(offset) = Be16::parse_mut(headers.get_mut(ATTRIBUTE_OFFSET..).unwrap_or_default()) {
            *offset = if is_empty { Be16::new(0) } else { words::<R>() };
        }
        Table { buffer: self.buffer, length: self.length }
    }
}

/// A table that is [written](TableWriter): a message of any length, in its buffer.
#[derive(Clone, Debug)]
pub struct Table<B> {
    buffer: B,
    length: usize,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// Bytes of the whole message, with its headers.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.buffer.as_ref().get(..self.length).unwrap_or_default()
    }
}

impl<B> Table<B> {
    /// The buffer, and how much of it is the message.
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
