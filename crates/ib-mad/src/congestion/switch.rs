//! How switches mark packets.
use crate::{
    bits, wire,
    wire::{Be16, Be32, Octets},
};

bits! {
    /// How soon to mark, in its byte.
    pub struct Threshold [1] in SwitchCongestionSetting.threshold {
        /// 0 = never, 1 = latest, 15 = soonest.
        threshold / with_threshold: u8 = 4,
        _: 4,
    }
}
bits! {
    /// How soon credit starvation counts, in its 2 bytes.
    pub struct CsThreshold [2] in SwitchCongestionSetting.cs {
        /// 0 = never, 1 = latest, 15 = soonest.
        cs_threshold / with_cs_threshold: u8 = 4,
        _: 12,
    }
}

wire! {
    /// How a switch marks packets (IBTA A10.4.3.6), 76 bytes.
    pub struct SwitchCongestionSetting [76] {
        /// Which of the fields count.
        pub control_map: Be32,
        /// Ports that mark packets even if they only suffer from congestion elsewhere, one bit each.
        pub victim_mask: Octets<32>,
        /// Ports that do credit starvation, one bit each.
        pub credit_mask: Octets<32>,
        /// How soon to mark.
        pub threshold: Threshold,
        /// Only longer packets are marked, in units of 64 bytes.
        pub packet_size: u8,
        /// How soon credit starvation counts.
        pub cs: CsThreshold,
        /// How long credits are held back.
        pub cs_return_delay: Be16,
        /// Packets between two marks.
        pub marking_rate: Be16,
    }
}

bits! {
    /// Whether the entry counts, what it is for, how soon to mark.
    pub struct ValidThreshold [1] in SwitchPortCongestion.valid_threshold {
        /// Whether the entry counts.
        valid / with_valid: bool = 1,
        /// 0: marking, 1: credit starvation.
        control_type / with_control_type: bool = 1,
        _: 2,
        /// 0 = never, 1 = latest, 15 = soonest.
        threshold / with_threshold: u8 = 4,
    }
}

wire! {
    /// How one port of a switch marks packets.
    pub struct SwitchPortCongestion [4] {
        /// Whether the entry counts, what it is for, how soon to mark.
        pub valid_threshold: ValidThreshold,
        /// Only longer packets are marked, in units of 64 bytes.
        pub packet_size: u8,
        /// Packets between two marks, or the delay of credits.
        pub cong_parm: Be16,
    }
}

wire! {
    /// How the ports of a switch mark packets (IBTA A10.4.3.7), 128 bytes; the attribute modifier is the block's number.
    pub struct SwitchPortCongestionSetting [128] {
        /// 32 ports in a row.
        pub entries: [SwitchPortCongestion; 32],
    }
}
