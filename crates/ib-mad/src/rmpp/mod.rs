//! The reliable multi-packet protocol, RMPP (IBTA 13.6): messages of several datagrams, without I/O.
//!
//! The caller sends and waits. A [`Segmenter`] returns the datagrams to send. A [`Reassembler`] takes received
//! datagrams and returns the responses. Time is an argument, counted from any start. A message is the headers of a
//! datagram, once, followed by all data. It is in the caller's buffer, whose size is the limit of its length.
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
