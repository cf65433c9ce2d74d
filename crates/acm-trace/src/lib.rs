//! Traces of an acm core: its inputs and outputs, with the time of each, in one pcapng file.
//!
//! The core is deterministic. A replay passes the recorded inputs to a new core, and compares its outputs with the
//! recorded outputs, byte for byte. Wireshark and tshark open the file without conversion.
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
//! A section holds the trace of one core, from its start to its end. A file may have several sections. Each section has
//! two interfaces. Times are nanoseconds of the core's clock, plus `epoch`.
//!
//! | interface | link type | content |
//! |---|---|---|
//! | 0 | ERF (197) | datagrams of 256 bytes, to and from the subnet administrator (SA) and other nodes: ERF records of type 21 with the headers of the wire; both check sums are zero |
//! | 1 | USER0 (147) | everything else |
//!
//! Inputs are marked inbound and outputs outbound (`epb_flags`). Comments have the form `acm NAME key=value key=value`.
//! The comment of the section header holds `version`, `program`, `seed` and `config` (a hash of the options). The seed
//! is secret, because it predicts the core's transaction ids. A recording that begins in a running core has zeros
//! instead. `epoch`, if present, is the time from 1970 to the zero of the core's clock, in nanoseconds. The comment of
//! an InfiniBand packet holds the name of its [`Kind`] and values without a field in its headers: `id`, `port`,
//! `endpoint`, `timeout_ns`, `retries` and others.
//!
//! A packet of interface 1 begins with a header of 8 bytes: the letters `ACMT`, the major and the minor version (1 byte
//! each), and the code of its [`Kind`] (2 bytes, most significant byte first). The body depends on the kind:
//!
//! | kind | body |
//! |---|---|
//! | `client_message`, `reply`, `long_reply` | the client's id (two numbers of 4 bytes), the message |
//! | `kernel_request`, `kernel_reply` | the request's number, 1 if a port is named, the port (4 bytes each), a path record |
//! | `sa_answer`, `sa_report`, `datagram` with a length other than 256 bytes | length of a comment (2 bytes), the comment, the datagram |
//! | `lost` | the number of missing facts (8 bytes) |
//! | `end` | nothing |
//! | any other | JSON: the options for `start`, the deadline for `timeout`, otherwise the input or output with its fields |
//!
//! A trace of a fabric (`ib-sim serve --record`) has `view=fabric` in the comment of its section header. All packets
//! except `end` are on interface 0: `fabric_sent` is inbound, `fabric_delivered` is outbound. Comments hold the numbers
//! of `node` and `port`. A packet that was lost on its way appears only as `fabric_sent`. Traces of a fabric cannot be
//! replayed. They exist since version 1.1.
//!
//! Version 1.2 adds `provider_call` and `provider_said`. In both, messages and datagrams are hexadecimal text, two
//! digits for each byte. `start` contains the providers and the subnets that each provider serves.
//!
//! Version 1.3 adds the option `prefetch`, its two events, and `sa_answer` with a whole table.
//! Version 1.4 adds the value `Auto` of the option `path_service_ids` and the event of its findings.
//! Version 1.5 adds the option `group_sl`.
//! Version 1.6 adds the calls `query` and `handle_event` with a new subnet manager, `flush`, `publish`, and the option
//! `shared_cache`, which `start` contains only if it is on. In `publish`, a path record is hexadecimal text.
//!
//! Numbers are in network byte order. A client's message is in the byte order of the recording machine. The section
//! header indicates this byte order.
//!
//! Version 1.6 also adds `epoch`. A recording that begins in a running core has a gap (`lost`) before its first fact:
//! it cannot be replayed.
//! Version 1.7 adds `attached`.
//! Version 1.8 adds the option `witness`.
//! Version 1.9 adds the event of a group that does not suit the subnet.
//!
//! In a newer minor version, a reader skips unknown parts and reports a [`Note`] for each. Another major version is an
//! error.
//!
//! # Modules
//!
//! | type | purpose |
//! |---|---|
//! | [`Recorder`] | records a core |
//! | [`FabricRecorder`] | records the packets of a fabric |
//! | [`Reader`] | reads a trace: an iterator of [`Entry`] |
//! | [`Replay`] | replays a trace and compares outputs |
//! | [`mod@line`] | formats a fact as text |
//! | [`Stats`] | counts facts and measures durations |
//! | [`Timeline`] | draws requests over time |
//! | [`anonymize`] | copies a trace with other names and IP addresses: [`Mask`] |
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
mod comment;
mod decode;
mod difference;
mod encode;
mod error;
mod fabric_recorder;
mod fact;
mod kind;
pub mod line;
mod mask;
mod owned_input;
mod packet;
mod port_table;
mod reader;
mod recorder;
mod replay;
mod span;
mod stats;
mod timeline;
mod writer;

pub use acm_sansio;
pub use acm_wire;
pub use ib_mad;

pub use anonymize::{AnonymizeError, anonymize};
pub use comment::CommentError;
pub use difference::Difference;
pub use error::{Damage, Note, TraceError};
pub use fabric_recorder::{Crossing, FabricRecorder};
pub use fact::{Dated, Entry, Fact, Start, Timeout};
pub use kind::Kind;
pub use mask::Mask;
pub use owned_input::OwnedInput;
pub use packet::{GlobalHeader, PacketHeaders};
pub use reader::Reader;
pub use recorder::{Recorder, continuation};
pub use replay::{Replay, ReplayError, Replayed};
pub use span::{Phase, Span, Spans};
pub use stats::Stats;
pub use timeline::Timeline;

/// Major and minor version of the written format. A reader of the same major version can read it.
pub const VERSION: (u8, u8) = (1, 9);

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
