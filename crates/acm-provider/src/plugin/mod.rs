//! Providers in Rust: implement [`Provider`] in a crate of type `cdylib`, and export it with
//! [`export!`](crate::export). `examples/provider-hosts` is an example.
//!
//! The daemon calls the functions of [`Provider`] one at a time and waits for each of them. None of them may block. A
//! [`Request`] may be kept, sent to another thread and answered later. A request that is dropped without an answer is
//! answered with ENODATA. The values that [`Provider::open_port`] and [`Provider::open_endpoint`] return are dropped
//! when the port or endpoint is closed. The methods of a [`Port`] or [`Endpoint`] that is kept longer fail.
//!
//! A panic does not reach the daemon: it is logged, and the call fails. The library is never unloaded, because its
//! threads may still run when the daemon unloads it.
mod endpoint;
#[doc(hidden)]
pub mod glue;
mod loaded;
mod port;
mod provider;
mod request;
mod sa;

pub use acm_wire::{Address, client::ClientStatus as Status};
pub use endpoint::Endpoint;
pub use port::Port;
pub use provider::{Provider, Refused};
pub use request::Request;
pub use sa::{SaFailure, SaRefused, SaResponse};
