//! The reliable multi-packet protocol, RMPP (IBTA 13.6): messages of several datagrams, without I/O.
//!
//! A [`Segmenter`] returns the datagrams to send. A [`Reassembler`] takes received datagrams and returns the responses.
//! The caller does the I/O and passes the time, measured from any fixed start. A message consists of the headers of one
//! datagram and all data. The caller's buffer holds the message, so the size of the buffer limits the length of the
//! message. A server keeps the messages that it sends in [`Transfers`]. The base version of a message determines the size
//! of its datagrams: 256 bytes, or 2,048 on Omni-Path ([`OpaSegmenter`], [`OpaTransfers`]).
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
mod transfers;

pub use header::{RmppFlags, RmppHeader, RmppStatus, RmppType};
pub use layout::{RMPP_VERSION, header_length};
pub use reassembler::{Reassembler, ReassemblerLimits, Received};
pub use segmenter::{OpaSegmenter, Segmenter, SegmenterLimits, Sent};
pub use transfers::{Handled, OpaTransfers, StartError, Transfers};

#[cfg(test)]
mod tests;
