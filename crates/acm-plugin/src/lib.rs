//! Providers of ibacm as shared libraries, and ibacm to them.
//!
//! | module | what is in it |
//! |---|---|
//! | `find`, `library` | which file has a name, and whether it may be used |
//! | `plugins` | all libraries: calls in, what they say out |
//! | `caller` | the thread that calls a library; `objects` has what the library has pointers to |
//! | `handlers` | the thread in which a library gets answers of subnet administration |
//! | `queue` | what libraries say, from all their threads, until the loop takes it |
//! | `exports`, `shim.c` | the functions that libraries call; `registry` knows the pointers that they give |
//! | `slots`, `running` | which library an address in the program belongs to, and what a thread does |
//! | `convert`, `rates`, `text` | from Rust's values to C's and back |
//! | `crash` | the last line of a program that a library ends |
//!
//! # Threads and locks
//!
//! A library's functions are called by its own thread, one after another. Answers of subnet administration come in
//! another thread, as in ibacm: a handler may run while a function does. What a library says may come from any thread, also
//! in the middle of a call.
//!
//! There are two locks: that of the registry and that of the queue (a third one has the path of the options, written once
//! at the start). Whoever holds one takes no other, and calls no library. The loop holds the queue's for as long as it takes one thing out. A library's thread that finds the queue full
//! waits for room, 10 s at most (`queue::PATIENCE`).
//!
//! A library is never closed: whoever started threads in it cannot tell that they are gone.
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod caller;
pub mod convert;
pub mod crash;
mod devices;
mod exports;
mod find;
mod functions;
mod handlers;
mod library;
mod objects;
mod plugins;
mod queue;
pub mod rates;
mod registry;
mod running;
mod slots;
pub mod text;

pub use devices::{Keep, OpenDevice, OpenedDevice};
pub use exports::set_log_level;
pub use find::{NotFound, Search};
pub use library::{Library, Refused};
pub use plugins::{Plugins, StartError};
pub use queue::{LogLine, PluginEvent};

/// The functions that a program has to export to the libraries that it loads, one in a line.
pub const SYMBOLS: &str = include_str!("symbols.txt");
