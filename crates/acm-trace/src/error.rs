//! Errors of reading a trace, and notes about skipped parts.
use crate::comment::CommentError;
use core::fmt;

/// The reason why a trace cannot be read further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot be read at byte {offset}: {source}")]
    Read {
        /// Number of bytes that were read before the error.
        offset: u64,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not a trace.
    #[error("not a trace: byte {offset} does not begin a section of one")]
    NotATrace {
        /// Offset at which a section should start.
        offset: u64,
    },
    /// The trace has another major version.
    #[error("version {major} of traces at byte {offset}; this program reads version {ours}", ours = crate::VERSION.0)]
    Version {
        /// Major version of the trace.
        major: u8,
        /// Offset of the version.
        offset: u64,
    },
    /// The trace is damaged.
    #[error("damaged at byte {offset}: {damage}")]
    Damaged {
        /// Offset of the damaged block.
        offset: u64,
        /// The damage.
        damage: Damage,
    },
}

/// Damage of a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// A block has an impossible length.
    #[error("a block of {0} bytes")]
    BlockLength(u64),
    /// The lengths at the beginning and at the end of a block differ.
    #[error("a block begins with length {0} and ends with {1}")]
    Lengths(u32, u32),
    /// The content of a block is malformed.
    #[error("{0}")]
    Block(#[from] pcap_file::PcapError),
    /// A packet belongs to an interface without a description.
    #[error("a packet of interface {0}, which is not described")]
    Interface(u32),
    /// The unit of an interface's times is not nanoseconds.
    #[error("an interface whose times are no nanoseconds")]
    Resolution,
    /// A packet is shorter than its headers.
    #[error("a packet of {0} bytes, too short for its headers")]
    Short(usize),
    /// The headers of a packet are malformed.
    #[error("{0}")]
    Headers(#[from] ib_mad::DecodeError),
    /// The comment of a packet is malformed.
    #[error("{0}")]
    Comment(#[from] CommentError),
    /// An InfiniBand packet has no comment of this format.
    #[error("an InfiniBand packet without a comment that says what it is")]
    NoComment,
    /// A packet has a wrong magic number.
    #[error("a packet without the four letters of a trace")]
    Magic,
    /// The text of a packet does not fit its kind.
    #[error("{0}")]
    Text(#[from] serde_json::Error),
    /// A packet precedes the options of its core.
    #[error("a packet before the options of the core")]
    NoStart,
    /// The hash of the options differs from the hash in the section header.
    #[error("the options are not those of the section's header")]
    Config,
    /// The time of a packet is before the time of the previous packet.
    #[error("time goes back")]
    Time,
}

/// A note about a skipped or missing part of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The trace ends without an end mark. All entries up to the end were read.
    Cut {
        /// Offset of the end of the last whole block.
        offset: u64,
    },
    /// The section has a newer minor version. The reader skips unknown parts.
    Newer {
        /// Offset of the section.
        offset: u64,
        /// Minor version of the section.
        minor: u8,
    },
    /// A block of an unknown type was skipped.
    Block {
        /// Offset of the block.
        offset: u64,
        /// The pcapng block type.
        number: u32,
    },
    /// A packet of an unknown kind or of another interface was skipped.
    Packet {
        /// Offset of the block.
        offset: u64,
        /// The kind or interface that the packet names.
        what: String,
    },
    /// The byte order of the recording machine differs from that of this machine, so clients' messages cannot be
    /// interpreted.
    ByteOrder {
        /// Offset of the section.
        offset: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut { offset } => write!(f, "the trace is cut after byte {offset}"),
            Self::Newer { offset, minor } => {
                write!(
                    f,
                    "byte {offset}: version {}.{minor}, newer than this program: what is new is left out",
                    crate::VERSION.0
                )
            }
            Self::Block { offset, number } => write!(f, "byte {offset}: block of type {number:#x} left out"),
            Self::Packet { offset, what } => write!(f, "byte {offset}: packet left out: {what}"),
            Self::ByteOrder { offset } => {
                write!(
                    f,
                    "byte {offset}: recorded on a machine of the other byte order: clients' messages are not readable"
                )
            }
        }
    }
}
