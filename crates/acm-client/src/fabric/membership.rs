//! Being in a group.
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

/// How to join a group.
///
/// Subnet administration keeps one membership for a port, whoever asked for it: the kernel's IPoIB, a daemon, this. It is
/// there until it is ended, the port goes, or a subnet manager starts anew that does not know it; nobody ends it when the
/// program that asked for it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The group to join.
    pub name: GroupName,
    /// Its partition; full or limited member does not count.
    pub pkey: Pkey,
    /// The scope of its GID, where the name does not say it: 2 is the link.
    pub scope: u8,
    /// What kind of member.
    pub join_state: JoinState,
    /// Make the group if it is not there.
    pub create: bool,
    /// Its key. Without it that of the broadcast group of the partition, ibacm's, or 0xb1b.
    pub qkey: Option<Qkey>,
    /// Its MTU. Without it that of the broadcast group, or what subnet administration chooses.
    pub mtu: Option<Mtu>,
    /// Its rate, likewise.
    pub rate: Option<Rate>,
    /// Its service level. Without it that of the broadcast group, or 0.
    pub sl: Option<ServiceLevel>,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// The group as subnet administration has it; its join state is all that the port is.
    pub record: McMemberRecord,
    /// What the port was before, which leaving ends, too; `None`: no member. Empty: subnet administration does not say
    /// which kind, as OpenSM does without the `SM_Key`.
    pub before: Option<JoinState>,
}

/// What OpenSM gives the groups of IP over InfiniBand.
const IPOIB_QKEY: Qkey = Qkey::new(0x0b1b);
/// What ibacm gives its groups.
const ACM_QKEY: Qkey = Qkey::new(0x8001_0000);

impl Join {
    /// As a full member, in the default partition.
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
        }
    }

    /// The group's GID.
    #[must_use]
    pub const fn mgid(&self) -> Gid {
        self.name.mgid(self.pkey, self.scope)
    }

    /// Joins.
    ///
    /// # Errors
    /// [`FabricError::Refused`]: without `create` there is no such group, or the port may not join it.
    pub fn join(&self, administration: &mut Administration) -> Result<Joined, FabricError> {
        let (mgid, own) = (self.mgid(), administration.port().gid());
        let what = format!("join {mgid}");
        let member = Query::<McMemberRecord>::new().mgid(mgid).port_gid(own);
        let before = match administration.get(&what, &member) {
            Ok(record) => Some(record.scope_state.join_state()),
            Err(FabricError::Refused { status: Status::SA_NO_RECORDS | Status::SA_REQUEST_INVALID, .. }) => None,
            Err(error) => return Err(error),
        };
        let mut query = member.join_state(self.join_state);
        if self.create {
            query = self.made(administration, query)?;
        }
        let record = administration.set(&what, &query)?;
        Ok(Joined { record, before })
    }

    /// With all that a group is made of.
    fn made(
        &self,
        administration: &mut Administration,
        query: Query<McMemberRecord>,
    ) -> Result<Query<McMemberRecord>, FabricError> {
        let like = if self.name.is_of_ip() && self.name != GroupName::Broadcast {
            self.broadcast(administration)?
        } else {
            None
        };
        let qkey = self.qkey.or(like.map(|like| like.qkey));
        let qkey = qkey.or((self.name == GroupName::Acm).then_some(ACM_QKEY));
        let qkey = qkey.unwrap_or(IPOIB_QKEY);
        let sl = self.sl.or(like.map(|like| like.sl_flow_hop.sl())).unwrap_or_default();
        let pkey = self.pkey.as_full_member();
        let mut query = query.qkey(qkey).pkey(pkey).sl(sl).traffic_class(0).flow_label(FlowLabel::default());
        if let Some(mtu) = self.mtu.or(like.map(|like| like.mtu.value())) {
            query = query.mtu(Selector::Exactly, mtu);
        }
        if let Some(rate) = self.rate.or(like.map(|like| like.rate.value())) {
            query = query.rate(Selector::Exactly, rate);
        }
        Ok(query)
    }

    fn broadcast(&self, administration: &mut Administration) -> Result<Option<McMemberRecord>, FabricError> {
        let mgid = Gid::ipoib_ipv4(self.pkey, self.scope, Ipv4Addr::BROADCAST);
        let query = Query::<McMemberRecord>::new().mgid(mgid);
        Ok(administration.table("the broadcast group", &query)?.records.first().copied())
    }
}

/// Ends the port's membership of this kind, whoever asked for it; `false` if it was none.
///
/// # Errors
/// Subnet administration does not answer, or refuses.
pub fn leave(administration: &mut Administration, mgid: Gid, kind: JoinState) -> Result<bool, FabricError> {
    let own = administration.port().gid();
    let query = Query::<McMemberRecord>::new().mgid(mgid).port_gid(own).join_state(kind);
    match administration.delete(&format!("leave {mgid}"), &query) {
        Ok(_) => Ok(true),
        Err(FabricError::Refused { status: Status::SA_REQUEST_INVALID | Status::SA_NO_RECORDS, .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
