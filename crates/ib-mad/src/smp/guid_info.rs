//! GUIDs of a port.
use crate::{Guid, wire};

wire! {
    /// A block of a port's GUID table (IBTA 14.2.5.5), 64 bytes; the attribute modifier is the block's number.
    pub struct GuidInfo [64] {
        /// Eight GUIDs; the first GUID of block 0 is fixed by the hardware and cannot be changed.
        pub guids: [Guid; 8],
    }
}
