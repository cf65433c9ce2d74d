//! What stands in the core for a provider outside of it: a shared library, as ibacm loads them.
//!
//! It is one more [`Provider`](crate::provider::Provider) and acts through the same
//! [`Context`](crate::context::Context). What it opens and closes goes one call after the other, each time what differs
//! between what the provider was told and what is so (`life.rs`). What is asked of it waits in a queue that serves accounts
//! by turn (`ask.rs`). A call that does not return makes it hang (`calls.rs`): then it has nothing open, and everybody is
//! told so at once.
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
