//! InformInfoRecord: a subscription to notices.
use super::record::sa_record;
use crate::{
    Gid, Lid, Qpn, TimeCode,
    notice::{InformInfo, InformType, Producer, TrapNumber},
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// A subscription to notices (IBTA 15.2.5.12), 60 bytes; 20 reserved bytes, which OpenSM does not send, may follow.
    pub struct InformInfoRecord [60] {
        /// GID of the subscribed port.
        pub subscriber_gid: Gid,
        /// Index of the subscription among the subscriptions of the port.
        pub enumeration: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<6>,
        /// Subscription of the port.
        pub inform_info: InformInfo,
    }
}

sa_record! {
    /// Component mask of a [`InformInfoRecord`].
    InformInfoRecord INFORM_INFO_RECORD InformInfoMask;
    /// GID of the subscribed port.
    SUBSCRIBER_GID = 0x1 subscriber_gid: Gid;
    /// Index of the subscription among the subscriptions of the port.
    ENUM = 0x2 enumeration: u16;
    /// GID of the port to which the notices refer.
    GID = 0x8 inform_info.gid: Gid;
    /// First LID of the range to which the notices refer.
    LID_RANGE_BEGIN = 0x10 inform_info.lid_range_begin: Lid;
    /// Last LID of the range to which the notices refer.
    LID_RANGE_END = 0x20 inform_info.lid_range_end: Lid;
    /// Notices of the specification (1) or of a vendor (0).
    IS_GENERIC = 0x80 inform_info.is_generic: u8;
    /// Action: 1 means subscribed.
    SUBSCRIBE = 0x100 inform_info.subscribe: u8;
    /// Type of the notices, from fatal to informational; 0xffff = all.
    TYPE = 0x200 inform_info.notice_type: InformType;
    /// Trap number, or the device id of a vendor's notice.
    TRAP_NUMBER = 0x400 inform_info.trap_number: TrapNumber;
    /// Queue pair that receives the reports.
    QPN = 0x800 inform_info.qpn_time.qpn / with_qpn: Qpn;
    /// Maximum time of the subscriber's response to a report.
    RESP_TIME_VALUE = 0x2000 inform_info.qpn_time.resp_time_value / with_resp_time_value: TimeCode;
    /// Kind of node that produces the notices.
    PRODUCER = 0x8000 inform_info.producer: Producer;
}
