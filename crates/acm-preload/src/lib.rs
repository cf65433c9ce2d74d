//! Answers librdmacm's requests to the daemon from the daemon's memory (`shared_cache on`), without a system call.
//!
//! With `LD_PRELOAD=libibacm_preload.so`, an unmodified program's `rdma_getaddrinfo` gets cached paths inside the
//! process. librdmacm connects to the daemon once. For each lookup it calls `send` and then `recv`. This library
//! replaces these functions of the C library. If the memory has the path for a request, the request is not sent, and
//! the next `recv` returns the bytes that the daemon would have sent. Everything else is passed on unchanged.
//!
//! | module | contents |
//! |---|---|
//! | `hooks` | the replaced functions, and all pointers |
//! | `watched` | the descriptor of librdmacm's connection |
//! | `connection` | requests and responses of this connection |
//! | `next` | the C library's functions |
//!
//! A connection is replaced only if the code of `librdmacm.so` has opened it, and if it is a Unix socket. A process has
//! at most one. Its requests go to the socket if the memory does not have the path, if the daemon has stopped, if a
//! response is outstanding, or if another thread is using the connection in this moment.
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    test,
    expect(dead_code, reason = "tests do not export the C names, which would replace those of the test program")
)]
mod connection;
mod hooks;
mod next;
mod watched;
