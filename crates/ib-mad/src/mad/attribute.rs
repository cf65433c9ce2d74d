//! Attribute ids.
use crate::code;

code! {
    /// What a datagram's data is. The number's meaning depends on the class: names here are subnet administration's
    /// and those that every class shares (IBTA 13.4.8, 15.2.5).
    pub struct AttributeId(u16) {
        /// What a class port can do.
        CLASS_PORT_INFO = 0x0001 "ClassPortInfo",
        /// An event.
        NOTICE = 0x0002 "Notice",
        /// Subscription to events.
        INFORM_INFO = 0x0003 "InformInfo",
        /// A path between two ports.
        PATH_RECORD = 0x0035 "PathRecord",
        /// Membership in a multicast group.
        MC_MEMBER_RECORD = 0x0038 "MCMemberRecord",
    }
}
