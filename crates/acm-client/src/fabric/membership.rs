//! Joins and leaves multicast groups.
use super::{
    administration::Administration,
    error::FabricError,
    group_name::{GroupName, LINK_SCOPE},
};
use core::net::Ipv4Addr;
use ib_mad::{
    FlowLabel, Gid, Mtu, Pkey, Qkey, Rate, Selector, ServiceLevel, Status,
    sa::{JoinState, McMemberRecord, Query},
};

/// A request to join a group.
///
/// The SA keeps one membership for each port and group. The kernel's IPoIB, a daemon and this program share this
/// membership. The membership exists until a program deletes it, the port goes down, or a restart of the subnet manager
/// loses it. The exit of the program that joined does not delete the membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The group to join.
    pub name: GroupName,
    /// The partition. The membership bit is ignored.
    pub pkey: Pkey,
    /// Scope of the group's GID, if `name` is not a GID; 2 is link-local.
    pub scope: u8,
    /// The kind of membership.
    pub join_state: JoinState,
    /// True to create the group if it does not exist.
    pub create: bool,
    /// The Q_Key of a new group. The default depends on the kind of group: the Q_Key of the partition's broadcast
    /// group, ibacm's Q_Key, or 0xb1b.
    pub qkey: Option<Qkey>,
    /// The MTU of a new group. By default, the value of the partition's broadcast group, or a value that the SA
    /// chooses.
    pub mtu: Option<Mtu>,
    /// The rate of a new group. By default, the value of the partition's broadcast group, or a value that the SA
    /// chooses.
    pub rate: Option<Rate>,
    /// The service level of a new group. By default, the value of the partition's broadcast group, or 0.
    pub sl: Option<ServiceLevel>,
    /// GID of another port that becomes the member (ProxyJoin), if the SA allows it; `None` for the local port.
    pub member: Option<Gid>,
}

/// The result of a join.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// The SA's record of the group and the membership. The join state includes the port's previous membership.
    pub record: McMemberRecord,
    /// The previous membership, which [`leave`] would delete, too; `None` if the port was not a member. Empty if the SA
    /// does not report the kind of membership, for example OpenSM without the `SM_Key`.
    pub before: Option<JoinState>,
}

/// Q_Key that OpenSM gives to groups of IP over InfiniBand.
const IPOIB_QKEY: Qkey = Qkey::new(0x0b1b);
/// Q_Key that ibacm gives to its groups.
const ACM_QKEY: Qkey = Qkey::new(0x8001_0000);

impl Join {
    /// Returns a request for a full membership in the default partition.
    #[must_use]
    pub const fn new(name: GroupName) -> Self {
        Self {
            name,
            pkey: Pkey::DEFAULT_FULL,
            scope: LINK_SCOPE,
            join_state: JoinState::FULL_MEMBER,
            create: false,
            qkey: None,
            mtu: None,
            rate: None,
            sl: None,
            member: None,
        }
    }

    /// Returns the group's GID.
    #[must_use]
    pub const fn mgid(&self) -> Gid {
        self.name.mgid(self.pkey, self.scope)
    }

    /// Joins the group.
    ///
    /// # Errors
    /// [`FabricError::Refused`]: the group does not exist and `create` is false, or the port may not join.
    pub fn join(&self, administration: &mut Administration) -> Result<Joined, FabricError> {
        let mgid = self.mgid();
        let what = format!("join {mgid}");
        let member = Query::<McMemberRecord>::new().mgid(mgid);
        let member = member.port_gid(self.member.unwrap_or(administration.port().gid()));
        let before = match administration.get(&what, &member) {
            Ok(record) => Some(record.scope_state.join_state()),
            Err(FabricError::Refused { status: Status::SA_NO_RECORDS | Status::SA_REQUEST_INVALID, .. }) => None,
            Err(error) => return Err(error),
        };
        let mut query = as_proxy(member.join_state(self.join_state), self.member);
        if self.create {
            query = self.with_parameters(self.broadcast(administration)?.as_ref(), query);
        }
        let record = administration.set(&what, &query)?;
        Ok(Joined { record, before })
    }

