//! Providers in Rust: implement [`Provider`] in a crate of type `cdylib`, and export it with
//! [`export!`](crate::export). `examples/provider-hosts` is an example.
//!
//! The daemon calls the functions of [`Provider`] one at a time and waits until each returns, so no function may block.
//! A provider may keep a [`Request`], send it to another thread and respond later. If a request is dropped without a
//! response, the response is ENODATA. The values that [`Provider::open_port`] and [`Provider::open_endpoint`] return
//! are dropped when the port or endpoint is closed. After that, the methods of a clone of the [`Port`] or [`Endpoint`]
//! fail.
//!
//! A panic is caught and logged, and the call fails. The library is never unloaded, because its threads may still run
//! when the daemon unloads it.
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
