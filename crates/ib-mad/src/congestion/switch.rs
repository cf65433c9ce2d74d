//! Congestion control settings of switches.
use crate::{
    bits, wire,
    wire::{Be16, Be32, Octets},
};

bits! {
    /// Marking threshold of a switch, in one byte.
    pub struct Threshold [1] in SwitchCongestionSetting.threshold {
        /// Threshold: 0 never marks, 1 marks latest, 15 marks soonest.
        threshold / with_threshold: u8 = 4,
        _: 4,
    }
    /// Credit starvation threshold of a switch, in two bytes.
    pub struct CsThreshold [2] in SwitchCongestionSetting.cs {
        /// Threshold: 0 never starves, 1 starves latest, 15 starves soonest.
        cs_threshold / with_cs_threshold: u8 = 4,
        _: 12,
    }
}

wire! {
    /// Marking of packets by a switch (IBTA A10.4.3.6), 76 bytes.
    pub struct SwitchCongestionSetting [76] {
        /// Mask of the valid fields.
        pub control_map: Be32,
        /// Ports that mark packets even if they are only victims of congestion elsewhere, one bit each.
        pub victim_mask: Octets<32>,
        /// Ports with credit starvation, one bit each.
        pub credit_mask: Octets<32>,
        /// Marking threshold.
        pub threshold: Threshold,
        /// Minimum size of marked packets, in units of 64 bytes.
        pub packet_size: u8,
        /// Credit starvation threshold.
        pub cs: CsThreshold,
        /// Delay of the return of credits.
        pub cs_return_delay: Be16,
        /// Number of packets between two marks.
        pub marking_rate: Be16,
    }
}

bits! {
    /// Validity, type and threshold of an entry.
    pub struct ValidThreshold [1] in SwitchPortCongestion.valid_threshold {
        /// True if the entry is valid.
        valid / with_valid: bool = 1,
        /// Type of control: 0 marking, 1 credit starvation.
        control_type / with_control_type: bool = 1,
        _: 2,
        /// Threshold: 0 never, 1 latest, 15 soonest.
        threshold / with_threshold: u8 = 4,
    }
}

wire! {
    /// Marking of packets by one port of a switch.
    pub struct SwitchPortCongestion [4] {
        /// Validity, type and threshold.
        pub valid_threshold: ValidThreshold,
        /// Minimum size of marked packets, in units of 64 bytes.
        pub packet_size: u8,
        /// Number of packets between two marks, or the delay of credits.
        pub cong_parm: Be16,
    }
    /// Marking of packets by the ports of a switch (IBTA A10.4.3.7), 128 bytes; the attribute modifier is the block's
    /// number.
    pub struct SwitchPortCongestionSetting [128] {
        /// Settings of 32 consecutive ports.
        pub entries: [SwitchPortCongestion; 32],
    }
}
