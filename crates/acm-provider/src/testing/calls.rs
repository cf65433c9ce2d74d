//! The functions of the daemon, under the names of C in a test program with [`test_daemon!`](crate::test_daemon).
#![allow(unsafe_code, reason = "functions that a provider calls")]
use super::daemon::{LINES, RESPONDED, Received, Response, SaRequest, received};
use crate::abi::{self, Message, SaHandler, SaMad};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr::{self, NonNull},
};

pub unsafe fn respond(to_resolve: bool, id: u64, message: *mut Message) -> c_int {
    // SAFETY: the provider's message is valid.
    let message = unsafe { *message };
    received().responses.push(Response { to_resolve, id, message });
    RESPONDED.notify_all();
    0
}

pub unsafe fn write(level: c_int, name: *const c_char, text: *const c_char) {
    // SAFETY: the format of `daemon::log` takes two strings.
    let [name, text] = [name, text].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    LINES.with_borrow_mut(|lines| lines.push(format!("{level} {name}: {text}")));
}

/// Every port has one GID.
pub unsafe fn get_gid(index: c_int, gid: *mut [u8; 16]) -> c_int {
    if index != 0 {
        return -1;
    }
    // SAFETY: the provider provides writable memory.
    unsafe { *gid = [7; 16] };
    0
}

pub unsafe fn allocate(endpoint: *const abi::Endpoint, context: *mut c_void, handler: Option<SaHandler>) -> *mut SaMad {
    // SAFETY: the provider's endpoint is open.
    let pkey = unsafe { (*endpoint).pkey };
    if received().exhausted.contains(&pkey) {
        return ptr::null_mut();
    }
    let mad = SaMad { context, umad: abi::UserMad::default(), mad: [0; 256] };
    let mad = NonNull::from(Box::leak(Box::new(mad)));
    received().allocated.push(SaRequest { mad, handler: handler.expect("a handler"), pkey });
    mad.as_ptr()
}

/// # Panics
/// If the request is free already, or belongs to the daemon because it was sent.
pub unsafe fn free(mad: *mut SaMad) {
    let freed = NonNull::new(mad).expect("a request");
    let before = received().allocated.extract_if(.., |request| request.mad == freed).count();
    assert_eq!(before, 1, "freed twice");
    // SAFETY: `allocate` created the box.
    drop(unsafe { Box::from_raw(mad) });
}

#[must_use]
pub fn send(mad: *mut SaMad) -> c_int {
    let mut received = received();
    let Received { allocated, sent, refused, .. } = &mut *received;
    let request = allocated.iter().find(|request| request.mad.as_ptr() == mad).expect("an allocated request");
    if refused.contains(&request.pkey) {
        return -5;
    }
    sent.push(SaRequest { ..*request });
    0
}

/// Defines the functions of the daemon that [`testing`](crate::testing) has. Write it once in a test program: in the
/// library of a provider, the functions would replace those of the daemon.
#[macro_export]
macro_rules! test_daemon {
    () => {
        // SAFETY of all: the arguments are those of the provider, as `abi::imports` describes them.
        const _: () = {
            use ::core::ffi::{c_char, c_int, c_void};
            use $crate::{
                abi::{Endpoint, Message, Port, SaHandler, SaMad},
                testing::calls,
            };

            #[unsafe(no_mangle)]
            unsafe extern "C" fn acm_write(level: c_int, _: *const c_char, name: *const c_char, text: *const c_char) {
                unsafe { calls::write(level, name, text) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn acm_get_opts_file() -> *const c_char {
                c"/none/ibacm_opts.cfg".as_ptr()
            }
            #[unsafe(no_mangle)]
            extern "C" fn acm_increment_counter(_: c_int) {}
            #[unsafe(no_mangle)]
            unsafe extern "C" fn acm_get_gid(_: *mut Port, index: c_int, gid: *mut [u8; 16]) -> c_int {
                unsafe { calls::get_gid(index, gid) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn acm_resolve_response(id: u64, message: *mut Message) -> c_int {
                unsafe { calls::respond(true, id, message) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn acm_query_response(id: u64, message: *mut Message) -> c_int {
                unsafe { calls::respond(false, id, message) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn acm_alloc_sa_mad(
                endpoint: *const Endpoint,
                context: *mut c_void,
                handler: Option<SaHandler>,
            ) -> *mut SaMad {
                unsafe { calls::allocate(endpoint, context, handler) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn acm_free_sa_mad(mad: *mut SaMad) {
                unsafe { calls::free(mad) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn acm_send_sa_mad(mad: *mut SaMad) -> c_int {
                calls::send(mad)
            }
        };
    };
}
