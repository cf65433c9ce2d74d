//! VLArbitrationTableRecord: which lane may send next.
use super::record::sa_record;
use crate::{Lid, smp::VlArbitrationTable, wire, wire::Reserved};

wire! {
    /// Half of one of a port's two arbitration tables (IBTA 15.2.5.9), 72 bytes.
    pub struct VlArbitrationTableRecord [72] {
        /// LID of the node that has the table.
        pub lid: Lid,
        /// Number of the port that sends by it.
        pub output_port_num: u8,
        /// 1 and 2: halves of the low-priority table; 3 and 4: of the high-priority table.
        pub block_num: u8,
        /// Zero.
        pub reserved: Reserved<4>,
        /// Up to 32 entries of the table.
        pub table: VlArbitrationTable,
    }
}

sa_record! {
    /// Which fields of a [`VlArbitrationTableRecord`] count.
    VlArbitrationTableRecord VL_ARBITRATION_TABLE_RECORD VlArbitrationMask;
    /// The node's LID.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Number of the port that sends by it.
    OUTPUT_PORT_NUM = 0x2 "output_port_num" output_port_num(value: u8) |r| r.output_port_num = value;
    /// Half of a table.
    BLOCK_NUM = 0x4 "block_num" block_num(value: u8) |r| r.block_num = value;
}
