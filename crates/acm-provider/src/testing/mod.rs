//! A daemon for unit tests of providers: the functions that a provider calls, and what the provider has passed to them.
//! A test program that contains [`test_daemon!`](crate::test_daemon) once links without ibacm.
//!
//! [`port`], [`endpoint`] and [`request`] create the daemon's objects, which a test passes to functions of
//! [`Provider`](crate::plugin::Provider). [`lines`], [`responses`] and [`sa_requests`] return what the provider has
//! passed to the daemon.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a misuse fails the test")]
#[doc(hidden)]
pub mod calls;
mod daemon;
mod objects;

pub use daemon::{
    Response, SaRequest, allocated_sa_requests, exhaust_sa_requests, lines, refuse_sa_requests, response, responses,
    sa_requests,
};
pub use objects::{endpoint, port, request};
