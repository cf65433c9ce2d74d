//! A daemon for providers, as small as can be: it keeps what it is told.
#![allow(unsafe_code, reason = "functions that a provider calls, and those of one")]
use acm_provider::abi::{self, Message, SaHandler, SaMad};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    time::Duration,
};
use std::sync::{Condvar, Mutex, MutexGuard};

/// The longest that a test waits.
const LIMIT: Duration = Duration::from_secs(30);

/// What a provider did so far.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) lines: Vec<String>,
    /// Whether it was to `resolve`; number and message.
    pub(crate) answers: Vec<(bool, u64, Message)>,
    /// Questions to subnet administration, as addresses of what the daemon gave.
    pub(crate) questions: Vec<(usize, SaHandler)>,
}

static SAID: Mutex<Said> = Mutex::new(Said { lines: Vec::new(), answers: Vec::new(), questions: Vec::new() });

pub(crate) fn said() -> MutexGuard<'static, Said> {
    SAID.lock().unwrap()
}

/// Told of each answer.
static ANSWERED: Condvar = Condvar::new();

/// The answers to a request, of which there is to be one.
pub(crate) fn answers(id: u64) -> Vec<(bool, Message)> {
    of(&said(), id)
}

fn of(said: &Said, id: u64) -> Vec<(bool, Message)> {
    let own = said.answers.iter().filter(|(_, of, _)| *of == id);
    own.map(|(resolve, _, message)| (*resolve, *message)).collect()
}

/// The answer to a request, once it is there: another thread may give it.
pub(crate) fn answer(id: u64) -> (bool, Message) {
    let (said, _) = ANSWERED.wait_timeout_while(said(), LIMIT, |said| of(said, id).is_empty()).unwrap();
    *of(&said, id).first().expect("an answer")
}

fn answered(resolve: bool, id: u64, message: *mut Message) -> c_int {
    // SAFETY: the provider's message is valid.
    said().answers.push((resolve, id, unsafe { *message }));
    ANSWERED.notify_all();
    0
}

#[unsafe(no_mangle)]
extern "C" fn acm_write(_level: c_int, _format: *const c_char, name: *const c_char, text: *const c_char) {
    // SAFETY: the provider's format takes two texts.
    let [name, text] = [name, text].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    said().lines.push(format!("{name}: {text}"));
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
    // SAFETY: the provider gives a place for it.
    unsafe { *gid = [7; 16] };
    0
}

#[unsafe(no_mangle)]
extern "C" fn acm_resolve_response(id: u64, message: *mut Message) -> c_int {
    answered(true, id, message)
}

#[unsafe(no_mangle)]
extern "C" fn acm_query_response(id: u64, message: *mut Message) -> c_int {
    answered(false, id, message)
}

#[unsafe(no_mangle)]
extern "C" fn acm_alloc_sa_mad(
    _endpoint: *const abi::Endpoint,
    context: *mut c_void,
    handler: Option<SaHandler>,
) -> *mut SaMad {
    let mad = SaMad { context, umad: abi::UserMad::default(), mad: [0; 256] };
    let mad = Box::into_raw(Box::new(mad));
    said().questions.push((mad as usize, handler.unwrap()));
    mad
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_free_sa_mad(mad: *mut SaMad) {
    // SAFETY: made above.
    drop(unsafe { Box::from_raw(mad) });
}

#[unsafe(no_mangle)]
extern "C" fn acm_send_sa_mad(_mad: *mut SaMad) -> c_int {
    0
}

/// Answers the last question with its own bytes, or with an errno.
pub(crate) fn answer_last(errno: u32) {
    let (mad, handler) = said().questions.pop().unwrap();
    let mad = mad as *mut SaMad;
    // SAFETY: the provider has not freed it yet, and takes it now.
    unsafe {
        (*mad).umad.status = errno;
        handler(mad);
    }
}

unsafe extern "C" {
    fn provider_query(provider: *mut *mut abi::Provider, version: *mut u32) -> c_int;
}

/// The provider of this program.
pub(crate) fn provider() -> &'static abi::Provider {
    let (mut provider, mut version) = (ptr::null_mut(), 0);
    // SAFETY: two places to write to; what it gives lives for ever.
    unsafe {
        assert_eq!(provider_query(&raw mut provider, &raw mut version), 0);
        assert_eq!(version, abi::VERSION);
        &*provider
    }
}
