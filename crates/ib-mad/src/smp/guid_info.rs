//! GUIDs that a port answers to.
use crate::{Guid, wire};

wire! {
    /// A block of a port's table of GUIDs (IBTA 14.2.5.5), 64 bytes; the attribute modifier is the block's number.
    pub struct GuidInfo [64] {
        /// Eight GUIDs; the first of block 0 is the port's own and cannot be changed.
        pub guids: [Guid; 8],
    }
}
