//! The states of all endpoints.
use super::{EndpointState, group::Group};
use crate::{
    accounts::credit::QueuePositions,
    api::{
        SendTo,
        id::{EndpointId, PortId},
        port::PortAttributes,
    },
    provider::Context,
    resolver::{
        dest::{Remote, Responder},
        paths,
        token::Task,
    },
    shared::random::{Purpose, Random, Seed},
};
use acm_wire::{Address, multicast};
use alloc::collections::{BTreeMap, VecDeque};
use ib_mad::{acm::AcmMad, id::Lmc, sa::PathRecord};

/// The states of all endpoints whose port was active, or had a queue pair.
#[derive(Debug)]
pub(crate) struct Endpoints {
    states: BTreeMap<EndpointId, EndpointState>,
    /// Recently removed local addresses, oldest first.
    pub(super) removed: VecDeque<Address>,
    /// Random numbers for what is repeated at regular intervals.
    pub(super) intervals: Random,
    /// The state of other endpoints: no group, no path, no request.
    empty: EndpointState,
    lost: u64,
}

impl Endpoints {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            states: BTreeMap::new(),
            removed: VecDeque::new(),
            intervals: Random::new(seed, Purpose::Intervals),
            empty: EndpointState::default(),
            lost: 0,
        }
    }

    /// Returns the state of an endpoint.
    pub(crate) fn at(&self, id: EndpointId) -> &EndpointState {
        self.states.get(&id).unwrap_or(&self.empty)
    }

    /// Returns the state of an endpoint that must have one: it has a request, a group or a table. If it has none, this
    /// is a defect of this module, which is counted.
    pub(crate) fn at_mut(&mut self, id: EndpointId) -> Option<&mut EndpointState> {
        let state = self.states.get_mut(&id);
        debug_assert!(state.is_some(), "{id} has no state");
        self.lost += u64::from(state.is_none());
        state
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

    /// Reports whether a join of a port waits or is in flight, and has not failed before.
    pub(crate) fn is_joining(&self, cx: &Context, port: PortId) -> bool {
        cx.endpoints_of(port).into_iter().any(|endpoint| {
            let mut groups = self.at(endpoint).groups.iter();
            groups.any(|group| group.join.is_some() || group.failures == 0 && is_join_due(cx, endpoint, group))
        })
    }

    /// Reports whether an endpoint is not in its base group yet, and its join waits or is in flight and has not failed
    /// before. Requests to the group then wait, too.
    pub(crate) fn awaits_base_group(&self, cx: &Context, endpoint: EndpointId) -> bool {
        self.at(endpoint).groups.first().is_some_and(|base| {
            let is_joining = || base.join.is_some() || is_join_due(cx, endpoint, base);
            base.member.is_none() && base.failures == 0 && is_joining()
        })
    }

    /// Returns the path to a location from the parameters of the shared group.
    pub(crate) fn path_by_group(&self, cx: &Context, endpoint: EndpointId, remote: &Remote) -> Option<PathRecord> {
        let port = cx.port_of(endpoint)?;
        let path = self.at(endpoint).path_by_group(remote, port.lid)?;
        // The membership may be that of a former GID.
        Some(PathRecord { sgid: port.gid(), ..path })
    }

    /// Records the GID at the end of a path, so that datagrams of another GID there contradict it.
    pub(crate) fn note_path(&mut self, endpoint: EndpointId, path: &PathRecord, lmc: Lmc) {
        if let Some(state) = self.states.get_mut(&endpoint) {
            let _ = state.hosts.note(path.dlid.base(lmc), path.dgid, None);
        }
    }

    /// Sends a datagram, with the generation of the endpoint's addresses unless the option `witness` is off.
    pub(crate) fn send(&self, cx: &mut Context, endpoint: EndpointId, to: SendTo, mad: AcmMad) {
        send(cx, endpoint, to, mad, self.at(endpoint).generation);
    }

    /// Responds to a request for an address that was local when the request arrived. If the path leads to another LID
    /// than that of the request, the host there did not ask, and gets no response.
    pub(crate) fn respond(cx: &mut Context, endpoint: EndpointId, path: &PathRecord, responder: &Responder) {
        let Responder { tid, remote, generation } = responder;
        if !remote.is_at_end_of(path, cx.lmc_of(endpoint)) {
            return;
        }
        send_along(
            cx,
            endpoint,
            path,
            remote,
            multicast::response(*tid, remote.group.unwrap_or_default()),
            *generation,
        );
    }

    /// Sends a response to a remote host.
    pub(crate) fn send_response(
        &self,
        cx: &mut Context,
        endpoint: EndpointId,
        path: &PathRecord,
        to: &Remote,
        response: AcmMad,
    ) {
        send_along(cx, endpoint, path, to, response, self.at(endpoint).generation);
    }

    /// Removes a request from an endpoint's queue.
    pub(crate) fn leave_queue(&mut self, id: EndpointId, positions: &mut QueuePositions) {
        if let Some(state) = self.at_mut(id) {
            state.queue.leave_all(positions);
        }
    }

    /// Reports whether a port of this node fits.
    pub(crate) fn has_port(&self, cx: &Context, fits: impl Fn(&PortAttributes) -> bool) -> bool {
        self.ids().any(|endpoint| cx.port_of(endpoint).is_some_and(&fits))
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

/// Sends a datagram to a remote host along a path.
fn send_along(cx: &mut Context, endpoint: EndpointId, path: &PathRecord, to: &Remote, mad: AcmMad, generation: u16) {
    if let Some(to) = cx.port_of(endpoint).map(|port| paths::send_to(path, to, port)) {
        send(cx, endpoint, to, mad, generation);
    }
}

fn send(cx: &mut Context, endpoint: EndpointId, to: SendTo, mad: AcmMad, generation: u16) {
    let generation = if cx.shared.config().witness { generation } else { 0 };
    cx.send(endpoint, to, multicast::with_generation(mad, generation));
}

fn is_join_due(cx: &Context, endpoint: EndpointId, group: &Group) -> bool {
    cx.shared.timer(Task::Group(endpoint, group.index).token()).is_some()
}
