//! The receiving end.
use super::{
    RMPP_VERSION, RmppStatus, RmppType,
    layout::{PAYLOAD, Segment, ack, answer, stop_or_abort},
};
use crate::{DecodeError, mad::MAD_SIZE};
use core::time::Duration;

/// Bounds of a [`Reassembler`]; its buffer bounds the message's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblerLimits {
    /// Segments that the sender may send before it waits for an acknowledgement, 1 to 64.
    pub window: u8,
    /// How long the next segment may take.
    pub segment_timeout: Duration,
}

impl Default for ReassemblerLimits {
    /// 64 segments, 40 s, as Linux has.
    fn default() -> Self {
        Self { window: 64, segment_timeout: Duration::from_secs(40) }
    }
}

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// More is to come. If there is a datagram, it is to be sent to the sender.
    More(Option<[u8; MAD_SIZE]>),
    /// The message is whole: [`Reassembler::message`]. The acknowledgement is to be sent; none is needed for a datagram
    /// that stood alone.
    Done(Option<[u8; MAD_SIZE]>),
    /// The transfer ended early. If there is a datagram, it tells the sender.
    Failed(RmppStatus, Option<[u8; MAD_SIZE]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing came.
    Idle,
    /// Segments come.
    Open {
        deadline: Duration,
    },
    /// The message has this many bytes.
    Done(usize),
    Failed(RmppStatus),
}

/// Puts a message together in a caller's buffer: headers of the first segment, then the data of all segments.
///
/// One reassembler is for one message: the caller finds it by source and transaction id. It borrows its buffer or owns
/// it (`&mut [u8]`, `Vec<u8>`, `[u8; N]`), so that a map can keep transfers.
///
/// ```
/// use core::time::Duration;
/// use ib_mad::rmpp::{Reassembler, ReassemblerLimits, Received};
/// let mut buffer = [0; 4096];
/// let mut message = Reassembler::new(&mut buffer, ReassemblerLimits::default());
/// # let segment = ib_mad::sa::Query::<ib_mad::sa::PathRecord>::new().get(ib_mad::TransactionId::new(1));
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
    header_length: usize,
    /// The first segment that is missing.
    next: u32,
    /// Which segments from `next` on came, the lowest bit for `next` itself.
    ahead: u64,
    /// The last segment that the sender may send.
    window_last: u32,
    /// Number of the last segment and the bytes of data in it, once it came.
    last: Option<(u32, usize)>,
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Reassembler<B> {
    /// For a message that fits in `buffer`.
    #[must_use]
    pub fn new(buffer: B, limits: ReassemblerLimits) -> Self {
        let limits = ReassemblerLimits { window: limits.window.clamp(1, 64), ..limits };
        Self { buffer, limits, state: State::Idle, header_length: 0, next: 1, ahead: 0, window_last: 1, last: None }
    }

    /// A datagram of the transfer came.
    ///
    /// A datagram without the protocol is a message by itself.
    ///
    /// # Errors
    /// [`DecodeError`] if the datagram is not whole or its class has no such protocol; nothing changes then.
    pub fn handle(&mut self, now: Duration, mad: &[u8]) -> Result<Received, DecodeError> {
        let segment = Segment::parse(mad)?;
        if !segment.rmpp.flags.active() {
            return Ok(self.alone(&segment));
        }
        if let State::Failed(status) = self.state {
            return Ok(Received::Failed(status, None));
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
            // An acknowledgement is for a sender.
            RmppType::ACK => Received::More(None),
            _ => self.fail(&segment, RmppStatus::BAD_TYPE),
        })
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called; `None`: never.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        match self.state {
            State::Open { deadline } => Some(deadline),
            _ => None,
        }
    }

    /// Time passed: gives the transfer up if the next segment is late.
    pub fn handle_timeout(&mut self, now: Duration) -> Received {
        match self.state {
            State::Open { deadline } if now >= deadline => {
                self.state = State::Failed(RmppStatus::TOO_LONG);
                let headers = self.buffer.as_ref().get(..self.header_length).unwrap_or_default();
                Received::Failed(RmppStatus::TOO_LONG, Some(answer(headers, stop_or_abort(RmppStatus::TOO_LONG))))
            }
            State::Failed(status) => Received::Failed(status, None),
            State::Done(_) => Received::Done(None),
            State::Open { .. } | State::Idle => Received::More(None),
        }
    }

    /// The message, once it is whole.
    #[must_use]
    pub fn message(&self) -> Option<&[u8]> {
        match self.state {
            State::Done(length) => self.buffer.as_ref().get(..length),
            _ => None,
        }
    }

    /// The buffer, with the message at its start if that is whole.
    #[must_use]
    pub fn into_buffer(self) -> B {
        self.buffer
    }

    fn alone(&mut self, segment: &Segment<'_>) -> Received {
        if self.state != State::Idle {
            return Received::More(None);
        }
        if self.put(0, segment.headers).and_then(|()| self.put(segment.header_length, segment.data)).is_none() {
            self.state = State::Failed(RmppStatus::NO_RESOURCES);
            return Received::Failed(RmppStatus::NO_RESOURCES, None);
        }
        self.state = State::Done(MAD_SIZE);
        Received::Done(None)
    }

    fn data(&mut self, now: Duration, segment: &Segment<'_>) -> Received {
        let number = segment.rmpp.data1.get();
        let flags = segment.rmpp.flags;
        if number == 0 || flags.first() != (number == 1) {
            return self.fail(segment, RmppStatus::BAD_SEGMENT);
        }
        if self.header_length == 0 {
            self.header_length = segment.header_length;
        }
        // What came before, and what may not come yet, only tells that an acknowledgement was lost.
        if number < self.next || matches!(self.state, State::Done(_)) {
            return self.again(segment);
        }
        let ahead = number - self.next;
        if number > self.window_last || ahead >= 64 {
            return self.again(segment);
        }
        let mut data = segment.data;
        if flags.last() {
            let class_header = segment.header_length + PAYLOAD - MAD_SIZE;
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

    /// Puts a segment's data where it belongs, and the first segment's headers before it.
    fn store(&mut self, number: u32, segment: &Segment<'_>, data: &[u8]) -> Option<()> {
        if number == 1 {
            self.put(0, segment.headers)?;
        }
        self.put(self.offset(number)?, data)
    }

    fn offset(&self, number: u32) -> Option<usize> {
        let before = usize::try_from(number.checked_sub(1)?).ok()?;
        before.checked_mul(MAD_SIZE - self.header_length)?.checked_add(self.header_length)
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) -> Option<()> {
        let place = self.buffer.as_mut().get_mut(offset..offset.checked_add(bytes.len())?)?;
        place.copy_from_slice(bytes);
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
