//! VLArbitrationTableRecord: arbitration of virtual lanes.
use super::record::sa_record;
use crate::{Lid, smp::VlArbitrationTable, wire, wire::Reserved};

wire! {
    /// Half of one of a port's two VL arbitration tables (IBTA 15.2.5.9), 72 bytes.
    pub struct VlArbitrationTableRecord [72] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the output port.
        pub output_port_num: u8,
        /// Number of the half: 1 and 2 are the low-priority table, 3 and 4 the high-priority table.
        pub block_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// 32 entries of the table.
        pub table: VlArbitrationTable,
    }
}

sa_record! {
    /// Component mask of a [`VlArbitrationTableRecord`].
    VlArbitrationTableRecord VL_ARBITRATION_TABLE_RECORD VlArbitrationMask;
    /// LID of the node.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Number of the output port.
    OUTPUT_PORT_NUM = 0x2 "output_port_num" output_port_num(value: u8) |r| r.output_port_num = value;
    /// Half of a table, 1 to 4.
    BLOCK_NUM = 0x4 "block_num" block_num(value: u8) |r| r.block_num = value;
}
