//! A group of an endpoint and whether it is in it.
use crate::{Time, id::SaQueryId, sa::SaQuery};
use acm_wire::multicast::group_mgid;
use ib_mad::{
    FlowLabel, Gid, Mtu, Pkey, Qkey, Rate, Selector, ServiceLevel,
    sa::{JoinState, McMemberRecord, Query},
};

/// Scope of ACM's groups: the site.
const SCOPE_SITE_LOCAL: u8 = 5;

/// A group of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Its name in tasks: it keeps it while others come and go.
    pub(super) index: u32,
    pub(super) mgid: Gid,
    pub(super) mtu: Mtu,
    pub(super) rate: Rate,
    /// The membership, as subnet administration granted it last.
    pub(super) member: Option<McMemberRecord>,
    /// A join that is under way: whether it will be granted is not known.
    pub(super) join: Option<SaQueryId>,
    /// The subnet manager may have forgotten a join that is under way: it is asked again when that is answered.
    pub(super) rejoin: bool,
    /// When it was asked to be in the group last.
    pub(super) requested_at: Option<Time>,
    /// Joins that failed in a row.
    pub(super) failures: u32,
}

impl Group {
    pub(super) fn new(index: u32, pkey: Pkey, rate: Rate, mtu: Mtu) -> Self {
        let mgid = group_mgid(pkey, 0, rate, mtu);
        Self { index, mgid, mtu, rate, member: None, join: None, rejoin: false, requested_at: None, failures: 0 }
    }

    /// The port's GID is put in when the datagram is built.
    pub(super) fn join_query(&self, pkey: Pkey) -> SaQuery {
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
