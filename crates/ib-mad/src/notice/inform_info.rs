//! Subscription to notices.
use crate::{
    AttributeId, Gid, Lid, Qpn, TimeCode,
    attribute::SharedAttribute,
    bits, code,
    notice::{Producer, TrapNumber},
    wire,
    wire::{InBytes, Reserved},
};

bits! {
    /// Queue pair and response time of a subscriber.
    pub struct InformQpnTime [4] in InformInfo.qpn_time {
        /// Queue pair that receives the reports.
        qpn / with_qpn: Qpn = 24,
        _: 3,
        /// Maximum time between a report and its response.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
}

code! {
    /// Type of the notices of a subscription: [`NoticeType`](crate::notice::NoticeType) in 16 bits, or all types.
    pub struct InformType(u16) {
        /// A failure occurred.
        FATAL = 0 "fatal",
        /// The event needs attention soon.
        URGENT = 1 "urgent",
        /// A request or packet violated a protection.
        SECURITY = 2 "security",
        /// The event is for subnet management.
        SUBNET_MANAGEMENT = 3 "subnet management",
        /// The event is for information only.
        INFORMATIONAL = 4 "informational",
        /// Notices of every type.
        ALL = 0xffff "all",
    }
}

wire! {
    /// Subscription to notices (IBTA 13.4.8.3), 36 bytes.
    ///
    /// ```text
    ///  0  GID (16)
    /// 16  first LID           | last LID
    /// 20  reserved            | generic | subscribe
    /// 24  type                | trap number or device id
    /// 28  QPN (3) | 3, response time 5
    /// 32  reserved | producer or vendor (3)
    /// ```
    pub struct InformInfo [36] {
        /// GID of the port to which the notices refer; zero to select by LID.
        pub gid: Gid,
        /// First LID to which the notices refer; 0xFFFF for all.
        pub lid_range_begin: Lid,
        /// Last LID to which the notices refer; ignored if `lid_range_begin` is 0xFFFF or `gid` is not zero.
        pub lid_range_end: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// 1 for notices that the specification defines, 0 for notices that a vendor defines.
        pub is_generic: u8,
        /// Action: 1 subscribes, 0 unsubscribes.
        pub subscribe: u8,
        /// Type of the notices; 0xFFFF for all.
        pub notice_type: InformType,
        /// Trap number of the notices; 0xFFFF for all.
        pub trap_number: TrapNumber,
        /// Queue pair and response time of the subscriber.
        pub qpn_time: InformQpnTime,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Producer of the notices; 0xFFFFFF for all.
        pub producer: InBytes<Producer, 3>,
    }
}

impl SharedAttribute for InformInfo {
    const ATTRIBUTE: AttributeId = AttributeId::INFORM_INFO;
}
