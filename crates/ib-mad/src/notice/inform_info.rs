//! Subscription to notices.
use crate::{
    Gid, Lid, Qpn, TimeCode, bits, code,
    notice::{Producer, TrapNumber},
    wire,
    wire::{InBytes, Reserved},
};

bits! {
    /// Queue pair, time to answer.
    pub struct InformQpnTime [4] in InformInfo.qpn_time {
        /// Queue pair that reports go to.
        qpn / with_qpn: Qpn = 24,
        _: 3,
        /// Longest time between a report and its answer.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
}

code! {
    /// Which gravity of notices a subscription is for: those of [`NoticeType`](crate::notice::NoticeType) in 16 bits, and all.
    pub struct InformType(u16) {
        /// Something failed.
        FATAL = 0 "fatal",
        /// To be looked at soon.
        URGENT = 1 "urgent",
        /// Somebody tried what they may not.
        SECURITY = 2 "security",
        /// For subnet management.
        SUBNET_MANAGEMENT = 3 "subnet management",
        /// To be known.
        INFORMATIONAL = 4 "informational",
        /// Whatever it is.
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
        /// Notices about this port; zero = see the LIDs.
        pub gid: Gid,
        /// Notices about LIDs from this one on; 0xFFFF = about all.
        pub lid_range_begin: Lid,
        /// To this one; ignored if the first is 0xFFFF or the GID counts.
        pub lid_range_end: Lid,
        /// Zero.
        pub reserved: Reserved<2>,
        /// 1: notices of the specification, 0: a vendor's.
        pub is_generic: u8,
        /// 1: subscribe, 0: unsubscribe.
        pub subscribe: u8,
        /// How grave; 0xFFFF = all.
        pub notice_type: InformType,
        /// What happened; 0xFFFF = all.
        pub trap_number: TrapNumber,
        /// Queue pair, time to answer.
        pub qpn_time: InformQpnTime,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// Who tells; 0xFFFFFF = all.
        pub producer: InBytes<Producer, 3>,
    }
}
