//! Partitions of a port.
use crate::{Pkey, wire};

wire! {
    /// A block of a port's table of P_Keys (IBTA 14.2.5.7), 64 bytes.
    ///
    /// The attribute modifier is the block's number, for a switch with the port's number in its upper half.
    pub struct PkeyTable [64] {
        /// 32 P_Keys.
        pub pkeys: [Pkey; 32],
    }
}
