//! The receiving side.
use super::{
    RMPP_VERSION, RmppStatus, RmppType,
    layout::{RMPP_END, Segment, ack, answer, stop_or_abort},
};
use crate::{DecodeError, mad::MAD_SIZE};
use core::time::Duration;

/// Limits of a [`Reassembler`]. The size of its buffer limits the length of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblerLimits {
    /// Number of segments that the sender may send before it waits for an acknowledgement, 1 to 64.
    pub window: u8,
    /// Time after which the transfer fails if no segment arrives.
    pub segment_timeout: Duration,
}

impl Default for ReassemblerLimits {
    /// Returns the limits of Linux: 64 segments, 40 s.
    fn default() -> Self {
        Self { window: 64, segment_timeout: Duration::from_secs(40) }
    }
}

/// Result of a received segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The message is incomplete. The caller sends the datagram, if there is one, to the sender.
    More(Option<[u8; MAD_SIZE]>),
    /// The message is complete; see [`Reassembler::message`]. The caller sends the acknowledgement, if there is one. A
    /// datagram without RMPP has no acknowledgement.
    Done(Option<[u8; MAD_SIZE]>),
    /// The transfer ended early. The datagram, if there is one, reports the reason to the sender.
    Failed(RmppStatus, Option<[u8; MAD_SIZE]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No segment was received.
    Idle,
    /// Some segments were received.
    Open {
        deadline: Duration,
    },
    /// The message is complete and has this many bytes.
    Done(usize),
    Failed(RmppStatus),
}

