//! Multicast groups of an endpoint: join, rejoin, leave.
use super::{Endpoints, group::Group, group_plan};
use crate::{
    api::{
        Event, ResolverEvent, SaError,
        account::DAEMON,
        id::{EndpointId, PortId},
        port::PortAttributes,
    },
    provider::Context,
    resolver::{stats::IbacmpStats, token::Task},
    retry::{AT_ONCE, JOIN, JOIN_SPREAD, REJOIN, jitter},
    sa::SaQuery,
};
use alloc::vec::Vec;
use ib_mad::{
    Gid, Lid,
    sa::{JoinState, McMemberRecord, Query, SaMad},
};

impl Endpoints {
    /// Joins all groups of an endpoint, including those that it is already in. In a large fabric all ports may come up
    /// at once, so that the joins are spread; the subnet administrator can queue those of a small fabric.
    pub(crate) fn join_all(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let is_large = cx.shared.fabric_size() > AT_ONCE;
        for index in self.choose_groups(cx, endpoint) {
            if is_large {
                Self::join_soon(cx, endpoint, index);
            } else {
                self.join(cx, endpoint, index);
            }
        }
    }

    /// Joins all groups of an endpoint, each after a random pause, because every node of the subnet rejoins now. A join
    /// that was started at this very instant is sufficient: a port that comes up under a subnet manager without
    /// memberships causes two events at once. An earlier join that is in flight is repeated, because the subnet manager
    /// may have lost it. Earlier failures do not count, because they may be those of another subnet manager.
    pub(crate) fn join_all_soon(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let now = cx.shared.now();
        for index in self.choose_groups(cx, endpoint) {
            let Some(group) = self.group_mut(endpoint, index) else { return };
            group.forget_failures();
            group.rejoin = group.join.is_some() && group.requested_at != Some(now);
            if group.join.is_none() {
                Self::join_soon(cx, endpoint, index);
            }
        }
    }

    fn join_soon(cx: &mut Context, endpoint: EndpointId, index: u32) {
        let token = Task::Group(endpoint, index).token();
        // The pause after a failed join may be longer.
        let latest = cx.shared.now() + JOIN_SPREAD.below(cx.shared.fabric_size());
        if cx.shared.timer(token).is_none_or(|due| due > latest) {
            let at = cx.shared.now() + cx.shared.spread(JOIN_SPREAD);
            cx.shared.set_timer(token, at);
        }
    }

    /// Chooses the groups of an endpoint by its port and the options, and leaves all others. Returns the indexes.
    fn choose_groups(&mut self, cx: &mut Context, endpoint: EndpointId) -> Vec<u32> {
        let (Some(here), Some(port)) = (cx.endpoint(endpoint), cx.port_of(endpoint)) else { return Vec::new() };
        let (pkey, chosen) = (here.pkey, group_plan::groups(cx.shared.config(), port));
        let state = self.entry(endpoint);
        let mut before = core::mem::take(&mut state.groups);
        let mut taken: Vec<u32> = before.iter().map(|group| group.index).collect();
        state.groups = chosen
            .into_iter()
            .map(|(rate, mtu)| {
                let index = (0..).find(|index| !taken.contains(index)).unwrap_or_default();
                let group = Group::new(index, pkey, rate, mtu);
                match before.iter().position(|old| old.mgid == group.mgid) {
                    Some(index) => before.remove(index),
                    None => {
                        taken.push(index);
                        group
                    }
                }
            })
            .collect();
        let indexes = state.groups.iter().map(|group| group.index).collect();
        for group in before {
            cx.shared.clear_timer(Task::Group(endpoint, group.index).token());
            self.leave(cx, endpoint, &group);
        }
        indexes
    }

    /// Joins all groups of an endpoint again, unless a join is in flight or waits for its turn. The subnet manager may have
    /// lost the memberships without an event here.
    pub(crate) fn rejoin(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for Group { index, member, join, .. } in self.groups(endpoint) {
            if join.is_some() || cx.shared.timer(Task::Group(endpoint, index).token()).is_some() {
                continue;
            }
            if let Some(group) = self.group_mut(endpoint, index) {
                group.repeats = member.is_some();
            }
            self.join(cx, endpoint, index);
        }
    }

    /// Joins a group, unless a join is in flight.
    pub(crate) fn join(&mut self, cx: &mut Context, endpoint: EndpointId, index: u32) {
        let Some(pkey) = cx.endpoint(endpoint).map(|endpoint| endpoint.pkey) else { return };
        let (now, sl) = (cx.shared.now(), cx.shared.config().group_sl);
        let Some(group) = self.group_mut(endpoint, index) else { return };
        if group.join.is_some() {
            return;
        }
        (group.requested_at, group.rejoin) = (Some(now), false);
        let query = group.join_query(pkey, sl);
        let token = Task::Group(endpoint, index).token();
        cx.shared.clear_timer(token);
        match cx.sa_query(endpoint, token, query, DAEMON) {
            // The port joins again when it comes back.
            Err(_) => {}
            Ok(query) => {
                if let Some(group) = self.group_mut(endpoint, index) {
                    group.join = Some(query);
                }
            }
        }
    }

