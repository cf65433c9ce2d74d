//! Sampling of counters for a chosen time.
use crate::{
    bits, code, wire,
    wire::{Be16, Be64, Counter32, Counter64, Reserved},
};

code! {
    /// Quantity that a sampling counter counts (IBTA 16.1.3.3); further values are defined by the port.
    pub struct SampledCounter(u16) {
        /// The counter is unused.
        NONE = 0x0000 "none",
        /// Sent data, in units of 4 bytes.
        XMIT_DATA = 0x0001 "PortXmitData",
        /// Received data, in units of 4 bytes.
        RCV_DATA = 0x0002 "PortRcvData",
        /// Number of sent packets.
        XMIT_PKTS = 0x0003 "PortXmitPkts",
        /// Number of received packets.
        RCV_PKTS = 0x0004 "PortRcvPkts",
        /// Number of ticks in which data were ready and could not be sent.
        XMIT_WAIT = 0x0005 "PortXmitWait",
    }
    /// Progress of a sampling (IBTA 16.1.3.2).
    pub struct SampleStatus(u8) {
        /// The last sampling has ended.
        DONE = 0 "done",
        /// The sampling waits for its start.
        STARTED = 1 "started",
        /// The sampling is running.
        RUNNING = 2 "running",
    }
}

bits! {
    /// Width and possible quantities of the counters.
    pub struct CounterMasks [7] in PortSamplesControl.counter_masks {
        _: 5,
        /// Width of the counters: 0 to 4 stand for 16, 20, 24, 28, 32 bits.
        counter_width / with_counter_width: u8 = 3,
        _: 2,
        /// Possible quantities of counter 0.
        counter_mask0 / with_counter_mask0: u8 = 3,
        /// Possible quantities of counters 1 to 9, 3 bits each.
        counter_masks1to9 / with_counter_masks1to9: u32 = 27,
        _: 1,
        /// Possible quantities of counters 10 to 14, 3 bits each.
        counter_masks10to14 / with_counter_masks10to14: u16 = 15,
    }
    /// Progress of a sampling, in two bytes.
    pub struct SampleState [2] in PortSamplesResult.state {
        _: 14,
        /// Progress of the sampling.
        sample_status / with_sample_status: SampleStatus = 2,
    }
    /// Progress of a sampling, in one byte.
    pub struct SampleStateByte [1] in PortSamplesControl.state {
        _: 6,
        /// Progress of the sampling.
        sample_status / with_sample_status: SampleStatus = 2,
    }
}

wire! {
    /// Control of a sampling: quantities, start and duration (IBTA 16.1.3.2), 80 bytes.
    pub struct PortSamplesControl [80] {
        /// Operation whose packets and data are counted, for counters of one operation.
        pub op_code: u8,
        /// Number of the sampled port.
        pub port_select: u8,
        /// Length of a tick: the port's symbol time x 2^n.
        pub tick: u8,
        /// Width and possible quantities of the counters.
        pub counter_masks: CounterMasks,
        /// Number of concurrent samplings, less one.
        pub sample_mechanisms: u8,
        /// Progress of the sampling.
        pub state: SampleStateByte,
        /// Optional counters that the port supports.
        pub option_mask: Be64,
        /// Vendor's counters that the port supports.
        pub vendor_mask: Be64,
        /// Number of ticks until the sampling starts.
        pub sample_start: Counter32,
        /// Duration of the sampling, in ticks.
        pub sample_interval: Counter32,
        /// Tag of the sampling, which the result copies.
        pub tag: Be16,
        /// Quantity of each of the fifteen counters.
        pub counter_select: [SampledCounter; 15],
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Optional counters that can be read only by sampling.
        pub samples_only_option_mask: Be64,
    }
}

wire! {
    /// Result of a sampling (IBTA 16.1.3.4), 64 bytes.
    pub struct PortSamplesResult [64] {
        /// Tag of the sampling.
        pub tag: Be16,
        /// Progress of the sampling.
        pub state: SampleState,
        /// Values of the fifteen counters.
        pub counter: [Counter32; 15],
    }
}

bits! {
    /// Width of the counters.
    pub struct ExtendedWidth [4] in PortSamplesResultExtended.width {
        /// Width of the counters; 2 means 64 bits.
        extended_width / with_extended_width: u8 = 2,
        _: 30,
    }
}

wire! {
    /// Result of a sampling in wide counters (IBTA 16.1.4.12; `ib_pma.h` and `qib_mad.c` of Linux), 128 bytes.
    pub struct PortSamplesResultExtended [128] {
        /// Tag of the sampling.
        pub tag: Be16,
        /// Progress of the sampling.
        pub state: SampleState,
        /// Width of the counters.
        pub width: ExtendedWidth,
        /// Values of the fifteen counters.
        pub counter: [Counter64; 15],
    }
}
