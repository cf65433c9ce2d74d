//! Tables of ports and switches.
use crate::{
    Guid, Lid, LinkWidths, Lmc, Pkey, PortState, ServiceLevel, VirtualLane, bits, wire,
    wire::{Be16, Octets, Packed, Reserved},
};

wire! {
    /// A block of a switch's linear forwarding table (IBTA 14.2.5.10), 64 bytes.
    ///
    /// The attribute modifier is the block's number; block `n` is for LIDs `64 n ..= 64 n + 63`.
    pub struct LinearForwardingTable [64] {
        /// Output ports of 64 consecutive LIDs; 255 means that packets are dropped.
        pub ports: Octets<64>,
    }
}

bits! {
    /// Validity of an entry, and number of its LIDs.
    pub struct ValidLmc [1] in RandomEntry.valid_lmc {
        /// True if the entry is valid.
        valid / with_valid: bool = 1,
        /// LMC: the entry is for 2^LMC LIDs from its LID on.
        lmc / with_lmc: Lmc = 3,
        _: 4,
    }
}

wire! {
    /// Output port of one LID or of 2^LMC LIDs.
    pub struct RandomEntry [4] {
        /// First LID of the entry.
        pub lid: Lid,
        /// Validity of the entry, and number of its LIDs.
        pub valid_lmc: ValidLmc,
        /// Output port of the LIDs.
        pub port: u8,
    }
    /// A block of a switch's random forwarding table (IBTA 14.2.5.11), 64 bytes.
    pub struct RandomForwardingTable [64] {
        /// Sixteen entries; the attribute modifier is the block's number.
        pub entries: [RandomEntry; 16],
    }
    /// A block of a switch's multicast forwarding table (IBTA 14.2.5.12), 64 bytes.
    ///
    /// The attribute modifier has the block's number (groups `0xC000 + 32 n ..`) and, in its top four bits, the
    /// position: ports `16 p ..= 16 p + 15`.
    pub struct MulticastForwardingTable [64] {
        /// Output ports of each of 32 groups, one bit each; the least significant bit is the lowest port.
        pub port_masks: [Be16; 32],
    }
    /// A block of a port's GUID table (IBTA 14.2.5.5), 64 bytes; the attribute modifier is the block's number.
    pub struct GuidInfo [64] {
        /// Eight GUIDs; the first GUID of block 0 is fixed by the hardware and cannot be changed.
        pub guids: [Guid; 8],
    }
    /// A block of a port's P_Key table (IBTA 14.2.5.7), 64 bytes.
    ///
    /// The attribute modifier is the block's number; for a switch its upper half is the port number.
    pub struct PkeyTable [64] {
        /// 32 entries of the P_Key table.
        pub pkeys: [Pkey; 32],
    }
    /// Virtual lane of each service level, from one port of a switch to another (IBTA 14.2.5.8), 8 bytes.
    ///
    /// The attribute modifier is the input port times 256 plus the output port; 0 for a channel adapter.
    pub struct SlToVlMappingTable [8] {
        /// Virtual lanes of the service levels 0 to 15.
        pub lanes: Packed<VirtualLane, 4, 8>,
    }
}

impl SlToVlMappingTable {
    /// Returns the virtual lane of a service level.
    #[must_use]
    pub fn lane(&self, sl: ServiceLevel) -> VirtualLane {
        self.lanes.get(usize::from(sl.get())).unwrap_or_default()
    }
}

bits! {
    /// A virtual lane in one byte.
    pub struct VlLane [1] in VlWeight.lane {
        _: 4,
        /// Virtual lane of the entry.
        vl / with_vl: VirtualLane = 4,
    }
}

wire! {
    /// Entry of an arbitration table: a virtual lane and its weight.
    pub struct VlWeight [2] {
        /// Virtual lane of the entry.
        pub lane: VlLane,
        /// Weight in units of 64 bytes; 0 means that the entry is skipped.
        pub weight: u8,
    }
    /// Half of one of a port's two VL arbitration tables (IBTA 14.2.5.9), 64 bytes.
    ///
    /// The attribute modifier has the port number in its lower half. The upper half is the number of the half table: 1
    /// and 2 are the low-priority table, 3 and 4 the high-priority table.
    pub struct VlArbitrationTable [64] {
        /// Entries of the table, in the order of arbitration.
        pub entries: [VlWeight; 32],
    }
    /// Link speeds and widths that can be combined (IBTA 14.2.5.17), 64 bytes.
    pub struct LinkSpeedWidthPairsTable [64] {
        /// Number of different tables of the node.
        pub num_tables: u8,
        /// Ports that this table is for, one bit each; the first bit is port 255.
        pub port_mask: Octets<32>,
        /// Link widths that can be used at 2.5 Gb/s.
        pub speed_2_5: LinkWidths,
        /// Link widths that can be used at 5 Gb/s.
        pub speed_5: LinkWidths,
        /// Link widths that can be used at 10 Gb/s.
        pub speed_10: LinkWidths,
        /// Reserved for link widths at higher speeds; not interpreted.
        pub reserved: Reserved<28>,
    }
    /// Logical states of 128 ports of a switch (`SwitchPortStateTable` of NVIDIA's OpenSM and ibutils2), 64 bytes.
    ///
    /// The attribute modifier is the number of the block: block 0 has the ports 0 to 127.
    pub struct SwitchPortStateTable [64] {
        /// State of each port.
        pub states: Packed<PortState, 4, 64>,
    }
}