    /// Handles the result of a join.
    pub(crate) fn join_done(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        index: u32,
        result: Result<&SaMad, SaError>,
    ) -> JoinEnd {
        let Some(group) = self.group_mut(endpoint, index) else { return JoinEnd::Unchanged };
        group.join = None;
        let record = result.and_then(|mad| mad.record::<McMemberRecord>().map_err(|_| SaError::BadResponse));
        let record = match record {
            // With an invalid MLID, datagrams would go to a port, or be lost.
            Ok(record) if record.mgid == group.mgid && record.mlid.is_multicast() => *record,
            Ok(_) => return self.join_failed(cx, stats, endpoint, index, SaError::BadResponse),
            Err(error) => return self.join_failed(cx, stats, endpoint, index, error),
        };
        let old = group.member.replace(record);
        group.forget_failures();
        let repeats = core::mem::take(&mut group.repeats);
        if core::mem::take(&mut group.rejoin) {
            Self::join_soon(cx, endpoint, index);
        }
        stats.joins += 1;
        let (mgid, mlid) = (record.mgid, record.mlid);
        let at = cx.shared.now() + jitter(REJOIN, self.intervals.next());
        cx.shared.set_timer(Task::Rejoin(endpoint).token(), at);
        // The membership under the port's previous GID still exists.
        if let Some(gid) = old.map(|old| old.port_gid).filter(|gid| !gid.is_zero() && *gid != record.port_gid) {
            Self::leave_as(cx, endpoint, mgid, gid);
        }
        let base = self.base_mut(endpoint).filter(|base| base.index == index);
        let is_base = base.is_some();
        match base {
            Some(base) if old.is_none_or(|old| old.mlid != mlid) => {
                base.is_attached = false;
                if let Some(old) = old {
                    cx.detach(endpoint, mgid, old.mlid);
                }
                cx.attach(endpoint, mgid, mlid);
            }
            // Peers do not reach this node before its queue pair is attached.
            Some(base) if !base.is_attached => {}
            _ if repeats && old == Some(record) => {}
            _ => cx.shared.log(join_event(endpoint, &record)),
        }
        if is_base {
            let (now, is_new) = (cx.shared.now(), old.is_none_or(|old| old.mlid != mlid));
            if let Some(state) = self.at_mut(endpoint) {
                state.announcement.has_joined = true;
                if is_new {
                    state.hosts.expect_any(now);
                }
            }
            self.schedule_witness(cx, endpoint);
        }
        if is_base && old.is_none() {
            self.prefetch_joined(cx, endpoint);
        }
        self.announce_soon(cx, endpoint);
        JoinEnd::Joined
    }

    /// Records that the queue pair receives the datagrams of the base group.
    pub(crate) fn attached(&mut self, cx: &mut Context, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        let Some(base) = self.base_mut(endpoint) else { return };
        // The group may have got another LID since.
        let Some(record) = base.member.filter(|member| (member.mgid, member.mlid) == (mgid, mlid)) else { return };
        // The end of a join that is in flight is logged.
        if !core::mem::replace(&mut base.is_attached, true) && base.join.is_none() {
            cx.shared.log(join_event(endpoint, &record));
        }
    }

    fn join_failed(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        index: u32,
        error: SaError,
    ) -> JoinEnd {
        let Some(group) = self.group_mut(endpoint, index) else { return JoinEnd::Unchanged };
        // The port joins again when it comes back.
        if error == SaError::PortDown {
            return JoinEnd::Unchanged;
        }
        // The request is from before an event, and may not fit any more.
        if core::mem::take(&mut group.rejoin) {
            group.repeats = false;
            Self::join_soon(cx, endpoint, index);
            return JoinEnd::Unchanged;
        }
        let Some(error) = group.join_failed(error) else {
            self.join(cx, endpoint, index);
            return JoinEnd::Unchanged;
        };
        (group.failures, group.repeats) = (group.failures.saturating_add(1), false);
        let (mgid, pause) = (group.mgid, JOIN.pause(group.failures));
        let pause = cx.shared.jitter(pause);
        stats.joins_failed += 1;
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        cx.shared.log(ResolverEvent::JoinFailed(endpoint, mgid, error, pause_ms).into());
        let at = cx.shared.now() + pause;
        cx.shared.set_timer(Task::Group(endpoint, index).token(), at);
        if self.at(endpoint).base_group().is_none() { JoinEnd::WithoutGroup } else { JoinEnd::Unchanged }
    }

