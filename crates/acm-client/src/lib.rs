//! A client of the InfiniBand communication management assistant. It requests path records from `acm-mio` or C `ibacm`
//! over the daemon's local socket, like librdmacm.
//!
//! | task | type |
//! |---|---|
//! | send a request and wait for the response | [`Client`] |
//! | have many requests in flight, and wait for responses with poll(2) or epoll(7) | [`Connection`] |
//! | share a connection between tasks of tokio | `tokio::Client`, with the feature `tokio` |
//! | do the I/O in your own runtime | [`Session`], which does no I/O |
//! | query the fabric: groups, nodes, parameters of a service | `fabric`, with the feature `fabric` |
//!
//! All but [`Session`] survive a restart of the daemon, and adapt to what the daemon accepts: C ibacm gets one request at
//! a time. If the daemon shares its cache (`shared_cache on`), they read cached paths from its memory, without a request.
//!
//! [`Service`] is the address of the daemon: librdmacm's default, or an address from the user.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod alternates;
mod client;
mod connection;
mod deadline;
pub mod errno;
mod error;
#[cfg(feature = "fabric")]
pub mod fabric;
mod lane;
mod options;
mod request;
mod requests;
mod response;
mod service;
mod session;
mod shared;
mod socket;
#[cfg(feature = "tokio")]
pub mod tokio;
mod wake;

pub use acm_wire::{
    Address, Name,
    client::{ClientStatus, Counter, Counters, EpHead, PerfTarget},
};
pub use alternates::alternates;
pub use client::Client;
pub use connection::Connection;
pub use error::{ClientError, ProtocolError};
pub use ib_mad;
pub use options::Options;
pub use request::Request;
pub use response::{Endpoint, Resolved, Response};
pub use service::{Service, ServiceError};
pub use session::{Answer, RequestId, Session};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
