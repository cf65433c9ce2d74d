//! State of a subnet manager.
use crate::{Guid, SmKey, SmState, bits, wire, wire::Counter32};

bits! {
    /// Priority and state of a subnet manager.
    pub struct PriorityState [1] in SmInfo.priority_state {
        /// Priority: the manager with the highest priority becomes master.
        priority / with_priority: u8 = 4,
        /// State of the subnet manager.
        sm_state / with_sm_state: SmState = 4,
    }
}

wire! {
    /// State of a subnet manager (IBTA 14.2.5.13), 21 bytes.
    ///
    /// The attribute modifier of a request is an [`SmControl`](crate::SmControl).
    pub struct SmInfo [21] {
        /// GUID of the subnet manager's port.
        pub guid: Guid,
        /// Key by which subnet managers authenticate each other; zero unless the requester is the master.
        pub sm_key: SmKey,
        /// Activity counter, which increases while the manager works.
        pub act_count: Counter32,
        /// Priority and state of the subnet manager.
        pub priority_state: PriorityState,
    }
}
