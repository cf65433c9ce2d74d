//! The sending side.
use super::{
    RMPP_VERSION, RmppFlags, RmppHeader, RmppStatus, RmppType,
    layout::{RMPP_END, Segment, answer, header_length, put, segment_size, stop_or_abort},
};
use crate::{
    DecodeError, MadHeader, Wire,
    mad::{MAD_SIZE, OPA_MAD_SIZE},
};
use core::time::Duration;

/// Limits of a [`Segmenter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmenterLimits {
    /// Time after which unacknowledged segments are sent again.
    pub ack_timeout: Duration,
    /// Number of times that segments are sent again.
    pub retries: u8,
}

impl Default for SegmenterLimits {
    /// Returns a time-out of 2 s and 3 retries.
    fn default() -> Self {
        Self { ack_timeout: Duration::from_secs(2), retries: 3 }
    }
}

/// State of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the datagram on")]
pub enum Sent {
    /// Segments are still to be sent or acknowledged.
    More,
    /// Every segment is acknowledged.
    Done,
    /// The transfer ended early. The datagram, if there is one, reports the reason to the receiver.
    Failed(RmppStatus, Option<[u8; MAD_SIZE]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Done,
    Failed(RmppStatus),
}

/// Splits a message into datagrams of `SIZE` bytes: each has the headers of the message, an RMPP header and a part of
/// the data. An [`OpaSegmenter`] makes the larger datagrams of Omni-Path.
///
/// The message may be borrowed or owned (`&[u8]`, `Vec<u8>`, a [`Table`](crate::sa::Table)), so that a map can hold
/// transfers.
///
/// ```
/// use core::time::Duration;
/// use ib_mad::{Method, MgmtClass, TransactionId, as_bytes, rmpp::{Segmenter, SegmenterLimits}, sa::SaMad};
/// let headers = SaMad::request(Method::GET_TABLE_RESP, ib_mad::AttributeId::PATH_RECORD, TransactionId::new(1));
/// let mut message = as_bytes(&headers)[..56].to_vec();
/// message.extend([7; 1000]);
/// let mut transfer = Segmenter::new(&message, SegmenterLimits::default())?;
/// assert_eq!(transfer.segments(), 5);
/// let first = transfer.poll_send(Duration::ZERO).unwrap();
/// assert_eq!((first[24..27].to_vec(), first[56]), (vec![1, 1, 0x03], 7));
/// assert_eq!(transfer.poll_send(Duration::ZERO), None, "the window opens with the first acknowledgement");
/// # Ok::<(), ib_mad::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Segmenter<B, const SIZE: usize = MAD_SIZE> {
    message: B,
    header_length: usize,
    limits: SegmenterLimits,
    state: State,
    segments: u32,
    /// Number of the last acknowledged segment.
    acked: u32,
    /// Number of the next segment to send.
    next: u32,
    window_last: u32,
    retries_left: u8,
    deadline: Option<Duration>,
}

/// Splits a message into datagrams of 2,048 bytes, for Omni-Path.
///
/// ```
/// use core::time::Duration;
/// use ib_mad::{AttributeId, Method, TransactionId, as_bytes, rmpp::{OpaSegmenter, SegmenterLimits}, sa::SaMad};
/// let mut headers = SaMad::request(Method::GET_TABLE_RESP, AttributeId::PATH_RECORD, TransactionId::new(1));
/// (headers.header.base_version, headers.header.class_version) = (0x80, 0x80);
/// let message = [&as_bytes(&headers)[..56], &[7; 3000]].concat();
/// let mut transfer = OpaSegmenter::omni_path(&message, SegmenterLimits::default())?;
/// assert_eq!(transfer.segments(), 2);
/// assert_eq!(transfer.poll_send(Duration::ZERO).map(|first| first.len()), Some(2048));
/// # Ok::<(), ib_mad::DecodeError>(())
/// ```
pub type OpaSegmenter<B> = Segmenter<B, OPA_MAD_SIZE>;

