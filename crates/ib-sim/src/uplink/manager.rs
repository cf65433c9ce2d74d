//! Whether the subnet manager is still the one that it was.
//!
//! OpenSM asks every port to register again in the first sweep of its life. ibsim keeps nothing of that, and its ports do
//! not even say that they could be asked. So the manager is asked what it is, as one that stands by for it does
//! (IBTA 14.4.1): its activity count goes up as long as it works, and begins anew with a new process. One that is killed
//! may be as active as the last one when it is asked next, but ibsim notices that it is gone by the question to it.
use ib_mad::{Guid, SmState, smp::SmInfo};

/// What is known of the subnet manager.
#[derive(Debug, Default)]
pub(super) struct Manager {
    guid: Guid,
    activity: u32,
    is_new: bool,
}

impl Manager {
    /// Takes in what it is now. Whether it has forgotten everything since the last time, and is master again. (That
    /// another one is master at another port is seen at the ports.)
    pub(super) fn hear(&mut self, info: &SmInfo) -> bool {
        let activity = info.act_count.get();
        self.is_new |= info.guid == self.guid && activity < self.activity;
        (self.guid, self.activity) = (info.guid, activity);
        info.priority_state.sm_state() == SmState::MASTER && core::mem::take(&mut self.is_new)
    }

    /// A question to it came back: nobody is there.
    pub(super) fn leave(&mut self) {
        self.is_new |= self.guid != Guid::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{smp::PriorityState, wire::Counter32};

    #[test]
    fn a_new_one_is_master_once() {
        let mut manager = Manager::default();
        manager.leave();
        let hear = |manager: &mut Manager, guid, activity, state| {
            let priority_state = PriorityState::default().with_sm_state(state);
            let info = SmInfo {
                guid: Guid::new(guid),
                act_count: Counter32::new(activity),
                priority_state,
                ..SmInfo::default()
            };
            manager.hear(&info)
        };
        assert!(!hear(&mut manager, 1, 90, SmState::MASTER), "the first that is seen");
        assert!(!hear(&mut manager, 1, 91, SmState::MASTER));
        assert!(!hear(&mut manager, 1, 3, SmState::DISCOVERING));
        assert!(!hear(&mut manager, 1, 40, SmState::DISCOVERING));
        assert!(hear(&mut manager, 1, 41, SmState::MASTER));
        assert!(!hear(&mut manager, 1, 41, SmState::MASTER));
        manager.leave();
        assert!(hear(&mut manager, 1, 99, SmState::MASTER), "it was away");
        assert!(!hear(&mut manager, 2, 7, SmState::MASTER), "another one");
        assert!(hear(&mut manager, 2, 6, SmState::MASTER));
    }
}
