//! MCMemberRecord Get, Set (join) and Delete (leave).
use super::{
    Group,
    path::within,
    state::{FIRST_MLID, Sa},
};
use crate::{id::PortId, port::Port, subnet::Subnet};
use ib_mad::{
    Gid, Lid, Method, PacketLifeTime, PortState, Selected, Selector, Status,
    notice::TrapNumber,
    sa::{JoinState, McMemberMask, McMemberRecord, Query, SaMad, ScopeState},
};

type SaResult<T> = Result<T, Status>;

/// Components that a join must have.
const JOIN: McMemberMask = McMemberMask::MGID.union(McMemberMask::PORT_GID).union(McMemberMask::JOIN_STATE);
/// Further components that a join must have if it creates the group (IBTA 15.2.5.17).
const CREATE: McMemberMask = McMemberMask::QKEY
    .union(McMemberMask::TRAFFIC_CLASS)
    .union(McMemberMask::PKEY)
    .union(McMemberMask::SL)
    .union(McMemberMask::FLOW_LABEL);

/// Components that are not compared with the group, because they are not properties of the group, or because the
/// administrator chooses them.
const NOT_COMPARED: McMemberMask =
    McMemberMask::MLID.union(McMemberMask::HOP_LIMIT).union(McMemberMask::LIFE).union(McMemberMask::PROXY_JOIN);

impl Subnet {
    /// Returns the matching membership. Without a port in the query, returns the matching group.
    pub(super) fn find_member(&self, query: &Query<McMemberRecord>) -> SaResult<McMemberRecord> {
        let port_gid = query.has(McMemberMask::PORT_GID).then_some(query.record().port_gid);
        let port = port_gid.map(|gid| self.port_by_gid(gid).ok_or(Status::SA_NO_RECORDS)).transpose()?;
        let query = query.without(McMemberMask::JOIN_STATE);
        let record = |group: &Group| match port {
            Some(port) => Some(group.record(query.record().port_gid, *group.members.get(&port)?)),
            None => Some(group.record(Gid::ZERO, JoinState::empty())),
        };
        let mut found = self.groups().filter_map(record).filter(|record| query.matches(record));
        let one = found.next().ok_or(Status::SA_NO_RECORDS)?;
        if found.next().is_some() { Err(Status::SA_TOO_MANY_RECORDS) } else { Ok(one) }
    }