    /// Adds the parameters of a new group to a query. `broadcast` is the broadcast group of its partition.
    fn with_parameters(
        &self,
        broadcast: Option<&McMemberRecord>,
        query: Query<McMemberRecord>,
    ) -> Query<McMemberRecord> {
        let qkey = self.qkey.or(broadcast.map(|broadcast| broadcast.qkey));
        let qkey = qkey.or((self.name == GroupName::Acm).then_some(ACM_QKEY));
        let qkey = qkey.unwrap_or(IPOIB_QKEY);
        let sl = self.sl.or(broadcast.map(|broadcast| broadcast.sl_flow_hop.sl())).unwrap_or_default();
        let pkey = self.pkey.as_full_member();
        let mut query = query.qkey(qkey).pkey(pkey).sl(sl).traffic_class(0).flow_label(FlowLabel::default());
        if let Some(mtu) = self.mtu.or(broadcast.map(|broadcast| broadcast.mtu.value())) {
            query = query.mtu(Selector::Exactly, mtu);
        }
        if let Some(rate) = self.rate.or(broadcast.map(|broadcast| broadcast.rate.value())) {
            query = query.rate(Selector::Exactly, rate);
        }
        query
    }

    /// Returns the partition's broadcast group, if a new group gets its parameters.
    ///
    /// # Errors
    /// The SA does not respond, or responds with an error.
    pub fn broadcast(&self, administration: &mut Administration) -> Result<Option<McMemberRecord>, FabricError> {
        if !self.name.is_of_ip() || self.name == GroupName::Broadcast {
            return Ok(None);
        }
        let mgid = Gid::ipoib_ipv4(self.pkey, self.scope, Ipv4Addr::BROADCAST);
        let query = Query::<McMemberRecord>::new().mgid(mgid);
        Ok(administration.table("the broadcast group", &query)?.records.first().copied())
    }
}

/// Adds the mark of a request for another port.
fn as_proxy(query: Query<McMemberRecord>, member: Option<Gid>) -> Query<McMemberRecord> {
    if member.is_some() { query.proxy_join(true) } else { query }
}

/// Deletes the membership of this kind of the local port, or of the port with the GID `member`, even if another program
/// created it. Returns `false` if the port had no such membership.
///
/// # Errors
/// The SA does not respond, or responds with an error.
pub fn leave(
    administration: &mut Administration,
    mgid: Gid,
    kind: JoinState,
    member: Option<Gid>,
) -> Result<bool, FabricError> {
    let port_gid = member.unwrap_or(administration.port().gid());
    let query = Query::<McMemberRecord>::new().mgid(mgid).port_gid(port_gid).join_state(kind);
    let query = as_proxy(query, member);
    match administration.delete(&format!("leave {mgid}"), &query) {
        Ok(_) => Ok(true),
        Err(FabricError::Refused { status: Status::SA_REQUEST_INVALID | Status::SA_NO_RECORDS, .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::sa::{McMemberMask, SlFlowHop};

    #[test]
    fn qkey_of_a_new_group_is_given_or_of_the_broadcast_group_or_of_its_kind() {
        let broadcast = McMemberRecord { qkey: Qkey::new(5), ..McMemberRecord::default() };
        let ip = Join::new(GroupName::Ip(Ipv4Addr::new(239, 0, 0, 1).into()));
        let given = Join { qkey: Some(Qkey::new(7)), ..ip };
        let cases = [
            (given, Some(&broadcast), 7),
            (ip, Some(&broadcast), 5),
            (ip, None, 0x0b1b),
            (Join::new(GroupName::Acm), None, 0x8001_0000),
        ];
        for (join, broadcast, expected) in cases {
            let query = join.with_parameters(broadcast, Query::new());
            assert_eq!(query.record().qkey.get(), expected, "{join:?}");
        }
    }

    #[test]
    fn sl_of_a_new_group_is_given_or_of_the_broadcast_group() {
        let [given, of_broadcast] = [ServiceLevel::of::<2>(), ServiceLevel::of::<3>()];
        let sl_flow_hop = SlFlowHop::default().with_sl(of_broadcast);
        let broadcast = McMemberRecord { sl_flow_hop, ..McMemberRecord::default() };
        let ip = Join::new(GroupName::Ip(Ipv4Addr::new(239, 0, 0, 1).into()));
        for (sl, expected) in [(None, of_broadcast), (Some(given), given)] {
            let query = Join { sl, ..ip }.with_parameters(Some(&broadcast), Query::new());
            assert_eq!(query.record().sl_flow_hop.sl(), expected);
        }
    }

    #[test]
    fn request_for_another_port_is_marked() {
        for (member, is_marked) in [(None, false), (Some(Gid::ZERO), true)] {
            let query = as_proxy(Query::new(), member);
            assert_eq!(query.record().proxy_join.proxy_join(), is_marked);
            assert_eq!(query.has(McMemberMask::PROXY_JOIN), is_marked);
        }
    }

    #[test]
    fn new_group_is_in_the_partition_of_full_members() {
        let limited = Join { pkey: Pkey::new(0x0005), ..Join::new(GroupName::Acm) };
        assert_eq!(limited.with_parameters(None, Query::new()).record().pkey, Pkey::new(0x8005));
    }
}
