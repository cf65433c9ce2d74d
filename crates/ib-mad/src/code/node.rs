//! What nodes and their ports are and do.
use crate::code;

code! {
    /// Kind of a node (IBTA 14.2.5.3).
    pub struct NodeType(u8) {
        /// Channel adapter: a host's or a device's.
        CHANNEL_ADAPTER = 1 "channel adapter",
        /// Switch.
        SWITCH = 2 "switch",
        /// Router.
        ROUTER = 3 "router",
    }
}

code! {
    /// Logical state of a port (IBTA 14.2.5.6).
    pub struct PortState(u8) {
        /// In a request: as it is.
        NO_CHANGE = 0 "no change",
        /// No link; management datagrams do not pass either.
        DOWN = 1 "down",
        /// Linked, not yet configured by the subnet manager: only its datagrams pass.
        INIT = 2 "init",
        /// Configured, not yet in use.
        ARMED = 3 "armed",
        /// In use.
        ACTIVE = 4 "active",
        /// In use, and for a moment without a link.
        ACTIVE_DEFER = 5 "active defer",
    }
}

code! {
    /// Physical state of a port (IBTA 14.2.5.6).
    pub struct PortPhysicalState(u8) {
        /// In a request: as it is.
        NO_CHANGE = 0 "no change",
        /// Its driver is off; it wakes when it receives.
        SLEEP = 1 "sleep",
        /// It looks for a partner.
        POLLING = 2 "polling",
        /// Off.
        DISABLED = 3 "disabled",
        /// The link is trained.
        TRAINING = 4 "training",
        /// Linked.
        LINK_UP = 5 "link up",
        /// It recovers from errors of the link.
        RECOVERY = 6 "error recovery",
        /// Under test.
        PHY_TEST = 7 "phy test",
    }
}

code! {
    /// Where a port goes when its link is lost (IBTA 14.2.5.6).
    pub struct LinkDownDefault(u8) {
        /// In a request: as it is.
        NO_CHANGE = 0 "no change",
        /// To sleep.
        SLEEP = 1 "sleep",
        /// It polls.
        POLLING = 2 "polling",
    }
}

code! {
    /// State of a subnet manager (IBTA 14.2.5.13).
    pub struct SmState(u8) {
        /// Told to keep quiet.
        NOT_ACTIVE = 0 "not active",
        /// It looks at the subnet.
        DISCOVERING = 1 "discovering",
        /// It waits for the master to fail.
        STANDBY = 2 "standby",
        /// It manages the subnet.
        MASTER = 3 "master",
    }
}

code! {
    /// What one subnet manager tells another, in the attribute modifier of `SMInfo` (IBTA 14.4.1).
    pub struct SmControl(u32) {
        /// Take over.
        HANDOVER = 1 "handover",
        /// Taken over.
        ACKNOWLEDGE = 2 "acknowledge",
        /// Become not active.
        DISABLE = 3 "disable",
        /// Become standby.
        STANDBY = 4 "standby",
        /// Look at the subnet.
        DISCOVER = 5 "discover",
    }
}
