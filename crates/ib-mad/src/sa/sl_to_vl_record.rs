//! SLtoVLMappingTableRecord: virtual lanes of service levels.
use super::record::sa_record;
use crate::{Lid, smp::SlToVlMappingTable, wire, wire::Reserved};

wire! {
    /// Virtual lane of each service level, from one port to another (IBTA 15.2.5.4), 16 bytes.
    pub struct SlToVlMappingTableRecord [16] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the input port; 0 for a channel adapter.
        pub input_port_num: u8,
        /// Number of the output port.
        pub output_port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Virtual lane of each of the 16 service levels.
        pub table: SlToVlMappingTable,
    }
}

sa_record! {
    /// Component mask of a [`SlToVlMappingTableRecord`].
    SlToVlMappingTableRecord SL_TO_VL_MAPPING_TABLE_RECORD SlToVlMask;
    /// LID of the node.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Number of the input port.
    INPUT_PORT_NUM = 0x2 "input_port_num" input_port_num(value: u8) |r| r.input_port_num = value;
    /// Number of the output port.
    OUTPUT_PORT_NUM = 0x4 "output_port_num" output_port_num(value: u8) |r| r.output_port_num = value;
}