impl<B: AsRef<[u8]>> Segmenter<B> {
    /// Returns a segmenter of a message: headers of a datagram (56 bytes for subnet administration) and data of any
    /// length.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the class has no RMPP, if the base version is that of Omni-Path, or if the message
    /// has more data than segment numbers permit; [`DecodeError::TooShort`] if the message ends before its headers.
    pub fn new(message: B, limits: SegmenterLimits) -> Result<Self, DecodeError> {
        Self::with_size(message, limits)
    }
}

impl<B: AsRef<[u8]>> OpaSegmenter<B> {
    /// Returns a segmenter of a message of Omni-Path: headers of a datagram and data of any length.
    ///
    /// # Errors
    /// Those of [`Segmenter::new`], but the base version must be that of Omni-Path.
    pub fn omni_path(message: B, limits: SegmenterLimits) -> Result<Self, DecodeError> {
        Self::with_size(message, limits)
    }
}

impl<B: AsRef<[u8]>, const SIZE: usize> Segmenter<B, SIZE> {
    pub(super) fn with_size(message: B, limits: SegmenterLimits) -> Result<Self, DecodeError> {
        let bytes = message.as_ref();
        let header = MadHeader::parse(bytes)?;
        if segment_size(header.base_version) != SIZE {
            return Err(DecodeError::BadValue { what: "base_version", value: header.base_version.into() });
        }
        let class = header.mgmt_class;
        let length =
            header_length(class).ok_or(DecodeError::BadValue { what: "mgmt_class", value: class.get().into() })?;
        let data = bytes.get(length..).ok_or(DecodeError::TooShort {
            what: "RMPP message",
            need: length,
            got: bytes.len(),
        })?;
        let segments = data.len().div_ceil(SIZE - length).max(1);
        let total = segments.checked_mul(SIZE - RMPP_END).and_then(|total| u32::try_from(total).ok());
        let (Some(_), Ok(segments)) = (total, u32::try_from(segments)) else {
            return Err(DecodeError::BadValue { what: "message length", value: u64::MAX });
        };
        Ok(Self {
            message,
            header_length: length,
            limits,
            state: State::Open,
            segments,
            acked: 0,
            next: 1,
            window_last: 1,
            retries_left: limits.retries,
            deadline: None,
        })
    }

