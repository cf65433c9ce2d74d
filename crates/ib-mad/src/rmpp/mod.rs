//! The reliable multi-packet protocol (IBTA 13.6): messages of several datagrams, sans I/O.
//!
//! The crate neither sends nor waits: a [`Segmenter`] gives the datagrams that are to be sent, a [`Reassembler`] takes
//! those that came and says what to answer. Time is an argument, counted from any start. A message is a datagram's
//! headers once, and then all the data; it lives in the caller's buffer, which bounds it.
//!
//! ```text
//! sender                        receiver
//! DATA 1 (first) ------------->
//!                <------------- ACK 1, window to 64
//! DATA 2 ... 64  ------------->
//!                <------------- ACK 64, window to 128
//! DATA 65 (last) ------------->
//!                <------------- ACK 65
//! ```
mod header;
mod layout;
mod reassembler;
mod segmenter;

pub use header::{RmppFlags, RmppHeader, RmppStatus, RmppType};
pub use layout::{RMPP_VERSION, header_length};
pub use reassembler::{Reassembler, ReassemblerLimits, Received};
pub use segmenter::{Segmenter, SegmenterLimits, Sent};

#[cfg(test)]
mod tests;