    /// Leaves all groups of an endpoint.
    pub(crate) fn leave_all(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for group in self.stop(cx, endpoint) {
            self.leave(cx, endpoint, &group);
        }
    }

    /// Ends the timers of an endpoint's groups, and detaches its queue pair. Returns the groups.
    fn stop(&self, cx: &mut Context, endpoint: EndpointId) -> Vec<Group> {
        cx.shared.clear_timer(Task::Rejoin(endpoint).token());
        cx.shared.clear_timer(Task::Witness(endpoint).token());
        let groups = self.groups(endpoint);
        for group in &groups {
            cx.shared.clear_timer(Task::Group(endpoint, group.index).token());
        }
        if let Some(Group { mgid, member: Some(member), .. }) = groups.first() {
            cx.detach(endpoint, *mgid, member.mlid);
        }
        groups
    }

    /// Leaves a group under the GID that joined it.
    fn leave(&mut self, cx: &mut Context, endpoint: EndpointId, group: &Group) {
        if let Some(query) = group.join {
            cx.sa_discard(query);
        }
        let Some(port_gid) = cx.port_of(endpoint).map(PortAttributes::gid) else { return };
        if group.member.is_none() && group.join.is_none() {
            return;
        }
        let joined = group.member.map(|member| member.port_gid).filter(|gid| !gid.is_zero());
        Self::leave_as(cx, endpoint, group.mgid, joined.unwrap_or(port_gid));
    }

    fn leave_as(cx: &mut Context, endpoint: EndpointId, mgid: Gid, port_gid: Gid) {
        let query = Query::<McMemberRecord>::new().mgid(mgid).port_gid(port_gid);
        cx.sa_leave_group(endpoint, SaQuery::Leave(query.join_state(JoinState::FULL_MEMBER)));
    }

    /// Drops the memberships of a port that is down. The subnet manager removes the port from all groups.
    pub(crate) fn drop_memberships(&mut self, cx: &mut Context, endpoint: EndpointId) {
        self.stop(cx, endpoint);
        let Some(state) = self.get_mut(endpoint) else { return };
        state.hosts.expect_none();
        for group in &mut state.groups {
            group.forget_failures();
            (group.member, group.is_attached, group.requested_at, group.rejoin) = (None, false, None, false);
        }
    }

    /// Handles the creation or deletion of a group: each endpoint of the port that should be in the group joins it
    /// again.
    pub(crate) fn handle_group_notice(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        port: PortId,
        mgid: Gid,
        is_deleted: bool,
    ) {
        for endpoint in cx.endpoints_of(port) {
            let groups = &self.at(endpoint).groups;
            let is_affected =
                |group: &Group| group.mgid == mgid && group.join.is_none() && group.member.is_some() == is_deleted;
            let indexes: Vec<u32> = groups.iter().filter(|group| is_affected(group)).map(|group| group.index).collect();
            for index in indexes {
                self.join_after_notice(cx, stats, endpoint, index);
            }
        }
    }

    fn join_after_notice(&mut self, cx: &mut Context, stats: &mut IbacmpStats, endpoint: EndpointId, index: u32) {
        let token = Task::Group(endpoint, index).token();
        // However many notices arrive, only one join is sent in the time that a join may take.
        let requested_at = self.group_mut(endpoint, index).and_then(|group| group.requested_at);
        let after = requested_at.map(|requested_at| requested_at + cx.shared.config().timeout);
        let first = after.map_or(cx.shared.now(), |after| cx.shared.now().max(after));
        if cx.shared.timer(token).is_none_or(|due| due > first + JOIN_SPREAD.below(cx.shared.fabric_size())) {
            stats.groups_noticed += 1;
            let at = first + cx.shared.spread(JOIN_SPREAD);
            cx.shared.set_timer(token, at);
        }
    }

    fn groups(&self, endpoint: EndpointId) -> Vec<Group> {
        self.at(endpoint).groups.clone()
    }
}

/// The end of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinEnd {
    /// The endpoint is in the group. Requests may have waited for it.
    Joined,
    /// The join failed, and the endpoint is not in its base group: nobody can be asked.
    WithoutGroup,
    /// The memberships are as before.
    Unchanged,
}

/// Returns the event of a complete join: this node is a member, and peers reach it.
fn join_event(endpoint: EndpointId, record: &McMemberRecord) -> Event {
    let McMemberRecord { mgid, mlid, mtu, rate, .. } = record;
    ResolverEvent::Joined(endpoint, *mgid, *mlid, mtu.value(), rate.value()).into()
}
