//! The transfers of a server.
use super::{RmppType, Segmenter, SegmenterLimits, Sent, layout::Segment};
use crate::{
    DecodeError, MadHeader, TransactionId, Wire,
    mad::{MAD_SIZE, OPA_MAD_SIZE},
};
use core::time::Duration;

/// The messages that a server sends: at most `N` at a time, found by source and transaction id.
///
/// `S` identifies the receiver of a message, for example its LID and queue pair. `B` holds a message. A transfer that
/// ends frees its entry: after the last acknowledgement, an abort of the receiver, or a time-out.
///
/// ```
/// use core::time::Duration;
/// use ib_mad::{Method, Lid, TransactionId, as_bytes, sa::{NodeRecord, Query, TableWriter, table_length}};
/// use ib_mad::rmpp::{Handled, SegmenterLimits, Transfers};
/// let mut transfers = Transfers::<Lid, _, 64>::new(SegmenterLimits::default());
/// let (now, source) = (Duration::ZERO, Lid::new(7));
/// let request = Query::<NodeRecord>::new().request(Method::GET_TABLE, TransactionId::new(1));
/// // Acknowledgements and repeated requests do not reach the server.
/// assert_eq!(transfers.handle(now, &source, as_bytes(&request))?, Handled::Request);
/// let mut table = TableWriter::new(&request, vec![0; table_length::<NodeRecord>(1)])?;
/// table.push(&NodeRecord::default())?;
/// transfers.start(source, table.finish())?;
/// let (to, segment) = transfers.poll_send(now).expect("the first segment");
/// assert_eq!((to, segment.len()), (source, 256));
/// assert_eq!(transfers.handle(now, &source, as_bytes(&request))?, Handled::Repeated);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Transfers<S, B, const N: usize, const SIZE: usize = MAD_SIZE> {
    entries: [Option<Entry<S, B, SIZE>>; N],
    limits: SegmenterLimits,
    /// Index of the entry that sends next, so that the transfers take turns.
    turn: usize,
}

#[derive(Debug)]
struct Entry<S, B, const SIZE: usize> {
    source: S,
    tid: TransactionId,
    state: State<B, SIZE>,
}

#[derive(Debug)]
enum State<B, const SIZE: usize> {
    Open(Segmenter<B, SIZE>),
    /// The transfer has failed, and this datagram reports the reason to the receiver.
    Failed([u8; MAD_SIZE]),
}

/// A received datagram, as seen by [`Transfers::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// The datagram belongs to no transfer: a request, or a response to the server's own request. The server handles
    /// it.
    Request,
    /// The request is being answered by an open transfer. The server ignores it.
    Repeated,
    /// The datagram was for a transfer, which continues.
    Continued,
    /// The last segment is acknowledged, and the transfer ended.
    Done,
    /// The transfer ended early.
    Failed,
    /// An acknowledgement, STOP or ABORT without an open transfer, for example a repeated last acknowledgement. The
    /// server ignores it.
    Late,
}

/// The reason why a transfer is not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// `N` transfers are open. A server responds with [`Status::BUSY`](crate::Status::BUSY).
    #[error("too many transfers are open")]
    Full,
    /// A transfer with this source and transaction id is open.
    #[error("a transfer with this source and transaction id is open")]
    Open,
    /// The message has no headers of a class with RMPP.
    #[error(transparent)]
    Message(#[from] DecodeError),
}

/// The messages that a server on Omni-Path sends, in datagrams of 2,048 bytes.
pub type OpaTransfers<S, B, const N: usize> = Transfers<S, B, N, OPA_MAD_SIZE>;

impl<S: Clone + PartialEq, B: AsRef<[u8]>, const N: usize> Transfers<S, B, N> {
    /// Returns a table without transfers. `limits` apply to each transfer.
    #[must_use]
    pub const fn new(limits: SegmenterLimits) -> Self {
        Self::with_size(limits)
    }
}

impl<S: Clone + PartialEq, B: AsRef<[u8]>, const N: usize> OpaTransfers<S, B, N> {
    /// Returns a table without transfers for Omni-Path. `limits` apply to each transfer.
    #[must_use]
    pub const fn omni_path(limits: SegmenterLimits) -> Self {
        Self::with_size(limits)
    }
}

impl<S: Clone + PartialEq, B: AsRef<[u8]>, const N: usize, const SIZE: usize> Transfers<S, B, N, SIZE> {
    const fn with_size(limits: SegmenterLimits) -> Self {
        Self { entries: [const { None }; N], limits, turn: 0 }
    }

