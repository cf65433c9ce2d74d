//! Connections that C drives: requests go in, completions come out, and nothing waits. They know nothing of C.
//!
//! [`table`] knows which there are, [`Engine`] is what one does, [`Requests`] what is asked and answered, [`Link`] its
//! socket, and [`Wake`] the descriptor that says when there is something to do.
//!
//! [`Link`]: link::Link
//! [`Wake`]: wake::Wake
mod engine;
mod link;
mod requests;
mod table;
mod wake;

pub(crate) use engine::Engine;
pub(crate) use requests::{Asked, Done};
pub(crate) use table::{close, find, open};