/// Reassembles a message in a caller's buffer: headers of the first segment, then the data of all segments.
///
/// The base version of the segments determines their size: 256 bytes, or up to 2,048 on Omni-Path. Each message needs a
/// reassembler of its own, which the caller finds by source and transaction id. The buffer may be
/// borrowed or owned (`&mut [u8]`, `Vec<u8>`, `[u8; N]`), so that a map can hold transfers.
///
/// ```
/// use core::time::Duration;
/// use ib_mad::rmpp::{Reassembler, ReassemblerLimits, Received};
/// let mut buffer = [0; 4096];
/// let mut message = Reassembler::new(&mut buffer, ReassemblerLimits::default());
/// # let segment = ib_mad::sa::Query::<ib_mad::sa::PathRecord>::new().request(ib_mad::Method::GET, ib_mad::TransactionId::new(1));
/// match message.handle(Duration::ZERO, ib_mad::as_bytes(&segment))? {
///     Received::Done(_) => assert_eq!(message.message().map(<[u8]>::len), Some(256)),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), ib_mad::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Reassembler<B> {
    buffer: B,
    limits: ReassemblerLimits,
    state: State,
    /// Bytes of headers, and of data in each segment but the last; zero before the first segment.
    layout: (usize, usize),
    /// Number of the first missing segment.
    next: u32,
    /// Received segments from `next` on, one bit each; the lowest bit is for `next`.
    ahead: u64,
    /// Number of the last segment that the sender may send.
    window_last: u32,
    /// Number and data length of the last segment, once it was received.
    last: Option<(u32, usize)>,
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Reassembler<B> {
    /// Returns a reassembler of a message that fits in `buffer`.
    #[must_use]
    pub fn new(buffer: B, limits: ReassemblerLimits) -> Self {
        let limits = ReassemblerLimits { window: limits.window.clamp(1, 64), ..limits };
        Self { buffer, limits, state: State::Idle, layout: (0, 0), next: 1, ahead: 0, window_last: 1, last: None }
    }

    /// Handles a received datagram of the transfer.
    ///
    /// A datagram without RMPP is a whole message.
    ///
    /// # Errors
    /// [`DecodeError`] if the datagram is not whole, if its class has no RMPP, or if its segments have another size than
    /// those of the transfer; the transfer stays unchanged.
    pub fn handle(&mut self, now: Duration, mad: &[u8]) -> Result<Received, DecodeError> {
        let segment = Segment::parse(mad)?;
        if !segment.rmpp.flags.active() {
            return Ok(self.single_datagram(&segment));
        }
        if let State::Failed(status) = self.state {
            return Ok(Received::Failed(status, None));
        }
        let layout = (segment.header_length, segment.room);
        if self.layout != (0, 0) && self.layout != layout {
            return Err(DecodeError::BadValue { what: "segment size", value: layout.1 as u64 });
        }
        if segment.rmpp.version != RMPP_VERSION {
            return Ok(self.fail(&segment, RmppStatus::BAD_VERSION));
        }
        Ok(match segment.rmpp.rmpp_type {
            RmppType::DATA => self.data(now, &segment),
            RmppType::STOP | RmppType::ABORT => {
                let status = segment.rmpp.reason();
                self.state = State::Failed(status);
                Received::Failed(status, None)
            }
            // Acknowledgements are for the sending side.
            RmppType::ACK => Received::More(None),
            _ => self.fail(&segment, RmppStatus::BAD_TYPE),
        })
    }

    /// Returns the time to call [`handle_timeout`](Self::handle_timeout); `None` if there is no time-out.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        match self.state {
            State::Open { deadline } => Some(deadline),
            _ => None,
        }
    }

    /// Ends the transfer if the next segment is late.
    pub fn handle_timeout(&mut self, now: Duration) -> Received {
        match self.state {
            State::Open { deadline } if now >= deadline => {
                self.state = State::Failed(RmppStatus::TOO_LONG);
                let headers = self.buffer.as_ref().get(..self.layout.0).unwrap_or_default();
                Received::Failed(RmppStatus::TOO_LONG, Some(answer(headers, stop_or_abort(RmppStatus::TOO_LONG))))
            }
            State::Failed(status) => Received::Failed(status, None),
            State::Done(_) => Received::Done(None),
            State::Open { .. } | State::Idle => Received::More(None),
        }
    }

    /// Returns the message, if it is complete.
    #[must_use]
    pub fn message(&self) -> Option<&[u8]> {
        match self.state {
            State::Done(length) => self.buffer.as_ref().get(..length),
            _ => None,
        }
    }

    /// Returns the buffer. If the message is complete, the buffer starts with the message.
    #[must_use]
    pub fn into_buffer(self) -> B {
        self.buffer
    }

    fn single_datagram(&mut self, segment: &Segment<'_>) -> Received {
        if self.state != State::Idle {
            return Received::More(None);
        }
        if self.put(0, segment.headers).and_then(|()| self.put(segment.header_length, segment.data)).is_none() {
            self.state = State::Failed(RmppStatus::NO_RESOURCES);
            return Received::Failed(RmppStatus::NO_RESOURCES, None);
        }
        self.state = State::Done(segment.headers.len() + segment.data.len());
        Received::Done(None)
    }

    fn data(&mut self, now: Duration, segment: &Segment<'_>) -> Received {
        let number = segment.rmpp.data1.get();
        let flags = segment.rmpp.flags;
        if number == 0 || flags.first() != (number == 1) {
            return self.fail(segment, RmppStatus::BAD_SEGMENT);
        }
        self.layout = (segment.header_length, segment.room);
        // A repeated segment, or one past the window, shows that an acknowledgement was lost.
        if number < self.next || matches!(self.state, State::Done(_)) {
            return self.again(segment);
        }
        let ahead = number - self.next;
        if number > self.window_last || ahead >= 64 {
            return self.again(segment);
        }
        let mut data = segment.data;
        if flags.last() {
            let class_header = segment.header_length - RMPP_END;
            let payload = usize::try_from(segment.rmpp.data2.get()).unwrap_or(usize::MAX);
            let Some(kept) = payload.checked_sub(class_header).and_then(|length| data.get(..length)) else {
                return self.fail(segment, RmppStatus::BAD_LENGTH);
            };
            if self.last.is_some_and(|(last, _)| last != number) {
                return self.fail(segment, RmppStatus::BAD_LENGTH);
            }
            data = kept;
            self.last = Some((number, kept.len()));
        } else if self.last.is_some_and(|(last, _)| number >= last) {
            return self.fail(segment, RmppStatus::BAD_LENGTH);
        }
        if self.store(number, segment, data).is_none() {
            return self.fail(segment, RmppStatus::NO_RESOURCES);
        }
        self.ahead |= 1 << ahead;
        let run = self.ahead.trailing_ones();
        self.next += run;
        self.ahead = self.ahead.checked_shr(run).unwrap_or_default();
        self.state = State::Open { deadline: now.saturating_add(self.limits.segment_timeout) };
        match self.last {
            Some((last, length)) if self.next > last => {
                self.state = State::Done(self.offset(last).unwrap_or_default() + length);
                Received::Done(Some(self.ack(segment)))
            }
            _ if self.next > self.window_last => {
                self.window_last = (self.next - 1).saturating_add(self.limits.window.into());
                Received::More(Some(self.ack(segment)))
            }
            _ => Received::More(None),
        }
    }

    /// Copies a segment's data to its offset, and the headers of the first segment to the start.
    fn store(&mut self, number: u32, segment: &Segment<'_>, data: &[u8]) -> Option<()> {
        if number == 1 {
            self.put(0, segment.headers)?;
        }
        self.put(self.offset(number)?, data)
    }

    fn offset(&self, number: u32) -> Option<usize> {
        let before = usize::try_from(number.checked_sub(1)?).ok()?;
        let (header_length, room) = self.layout;
        before.checked_mul(room)?.checked_add(header_length)
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) -> Option<()> {
        let target = self.buffer.as_mut().get_mut(offset..offset.checked_add(bytes.len())?)?;
        target.copy_from_slice(bytes);
        Some(())
    }

    fn ack(&self, segment: &Segment<'_>) -> [u8; MAD_SIZE] {
        answer(segment.headers, ack(self.next - 1, self.window_last.max(self.next - 1)))
    }

    fn again(&self, segment: &Segment<'_>) -> Received {
        let reply = Some(self.ack(segment));
        match self.state {
            State::Done(_) => Received::Done(reply),
            _ => Received::More(reply),
        }
    }

    fn fail(&mut self, segment: &Segment<'_>, status: RmppStatus) -> Received {
        self.state = State::Failed(status);
        Received::Failed(status, Some(answer(segment.headers, stop_or_abort(status))))
    }
}