    /// Returns the number of open transfers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.iter().flatten().count()
    }

    /// True if no transfer is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts the transfer of a message to `source`. The headers of the message contain its transaction id.
    ///
    /// # Errors
    /// [`StartError`]; the message is dropped.
    pub fn start(&mut self, source: S, message: B) -> Result<(), StartError> {
        let tid = MadHeader::parse(message.as_ref())?.transaction_id;
        let segmenter = Segmenter::with_size(message, self.limits)?;
        if self.find(&source, tid).is_some() {
            return Err(StartError::Open);
        }
        let free = self.entries.iter_mut().find(|entry| entry.is_none()).ok_or(StartError::Full)?;
        *free = Some(Entry { source, tid, state: State::Open(segmenter) });
        Ok(())
    }

    /// Handles a datagram from `source`.
    ///
    /// # Errors
    /// [`DecodeError`] if the datagram is not whole. A datagram of a class without RMPP is a [`Handled::Request`].
    pub fn handle(&mut self, now: Duration, source: &S, mad: &[u8]) -> Result<Handled, DecodeError> {
        let header = MadHeader::parse(mad)?;
        if super::header_length(header.mgmt_class).is_none() {
            return Ok(Handled::Request);
        }
        let rmpp = Segment::parse(mad)?.rmpp;
        let is_for_sender = rmpp.flags.active() && rmpp.rmpp_type != RmppType::DATA;
        let Some(slot) = self.find(source, header.transaction_id) else {
            return Ok(if is_for_sender { Handled::Late } else { Handled::Request });
        };
        let State::Open(segmenter) = &mut slot.state else { return Ok(Handled::Late) };
        if !is_for_sender {
            // A response to the server's own request may have the same transaction id.
            let is_request = !header.method.is_response();
            return Ok(if is_request { Handled::Repeated } else { Handled::Request });
        }
        let sent = segmenter.handle(now, mad)?;
        let tid = header.transaction_id;
        Ok(self.settle(source, tid, sent))
    }

    /// Returns the next datagram to send, and its receiver; `None` if nothing is to be sent now. Transfers take turns.
    pub fn poll_send(&mut self, now: Duration) -> Option<(S, [u8; SIZE])> {
        for _ in 0..N {
            let index = self.turn;
            self.turn = index.wrapping_add(1).checked_rem(N).unwrap_or_default();
            let Some(slot) = self.entries.get_mut(index) else { continue };
            let Some(entry) = slot else { continue };
            let (source, mad) = match &mut entry.state {
                State::Open(segmenter) => (entry.source.clone(), segmenter.poll_send(now)),
                State::Failed(mad) => (entry.source.clone(), Some(padded(mad))),
            };
            if matches!(entry.state, State::Failed(_)) {
                *slot = None;
            }
            if let Some(mad) = mad {
                return Some((source, mad));
            }
        }
        None
    }

    /// Returns the time to call [`handle_timeout`](Self::handle_timeout); `None` if there is no time-out.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        let deadlines = self.entries.iter().flatten().filter_map(|entry| match &entry.state {
            State::Open(segmenter) => segmenter.poll_timeout(),
            State::Failed(_) => None,
        });
        deadlines.min()
    }

    /// Sends segments again whose acknowledgements are late. Returns the number of transfers that ended after their
    /// last retry; [`poll_send`](Self::poll_send) then returns an ABORT to each receiver.
    pub fn handle_timeout(&mut self, now: Duration) -> usize {
        let mut failed = 0;
        for slot in &mut self.entries {
            let Some(Entry { state, .. }) = slot else { continue };
            let State::Open(segmenter) = state else { continue };
            if let Sent::Failed(_, abort) = segmenter.handle_timeout(now) {
                failed += 1;
                match abort {
                    Some(mad) => *state = State::Failed(mad),
                    None => *slot = None,
                }
            }
        }
        failed
    }

    fn find(&mut self, source: &S, tid: TransactionId) -> Option<&mut Entry<S, B, SIZE>> {
        self.entries.iter_mut().flatten().find(|entry| entry.tid == tid && entry.source == *source)
    }

    /// Frees the entry of a transfer that ended, or replaces it by the datagram that reports the failure.
    fn settle(&mut self, source: &S, tid: TransactionId, sent: Sent) -> Handled {
        let (handled, last) = match sent {
            Sent::More => return Handled::Continued,
            Sent::Done => (Handled::Done, None),
            Sent::Failed(_, abort) => (Handled::Failed, abort),
        };
        let is_it = |slot: &&mut Option<Entry<S, B, SIZE>>| {
            slot.as_ref().is_some_and(|entry| entry.tid == tid && entry.source == *source)
        };
        if let Some(slot) = self.entries.iter_mut().find(is_it) {
            match (last, slot) {
                (Some(mad), Some(entry)) => entry.state = State::Failed(mad),
                (_, slot) => *slot = None,
            }
        }
        handled
    }
}

/// Returns the datagram that reports a failure, with the size of the others.
fn padded<const SIZE: usize>(short: &[u8; MAD_SIZE]) -> [u8; SIZE] {
    let mut mad = [0; SIZE];
    mad.iter_mut().zip(short).for_each(|(to, from)| *to = *from);
    mad
}

#[cfg(test)]
mod tests;
