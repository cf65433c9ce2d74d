//! Traces of an acm core: everything that it was told and that it wanted, in one pcapng file.
//!
//! The core is deterministic, so that a trace can be replayed: a fresh core that is told the same wants the same, byte
//! for byte, or something has changed. Wireshark and tshark open the file as it is.
//!
//! ```
//! use acm_sansio::{Acm, Config, Input, Output, PortId, Time};
//! use acm_trace::{Recorder, Replay, Start};
//! use acm_wire::Address;
//!
//! let (config, seed) = (Config::default(), 7_u64);
//! let mut acm = Acm::new(config.clone(), seed);
//! let mut recorder = Recorder::new(Vec::new(), &Start::new(&config, seed))?;
//! let address = Address::from_text("node1");
//! recorder.drive(&mut acm, Time::ZERO, Input::AddressAdded { port: PortId(0), pkey: None, address }, |_| None);
//! let trace = recorder.finish()?;
//!
//! let replayed = Replay::default().run(trace.as_slice())?;
//! assert_eq!((replayed.cores, replayed.inputs), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//!
//! A section is one core's life; a file may have several. Two interfaces, times in nanoseconds of the core's clock:
//!
//! | interface | link type | what is in it |
//! |---|---|---|
//! | 0 | ERF (197) | datagrams of 256 bytes, to and from subnet administration and other nodes: records of type 21 with the headers that they have on the wire, check sums zero |
//! | 1 | USER0 (147) | everything else |
//!
//! What the core was told is inbound, what it wanted outbound (`epb_flags`). Comments have a grammar of their own:
//! `acm NAME key=value key=value`. That of the section's header says `version`, `program`, `seed` (who has it can guess
//! the core's transaction ids: a trace is a secret) and `config`, a hash of the options. That of an InfiniBand packet
//! says its [`Kind`], and what its headers have no room for: `id`, `port`, `endpoint`, `timeout_ns`, `retries` ...
//!
//! A packet of interface 1 begins with the letters `ACMT`, major and minor version (one byte each), and the number of its
//! [`Kind`] (two bytes, most significant first). Then, of ...
//!
//! | kind | body |
//! |---|---|
//! | `client_message`, `reply`, `long_reply` | the client's id (two numbers of four bytes), the message |
//! | `kernel_request`, `kernel_reply` | the request's number, whether it names a port, which one (four bytes each), a path record |
//! | `sa_answer`, `sa_report`, `datagram` that have not 256 bytes | length of a comment (two bytes), the comment, the datagram |
//! | `lost` | how many facts are missing (eight bytes) |
//! | `end` | nothing |
//! | any other | JSON: the options in `start`, the deadline in `timeout`, else the input or output with its fields |
//!
//! A trace of a fabric (`ib-sim serve --record`) has `view=fabric` in its section's header, and packets on interface 0
//! alone: `fabric_sent` inbound, `fabric_delivered` outbound, with the number of the `node` and of its `port`. What is
//! lost on its way was sent only. There is no core in it to replay. It is new in version 1.1.
//!
//! Version 1.2 has `provider_call` and `provider_said`, whose messages and datagrams are text, two digits for each byte, and
//! `start` says which providers there are and which subnet each serves.
//!
//! Numbers are in network order. A client's message is in the order of its machine, which the section's header tells.
//!
//! Who reads a newer minor version leaves out what it does not know, with a [`Note`]; another major version is an error.
//!
//! # Modules
//!
//! | type | what it does |
//! |---|---|
//! | [`Recorder`] | stands around a core and writes |
//! | [`FabricRecorder`] | writes what crosses a fabric |
//! | [`Reader`] | reads: an iterator of [`Entry`] |
//! | [`Replay`] | tells a fresh core the same, and compares |
//! | [`mod@line`] | a fact in words |
//! | [`Stats`] | counts, and how long things took |
//! | [`Timeline`] | what began and ended, as a picture |
//! | [`anonymize`] | copies without names: [`Mask`] |
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod anonymize;
mod blocks;
mod crossing;
mod decode;
mod difference;
mod encode;
mod error;
mod fabric;
mod fabric_recorder;
mod fact;
mod hash;
mod kind;
pub mod line;
mod mask;
mod packet;
mod provider;
mod reader;
mod recorder;
mod replay;
mod span;
mod stats;
mod timeline;
mod told;
mod wish;
mod words;
mod writer;

pub use anonymize::{AnonymizeError, anonymize};
pub use crossing::Crossing;
pub use difference::Difference;
pub use error::{Damage, Note, TraceError};
pub use fabric_recorder::FabricRecorder;
pub use fact::{Dated, Entry, Fact, Start, Woken};
pub use kind::Kind;
pub use mask::Mask;
pub use packet::{Global, Way};
pub use provider::{Hex, Said};
pub use reader::Reader;
pub use recorder::{Recorder, continuation};
pub use replay::{Replay, ReplayError, Replayed};
pub use span::{Phase, Span, Spans};
pub use stats::Stats;
pub use timeline::Timeline;
pub use told::Told;
pub use words::WordError;

/// Major and minor version of what is written: a reader of the same major version reads it.
pub const VERSION: (u8, u8) = (1, 2);

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
