//! PortInfoExtendedRecord: forward error correction of a port.
use super::record::sa_record;
use crate::{Lid, sa::PortInfoOptions, smp::PortInfoExtended, wire};

wire! {
    /// Forward error correction of a port (IBTA 15.2.5.23), 68 bytes. No public source names its component mask bits.
    pub struct PortInfoExtendedRecord [68] {
        /// LID of the end port; of a switch, for all its ports.
        pub endport_lid: Lid,
        /// Number of the port.
        pub port_num: u8,
        /// Comparison options of a query; zero in responses.
        pub options: PortInfoOptions,
        /// Supported, enabled and active modes of forward error correction.
        pub port_info_extended: PortInfoExtended,
    }
}

sa_record! {
    /// Component mask of a [`PortInfoExtendedRecord`].
    PortInfoExtendedRecord PORT_INFO_EXTENDED_RECORD PortInfoExtendedMask;
}
