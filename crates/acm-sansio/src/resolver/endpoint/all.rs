//! The states of all endpoints.
use super::{EndpointState, group::Group};
use crate::api::id::EndpointId;
use alloc::collections::BTreeMap;

/// The states of all endpoints whose port was active, or had a queue pair.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    states: BTreeMap<EndpointId, EndpointState>,
    /// The state of other endpoints: no group, no path, no request.
    empty: EndpointState,
    /// Stands for the state of an endpoint that should have one.
    nowhere: EndpointState,
    lost: u64,
}

impl Endpoints {
    /// Returns the state of an endpoint.
    pub(crate) fn at(&self, id: EndpointId) -> &EndpointState {
        self.states.get(&id).unwrap_or(&self.empty)
    }

    /// Returns the state of an endpoint that must have one: it has a request, a group or a table. If it has none, this
    /// is a defect of this module, which is counted.
    pub(crate) fn at_mut(&mut self, id: EndpointId) -> &mut EndpointState {
        match self.states.get_mut(&id) {
            Some(state) => state,
            None => {
                debug_assert!(false, "{id} has no state");
                self.lost += 1;
                self.nowhere = EndpointState::default();
                &mut self.nowhere
            }
        }
    }

    /// Returns a group that must exist: it has a timer, a join or a notice. If it does not, this is counted as well.
    pub(crate) fn group_mut(&mut self, id: EndpointId, index: u32) -> Option<&mut Group> {
        let has_group = self.at(id).groups.iter().any(|group| group.index == index);
        debug_assert!(has_group, "{id} has no group {index}");
        self.lost += u64::from(!has_group);
        self.states.get_mut(&id)?.groups.iter_mut().find(|group| group.index == index)
    }

    /// Returns the base group of an endpoint, if it has chosen its groups.
    pub(crate) fn base_mut(&mut self, id: EndpointId) -> Option<&mut Group> {
        self.states.get_mut(&id)?.groups.first_mut()
    }

    /// Returns the state of an endpoint, and creates it if necessary.
    pub(crate) fn entry(&mut self, id: EndpointId) -> &mut EndpointState {
        self.states.entry(id).or_default()
    }

    /// Returns the state of an endpoint, if it has one.
    pub(crate) fn get(&self, id: EndpointId) -> Option<&EndpointState> {
        self.states.get(&id)
    }

    /// Returns the state of an endpoint, if it has one.
    pub(crate) fn get_mut(&mut self, id: EndpointId) -> Option<&mut EndpointState> {
        self.states.get_mut(&id)
    }

    pub(crate) fn remove(&mut self, id: EndpointId) {
        self.states.remove(&id);
    }

    /// Returns how often an endpoint or group should have existed and did not.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = EndpointId> {
        self.states.keys().copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EndpointId, &EndpointState)> {
        self.states.iter().map(|(id, state)| (*id, state))
    }
}
