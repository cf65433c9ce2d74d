//! Non-blocking connections, without the types of C. The caller submits requests and polls for completions.
//!
//! [`table`] is the table of open connections, [`Engine`] one connection, [`Requests`] its requests and completions,
//! [`Link`] its socket, and [`Wake`] the descriptor that is readable while the connection has work.
//!
//! [`Link`]: link::Link
//! [`Requests`]: requests::Requests
//! [`Wake`]: wake::Wake
mod engine;
mod link;
mod requests;
mod table;
mod wake;

pub(crate) use engine::{Engine, now};
pub(crate) use requests::{CompletedRequest, Submission};
pub(crate) use table::{close, find, open};