    /// Joins a port to a group. Creates the group if it does not exist.
    pub(super) fn join(&mut self, query: &Query<McMemberRecord>) -> SaResult<McMemberRecord> {
        if !query.has(JOIN) {
            return Err(Status::SA_INSUFFICIENT_COMPONENTS);
        }
        let request = query.record();
        let id = self.port_by_gid(request.port_gid).ok_or(Status::SA_REQUEST_INVALID)?;
        let port = self.port(id).ok_or(Status::SA_REQUEST_INVALID)?.clone();
        let join_state = request.scope_state.join_state();
        if join_state.is_empty() || port.state == PortState::DOWN || !request.mgid.is_multicast() {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let sa = self.sa_mut();
        let mut group = match sa.groups.get(&request.mgid) {
            Some(group) => group.clone(),
            None => sa.new_group(&port, query)?,
        };
        let agrees = query.without(NOT_COMPARED).matches(&group.record(request.port_gid, join_state));
        if !agrees || !group.allows(&port) {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let state = group.members.entry(id).or_default();
        *state |= join_state;
        let state = *state;
        let record = group.record(request.port_gid, state);
        if sa.groups.insert(group.mgid, group).is_none() {
            self.report_trap(TrapNumber::MGID_CREATED, request.mgid);
        }
        Ok(record)
    }

    /// Ends a port's membership, or a part of it.
    pub(super) fn leave(&mut self, query: &Query<McMemberRecord>) -> SaResult<McMemberRecord> {
        if !query.has(JOIN) {
            return Err(Status::SA_INSUFFICIENT_COMPONENTS);
        }
        let request = query.record();
        let port = self.port_by_gid(request.port_gid).ok_or(Status::SA_REQUEST_INVALID)?;
        let leaving = request.scope_state.join_state();
        let sa = self.sa_mut();
        let group = sa.groups.get_mut(&request.mgid).ok_or(Status::SA_REQUEST_INVALID)?;
        let state = group.members.get_mut(&port).ok_or(Status::SA_REQUEST_INVALID)?;
        if leaving.is_empty() || !state.contains(leaving) {
            return Err(Status::SA_REQUEST_INVALID);
        }
        state.remove(leaving);
        if state.is_empty() {
            group.members.remove(&port);
        }
        let record = group.record(request.port_gid, leaving);
        if !group.lives() {
            sa.groups.remove(&request.mgid);
            self.report_trap(TrapNumber::MGID_DESTROYED, request.mgid);
        }
        Ok(record)
    }

    /// Updates groups and memberships from a response of an external administrator.
    pub(crate) fn update_groups(&mut self, requester: PortId, request: &SaMad, response: &SaMad) {
        let (Ok(requested), Ok(granted)) = (request.record::<McMemberRecord>(), response.record::<McMemberRecord>())
        else {
            return;
        };
        if !response.header.status.is_ok() || !granted.mgid.is_multicast() {
            return;
        }
        let port = self.port_by_gid(requested.port_gid).unwrap_or(requester);
        let groups = &mut self.sa_mut().groups;
        match request.header.method {
            Method::SET => {
                let members = groups.remove(&granted.mgid).map(|group| group.members).unwrap_or_default();
                let mut group = Group { members, ..Group::from_record(granted) };
                group.members.insert(port, granted.scope_state.join_state());
                groups.insert(group.mgid, group);
            }
            Method::DELETE => {
                if let Some(group) = groups.get_mut(&granted.mgid) {
                    if let Some(state) = group.members.get_mut(&port) {
                        state.remove(requested.scope_state.join_state());
                    }
                    group.members.retain(|_, state| !state.is_empty());
                }
                groups.retain(|_, group| group.lives());
            }
            _ => {}
        }
    }
}

impl Sa {
    /// Creates the group of a join, without members.
    fn new_group(&mut self, port: &Port, query: &Query<McMemberRecord>) -> SaResult<Group> {
        if !query.has(CREATE) {
            return Err(Status::SA_INSUFFICIENT_COMPONENTS);
        }
        let request = query.record();
        let join_state = request.scope_state.join_state();
        if !join_state.intersects(JoinState::FULL_MEMBER) || !request.pkey.is_valid() {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let invalid = Status::SA_REQUEST_INVALID;
        let exact = query.requested_packet_life_time().filter(|life| life.selector() == Selector::Exactly);
        Ok(Group {
            mgid: request.mgid,
            mlid: self.free_mlid().ok_or(Status::SA_NO_RESOURCES)?,
            qkey: request.qkey,
            pkey: request.pkey,
            mtu: within(query.requested_mtu(), port.mtu).filter(|mtu| mtu.bytes().is_some()).ok_or(invalid)?,
            rate: within(query.requested_rate(), port.rate).ok_or(invalid)?,
            packet_life_time: exact.map_or(PacketLifeTime::of::<18>(), |life| life.value()),
            traffic_class: request.traffic_class,
            sl_flow_hop: request.sl_flow_hop,
            scope: request.mgid.multicast_scope(),
            members: Default::default(),
        })
    }

    /// Returns an unused multicast LID. LIDs are used in turn.
    fn free_mlid(&mut self) -> Option<Lid> {
        let first = self.next_mlid.get();
        let candidates = (first..0xffff).chain(FIRST_MLID.get()..first).map(Lid::new);
        let mut candidates = candidates.filter(|lid| lid.is_multicast());
        let free = candidates.find(|lid| self.groups.values().all(|group| group.mlid != *lid))?;
        self.next_mlid = Lid::new(free.get().wrapping_add(1));
        if !self.next_mlid.is_multicast() {
            self.next_mlid = FIRST_MLID;
        }
        Some(free)
    }
}

impl Group {
    /// True if a port can be a member: it is in the partition and supports the group's MTU and rate.
    fn allows(&self, port: &Port) -> bool {
        port.pkeys.iter().any(|pkey| pkey.is_valid() && pkey.same_partition(self.pkey))
            && port.mtu >= self.mtu
            && port.rate.mbps() >= self.rate.mbps()
    }

    pub(super) fn record(&self, port_gid: Gid, join_state: JoinState) -> McMemberRecord {
        McMemberRecord {
            mgid: self.mgid,
            port_gid,
            qkey: self.qkey,
            mlid: self.mlid,
            mtu: Selected::exactly(self.mtu),
            traffic_class: self.traffic_class,
            pkey: self.pkey,
            rate: Selected::exactly(self.rate),
            packet_life_time: Selected::exactly(self.packet_life_time),
            sl_flow_hop: self.sl_flow_hop,
            scope_state: ScopeState::default().with_scope(self.scope).with_join_state(join_state),
            ..McMemberRecord::default()
        }
    }

    fn from_record(record: &McMemberRecord) -> Self {
        Self {
            mgid: record.mgid,
            mlid: record.mlid,
            qkey: record.qkey,
            pkey: record.pkey,
            mtu: record.mtu.value(),
            rate: record.rate.value(),
            packet_life_time: record.packet_life_time.value(),
            traffic_class: record.traffic_class,
            sl_flow_hop: record.sl_flow_hop,
            scope: record.scope_state.scope(),
            members: Default::default(),
        }
    }
}
