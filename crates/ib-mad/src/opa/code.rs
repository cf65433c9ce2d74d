//! Identifiers and codes of Omni-Path.
use crate::{Mtu, code, flags, id, wire::small};

id! {
    /// Local identifier of Omni-Path: the address of a port or group in one fabric, 4 bytes, of which 24 bits are used.
    pub struct OpaLid(u32), "{}"
}

impl OpaLid {
    /// The permissive LID: every port accepts a packet to it.
    pub const PERMISSIVE: Self = Self::new(u32::MAX);
}

small! {
    /// LID mask control, 4 bits: a port has 2^LMC consecutive LIDs (`OPA_PI_MASK_LMC` in `opa_port_info.h`).
    OpaLmc(u8) 4 "{}";
}

code! {
    /// Maximum transfer unit, as a code of 4 bits (`opa_port_info.h`).
    pub struct OpaMtu(u8) {
        /// Packets with a payload of 256 bytes.
        B256 = 1 "256",
        /// Packets with a payload of 512 bytes.
        B512 = 2 "512",
        /// Packets with a payload of 1024 bytes.
        B1024 = 3 "1024",
        /// Packets with a payload of 2048 bytes.
        B2048 = 4 "2048",
        /// Packets with a payload of 4096 bytes.
        B4096 = 5 "4096",
        /// Packets with a payload of 8192 bytes.
        B8192 = 6 "8192",
        /// Packets with a payload of 10240 bytes.
        B10240 = 7 "10240",
    }
}

impl OpaMtu {
    /// Returns the payload in bytes; `None` for an undefined code. The first codes are those of [`Mtu`].
    #[must_use]
    pub const fn bytes(self) -> Option<u16> {
        match self {
            Self::B8192 => Some(8192),
            Self::B10240 => Some(10_240),
            _ => Mtu::new(self.get()).bytes(),
        }
    }
}

flags! {
    /// Set of link speeds per lane (`opa_port_info.h`).
    pub struct OpaLinkSpeeds(u16) {
        /// Speed of 12.5 Gb/s.
        GBPS_12_5 = 1 "12.5 Gb/s",
        /// Speed of 25.78125 Gb/s.
        GBPS_25 = 2 "25 Gb/s",
    }
}

flags! {
    /// Set of link widths (`opa_port_info.h`).
    pub struct OpaLinkWidths(u16) {
        /// Link of one lane.
        X1 = 1 "1X",
        /// Link of two lanes.
        X2 = 2 "2X",
        /// Link of three lanes.
        X3 = 4 "3X",
        /// Link of four lanes.
        X4 = 8 "4X",
    }
}

flags! {
    /// Set of packet formats (`opa_port_info.h`).
    pub struct OpaPacketFormats(u16) {
        /// Packets with a header of 8 bytes.
        B8 = 1 "8B",
        /// Packets with a header of 9 bytes, the format of InfiniBand.
        B9 = 2 "9B",
        /// Packets with a header of 10 bytes.
        B10 = 4 "10B",
        /// Packets with a header of 16 bytes.
        B16 = 8 "16B",
    }
}

flags! {
    /// Omni-Path capability mask of a port (`opa_port_info.h`).
    pub struct OpaCapability3(u16) {
        /// Supports receiving virtual lanes (VLr).
        VLR = 0x01 "VLr",
        /// Supports virtual lane markers.
        VL_MARKER = 0x02 "VL marker",
        /// Supports buffers shared between virtual lanes.
        SHARED_SPACE = 0x08 "shared space",
        /// Supports pass-through of packets.
        PASS_THROUGH = 0x10 "pass through",
        /// Supports the configuration of address ranges.
        ADDRESS_RANGE_CONFIG = 0x20 "address range config",
        /// Supports changes of the SC-to-VL mapping while the link is up.
        ASYNC_SC2VL = 0x40 "async SC2VL",
        /// Supports snooping of traffic.
        SNOOP = 0x80 "snoop",
    }
}

