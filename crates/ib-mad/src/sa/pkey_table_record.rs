//! P_KeyTableRecord: partitions of a port.
use super::record::sa_record;
use crate::{
    Lid,
    smp::PkeyTable,
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// A block of a port's table of P_Keys (IBTA 15.2.5.11), 72 bytes.
    pub struct PkeyTableRecord [72] {
        /// LID of the node that has the table.
        pub lid: Lid,
        /// Block of 32 keys.
        pub block_num: Be16,
        /// Number of the port; counts for a switch only.
        pub port_num: u8,
        /// Zero.
        pub reserved: Reserved<3>,
        /// 32 P_Keys, from 32 x the block number on.
        pub table: PkeyTable,
    }
}

sa_record! {
    /// Which fields of a [`PkeyTableRecord`] count.
    PkeyTableRecord PKEY_TABLE_RECORD PkeyTableMask;
    /// The node's LID.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Block of 32 keys.
    BLOCK_NUM = 0x2 "block_num" block_num(value: u16) |r| r.block_num = value.into();
    /// Number of the port; counts for a switch only.
    PORT_NUM = 0x4 "port_num" port_num(value: u8) |r| r.port_num = value;
}
