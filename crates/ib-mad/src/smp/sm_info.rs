//! What a subnet manager is.
use crate::{Guid, SmKey, SmState, bits, wire, wire::Counter32};

bits! {
    /// Priority and state.
    pub struct PriorityState [1] in SmInfo.priority_state {
        /// Who becomes master: the highest wins.
        priority / with_priority: u8 = 4,
        /// What the subnet manager does.
        sm_state / with_sm_state: SmState = 4,
    }
}

wire! {
    /// What a subnet manager is (IBTA 14.2.5.13), 21 bytes.
    ///
    /// The attribute modifier of a request is an [`SmControl`](crate::SmControl).
    pub struct SmInfo [21] {
        /// Port that the subnet manager is at.
        pub guid: Guid,
        /// Key that it trusts other managers by; zero unless the asker is the master.
        pub sm_key: SmKey,
        /// Goes up as long as the manager works.
        pub act_count: Counter32,
        /// Priority and state.
        pub priority_state: PriorityState,
    }
}
