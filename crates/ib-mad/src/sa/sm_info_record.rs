//! SMInfoRecord: state of a subnet manager.
use super::record::sa_record;
use crate::{Guid, Lid, SmKey, SmState, smp::SmInfo, wire, wire::Reserved};

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
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// GUID of the subnet manager's port.
    GUID = 0x4 "sm_info.guid" guid(value: Guid) |r| r.sm_info.guid = value;
    /// Key by which subnet managers authenticate each other.
    SM_KEY = 0x8 "sm_info.sm_key" sm_key(value: SmKey) |r| r.sm_info.sm_key = value;
    /// Activity counter, which increases while the manager works.
    ACT_COUNT = 0x10 "sm_info.act_count" act_count(value: u32) |r| r.sm_info.act_count = value.into();
    /// Priority: the manager with the highest priority becomes master.
    PRIORITY = 0x20 "sm_info.priority_state.priority" priority(value: u8)
        |r| r.sm_info.priority_state = r.sm_info.priority_state.with_priority(value);
    /// State of the subnet manager.
    SM_STATE = 0x40 "sm_info.priority_state.sm_state" sm_state(value: SmState)
        |r| r.sm_info.priority_state = r.sm_info.priority_state.with_sm_state(value);
}
