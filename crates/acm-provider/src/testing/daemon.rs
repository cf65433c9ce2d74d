//! Records of what a provider has passed to the daemon.
#![allow(unsafe_code, reason = "memory that a provider shares with the daemon")]
use crate::abi::{Message, SaHandler, SaMad};
use core::{cell::RefCell, ptr::NonNull, time::Duration};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum time that [`response`] waits.
const LIMIT: Duration = Duration::from_secs(60);

/// A response to a client's request.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// True for a response to `resolve`, false for a response to `query`.
    pub to_resolve: bool,
    /// The daemon's number of the request.
    pub id: u64,
    /// The message.
    pub message: Message,
}

/// A request to the subnet administrator (SA), which the provider has sent. The daemon's memory for the request is
/// freed when the provider has received the response.
#[derive(Debug)]
pub struct SaRequest {
    pub(super) mad: NonNull<SaMad>,
    pub(super) handler: SaHandler,
    pub(super) pkey: u16,
}
// SAFETY: only the daemon uses the request between sending and the response.
unsafe impl Send for SaRequest {}

impl SaRequest {
    /// Returns the MAD.
    #[must_use]
    pub fn mad(&self) -> [u8; 256] {
        // SAFETY: the provider frees the request in its handler, and the handler has not been called.
        unsafe { self.mad.as_ref().mad }
    }

    /// Calls the provider's handler with a response.
    pub fn respond(self, mad: [u8; 256]) {
        self.end(0, mad);
    }

    /// Calls the provider's handler with an errno.
    pub fn fail(self, errno: u32) {
        let mad = self.mad();
        self.end(errno, mad);
    }

    fn end(self, status: u32, mad: [u8; 256]) {
        let request = self.mad.as_ptr();
        // SAFETY: as in `mad`. The handler is called once, because the request is consumed.
        unsafe {
            (*request).umad.status = status;
            (*request).mad = mad;
            (self.handler)(request);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) responses: Vec<Response>,
    /// Requests that the provider has allocated and not freed.
    pub(super) allocated: Vec<SaRequest>,
    pub(super) sent: Vec<SaRequest>,
    /// P_Keys of endpoints whose requests to the SA are refused.
    pub(super) refused: Vec<u16>,
    /// P_Keys of endpoints for whose requests to the SA there is no memory.
    pub(super) exhausted: Vec<u16>,
}

static RECEIVED: Mutex<Received> = Mutex::new(Received {
    responses: Vec::new(),
    allocated: Vec::new(),
    sent: Vec::new(),
    refused: Vec::new(),
    exhausted: Vec::new(),
});

/// Notified after each response.
pub(super) static RESPONDED: Condvar = Condvar::new();

thread_local! {
    pub(super) static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn received() -> MutexGuard<'static, Received> {
    RECEIVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the log lines of this thread: the level, the provider's name and the text.
#[must_use]
pub fn lines() -> Vec<String> {
    LINES.take()
}

/// Returns the responses to a request.
#[must_use]
pub fn responses(id: u64) -> Vec<Response> {
    received().responses.iter().filter(|response| response.id == id).copied().collect()
}

/// Waits for the response to a request, which another thread may send.
///
/// # Panics
/// If no response is sent within 60 s.
#[must_use]
pub fn response(id: u64) -> Response {
    let is_missing = |received: &mut Received| received.responses.iter().all(|response| response.id != id);
    drop(RESPONDED.wait_timeout_while(received(), LIMIT, is_missing));
    *responses(id).first().expect("a response")
}

/// Takes the requests to the SA that were sent from endpoints in this partition.
#[must_use]
pub fn sa_requests(pkey: u16) -> Vec<SaRequest> {
    received().sent.extract_if(.., |request| request.pkey == pkey).collect()
}

/// Refuses later requests to the SA from endpoints in this partition.
pub fn refuse_sa_requests(pkey: u16) {
    received().refused.push(pkey);
}

/// Has no memory for requests to the SA of endpoints in this partition from now on.
pub fn exhaust_sa_requests(pkey: u16) {
    received().exhausted.push(pkey);
}

/// Returns the number of requests to the SA that are allocated and not freed, for endpoints in this partition.
#[must_use]
pub fn allocated_sa_requests(pkey: u16) -> usize {
    received().allocated.iter().filter(|request| request.pkey == pkey).count()
}
