//! Non-blocking connections, without the types of C. The caller submits requests and polls for completions.
//!
//! [`table`] is the table of open connections, [`Engine`] one connection.
mod engine;
mod table;

pub(crate) use engine::{CompletedRequest, Engine, Submission};
pub(crate) use table::{close, find, open};
