//! Runs providers of ibacm, which are shared libraries.
//!
//! | module | contents |
//! |---|---|
//! | `find`, `library` | the search for a library by name, and the check of its file |
//! | `plugins` | all libraries: calls and events |
//! | `caller` | the thread that calls a library; `objects` has the structures that the library points at |
//! | `handlers` | the thread that passes responses of the subnet administrator (SA) to a library |
//! | `queue` | the events of all libraries for the loop of the program |
//! | `exports`, `shim.c` | the functions that libraries call; `registry` has the valid pointers |
//! | `slots` | the libraries by address in memory and by request id, and the current call of a thread |
//! | `convert`, `rates`, `text` | conversions between Rust and C |
//! | `crash` | the log line of a program that a library crashes |
//!
//! # Threads and locks
//!
//! One thread for each library calls its functions one after another. Another thread calls the handlers of SA
//! responses. As in ibacm, a handler may run while a function runs. A library may send events from any thread, even
//! during a call.
//!
//! There are two locks: one for the registry and one for the queue. A thread holds at most one lock, and does not call
//! a library while it holds the lock. The loop holds the queue's lock only to remove one event. A thread of a library
//! waits up to 10 s (`queue::PUSH_TIMEOUT`) if the queue is full.
//!
//! A library is never closed, because it may have threads that are still running.
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

mod slots;
pub mod text;

pub use devices::{DeviceHandle, OpenDevice, OpenedDevice};
pub use exports::set_log_level;
pub use find::{NotFound, Search};
pub use library::{Defect, Library, Refused};
pub use plugins::{Plugins, StartError};
pub use queue::{LogLine, PluginEvent};

/// The functions that a program must export to the libraries that it loads, one per line.
pub const SYMBOLS: &str = include_str!("symbols.txt");
