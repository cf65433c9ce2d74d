//! PortInfoExtendedRecord: error correction of a port.
use super::record::sa_record;
use crate::{Lid, sa::PortInfoOptions, smp::PortInfoExtended, wire};

wire! {
    /// Error correction of a port (IBTA 15.2.5.23), 68 bytes. No public source names its component mask bits.
    pub struct PortInfoExtendedRecord [68] {
        /// LID of the end port; of a switch, for all its ports.
        pub endport_lid: Lid,
        /// The port's number.
        pub port_num: u8,
        /// How a query compares; zero in answers.
        pub options: PortInfoOptions,
        /// Forward error correction that the port supports, may use and uses.
        pub port_info_extended: PortInfoExtended,
    }
}

sa_record! {
    /// Which fields of a [`PortInfoExtendedRecord`] count.
    PortInfoExtendedRecord PORT_INFO_EXTENDED_RECORD PortInfoExtendedMask;
}
