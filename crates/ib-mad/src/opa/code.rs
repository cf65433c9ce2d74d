//! Identifiers and codes.
use crate::{code, flags, id};

id! {
    /// Omni-Path's local identifier: a port's or group's address inside one fabric, 4 bytes, of which 24 bits count.
    pub struct OpaLid(u32), "{}"
}

impl OpaLid {
    /// The permissive LID: whoever receives it.
    pub const PERMISSIVE: Self = Self::new(u32::MAX);
}

code! {
    /// Maximum transfer unit, as a code of 4 bits (`opa_port_info.h`).
    pub struct OpaMtu(u8) {
        /// 256 bytes.
        B256 = 1 "256",
        /// 512 bytes.
        B512 = 2 "512",
        /// 1024 bytes.
        B1024 = 3 "1024",
        /// 2048 bytes.
        B2048 = 4 "2048",
        /// 4096 bytes.
        B4096 = 5 "4096",
        /// 8192 bytes.
        B8192 = 6 "8192",
        /// 10240 bytes.
        B10240 = 7 "10240",
    }
}

flags! {
    /// Speeds of a lane, a set (`opa_port_info.h`).
    pub struct OpaLinkSpeeds(u16) {
        /// 12.5 Gb/s.
        GBPS_12_5 = 1 "12.5 Gb/s",
        /// 25.78125 Gb/s.
        GBPS_25 = 2 "25 Gb/s",
    }
}

flags! {
    /// Widths of a link, a set (`opa_port_info.h`).
    pub struct OpaLinkWidths(u16) {
        /// One lane.
        X1 = 1 "1X",
        /// Two lanes.
        X2 = 2 "2X",
        /// Three lanes.
        X3 = 4 "3X",
        /// Four lanes.
        X4 = 8 "4X",
    }
}

flags! {
    /// Formats of packets, a set (`opa_port_info.h`).
    pub struct OpaPacketFormats(u16) {
        /// 8 bytes of header.
        B8 = 1 "8B",
        /// 9 bytes of header: InfiniBand's.
        B9 = 2 "9B",
        /// 10 bytes of header.
        B10 = 4 "10B",
        /// 16 bytes of header.
        B16 = 8 "16B",
    }
}

flags! {
    /// What a port can do, Omni-Path's part (`opa_port_info.h`).
    pub struct OpaCapability3(u16) {
        /// Lanes that receive.
        VLR = 0x01 "VLr",
        /// Markers of lanes.
        VL_MARKER = 0x02 "VL marker",
        /// Buffers that lanes share.
        SHARED_SPACE = 0x08 "shared space",
        /// Packets pass a port without a look.
        PASS_THROUGH = 0x10 "pass through",
        /// Ranges of addresses can be set.
        ADDRESS_RANGE_CONFIG = 0x20 "address range config",
        /// Channels can be mapped to lanes while the link is up.
        ASYNC_SC2VL = 0x40 "async SC2VL",
        /// Traffic can be watched.
        SNOOP = 0x80 "snoop",
    }
}

code! {
    /// Kind of a port's plug (`stl_sm_types.h`).
    pub struct OpaPortType(u8) {
        /// Not known.
        UNKNOWN = 0 "unknown",
        /// Cannot be used.
        DISCONNECTED = 1 "disconnected",
        /// A backplane's.
        FIXED = 2 "fixed",
        /// A blade's.
        VARIABLE = 3 "variable",
        /// With a module: QSFP.
        STANDARD = 4 "standard",
        /// Silicon photonics.
        SI_PHOTONICS = 5 "silicon photonics",
    }
}

code! {
    /// Why a port is offline (`stl_sm_types.h`).
    pub struct OpaOfflineReason(u8) {
        /// No reason.
        NONE = 0 "none",
        /// Not wired.
        DISCONNECTED = 1 "disconnected",
        /// There is no module here.
        LOCAL_MEDIA_NOT_INSTALLED = 2 "local media not installed",
        /// There is no neighbour.
        NOT_INSTALLED = 3 "not installed",
        /// The chassis says so.
        CHASSIS_CONFIG = 4 "chassis config",
        /// There is no module at the other end.
        END_TO_END_NOT_INSTALLED = 6 "end to end not installed",
        /// It would take too much power.
        POWER_POLICY = 8 "power policy",
        /// No enabled speed works.
        LINK_SPEED_POLICY = 9 "link speed policy",
        /// No enabled width works.
        LINK_WIDTH_POLICY = 10 "link width policy",
        /// Turned off at the switch.
        SWITCH_MANAGEMENT = 12 "switch management",
        /// Turned off by subnet management.
        SMA_DISABLED = 13 "SMA disabled",
        /// For a moment.
        TRANSIENT = 15 "transient",
    }
}

