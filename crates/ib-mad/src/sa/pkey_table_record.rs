//! P_KeyTableRecord: P_Keys of a port.
use super::record::sa_record;
use crate::{
    Lid,
    smp::PkeyTable,
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// A block of a port's P_Key table (IBTA 15.2.5.11), 72 bytes.
    pub struct PkeyTableRecord [72] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the block of 32 keys. OpenSM 3.3.23 sends it with the least significant byte first.
        pub block_num: Be16,
        /// Number of the port; used only for a switch.
        pub port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// 32 P_Keys, from index 32 x the block number.
        pub table: PkeyTable,
    }
}

sa_record! {
    /// Component mask of a [`PkeyTableRecord`].
    PkeyTableRecord PKEY_TABLE_RECORD PkeyTableMask;
    /// LID of the node.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Number of the block of 32 keys.
    BLOCK_NUM = 0x2 "block_num" block_num(value: u16) |r| r.block_num = value.into();
    /// Number of the port; used only for a switch.
    PORT_NUM = 0x4 "port_num" port_num(value: u8) |r| r.port_num = value;
}
