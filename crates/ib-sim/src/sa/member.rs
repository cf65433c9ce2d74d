//! MCMemberRecord Get, Set (join) and Delete (leave).
use super::{
    Group,
    path::{pick_mtu, pick_rate},
    state::{FIRST_MLID, Sa},
};
use crate::{Port, PortId, Subnet};
use ib_mad::{
    Gid, Lid, Method, PacketLifeTime, PortState, Selected, Selector, Status,
    notice::TrapNumber,
    sa::{JoinState, McMemberMask, McMemberRecord, SaMad, ScopeState},
};

type Answer<T> = Result<T, Status>;

/// What a request must have to join.
const JOIN: McMemberMask = McMemberMask::MGID.union(McMemberMask::PORT_GID).union(McMemberMask::JOIN_STATE);
/// What it must have beyond that to create the group (IBTA 15.2.5.17).
const CREATE: McMemberMask = McMemberMask::QKEY
    .union(McMemberMask::TRAFFIC_CLASS)
    .union(McMemberMask::PKEY)
    .union(McMemberMask::SL)
    .union(McMemberMask::FLOW_LABEL);

impl Subnet {
    /// The one membership, or (without a port) the one group, that was asked for.
    pub(super) fn find_member(&self, asked: &McMemberRecord, mask: u64) -> Answer<McMemberRecord> {
        let mask = McMemberMask::from_bits_retain(mask);
        let port = match mask.contains(McMemberMask::PORT_GID) {
            true => Some(self.port_by_gid(asked.port_gid).ok_or(Status::SA_NO_RECORDS)?),
            false => None,
        };
        let by_mgid = mask.contains(McMemberMask::MGID).then_some(asked.mgid);
        let mut found = self.groups().filter(|group| {
            by_mgid.is_none_or(|mgid| mgid == group.mgid)
                && (!mask.contains(McMemberMask::MLID) || asked.mlid == group.mlid)
                && port.is_none_or(|port| group.members.contains_key(&port))
                && group.accepts(asked, mask)
        });
        let group = found.next().ok_or(Status::SA_NO_RECORDS)?;
        if found.next().is_some() {
            return Err(Status::SA_TOO_MANY_RECORDS);
        }
        let state = port.and_then(|port| group.members.get(&port)).copied().unwrap_or_default();
        Ok(group.record(if port.is_some() { asked.port_gid } else { Gid::ZERO }, state))
    }

