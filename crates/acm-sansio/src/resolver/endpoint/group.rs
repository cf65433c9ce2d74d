//! A multicast group of an endpoint and its membership.
use crate::{
    api::{SaError, Time, id::SaQueryId},
    sa::SaQuery,
};
use acm_wire::multicast::group_mgid;
use ib_mad::{
    FlowLabel, Gid, Mtu, Pkey, Qkey, Rate, Selector, ServiceLevel, Status,
    sa::{JoinState, McMemberRecord, Query},
};

/// The scope of ACM's multicast groups: site-local.
const SCOPE_SITE_LOCAL: u8 = 5;

/// A multicast group of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Its index in tokens, which does not change while other groups are added or removed.
    pub(crate) index: u32,
    pub(crate) mgid: Gid,
    pub(crate) mtu: Mtu,
    pub(crate) rate: Rate,
    /// The membership record that the subnet administrator granted last.
    pub(crate) member: Option<McMemberRecord>,
    /// `true` if the queue pair receives the datagrams of the group. Requests are sent to the base group only, so that
    /// no other group is attached.
    pub(crate) is_attached: bool,
    /// The join that is in flight.
    pub(crate) join: Option<SaQueryId>,
    /// `true` if the subnet manager may have lost the join in flight: the join is then repeated.
    pub(crate) rejoin: bool,
    /// `true` if the join in flight repeats a membership without a reason. Its success is no event.
    pub(crate) repeats: bool,
    /// The time of the last join request.
    pub(crate) requested_at: Option<Time>,
    /// Number of failed joins in a row.
    pub(crate) failures: u32,
    /// `true` if the subnet administrator refused the parameters. The group may exist with others: the join then leaves
    /// the parameters to the group.
    pub(crate) as_it_is: bool,
}

impl Group {
    pub(crate) fn new(index: u32, pkey: Pkey, rate: Rate, mtu: Mtu) -> Self {
        let mgid = group_mgid(pkey, 0, rate, mtu);
        Self {
            index,
            mgid,
            mtu,
            rate,
            member: None,
            is_attached: false,
            join: None,
            rejoin: false,
            repeats: false,
            requested_at: None,
            failures: 0,
            as_it_is: false,
        }
    }

    /// Creates the query that joins the group, and that creates it with this service level if it does not exist. The
    /// port's GID is inserted when the MAD is built. The queue pair has the Q_Key, so that it is never left to the
    /// group.
    pub(crate) fn join_query(&self, pkey: Pkey, sl: ServiceLevel) -> SaQuery {
        let join = Query::<McMemberRecord>::new()
            .mgid(self.mgid)
            .qkey(Qkey::GSI)
            .pkey(pkey)
            .join_state(JoinState::FULL_MEMBER);
        if self.as_it_is {
            return SaQuery::Join(join);
        }
        let mtu_and_rate = join.mtu(Selector::Exactly, self.mtu).rate(Selector::Exactly, self.rate);
        SaQuery::Join(mtu_and_rate.sl(sl).traffic_class(0).flow_label(FlowLabel::ZERO).scope(SCOPE_SITE_LOCAL))
    }

    /// Forgets failed joins, which may be those of another subnet manager.
    pub(crate) const fn forget_failures(&mut self) {
        (self.failures, self.as_it_is) = (0, false);
    }

    /// Handles the failure of a join. Returns the error to report, or `None` to join the group as it is.
    pub(crate) fn join_failed(&mut self, error: SaError) -> Option<SaError> {
        let refused = SaError::Status(Status::SA_REQUEST_INVALID);
        match (core::mem::take(&mut self.as_it_is), error) {
            (false, error) if error == refused => {
                self.as_it_is = true;
                None
            }
            // The group does not exist. The parameters were refused before.
            (true, SaError::Status(Status::SA_INSUFFICIENT_COMPONENTS)) => Some(refused),
            (_, error) => Some(error),
        }
    }
}
