//! A minimal daemon for providers: it keeps everything that the provider passes to it.
#![allow(unsafe_code, reason = "functions that a provider calls, and those of one")]
use acm_provider::abi::{self, Message, SaHandler, SaMad};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    time::Duration,
};
use std::sync::{Condvar, Mutex, MutexGuard};

/// The longest wait of a test.
const LIMIT: Duration = Duration::from_secs(30);

/// Everything that the provider passed to the daemon so far.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) lines: Vec<String>,
    /// Responses: true if it answers `resolve`, the number of the request, the message.
    pub(crate) responses: Vec<(bool, u64, Message)>,
    /// Requests to the SA: the address of the memory that the daemon allocated, and the handler.
    pub(crate) requests: Vec<(usize, SaHandler)>,
}

static RECEIVED: Mutex<Received> =
    Mutex::new(Received { lines: Vec::new(), responses: Vec::new(), requests: Vec::new() });

pub(crate) fn received() -> MutexGuard<'static, Received> {
    RECEIVED.lock().unwrap()
}

/// Notified after each response.
static RESPONDED: Condvar = Condvar::new();

/// Returns the responses to a request. There must be one.
pub(crate) fn responses(id: u64) -> Vec<(bool, Message)> {
    of(&received(), id)
}

fn of(received: &Received, id: u64) -> Vec<(bool, Message)> {
    let matching = received.responses.iter().filter(|(_, of, _)| *of == id);
    matching.map(|(resolve, _, message)| (*resolve, *message)).collect()
}

/// Waits for the response to a request, which another thread may send.
pub(crate) fn response(id: u64) -> (bool, Message) {
    let (received, _) =
        RESPONDED.wait_timeout_while(received(), LIMIT, |received| of(received, id).is_empty()).unwrap();
    *of(&received, id).first().expect("a response")
}

fn respond(resolve: bool, id: u64, message: *mut Message) -> c_int {
    // SAFETY: the provider's message is valid.
    received().responses.push((resolve, id, unsafe { *message }));
    RESPONDED.notify_all();
    0
}

#[unsafe(no_mangle)]
extern "C" fn acm_write(_level: c_int, _format: *const c_char, name: *const c_char, text: *const c_char) {
    // SAFETY: the provider's format takes two strings.
    let [name, text] = [name, text].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    received().lines.push(format!("{name}: {text}"));
}

#[unsafe(no_mangle)]
extern "C" fn acm_get_opts_file() -> *const c_char {
    c"/none/ibacm_opts.cfg".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn acm_increment_counter(_counter: c_int) {}

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
extern "C" fn acm_alloc_sa_mad(
    _endpoint: *const abi::Endpoint,
    context: *mut c_void,
    handler: Option<SaHandler>,
) -> *mut SaMad {
    let mad = SaMad { context, umad: abi::UserMad::default(), mad: [0; 256] };
    let mad = Box::into_raw(Box::new(mad));
    received().requests.push((mad as usize, handler.unwrap()));
    mad
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_free_sa_mad(mad: *mut SaMad) {
    // SAFETY: `acm_alloc_sa_mad` created the box.
    drop(unsafe { Box::from_raw(mad) });
}

#[unsafe(no_mangle)]
extern "C" fn acm_send_sa_mad(_mad: *mut SaMad) -> c_int {
    0
}

/// Answers the last request with its own bytes, or with an errno.
pub(crate) fn answer_last(errno: u32) {
    let (mad, handler) = received().requests.pop().unwrap();
    let mad = mad as *mut SaMad;
    // SAFETY: the provider frees the request in its handler, not before.
    unsafe {
        (*mad).umad.status = errno;
        handler(mad);
    }
}

unsafe extern "C" {
    fn provider_query(provider: *mut *mut abi::Provider, version: *mut u32) -> c_int;
}

/// Returns the provider of this program.
pub(crate) fn provider() -> &'static abi::Provider {
    let (mut provider, mut version) = (ptr::null_mut(), 0);
    // SAFETY: both variables are writable, and the provider is valid for ever.
    unsafe {
        assert_eq!(provider_query(&raw mut provider, &raw mut version), 0);
        assert_eq!(version, abi::VERSION);
        &*provider
    }
}
