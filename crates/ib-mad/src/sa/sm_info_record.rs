//! SMInfoRecord: what a subnet manager is.
use super::record::sa_record;
use crate::{Guid, Lid, SmKey, SmState, smp::SmInfo, wire, wire::Reserved};

wire! {
    /// What a subnet manager is (IBTA 15.2.5.10), 25 bytes; 32 apart in tables.
    pub struct SmInfoRecord [25] {
        /// Where it is.
        pub lid: Lid,
        /// Zero.
        pub reserved: Reserved<2>,
        /// What it is.
        pub sm_info: SmInfo,
    }
}

sa_record! {
    /// Which fields of a [`SmInfoRecord`] count.
    SmInfoRecord SM_INFO_RECORD SmInfoMask;
    /// Where it is.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Port that it is at.
    GUID = 0x4 "sm_info.guid" guid(value: Guid) |r| r.sm_info.guid = value;
    /// Key that it trusts other managers by.
    SM_KEY = 0x8 "sm_info.sm_key" sm_key(value: SmKey) |r| r.sm_info.sm_key = value;
    /// How long it has worked.
    ACT_COUNT = 0x10 "sm_info.act_count" act_count(value: u32) |r| r.sm_info.act_count = value.into();
    /// Who becomes master.
    PRIORITY = 0x20 "sm_info.priority_state.priority" priority(value: u8)
        |r| r.sm_info.priority_state = r.sm_info.priority_state.with_priority(value);
    /// What it does.
    SM_STATE = 0x40 "sm_info.priority_state.sm_state" sm_state(value: SmState)
        |r| r.sm_info.priority_state = r.sm_info.priority_state.with_sm_state(value);
}