code! {
    /// Physical state of a port: that of InfiniBand, and states of Omni-Path (`opa_port_info.h`, `stl_sm_types.h`).
    pub struct OpaPortPhysicalState(u8) {
        /// In a Set: the state stays unchanged.
        NO_CHANGE = 0 "no change",
        /// The port searches for a link partner.
        POLLING = 2 "polling",
        /// The port is off.
        DISABLED = 3 "disabled",
        /// The port trains the link.
        TRAINING = 4 "training",
        /// The link is up.
        LINK_UP = 5 "link up",
        /// The port recovers from link errors.
        RECOVERY = 6 "error recovery",
        /// The transmitter is off: there is no module, or the link is between two attempts.
        OFFLINE = 9 "offline",
        /// The port is under test.
        TEST = 11 "test",
    }
    /// Type of a port's connector (`stl_sm_types.h`).
    pub struct OpaPortType(u8) {
        /// Connector of unknown type.
        UNKNOWN = 0 "unknown",
        /// Port that cannot be connected.
        DISCONNECTED = 1 "disconnected",
        /// Fixed connection, on a backplane.
        FIXED = 2 "fixed",
        /// Variable connection, of a blade.
        VARIABLE = 3 "variable",
        /// Standard connector with a QSFP module.
        STANDARD = 4 "standard",
        /// Silicon photonics connector.
        SI_PHOTONICS = 5 "silicon photonics",
    }
    /// Reason why a port is offline (`stl_sm_types.h`).
    pub struct OpaOfflineReason(u8) {
        /// No reason is given.
        NONE = 0 "none",
        /// The port is not connected.
        DISCONNECTED = 1 "disconnected",
        /// The local port has no module.
        LOCAL_MEDIA_NOT_INSTALLED = 2 "local media not installed",
        /// The port has no neighbour.
        NOT_INSTALLED = 3 "not installed",
        /// The configuration of the chassis disables the port.
        CHASSIS_CONFIG = 4 "chassis config",
        /// The remote port has no module.
        END_TO_END_NOT_INSTALLED = 6 "end to end not installed",
        /// The link would exceed the power limit.
        POWER_POLICY = 8 "power policy",
        /// No enabled speed is possible.
        LINK_SPEED_POLICY = 9 "link speed policy",
        /// No enabled width is possible.
        LINK_WIDTH_POLICY = 10 "link width policy",
        /// The management of the switch disabled the port.
        SWITCH_MANAGEMENT = 12 "switch management",
        /// The subnet management agent disabled the port.
        SMA_DISABLED = 13 "SMA disabled",
        /// The reason is transient.
        TRANSIENT = 15 "transient",
    }
    /// Reason why a link stays in the state "init" (`opa_port_info.h`).
    pub struct OpaLinkInitReason(u8) {
        /// No reason is given.
        NOP = 0 "none",
        /// The link just came up.
        LINK_UP = 1 "link up",
        /// The link repeatedly goes down and up.
        FLAPPING = 2 "flapping",
        /// Width or speed are outside the policy.
        OUTSIDE_POLICY = 8 "outside policy",
        /// The neighbour is quarantined.
        QUARANTINED = 9 "quarantined",
        /// The capabilities of the link are insufficient.
        INSUFFICIENT_CAPABILITY = 10 "insufficient capability",
    }
    /// Reason why a link went down (`opa_port_info.h`).
    pub struct OpaLinkDownReason(u8) {
        /// No reason is given.
        NONE = 0 "none",
        /// A received packet had an unknown error.
        RCV_ERROR_0 = 1 "receive error 0",
        /// A received packet had a wrong length.
        BAD_PKT_LEN = 2 "bad packet length",
        /// A received packet was too long.
        PKT_TOO_LONG = 3 "packet too long",
        /// A received packet was too short.
        PKT_TOO_SHORT = 4 "packet too short",
        /// A received packet had a wrong source LID.
        BAD_SLID = 5 "bad SLID",
        /// A received packet had a wrong destination LID.
        BAD_DLID = 6 "bad DLID",
        /// A received packet had a wrong link header.
        BAD_L2 = 7 "bad L2",
        /// A received packet had a wrong service channel.
        BAD_SC = 8 "bad SC",
        /// A body or tail flit arrived without its head flit.
        BAD_MID_TAIL = 10 "bad mid or tail",
        /// A packet was preempted where preemption is not permitted.
        PREEMPT_ERROR = 12 "preempt error",
        /// A packet on the management lane (VL15) was preempted.
        PREEMPT_VL15 = 13 "preempt VL15",
        /// A virtual lane marker was wrong.
        BAD_VL_MARKER = 14 "bad VL marker",
        /// The distance between head flits was wrong.
        BAD_HEAD_DIST = 17 "bad head distance",
        /// The distance between tail flits was wrong.
        BAD_TAIL_DIST = 18 "bad tail distance",
        /// The distance between control flits was wrong.
        BAD_CTRL_DIST = 19 "bad control distance",
        /// An acknowledgement of credits was wrong.
        BAD_CREDIT_ACK = 20 "bad credit ack",
        /// A marker named an unsupported virtual lane.
        UNSUPPORTED_VL_MARKER = 21 "unsupported VL marker",
        /// A preemption was wrong.
        BAD_PREEMPT = 22 "bad preempt",
        /// A control flit was wrong.
        BAD_CONTROL_FLIT = 23 "bad control flit",
        /// A multicast address exceeded the limit.
        EXCEED_MULTICAST_LIMIT = 24 "multicast limit exceeded",
        /// The number of buffer overruns was excessive.
        EXCESSIVE_BUFFER_OVERRUN = 32 "excessive buffer overrun",
        /// The local port took the link down for another reason.
        UNKNOWN = 33 "unknown",
        /// The local node restarts.
        REBOOT = 35 "reboot",
        /// The remote port took the link down and gave no reason.
        NEIGHBOR_UNKNOWN = 36 "neighbour, unknown",
        /// The fabric manager restarts the link.
        FM_BOUNCE = 39 "fabric manager",
        /// The speed is outside the policy.
        SPEED_POLICY = 40 "speed policy",
        /// The width is outside the policy.
        WIDTH_POLICY = 41 "width policy",
        /// The port is not connected.
        DISCONNECTED = 49 "disconnected",
        /// The local port has no module.
        LOCAL_MEDIA_NOT_INSTALLED = 50 "local media not installed",
        /// The port has no neighbour.
        NOT_INSTALLED = 51 "not installed",
        /// The configuration of the chassis disables the port.
        CHASSIS_CONFIG = 52 "chassis config",
        /// The remote port has no module.
        END_TO_END_NOT_INSTALLED = 54 "end to end not installed",
        /// The link would exceed the power limit.
        POWER_POLICY = 56 "power policy",
        /// No enabled speed is possible.
        LINK_SPEED_POLICY = 57 "link speed policy",
        /// No enabled width is possible.
        LINK_WIDTH_POLICY = 58 "link width policy",
        /// The management of the switch disabled the port.
        SWITCH_MANAGEMENT = 60 "switch management",
        /// The subnet management agent disabled the port.
        SMA_DISABLED = 61 "SMA disabled",
        /// The reason is transient.
        TRANSIENT = 63 "transient",
    }
}
