//! The core of the InfiniBand communication management assistant: a state machine that never reads a clock, a socket
//! or a file.
//!
//! One door in, one door out. The methods of [`Acm`] are of four kinds:
//!
//! - `handle_*` tell it a fact: [`Acm::handle_input`], [`Acm::handle_timeout`];
//! - `poll_*` take what it wants: [`Acm::poll_output`], to be drained to `None` after each `handle_*`;
//!   [`Acm::poll_timeout`], the next instant at which [`Acm::handle_timeout`] must run; [`Acm::poll_deadline`], the
//!   same with the reason;
//! - [`Acm::drive`] and [`Acm::drain`] are the loop that carries out what is wanted and tells what came of it;
//! - everything else only looks.
//!
//! The same sequence of (time, input) gives the same sequence of outputs, byte for byte.
//!
//! | module | what is in it |
//! |---|---|
//! | `acm` | dispatch: where each input and each deadline goes |
//! | [`door`] | inputs, outputs, events, counters, the report |
//! | [`account`] | who pays for what, and everybody's share |
//! | `client` | connections, requests that wait, an answer for each opcode |
//! | `kernel` | the kernel's requests and their deadline |
//! | [`port`] | ports, local addresses, and the endpoints that follow from them |
//! | [`sa`] | questions to subnet administration: queue, credits, repetitions |
//! | [`preload`] | routes and addresses that are known from files before anybody asks |
//! | [`provider`] | how a resolution protocol plugs in |
//! | [`context`] | the core's own state, and all that a provider may do |
//! | [`turns`] | whose turn it is to be read: a fabric's sources, urgent ones first |
//! | [`ibacmp`] | the built-in protocol: multicast requests, or subnet administration, and a cache |
//! | [`failure`] | why a request fails: the client's status, the administrator's phase |
//! | [`histogram`], `gauge` | how long things take, how much there is of everything |
//! | [`retry`] | every policy by which something is tried again |
//! | [`config`], `configure` | every option, its unit and default; other options while the core runs |
//! | `credit`, `fair`, `timers`, `arena`, `list` | what all of them are built of |
#![no_std]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
extern crate alloc;

pub mod account;
mod acm;
mod arena;
mod check;
mod client;
pub mod config;
mod configure;
pub mod context;
mod credit;
pub mod door;
pub mod failure;
mod fair;
mod gauge;
pub mod histogram;
pub mod ibacmp;
pub mod id;
mod kernel;
mod list;
pub mod port;
pub mod preload;
pub mod provider;
mod random;
mod report;
pub mod retry;
pub mod sa;
mod time;
mod timers;
pub mod turns;

pub use account::Account;
pub use acm::Acm;
pub use config::Config;
pub use door::{Event, Input, Output, Stats};
pub use failure::Failure;
pub use histogram::{Histogram, Latencies, Phase};
pub use id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId, SaRequestId};
pub use random::Seed;
pub use report::Report;
pub use time::Time;
