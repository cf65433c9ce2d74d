//! Names of events, states and codes.
use core::ffi::{c_char, c_uint};

/// Returns the name of an asynchronous event.
#[cfg_attr(not(test), unsafe(no_mangle), expect(unsafe_code, reason = "the symbol's name"))]
extern "C" fn ibv_event_type_str(event: c_uint) -> *const c_char {
    match event {
        0 => c"CQ error",
        1 => c"local work queue catastrophic error",
        2 => c"invalid request local work queue error",
        3 => c"local access violation work queue error",
        8 => c"local catastrophic error",
        9 => c"port active",
        10 => c"port error",
        11 => c"LID change",
        12 => c"P_Key change",
        13 => c"SM change",
        17 => c"client reregistration",
        18 => c"GID table change",
        _ => c"unknown",
    }
    .as_ptr()
}

/// Returns the name of a node type.
#[cfg_attr(not(test), unsafe(no_mangle), expect(unsafe_code, reason = "the symbol's name"))]
extern "C" fn ibv_node_type_str(node_type: c_uint) -> *const c_char {
    if node_type == 1 { c"InfiniBand channel adapter" } else { c"unknown" }.as_ptr()
}

/// Returns the name of a port state.
#[cfg_attr(not(test), unsafe(no_mangle), expect(unsafe_code, reason = "the symbol's name"))]
extern "C" fn ibv_port_state_str(state: c_uint) -> *const c_char {
    match state {
        0 => c"no state change (NOP)",
        1 => c"down",
        2 => c"init",
        3 => c"armed",
        4 => c"active",
        5 => c"active defer",
        _ => c"invalid state",
    }
    .as_ptr()
}

/// Returns the name of a completion status.
#[cfg_attr(not(test), unsafe(no_mangle), expect(unsafe_code, reason = "the symbol's name"))]
extern "C" fn ibv_wc_status_str(status: c_uint) -> *const c_char {
    match status {
        0 => c"success",
        1 => c"local length error",
        2 => c"local QP operation error",
        4 => c"local protection error",
        5 => c"Work Request Flushed Error",
        _ => c"unknown",
    }
    .as_ptr()
}
