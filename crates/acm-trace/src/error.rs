//! What may be wrong with a trace, and what may be left out of it.
use crate::words::WordError;
use core::fmt;

/// A trace that cannot be read on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot be read at byte {offset}: {source}")]
    Read {
        /// Bytes that were read before.
        offset: u64,
        /// What the reading failed with.
        source: std::io::Error,
    },
    /// A file of another kind.
    #[error("not a trace: byte {offset} does not begin a section of one")]
    NotATrace {
        /// Where the section should begin.
        offset: u64,
    },
    /// A trace of another major version.
    #[error("version {major} of traces at byte {offset}; this program reads version {ours}", ours = crate::VERSION.0)]
    Version {
        /// Major version that the file says.
        major: u8,
        /// Where it is said.
        offset: u64,
    },
    /// Something does not fit together.
    #[error("damaged at byte {offset}: {damage}")]
    Damaged {
        /// Where the block begins that does not fit.
        offset: u64,
        /// What does not fit.
        damage: Damage,
    },
}

/// What does not fit together in a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The length of a block.
    #[error("a block of {0} bytes")]
    BlockLength(u64),
    /// The two lengths of a block are not the same.
    #[error("a block begins with length {0} and ends with {1}")]
    Lengths(u32, u32),
    /// The inside of a block.
    #[error("{0}")]
    Block(#[from] pcap_file::PcapError),
    /// A packet of an interface that nobody described.
    #[error("a packet of interface {0}, which is not described")]
    Interface(u32),
    /// Times that are no nanoseconds.
    #[error("an interface whose times are no nanoseconds")]
    Resolution,
    /// A packet that ends before its headers.
    #[error("a packet of {0} bytes, too short for its headers")]
    Short(usize),
    /// Headers of a packet.
    #[error("{0}")]
    Headers(#[from] ib_mad::DecodeError),
    /// A packet that says something wrong in its comment.
    #[error("{0}")]
    Words(#[from] WordError),
    /// A packet without a comment of ours.
    #[error("an InfiniBand packet without a comment that says what it is")]
    NoWords,
    /// A packet with another magic number.
    #[error("a packet without the four letters of a trace")]
    Magic,
    /// Text that is not what its kind needs.
    #[error("{0}")]
    Text(#[from] serde_json::Error),
    /// A packet before the options of its core.
    #[error("a packet before the options of the core")]
    NoStart,
    /// Options whose hash is not that of the section's header.
    #[error("the options are not those of the section's header")]
    Config,
    /// A time before that of the packet before.
    #[error("time goes back")]
    Time,
}

/// Something that a reader left out, or that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The trace ends here without an end: it is readable up to there.
    Cut {
        /// Bytes of the last whole block.
        offset: u64,
    },
    /// The section is of a newer minor version: what this version does not know is left out.
    Newer {
        /// Where the section begins.
        offset: u64,
        /// Its minor version.
        minor: u8,
    },
    /// A block of a type that is none of ours.
    Block {
        /// Where it begins.
        offset: u64,
        /// Its pcapng block type.
        number: u32,
    },
    /// A packet of a kind that this version does not know, or of another interface.
    Packet {
        /// Where its block begins.
        offset: u64,
        /// What it says it is.
        what: String,
    },
    /// The recording machine has another byte order: clients' messages do not mean here what they meant there.
    ByteOrder {
        /// Where the section begins.
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
