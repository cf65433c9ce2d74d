//! The core of the InfiniBand communication management assistant: a state machine that never reads a clock, a socket
//! or a file.
//!
//! One door in, one door out. The methods of [`Acm`] are of three kinds:
//!
//! - `handle_*` tell it a fact: [`Acm::handle_input`], [`Acm::handle_timeout`];
//! - `poll_*` take what it wants: [`Acm::poll_output`], to be drained to `None` after each `handle_*`, and
//!   [`Acm::poll_timeout`], the next instant at which [`Acm::handle_timeout`] must run;
//! - everything else only looks.
//!
//! The same sequence of (time, input) gives the same sequence of outputs, byte for byte.
//!
//! | module | what is in it |
//! |---|---|
//! | [`input`], [`output`], [`event`] | the door |
//! | [`config`] | every option, its unit and default |
//! | `acm` | what an input does |
//! | `clients` | connections, requests in flight, who waits for what |
//! | `ports` | ports, local addresses, and the endpoints that follow from them |
//! | `sa` | the queue of each port's requests to subnet administration |
//! | [`provider`] | how a resolution protocol plugs in |
//! | [`turns`] | whose turn it is to be read: a fabric's sources, urgent ones first |
//! | [`ibacmp`] | the built-in protocol: multicast requests, or subnet administration, and a cache |
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
mod clients;
pub mod config;
mod core_state;
pub mod event;
pub mod ibacmp;
pub mod id;
pub mod input;
pub mod output;
pub mod ports;
pub mod provider;
mod rng;
pub mod sa;
mod time;
mod timers;
pub mod turns;

pub use account::Account;
pub use acm::Acm;
pub use config::Config;
pub use event::Event;
pub use id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId, SaRequestId};
pub use input::Input;
pub use output::Output;
pub use time::Time;
