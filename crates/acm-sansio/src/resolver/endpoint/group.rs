//! A multicast group of an endpoint and its membership.
use crate::{
    api::{Time, id::SaQueryId},
    sa::SaQuery,
};
use acm_wire::multicast::group_mgid;
use ib_mad::{
    FlowLabel, Gid, Mtu, Pkey, Qkey, Rate, Selector, ServiceLevel,
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
    /// The join that is in flight.
    pub(crate) join: Option<SaQueryId>,
    /// `true` if the subnet manager may have lost the join in flight: the join is then repeated.
    pub(crate) rejoin: bool,
    /// The time of the last join request.
    pub(crate) requested_at: Option<Time>,
    /// Number of failed joins in a row.
    pub(crate) failures: u32,
}

impl Group {
    pub(crate) fn new(index: u32, pkey: Pkey, rate: Rate, mtu: Mtu) -> Self {
        let mgid = group_mgid(pkey, 0, rate, mtu);
        Self { index, mgid, mtu, rate, member: None, join: None, rejoin: false, requested_at: None, failures: 0 }
    }

    /// Creates the query that joins the group. The port's GID is inserted when the MAD is built.
    pub(crate) fn join_query(&self, pkey: Pkey) -> SaQuery {
        SaQuery::Join(
            Query::new()
                .mgid(self.mgid)
                .qkey(Qkey::GSI)
                .mtu(Selector::Exactly, self.mtu)
                .traffic_class(0)
                .pkey(pkey)
                .rate(Selector::Exactly, self.rate)
                .sl(ServiceLevel::ZERO)
                .flow_label(FlowLabel::ZERO)
                .scope(SCOPE_SITE_LOCAL)
                .join_state(JoinState::FULL_MEMBER),
        )
    }
}
