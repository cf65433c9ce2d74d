//! How to write a provider in Rust: implement [`Provider`] and name it with [`export!`](crate::export), in a crate of
//! type `cdylib`. `examples/provider-hosts` is one.
//!
//! The daemon calls the functions of [`Provider`] one at a time, and waits for each of them: none may block. A
//! [`Request`] may be kept, sent to another thread, and answered whenever its answer is there; one that is dropped is
//! answered with ENODATA. What [`Provider::open_port`] and [`Provider::open_endpoint`] gave is dropped when the port or
//! endpoint is closed. A [`Port`] or [`Endpoint`] that is kept longer says that it is closed.
//!
//! A panic does not reach the daemon: it is a line of the log, and what was asked for is refused. The library is never
//! unloaded, because its threads may still run when the daemon lets it go.
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
pub use sa::{SaAnswer, SaFailure, SaRefused};
