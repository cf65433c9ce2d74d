//! Kinds and states of nodes, ports and subnet managers.
use crate::code;

code! {
    /// Kind of a node (IBTA 14.2.5.3).
    pub struct NodeType(u8) {
        /// Channel adapter of a host or a device.
        CHANNEL_ADAPTER = 1 "channel adapter",
        /// Switch, which forwards by LID.
        SWITCH = 2 "switch",
        /// Router, which forwards by GID.
        ROUTER = 3 "router",
    }
    /// Logical state of a port (IBTA 14.2.5.6).
    pub struct PortState(u8) {
        /// In a Set: the state stays unchanged.
        NO_CHANGE = 0 "no change",
        /// The port has no link; management datagrams do not pass either.
        DOWN = 1 "down",
        /// The link is up, and the subnet manager has not configured the port: only subnet management datagrams pass.
        INIT = 2 "init",
        /// The port is configured and not yet in use.
        ARMED = 3 "armed",
        /// The port is in use.
        ACTIVE = 4 "active",
        /// The port is in use and its link is lost for a moment.
        ACTIVE_DEFER = 5 "active defer",
    }
    /// Physical state of a port (IBTA 14.2.5.6).
    pub struct PortPhysicalState(u8) {
        /// In a Set: the state stays unchanged.
        NO_CHANGE = 0 "no change",
        /// The transmitter is off; the port wakes up when it receives a signal.
        SLEEP = 1 "sleep",
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
        /// The port is under test.
        PHY_TEST = 7 "phy test",
    }
    /// Physical state that a port enters when its link is lost (IBTA 14.2.5.6).
    pub struct LinkDownDefault(u8) {
        /// In a Set: the setting stays unchanged.
        NO_CHANGE = 0 "no change",
        /// The port goes to sleep.
        SLEEP = 1 "sleep",
        /// The port polls for a link partner.
        POLLING = 2 "polling",
    }
    /// State of a subnet manager (IBTA 14.2.5.13).
    pub struct SmState(u8) {
        /// Another subnet manager disabled this manager, which neither manages the subnet nor takes over.
        NOT_ACTIVE = 0 "not active",
        /// The manager explores the subnet.
        DISCOVERING = 1 "discovering",
        /// The manager polls the master and takes over if the master fails.
        STANDBY = 2 "standby",
        /// The manager configures the subnet.
        MASTER = 3 "master",
    }
    /// Request from one subnet manager to another, in the attribute modifier of `SMInfo` (IBTA 14.4.1).
    pub struct SmControl(u32) {
        /// The receiver becomes the master.
        HANDOVER = 1 "handover",
        /// The sender confirms a handover.
        ACKNOWLEDGE = 2 "acknowledge",
        /// The receiver becomes not active.
        DISABLE = 3 "disable",
        /// The receiver becomes standby.
        STANDBY = 4 "standby",
        /// The receiver explores the subnet.
        DISCOVER = 5 "discover",
    }
}
