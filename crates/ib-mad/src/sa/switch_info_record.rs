//! SwitchInfoRecord: what a switch is.
use super::record::sa_record;
use crate::{Lid, smp::SwitchInfo, wire, wire::Reserved};

wire! {
    /// What a switch is (IBTA 15.2.5.5), 24 bytes.
    pub struct SwitchInfoRecord [24] {
        /// LID of the switch.
        pub lid: Lid,
        /// Zero.
        pub reserved: Reserved<2>,
        /// What it is.
        pub switch_info: SwitchInfo,
    }
}

sa_record! {
    /// Which fields of a [`SwitchInfoRecord`] count.
    SwitchInfoRecord SWITCH_INFO_RECORD SwitchInfoMask;
    /// LID of the switch.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
}
