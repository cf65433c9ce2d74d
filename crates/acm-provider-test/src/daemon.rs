//! The functions that a provider calls, and what the provider has passed to them.
#![allow(unsafe_code, reason = "functions that a provider calls")]
use acm_provider::abi::{self, Message, SaHandler, SaMad};
use core::{
    cell::RefCell,
    ffi::{CStr, c_char, c_int, c_void},
    ptr::NonNull,
    time::Duration,
};
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
    mad: NonNull<SaMad>,
    handler: SaHandler,
    pkey: u16,
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
struct Received {
    responses: Vec<Response>,
    /// Requests that the provider has allocated and not freed.
    allocated: Vec<SaRequest>,
    sent: Vec<SaRequest>,
    /// P_Keys of endpoints whose requests to the SA are refused.
    refused: Vec<u16>,
    /// P_Keys of endpoints for whose requests to the SA there is no memory.
    exhausted: Vec<u16>,
}

static RECEIVED: Mutex<Received> = Mutex::new(Received {
    responses: Vec::new(),
    allocated: Vec::new(),
    sent: Vec::new(),
    refused: Vec::new(),
    exhausted: Vec::new(),
});

/// Notified after each response.
static RESPONDED: Condvar = Condvar::new();

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn received() -> MutexGuard<'static, Received> {
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

fn respond(to_resolve: bool, id: u64, message: *mut Message) -> c_int {
    // SAFETY: the provider's message is valid.
    let message = unsafe { *message };
    received().responses.push(Response { to_resolve, id, message });
    RESPONDED.notify_all();
    0
}

#[unsafe(no_mangle)]
extern "C" fn acm_write(level: c_int, _format: *const c_char, name: *const c_char, text: *const c_char) {
    // SAFETY: the format of `acm_provider::daemon::log` takes two strings.
    let [name, text] = [name, text].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    LINES.with_borrow_mut(|lines| lines.push(format!("{level} {name}: {text}")));
}

#[unsafe(no_mangle)]
extern "C" fn acm_get_opts_file() -> *const c_char {
    c"/none/ibacm_opts.cfg".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn acm_increment_counter(_counter: c_int) {}

/// Every port has one GID.
#[unsafe(no_mangle)]
unsafe extern "C" fn acm_get_gid(_port: *mut abi::Port, index: c_int, gid: *mut [u8; 16]) -> c_int {
    if index != 0 {
        return -1;
    }
    // SAFETY: the provider provides writable memory.
    unsafe { *gid = [7; 16] };
    0
}

#[unsafe(no_mangle)]
extern "C" fn acm_resolve_response(id: u64, message: *mut Message) -> c_int {
    respond(true, id, message)
}

#[unsafe(no_mangle)]
extern "C" fn acm_query_response(id: u64, message: *mut Message) -> c_int {
    respond(false, id, message)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_alloc_sa_mad(
    endpoint: *const abi::Endpoint,
    context: *mut c_void,
    handler: Option<SaHandler>,
) -> *mut SaMad {
    // SAFETY: the provider's endpoint is open.
    let pkey = unsafe { (*endpoint).pkey };
    if received().exhausted.contains(&pkey) {
        return core::ptr::null_mut();
    }
    let mad = SaMad { context, umad: abi::UserMad::default(), mad: [0; 256] };
    let mad = NonNull::from(Box::leak(Box::new(mad)));
    received().allocated.push(SaRequest { mad, handler: handler.expect("a handler"), pkey });
    mad.as_ptr()
}

/// # Panics
/// If the request is free already, or belongs to the daemon because it was sent.
#[unsafe(no_mangle)]
unsafe extern "C" fn acm_free_sa_mad(mad: *mut SaMad) {
    let freed = NonNull::new(mad).expect("a request");
    let before = received().allocated.extract_if(.., |request| request.mad == freed).count();
    assert_eq!(before, 1, "freed twice");
    // SAFETY: `acm_alloc_sa_mad` created the box.
    drop(unsafe { Box::from_raw(mad) });
}

#[unsafe(no_mangle)]
extern "C" fn acm_send_sa_mad(mad: *mut SaMad) -> c_int {
    let mut received = received();
    let Received { allocated, sent, refused, .. } = &mut *received;
    let request = allocated.iter().find(|request| request.mad.as_ptr() == mad).expect("an allocated request");
    if refused.contains(&request.pkey) {
        return -5;
    }
    sent.push(SaRequest { ..*request });
    0
}

/// Returns the number of requests to the SA that are allocated and not freed, for endpoints in this partition.
#[must_use]
pub fn allocated_sa_requests(pkey: u16) -> usize {
    received().allocated.iter().filter(|request| request.pkey == pkey).count()
}
