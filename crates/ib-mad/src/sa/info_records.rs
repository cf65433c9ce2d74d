//! Records of PortInfoExtended, SMInfo and SwitchInfo.
use super::{PortInfoOptions, record::sa_record};
use crate::{
    Guid, Lid, SmKey, SmState,
    smp::{PortInfoExtended, SmInfo, SwitchInfo},
    wire,
    wire::Reserved,
};

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

wire! {
    /// State of a subnet manager (IBTA 15.2.5.10), 25 bytes; the distance in tables is 32 bytes.
    pub struct SmInfoRecord [25] {
        /// LID of the subnet manager's port.
        pub lid: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// State of the subnet manager.
        pub sm_info: SmInfo,
    }
}

sa_record! {
    /// Component mask of a [`SmInfoRecord`].
    SmInfoRecord SM_INFO_RECORD SmInfoMask;
    /// LID of the subnet manager's port.
    LID = 0x1 lid: Lid;
    /// GUID of the subnet manager's port.
    GUID = 0x4 sm_info.guid: Guid;
    /// Key by which subnet managers authenticate each other.
    SM_KEY = 0x8 sm_info.sm_key: SmKey;
    /// Activity counter, which increases while the manager works.
    ACT_COUNT = 0x10 sm_info.act_count: u32;
    /// Priority: the manager with the highest priority becomes master.
    PRIORITY = 0x20 sm_info.priority_state.priority / with_priority: u8;
    /// State of the subnet manager.
    SM_STATE = 0x40 sm_info.priority_state.sm_state / with_sm_state: SmState;
}

wire! {
    /// Tables and settings of a switch (IBTA 15.2.5.5), 24 bytes.
    pub struct SwitchInfoRecord [24] {
        /// LID of the switch.
        pub lid: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Tables and settings of the switch.
        pub switch_info: SwitchInfo,
    }
}

sa_record! {
    /// Component mask of a [`SwitchInfoRecord`].
    SwitchInfoRecord SWITCH_INFO_RECORD SwitchInfoMask;
    /// LID of the switch.
    LID = 0x1 lid: Lid;
}
