//! Requests to the subnet administrator (SA), which the daemon sends.
#![allow(unsafe_code, reason = "functions of the daemon")]
use super::loaded::catch_panic;
use crate::{
    abi::{self, imports},
    daemon,
};
use core::sync::atomic::{AtomicU32, Ordering};
use ib_mad::sa::SaMad;

/// The response with the transaction id of the request, or the reason why there is none.
pub type SaResponse = Result<[u8; 256], SaFailure>;

/// The reason why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaFailure {
    /// No response was received in time, after all retries.
    #[error("no answer in time")]
    TimedOut,
    /// The daemon could not send the request: an errno.
    #[error("not sent: errno {0}")]
    NotSent(u32),
}

/// The reason why a request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaRefused {
    /// The endpoint is closed.
    #[error("the endpoint is closed")]
    Closed,
    /// The daemon has no memory for the request.
    #[error("the daemon has no room")]
    NoRoom,
    /// The daemon could not send the request.
    #[error("the daemon could not send it ({0})")]
    NotSent(i32),
}

/// A request that waits for its response.
struct Waiting {
    /// Transaction id of the caller's request.
    tid: [u8; 8],
    then: Box<dyn FnOnce(SaResponse) + Send>,
}

/// Range of the transaction id in a datagram, in bytes.
const TID: core::ops::Range<usize> = 8..16;

/// # Safety
/// `endpoint` must stay open until this function returns.
pub(super) unsafe fn send(
    endpoint: *const abi::Endpoint,
    request: &SaMad,
    then: Box<dyn FnOnce(SaResponse) + Send>,
) -> Result<(), SaRefused> {
    if daemon::is_over() {
        return Err(SaRefused::Closed);
    }
    // ibacm matches a response by the lower 32 bits of its transaction id, among all requests of the port.
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let mut bytes = [0; 256];
    for (to, from) in bytes.iter_mut().zip(ib_mad::as_bytes(request)) {
        *to = *from;
    }
    let mut tid = [0; 8];
    if let Some(field) = bytes.get_mut(TID) {
        tid.copy_from_slice(field);
        field.copy_from_slice(&u64::from(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes());
    }
    let waiting = Box::into_raw(Box::new(Waiting { tid, then }));
    // SAFETY: the endpoint is open, and `answered` takes this context.
    let mad = unsafe { imports::acm_alloc_sa_mad(endpoint, waiting.cast(), Some(answered)) };
    if mad.is_null() {
        // SAFETY: the box was created above, and nothing else has it.
        drop(unsafe { Box::from_raw(waiting) });
        return Err(SaRefused::NoRoom);
    }
    // SAFETY: the daemon allocated the request, which is ours until it is sent.
    unsafe { (*mad).mad = bytes };
    // SAFETY: as above.
    let status = unsafe { imports::acm_send_sa_mad(mad) };
    if status == 0 {
        return Ok(());
    }
    // SAFETY: the request was not sent, so that nothing else has it, and `answered` is never called for it.
    unsafe {
        imports::acm_free_sa_mad(mad);
        drop(Box::from_raw(waiting));
    }
    Err(SaRefused::NotSent(status))
}

/// The handler that the daemon calls with the response or the failure.
unsafe extern "C" fn answered(mad: *mut abi::SaMad) {
    /// `ETIMEDOUT`. umad reports it with either sign.
    const TIMED_OUT: u32 = 110;
    // SAFETY: the daemon returns the request that was sent, once.
    let (status, mut bytes, waiting) =
        unsafe { ((*mad).umad.status, (*mad).mad, Box::from_raw((*mad).context.cast::<Waiting>())) };
    // SAFETY: nothing uses the request any more.
    unsafe { imports::acm_free_sa_mad(mad) };
    let errno = status.cast_signed().unsigned_abs();
    let answer = match errno {
        0 => {
            if let Some(field) = bytes.get_mut(TID) {
                field.copy_from_slice(&waiting.tid);
            }
            Ok(bytes)
        }
        TIMED_OUT => Err(SaFailure::TimedOut),
        errno => Err(SaFailure::NotSent(errno)),
    };
    catch_panic("the handler of an answer", || (waiting.then)(answer));
}
