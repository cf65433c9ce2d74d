//! Questions to subnet administration, which the daemon sends.
#![allow(unsafe_code, reason = "functions of the daemon")]
use super::loaded::no_panic;
use crate::{
    abi::{self, imports},
    daemon,
};
use core::sync::atomic::{AtomicU32, Ordering};
use ib_mad::sa::SaMad;

/// The answer as it came, with the transaction id of the question, or why there is none.
pub type SaAnswer = Result<[u8; 256], SaFailure>;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaFailure {
    /// None came in time, after all repetitions.
    #[error("no answer in time")]
    TimedOut,
    /// The daemon could not send it, for the reason that the errno says.
    #[error("not sent: errno {0}")]
    NotSent(u32),
}

/// Why a question was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaRefused {
    /// The endpoint is closed.
    #[error("the endpoint is closed")]
    Closed,
    /// The daemon has no room for it.
    #[error("the daemon has no room")]
    NoRoom,
    /// The daemon could not send it.
    #[error("the daemon could not send it ({0})")]
    NotSent(i32),
}

/// What waits for an answer.
struct Waiting {
    /// Transaction id of the question, as it was given.
    tid: [u8; 8],
    then: Box<dyn FnOnce(SaAnswer) + Send>,
}

/// Where a datagram has its transaction id.
const TID: core::ops::Range<usize> = 8..16;

/// # Safety
/// `endpoint` is open until this returns.
pub(super) unsafe fn send(
    endpoint: *const abi::Endpoint,
    question: &SaMad,
    then: Box<dyn FnOnce(SaAnswer) + Send>,
) -> Result<(), SaRefused> {
    if daemon::is_over() {
        return Err(SaRefused::Closed);
    }
    // ibacm finds the question by the lower half of its transaction id, among all that the port waits for.
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let mut bytes = [0; 256];
    for (to, from) in bytes.iter_mut().zip(ib_mad::as_bytes(question)) {
        *to = *from;
    }
    let mut tid = [0; 8];
    if let Some(place) = bytes.get_mut(TID) {
        tid.copy_from_slice(place);
        place.copy_from_slice(&u64::from(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes());
    }
    let waiting = Box::into_raw(Box::new(Waiting { tid, then }));
    // SAFETY: the endpoint is open; the context is what `answered` takes.
    let mad = unsafe { imports::acm_alloc_sa_mad(endpoint, waiting.cast(), Some(answered)) };
    if mad.is_null() {
        // SAFETY: made above, and given to nobody.
        drop(unsafe { Box::from_raw(waiting) });
        return Err(SaRefused::NoRoom);
    }
    // SAFETY: the daemon gave this room, which is ours until it is sent.
    unsafe { (*mad).mad = bytes };
    // SAFETY: as above.
    let status = unsafe { imports::acm_send_sa_mad(mad) };
    if status == 0 {
        return Ok(());
    }
    // SAFETY: it was not sent, so that nobody else has it, and `answered` is never called for it.
    unsafe {
        imports::acm_free_sa_mad(mad);
        drop(Box::from_raw(waiting));
    }
    Err(SaRefused::NotSent(status))
}

/// The daemon's handler: it has the answer, or knows that none will come.
unsafe extern "C" fn answered(mad: *mut abi::SaMad) {
    /// `ETIMEDOUT`, of which umad says either sign.
    const TIMED_OUT: u32 = 110;
    // SAFETY: the daemon gives back what was sent, once.
    let (status, mut bytes, waiting) =
        unsafe { ((*mad).umad.status, (*mad).mad, Box::from_raw((*mad).context.cast::<Waiting>())) };
    // SAFETY: nothing of it is used any more.
    unsafe { imports::acm_free_sa_mad(mad) };
    let errno = status.cast_signed().unsigned_abs();
    let answer = match errno {
        0 => {
            if let Some(place) = bytes.get_mut(TID) {
                place.copy_from_slice(&waiting.tid);
            }
            Ok(bytes)
        }
        TIMED_OUT => Err(SaFailure::TimedOut),
        errno => Err(SaFailure::NotSent(errno)),
    };
    no_panic("the handler of an answer", || (waiting.then)(answer));
}
