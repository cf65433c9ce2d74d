//! Detection of a restart of the subnet manager.
//!
//! In its first sweep, OpenSM requests a new registration (client reregistration) of every port. ibsim's ports do not
//! have the capability bit for this request, and ibsim does not pass the request on. Therefore this module polls the
//! subnet manager with SMInfo, as a standby manager does (IBTA 14.4.1). The activity count in SMInfo increases while
//! the subnet manager works; a new process starts at zero. If a new process has already reached the old count at the
//! next poll, ibsim has returned an earlier poll as undeliverable.
use ib_mad::{Guid, SmState, smp::SmInfo};

/// The last known state of the subnet manager.
#[derive(Debug, Default)]
pub(super) struct Manager {
    guid: Guid,
    activity: u32,
    is_new: bool,
}

impl Manager {
    /// Handles an SMInfo. Returns true if the subnet manager was restarted since the last call and is master again. (A
    /// takeover by another subnet manager changes the ports' attributes.)
    pub(super) fn handle_info(&mut self, info: &SmInfo) -> bool {
        let activity = info.act_count.get();
        self.is_new |= info.guid == self.guid && activity < self.activity;
        (self.guid, self.activity) = (info.guid, activity);
        info.priority_state.sm_state() == SmState::MASTER && core::mem::take(&mut self.is_new)
    }

    /// Handles a query that ibsim returned as undeliverable: the subnet manager has ended.
    pub(super) fn handle_undelivered(&mut self) {
        self.is_new |= self.guid != Guid::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{smp::PriorityState, wire::Counter32};

    #[test]
    fn restarted_manager_is_reported_once_when_it_is_master() {
        let mut manager = Manager::default();
        manager.handle_undelivered();
        let poll = |manager: &mut Manager, guid, activity, state| {
            let priority_state = PriorityState::default().with_sm_state(state);
            let info = SmInfo {
                guid: Guid::new(guid),
                act_count: Counter32::new(activity),
                priority_state,
                ..SmInfo::default()
            };
            manager.handle_info(&info)
        };
        assert!(!poll(&mut manager, 1, 90, SmState::MASTER), "the first manager");
        assert!(!poll(&mut manager, 1, 91, SmState::MASTER));
        assert!(!poll(&mut manager, 1, 3, SmState::DISCOVERING));
        assert!(!poll(&mut manager, 1, 40, SmState::DISCOVERING));
        assert!(poll(&mut manager, 1, 41, SmState::MASTER));
        assert!(!poll(&mut manager, 1, 41, SmState::MASTER));
        manager.handle_undelivered();
        assert!(poll(&mut manager, 1, 99, SmState::MASTER), "a poll was undeliverable");
        assert!(!poll(&mut manager, 2, 7, SmState::MASTER), "another manager");
        assert!(poll(&mut manager, 2, 6, SmState::MASTER));
    }
}
