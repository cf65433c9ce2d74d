//! SLtoVLMappingTableRecord: which lane a service level takes.
use super::record::sa_record;
use crate::{Lid, smp::SlToVlMappingTable, wire, wire::Reserved};

wire! {
    /// Which lane each service level takes from one port to another (IBTA 15.2.5.4), 16 bytes.
    pub struct SlToVlMappingTableRecord [16] {
        /// LID of the node that has the table.
        pub lid: Lid,
        /// Port that packets come in by; 0 for an adapter.
        pub input_port_num: u8,
        /// Port that they go out by.
        pub output_port_num: u8,
        /// Zero.
        pub reserved: Reserved<4>,
        /// Virtual lane of each of the 16 service levels.
        pub table: SlToVlMappingTable,
    }
}

sa_record! {
    /// Which fields of a [`SlToVlMappingTableRecord`] count.
    SlToVlMappingTableRecord SL_TO_VL_MAPPING_TABLE_RECORD SlToVlMask;
    /// The node's LID.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Port that packets come in by.
    INPUT_PORT_NUM = 0x2 "input_port_num" input_port_num(value: u8) |r| r.input_port_num = value;
    /// Port that packets go out by.
    OUTPUT_PORT_NUM = 0x4 "output_port_num" output_port_num(value: u8) |r| r.output_port_num = value;
}
