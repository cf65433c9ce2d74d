//! Counting for a chosen time.
use crate::{
    bits, code, wire,
    wire::{Be16, Be64, Counter32, Reserved},
};

code! {
    /// What a counter of samples counts (IBTA 16.1.3.3); further values are the port's own.
    pub struct SampledCounter(u16) {
        /// Nothing.
        NONE = 0x0000 "none",
        /// Data sent.
        XMIT_DATA = 0x0001 "PortXmitData",
        /// Data received.
        RCV_DATA = 0x0002 "PortRcvData",
        /// Packets sent.
        XMIT_PKTS = 0x0003 "PortXmitPkts",
        /// Packets received.
        RCV_PKTS = 0x0004 "PortRcvPkts",
        /// Ticks in which something was to be sent and could not be.
        XMIT_WAIT = 0x0005 "PortXmitWait",
    }
}

code! {
    /// How far the counting is (IBTA 16.1.3.2).
    pub struct SampleStatus(u8) {
        /// The last measurement has ended.
        DONE = 0 "done",
        /// Waiting for its start.
        STARTED = 1 "started",
        /// Counting.
        RUNNING = 2 "running",
    }
}

bits! {
    /// Width of the counters and what each can count.
    pub struct CounterMasks [7] in PortSamplesControl.counter_masks {
        _: 5,
        /// 0 to 4: 16, 20, 24, 28, 32 bits.
        counter_width / with_counter_width: u8 = 3,
        _: 2,
        /// What counter 0 can count.
        counter_mask0 / with_counter_mask0: u8 = 3,
        /// What counters 1 to 9 can count, 3 bits each.
        counter_masks1to9 / with_counter_masks1to9: u32 = 27,
        _: 1,
        /// What counters 10 to 14 can count, 3 bits each.
        counter_masks10to14 / with_counter_masks10to14: u16 = 15,
    }
}
bits! {
    /// How far the counting is.
    pub struct SampleState [2] in PortSamplesResult.state {
        _: 14,
        /// How far the counting is.
        sample_status / with_sample_status: SampleStatus = 2,
    }
}
bits! {
    /// How far the counting is, in its byte.
    pub struct SampleStateByte [1] in PortSamplesControl.state {
        _: 6,
        /// How far the counting is.
        sample_status / with_sample_status: SampleStatus = 2,
    }
}

wire! {
    /// What to count, when and for how long (IBTA 16.1.3.2), 80 bytes.
    pub struct PortSamplesControl [80] {
        /// Operation that the counters are for.
        pub op_code: u8,
        /// Number of the port that is measured.
        pub port_select: u8,
        /// Length of a tick: the port's symbol time x 2^n.
        pub tick: u8,
        /// Width of the counters and what each can count.
        pub counter_masks: CounterMasks,
        /// How many countings can go on at once, less one.
        pub sample_mechanisms: u8,
        /// How far the counting is.
        pub state: SampleStateByte,
        /// Optional counters that the port has.
        pub option_mask: Be64,
        /// Vendor's counters that the port has.
        pub vendor_mask: Be64,
        /// Ticks until the counting starts.
        pub sample_start: Counter32,
        /// Ticks that it takes.
        pub sample_interval: Counter32,
        /// Name of this counting, so that nobody reads another's results.
        pub tag: Be16,
        /// What each of fifteen counters counts.
        pub counter_select: [SampledCounter; 15],
        /// Zero.
        pub reserved: Reserved<4>,
        /// Optional counters that can only be sampled.
        pub samples_only_option_mask: Be64,
    }
}

wire! {
    /// What was counted (IBTA 16.1.3.4), 64 bytes.
    pub struct PortSamplesResult [64] {
        /// Which counting this is.
        pub tag: Be16,
        /// How far it is.
        pub state: SampleState,
        /// Fifteen counters.
        pub counter: [Counter32; 15],
    }
}
