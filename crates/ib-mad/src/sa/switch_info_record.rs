//! SwitchInfoRecord: tables and settings of a switch.
use super::record::sa_record;
use crate::{Lid, smp::SwitchInfo, wire, wire::Reserved};

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
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
}