    /// Joins a port, creating the group if it is not there.
    pub(super) fn join(&mut self, asked: &McMemberRecord, mask: u64) -> Answer<McMemberRecord> {
        let mask = McMemberMask::from_bits_retain(mask);
        if !mask.contains(JOIN) {
            return Err(Status::SA_INSUFFICIENT_COMPONENTS);
        }
        let id = self.port_by_gid(asked.port_gid).ok_or(Status::SA_REQUEST_INVALID)?;
        let port = self.port(id).ok_or(Status::SA_REQUEST_INVALID)?.clone();
        let wanted = asked.scope_state.join_state();
        if wanted.is_empty() || port.state == PortState::DOWN || !asked.mgid.is_multicast() {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let sa = self.sa_mut();
        let mut group = match sa.groups.get(&asked.mgid) {
            Some(group) => group.clone(),
            None => sa.new_group(&port, asked, mask)?,
        };
        if !group.accepts(asked, mask) || !group.admits(&port) {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let state = group.members.entry(id).or_default();
        *state |= wanted;
        let record = (*state, asked.port_gid);
        let record = group.record(record.1, record.0);
        if sa.groups.insert(group.mgid, group).is_none() {
            self.notice(TrapNumber::MGID_CREATED, asked.mgid);
        }
        Ok(record)
    }

    /// Ends (a part of) a port's membership.
    pub(super) fn leave(&mut self, asked: &McMemberRecord, mask: u64) -> Answer<McMemberRecord> {
        if !McMemberMask::from_bits_retain(mask).contains(JOIN) {
            return Err(Status::SA_INSUFFICIENT_COMPONENTS);
        }
        let port = self.port_by_gid(asked.port_gid).ok_or(Status::SA_REQUEST_INVALID)?;
        let parted = asked.scope_state.join_state();
        let sa = self.sa_mut();
        let group = sa.groups.get_mut(&asked.mgid).ok_or(Status::SA_REQUEST_INVALID)?;
        let state = group.members.get_mut(&port).ok_or(Status::SA_REQUEST_INVALID)?;
        if parted.is_empty() || !state.contains(parted) {
            return Err(Status::SA_REQUEST_INVALID);
        }
        state.remove(parted);
        if state.is_empty() {
            group.members.remove(&port);
        }
        let record = group.record(asked.port_gid, parted);
        if !group.lives() {
            sa.groups.remove(&asked.mgid);
            self.notice(TrapNumber::MGID_DESTROYED, asked.mgid);
        }
        Ok(record)
    }

    /// Learns a group, and who joined or left it, from the answer of an administrator outside.
    pub(crate) fn learn(&mut self, asker: PortId, request: &SaMad, answer: &SaMad) {
        let (Ok(asked), Ok(got)) = (request.record::<McMemberRecord>(), answer.record::<McMemberRecord>()) else {
            return;
        };
        if !answer.header.status.is_ok() || !got.mgid.is_multicast() {
            return;
        }
        let port = self.port_by_gid(asked.port_gid).unwrap_or(asker);
        let groups = &mut self.sa_mut().groups;
        match request.header.method {
            Method::SET => {
                let members = groups.remove(&got.mgid).map(|group| group.members).unwrap_or_default();
                let mut group = Group { members, ..Group::from_record(got) };
                group.members.insert(port, got.scope_state.join_state());
                groups.insert(group.mgid, group);
            }
            Method::DELETE => {
                if let Some(group) = groups.get_mut(&got.mgid) {
                    if let Some(state) = group.members.get_mut(&port) {
                        state.remove(asked.scope_state.join_state());
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
    /// A group as its first member asks for it, still without members.
    fn new_group(&mut self, port: &Port, asked: &McMemberRecord, mask: McMemberMask) -> Answer<Group> {
        if !mask.contains(CREATE) {
            return Err(Status::SA_INSUFFICIENT_COMPONENTS);
        }
        let wanted = asked.scope_state.join_state();
        if !wanted.intersects(JoinState::FULL_MEMBER) || !asked.pkey.is_valid() {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let invalid = Status::SA_REQUEST_INVALID;
        let mtu = chosen(mask, McMemberMask::MTU_SELECTOR, McMemberMask::MTU, asked.mtu.selector(), asked.mtu.value());
        let rate =
            chosen(mask, McMemberMask::RATE_SELECTOR, McMemberMask::RATE, asked.rate.selector(), asked.rate.value());
        let life = (McMemberMask::LIFE, asked.packet_life_time);
        Ok(Group {
            mgid: asked.mgid,
            mlid: self.free_mlid().ok_or(Status::SA_NO_RESOURCES)?,
            qkey: asked.qkey,
            pkey: asked.pkey,
            mtu: pick_mtu(port.mtu, mtu).filter(|mtu| mtu.bytes().is_some()).ok_or(invalid)?,
            rate: pick_rate(port.rate, rate).ok_or(invalid)?,
            packet_life_time: if mask.contains(life.0) && life.1.selector() == Selector::Exactly {
                life.1.value()
            } else {
                PacketLifeTime::of::<18>()
            },
            traffic_class: asked.traffic_class,
            sl_flow_hop: asked.sl_flow_hop,
            scope: asked.mgid.multicast_scope(),
            members: Default::default(),
        })
    }

    /// The next LID that no group has, going round.
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

/// A value and its selector, if the request has the value; a value alone means exactly that one.
fn chosen<T>(
    mask: McMemberMask,
    selector_bit: McMemberMask,
    value_bit: McMemberMask,
    selector: Selector,
    value: T,
) -> Option<(Selector, T)> {
    let selector = if mask.contains(selector_bit) { selector } else { Selector::Exactly };
    mask.contains(value_bit).then_some((selector, value))
}

impl Group {
    /// Whether a request's components agree with the group's.
    fn accepts(&self, asked: &McMemberRecord, mask: McMemberMask) -> bool {
        let unless = |component, agrees| !mask.contains(component) || agrees;
        let mtu = chosen(mask, McMemberMask::MTU_SELECTOR, McMemberMask::MTU, asked.mtu.selector(), asked.mtu.value());
        let rate =
            chosen(mask, McMemberMask::RATE_SELECTOR, McMemberMask::RATE, asked.rate.selector(), asked.rate.value());
        unless(McMemberMask::QKEY, asked.qkey == self.qkey)
            && unless(McMemberMask::PKEY, asked.pkey.same_partition(self.pkey))
            && unless(McMemberMask::TRAFFIC_CLASS, asked.traffic_class == self.traffic_class)
            && unless(McMemberMask::SL, asked.sl_flow_hop.sl() == self.sl_flow_hop.sl())
            && unless(McMemberMask::FLOW_LABEL, asked.sl_flow_hop.flow_label() == self.sl_flow_hop.flow_label())
            && unless(McMemberMask::SCOPE, asked.scope_state.scope() == self.scope)
            && mtu.is_none_or(|(selector, value)| agrees(selector, self.mtu, value))
            && rate.is_none_or(|(selector, value)| agrees(selector, self.rate.mbps(), value.mbps()))
    }

    /// Whether a port can be a member: it is in the partition and can take the group's packets.
    fn admits(&self, port: &Port) -> bool {
        port.pkeys.iter().any(|own| own.is_valid() && own.same_partition(self.pkey))
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

fn agrees<T: PartialOrd>(selector: Selector, own: T, value: T) -> bool {
    match selector {
        Selector::GreaterThan => own > value,
        Selector::LessThan => own < value,
        Selector::Exactly => own == value,
        Selector::Best => true,
    }
}
