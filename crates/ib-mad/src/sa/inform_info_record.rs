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
    SUBSCRIBER_GID = 0x1 "subscriber_gid" subscriber_gid(value: Gid) |r| r.subscriber_gid = value;
    /// Index of the subscription among the subscriptions of the port.
    ENUM = 0x2 "enumeration" enumeration(value: u16) |r| r.enumeration = value.into();
    /// GID of the port to which the notices refer.
    GID = 0x8 "inform_info.gid" gid(value: Gid) |r| r.inform_info.gid = value;
    /// First LID of the range to which the notices refer.
    LID_RANGE_BEGIN = 0x10 "inform_info.lid_range_begin" lid_range_begin(value: Lid)
        |r| r.inform_info.lid_range_begin = value;
    /// Last LID of the range to which the notices refer.
    LID_RANGE_END = 0x20 "inform_info.lid_range_end" lid_range_end(value: Lid) |r| r.inform_info.lid_range_end = value;
    /// Notices of the specification (1) or of a vendor (0).
    IS_GENERIC = 0x80 "inform_info.is_generic" is_generic(value: u8) |r| r.inform_info.is_generic = value;
    /// Action: 1 means subscribed.
    SUBSCRIBE = 0x100 "inform_info.subscribe" subscribe(value: u8) |r| r.inform_info.subscribe = value;
    /// Type of the notices, from fatal to informational; 0xffff = all.
    TYPE = 0x200 "inform_info.notice_type" notice_type(value: InformType) |r| r.inform_info.notice_type = value;
    /// Trap number, or the device id of a vendor's notice.
    TRAP_NUMBER = 0x400 "inform_info.trap_number" trap_number(value: TrapNumber) |r| r.inform_info.trap_number = value;
    /// Queue pair that receives the reports.
    QPN = 0x800 "inform_info.qpn_time.qpn" qpn(value: Qpn)
        |r| r.inform_info.qpn_time = r.inform_info.qpn_time.with_qpn(value);
    /// Maximum time of the subscriber's response to a report.
    RESP_TIME_VALUE = 0x2000 "inform_info.qpn_time.resp_time_value" resp_time_value(value: TimeCode)
        |r| r.inform_info.qpn_time = r.inform_info.qpn_time.with_resp_time_value(value);
    /// Kind of node that produces the notices.
    PRODUCER = 0x8000 "inform_info.producer" producer(value: Producer) |r| r.inform_info.producer = value.into();
}
