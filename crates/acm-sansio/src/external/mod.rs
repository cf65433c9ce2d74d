//! Adapter for a provider outside of the core: a shared library, as ibacm loads them.
//!
//! The adapter implements [`Provider`](crate::provider::Provider) and acts through the same
//! [`Context`](crate::provider::Context). It opens and closes ports, endpoints and addresses with one call after
//! another, until the provider's state matches the core's (`lifecycle.rs`). Requests wait in a queue that serves
//! accounts in turn (`requests.rs`). If a call does not return, the provider hangs (`calls.rs`): its endpoints are
//! closed, and its requests fail at once.
mod calls;
mod check;
mod lifecycle;
mod ports;
mod protocol;
mod provider_message;
mod requests;
mod resolve_message;
mod sa;
mod state;
mod token;

pub(crate) use state::External;
