//! P_Keys of a port.
use crate::{Pkey, wire};

wire! {
    /// A block of a port's P_Key table (IBTA 14.2.5.7), 64 bytes.
    ///
    /// The attribute modifier is the block's number; for a switch its upper half is the port number.
    pub struct PkeyTable [64] {
        /// 32 entries of the P_Key table.
        pub pkeys: [Pkey; 32],
    }
}
