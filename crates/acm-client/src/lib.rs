//! A client of the InfiniBand communication management assistant: ask `acm-mio` or C `ibacm` for path records over its
//! local socket, as librdmacm does.
//!
//! | to | take |
//! |---|---|
//! | ask and wait for the answer | [`Client`] |
//! | have many requests under way on one socket | [`Connection`] |
//! | drive it by a runtime of your own | [`Session`], which does no I/O |
//! | ask the fabric, not a daemon: groups, nodes, parameters of a service | `fabric`, with the feature of that name |
//!
//! Where the daemon is, [`Service`] knows: where librdmacm looks, or as the user says.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod answer;
mod client;
mod clock;
mod connection;
mod error;
#[cfg(feature = "fabric")]
pub mod fabric;
mod request;
mod service;
mod session;
mod socket;

pub use acm_wire::{
    Address, Name,
    client::{ClientStatus, Counter, Counters, EpHead, PerfTarget},
};
pub use answer::{Answer, Endpoint, Resolved};
pub use client::Client;
pub use connection::{Connection, Options};
pub use error::{AskError, ClientError, ProtocolError};
pub use ib_mad;
pub use request::Request;
pub use service::{Service, ServiceError};
pub use session::{RequestId, Session};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