    /// Returns the message.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        self.message.as_ref()
    }

    /// Ends the transfer and returns the message.
    #[must_use]
    pub fn into_message(self) -> B {
        self.message
    }

    fn parts(&self) -> (&[u8], &[u8]) {
        self.message.as_ref().split_at_checked(self.header_length).unwrap_or_default()
    }

    /// Returns the number of segments of the message.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// Returns the next datagram to send, if the window permits. Call this function until it returns `None`.
    pub fn poll_send(&mut self, now: Duration) -> Option<[u8; SIZE]> {
        let mut segment = [0; SIZE];
        self.poll_send_into(now, &mut segment).then_some(segment)
    }

    /// Writes the next datagram to send into `buffer`, if the window permits, and returns `true`. Overwrites the whole
    /// buffer. Use this function to write after a umad header or into registered memory.
    pub fn poll_send_into(&mut self, now: Duration, buffer: &mut [u8; SIZE]) -> bool {
        if self.state != State::Open || self.next > self.window_last.min(self.segments) {
            return false;
        }
        self.segment(self.next, buffer);
        self.next += 1;
        self.deadline = Some(now.saturating_add(self.limits.ack_timeout));
        true
    }

    /// Handles a received datagram of the transfer.
    ///
    /// # Errors
    /// [`DecodeError`] if the datagram is not whole or its class has no RMPP; the transfer stays unchanged.
    pub fn handle(&mut self, now: Duration, mad: &[u8]) -> Result<Sent, DecodeError> {
        let segment = Segment::parse(mad)?;
        if self.state != State::Open || !segment.rmpp.flags.active() {
            return Ok(self.status());
        }
        if segment.rmpp.version != RMPP_VERSION {
            return Ok(self.fail(RmppStatus::BAD_VERSION));
        }
        Ok(match segment.rmpp.rmpp_type {
            RmppType::ACK => self.ack(now, segment.rmpp),
            RmppType::STOP if segment.rmpp.reason() != RmppStatus::NO_RESOURCES => self.fail(RmppStatus::BAD_STATUS),
            RmppType::STOP | RmppType::ABORT => {
                self.state = State::Failed(segment.rmpp.reason());
                self.status()
            }
            RmppType::DATA => Sent::More,
            _ => self.fail(RmppStatus::BAD_TYPE),
        })
    }

    /// Returns the time to call [`handle_timeout`](Self::handle_timeout); `None` if there is no time-out.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        match self.state {
            State::Open => self.deadline,
            _ => None,
        }
    }

    /// Sends segments again if the acknowledgement is late, or ends the transfer after the last retry.
    pub fn handle_timeout(&mut self, now: Duration) -> Sent {
        if self.poll_timeout().is_none_or(|deadline| now < deadline) {
            return self.status();
        }
        let Some(left) = self.retries_left.checked_sub(1) else {
            return self.fail(RmppStatus::TOO_MANY_RETRIES);
        };
        self.retries_left = left;
        self.next = self.acked + 1;
        // The deadline also runs while the window is closed, so that a closed window does not last for ever.
        self.deadline = Some(now.saturating_add(self.limits.ack_timeout));
        Sent::More
    }

    fn ack(&mut self, now: Duration, rmpp: &RmppHeader) -> Sent {
        let (segment, window_last) = (rmpp.data1.get(), rmpp.data2.get());
        if rmpp.status != 0 {
            return self.fail(RmppStatus::BAD_STATUS);
        }
        if window_last < segment {
            return self.fail(RmppStatus::WINDOW_TOO_SMALL);
        }
        // An acknowledgement of a segment sent before a time-out may arrive after it.
        if segment > self.segments.min(self.window_last) {
            return self.fail(RmppStatus::SEGMENT_TOO_BIG);
        }
        if segment < self.acked || (segment == self.acked && window_last <= self.window_last) {
            return Sent::More;
        }
        if segment > self.acked {
            self.retries_left = self.limits.retries;
        }
        self.acked = segment;
        self.next = self.next.max(segment + 1);
        self.window_last = self.window_last.max(window_last);
        self.deadline = Some(now.saturating_add(self.limits.ack_timeout));
        if self.acked == self.segments {
            self.state = State::Done;
        }
        self.status()
    }

    fn status(&self) -> Sent {
        match self.state {
            State::Open => Sent::More,
            State::Done => Sent::Done,
            State::Failed(status) => Sent::Failed(status, None),
        }
    }

    fn fail(&mut self, status: RmppStatus) -> Sent {
        self.state = State::Failed(status);
        let (headers, _) = self.parts();
        let mut mad = answer(headers, stop_or_abort(status));
        // The abort has the direction of the message, not the direction of a response.
        if let (Ok(to), Ok(from)) = (MadHeader::parse_mut(&mut mad), MadHeader::parse(headers)) {
            to.method = from.method;
        }
        Sent::Failed(status, Some(mad))
    }

    fn segment(&self, number: u32, mad: &mut [u8; SIZE]) {
        let (headers, data) = self.parts();
        let payload = SIZE - RMPP_END;
        let room = SIZE - self.header_length;
        let start = usize::try_from(number - 1).unwrap_or(usize::MAX).saturating_mul(room);
        let rest = data.get(start..).unwrap_or_default();
        mad.fill(0);
        mad.iter_mut().zip(headers.iter().chain(rest)).for_each(|(to, from)| *to = *from);
        let (first, last) = (number == 1, number == self.segments);
        let padding = if last { room - rest.len() } else { 0 };
        let total_padding = data.len().next_multiple_of(room).max(room) - data.len();
        let segments = usize::try_from(self.segments).unwrap_or_default();
        let payload = match (first, last) {
            (true, _) => segments * payload - total_padding,
            (false, true) => payload - padding,
            (false, false) => 0,
        };
        let flags = RmppFlags::ZERO.with_first(first).with_last(last);
        put(mad, RmppHeader::new(RmppType::DATA, flags, number, u32::try_from(payload).unwrap_or(u32::MAX)));
    }
}