code! {
    /// Why a link stays in the state "init" (`opa_port_info.h`).
    pub struct OpaLinkInitReason(u8) {
        /// No reason.
        NOP = 0 "none",
        /// It just came up.
        LINK_UP = 1 "link up",
        /// It goes up and down.
        FLAPPING = 2 "flapping",
        /// Width or speed are not as wanted.
        OUTSIDE_POLICY = 8 "outside policy",
        /// Its neighbour is not trusted.
        QUARANTINED = 9 "quarantined",
        /// It can do too little.
        INSUFFICIENT_CAPABILITY = 10 "insufficient capability",
    }
}

code! {
    /// Why a link went down (`opa_port_info.h`).
    pub struct OpaLinkDownReason(u8) {
        /// No reason.
        NONE = 0 "none",
        /// A received packet of an unknown error.
        RCV_ERROR_0 = 1 "receive error 0",
        /// Of a wrong length.
        BAD_PKT_LEN = 2 "bad packet length",
        /// Too long.
        PKT_TOO_LONG = 3 "packet too long",
        /// Too short.
        PKT_TOO_SHORT = 4 "packet too short",
        /// From a wrong LID.
        BAD_SLID = 5 "bad SLID",
        /// To a wrong LID.
        BAD_DLID = 6 "bad DLID",
        /// With a wrong link header.
        BAD_L2 = 7 "bad L2",
        /// In a wrong channel.
        BAD_SC = 8 "bad SC",
        /// Without its first part.
        BAD_MID_TAIL = 10 "bad mid or tail",
        /// Preempted where it may not be.
        PREEMPT_ERROR = 12 "preempt error",
        /// Preempted on the lane of management.
        PREEMPT_VL15 = 13 "preempt VL15",
        /// A wrong marker of a lane.
        BAD_VL_MARKER = 14 "bad VL marker",
        /// Wrong distance of first parts.
        BAD_HEAD_DIST = 17 "bad head distance",
        /// Wrong distance of last parts.
        BAD_TAIL_DIST = 18 "bad tail distance",
        /// Wrong distance of control parts.
        BAD_CTRL_DIST = 19 "bad control distance",
        /// A wrong acknowledgement of credits.
        BAD_CREDIT_ACK = 20 "bad credit ack",
        /// A marker of a lane that there is not.
        UNSUPPORTED_VL_MARKER = 21 "unsupported VL marker",
        /// A wrong preemption.
        BAD_PREEMPT = 22 "bad preempt",
        /// A wrong control part.
        BAD_CONTROL_FLIT = 23 "bad control flit",
        /// A group that is too large.
        EXCEED_MULTICAST_LIMIT = 24 "multicast limit exceeded",
        /// Too many overruns.
        EXCESSIVE_BUFFER_OVERRUN = 32 "excessive buffer overrun",
        /// By this end, for another reason.
        UNKNOWN = 33 "unknown",
        /// This node starts anew.
        REBOOT = 35 "reboot",
        /// By the other end, without a word.
        NEIGHBOR_UNKNOWN = 36 "neighbour, unknown",
        /// The fabric manager wants it up again.
        FM_BOUNCE = 39 "fabric manager",
        /// The speed is not as wanted.
        SPEED_POLICY = 40 "speed policy",
        /// The width is not as wanted.
        WIDTH_POLICY = 41 "width policy",
        /// Not wired.
        DISCONNECTED = 49 "disconnected",
        /// There is no module here.
        LOCAL_MEDIA_NOT_INSTALLED = 50 "local media not installed",
        /// There is no neighbour.
        NOT_INSTALLED = 51 "not installed",
        /// The chassis says so.
        CHASSIS_CONFIG = 52 "chassis config",
        /// There is no module at the other end.
        END_TO_END_NOT_INSTALLED = 54 "end to end not installed",
        /// It would take too much power.
        POWER_POLICY = 56 "power policy",
        /// No enabled speed works.
        LINK_SPEED_POLICY = 57 "link speed policy",
        /// No enabled width works.
        LINK_WIDTH_POLICY = 58 "link width policy",
        /// Turned off at the switch.
        SWITCH_MANAGEMENT = 60 "switch management",
        /// Turned off by subnet management.
        SMA_DISABLED = 61 "SMA disabled",
        /// For a moment.
        TRANSIENT = 63 "transient",
    }
}
