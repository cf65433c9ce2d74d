//! The multicast groups of an endpoint: join, rejoin, leave.
use super::{Ibacmp, kind};
use crate::{
    Event,
    config::RouteProtocol,
    id::EndpointId,
    output::SendTo,
    provider::{Context, Token},
    sa::SaError,
};
use acm_wire::multicast::group_mgid;
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{
    FlowLabel, Gid, Method, Mtu, Qkey, Qpn, Rate, Selector, ServiceLevel,
    sa::{JoinState, McMemberRecord, Query, SaMad},
};

/// Scope of ACM's groups: the site.
const SCOPE_SITE_LOCAL: u8 = 5;
/// How long to wait before a failed join is tried again; twice as long each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A group of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) mgid: Gid,
    mtu: Mtu,
    rate: Rate,
    /// The membership, as subnet administration granted it last.
    pub(super) member: Option<McMemberRecord>,
    /// A join is under way: whether it will be granted is not known.
    joining: bool,
    /// Joins that failed in a row.
    failures: u32,
}

impl Group {
    fn join_query(&self, gid: Gid, pkey: ib_mad::Pkey) -> Query<McMemberRecord> {
        Query::new()
            .mgid(self.mgid)
            .port_gid(gid)
            .qkey(Qkey::GSI)
            .mtu(Selector::Exactly, self.mtu)
            .traffic_class(0)
            .pkey(pkey)
            .rate(Selector::Exactly, self.rate)
            .sl(ServiceLevel::new(0))
            .flow_label(FlowLabel::new(0))
            .scope(SCOPE_SITE_LOCAL)
            .join_state(JoinState::FULL_MEMBER)
    }
}

fn token(endpoint: EndpointId, place: u32) -> Token {
    Token { kind: kind::GROUP + place, index: endpoint.index(), generation: endpoint.generation() }
}

impl Ibacmp {
    /// Joins all groups of an endpoint, also those that it is in already.
    pub(super) fn join_all(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        let config = cx.config();
        let base = (config.min_rate, config.min_mtu);
        let mut wanted = alloc::vec![base];
        let route_protocol = config.route_protocol;
        let (Some(own), Some(port)) = (cx.endpoint(endpoint), cx.port_of(endpoint)) else { return };
        if route_protocol == RouteProtocol::Acm && (port.rate, port.mtu) != base {
            wanted.push((port.rate, port.mtu));
        }
        let pkey = own.pkey;
        let ep = self.endpoints.entry(endpoint).or_default();
        let old = core::mem::take(&mut ep.groups);
        ep.groups = wanted
            .into_iter()
            .map(|(rate, mtu)| {
                let mgid = group_mgid(pkey, 0, rate, mtu);
                let old = old.iter().find(|group| group.mgid == mgid);
                let (member, joining) = old.map_or((None, false), |group| (group.member, group.joining));
                Group { mgid, mtu, rate, member, joining, failures: 0 }
            })
            .collect();
        let count = u32::try_from(ep.groups.len()).unwrap_or_default();
        for place in 0..count {
            self.join(cx, endpoint, place);
        }
    }

    /// Joins one group.
    pub(super) fn join(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, place: u32) {
        let (Some(own), Some(port)) = (cx.endpoint(endpoint), cx.port_of(endpoint)) else { return };
        let (pkey, gid) = (own.pkey, port.gid());
        let Some(group) = self.group(endpoint, place) else { return };
        group.joining = true;
        let query = group.join_query(gid, pkey);
        if let Err(error) = cx.sa_request(endpoint, token(endpoint, place), Method::SET, &query) {
            self.join_failed(cx, endpoint, place, error);
        }
    }

    fn group(&mut self, endpoint: EndpointId, place: u32) -> Option<&mut Group> {
        self.endpoints.get_mut(&endpoint)?.groups.get_mut(place as usize)
    }

    pub(super) fn join_done(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: EndpointId,
        place: u32,
        answer: Result<&SaMad, SaError>,
    ) {
        let record = answer.and_then(|mad| mad.record::<McMemberRecord>().map_err(|_| SaError::NotSent));
        let record = match record {
            Ok(record) => *record,
            Err(error) => return self.join_failed(cx, endpoint, place, error),
        };
        let Some(group) = self.group(endpoint, place) else { return };
        // A late answer to a join for a group that is not wanted any more.
        if record.mgid != group.mgid {
            cx.stats().sa_bad_answers += 1;
            return;
        }
        let old = group.member.replace(record);
        group.joining = false;
        group.failures = 0;
        let (mgid, mlid) = (record.mgid, record.mlid);
        cx.log(Event::Joined(endpoint, mgid, mlid, record.mtu.value(), record.rate.value()));
        // Requests go to the base group only: it alone is listened to.
        if place == 0 && old.is_none_or(|old| old.mlid != mlid) {
            if let Some(old) = old {
                cx.detach(endpoint, mgid, old.mlid);
            }
            cx.attach(endpoint, mgid, mlid);
        }
    }

    fn join_failed(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, place: u32, error: SaError) {
        let Some(group) = self.group(endpoint, place) else { return };
        group.joining = false;
        // A port that comes back joins anew.
        if error == SaError::PortDown {
            return;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << group.failures.min(8)).min(LONGEST_PAUSE);
        group.failures += 1;
        let mgid = group.mgid;
        let pause = cx.jitter(pause);
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        cx.log(Event::JoinFailed(endpoint, mgid, error, pause_ms));
        let at = cx.now() + pause;
        cx.set_timer(token(endpoint, place), at);
    }

    /// Leaves all groups of an endpoint.
    pub(super) fn leave_all(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        let Some(gid) = cx.port_of(endpoint).map(crate::ports::PortAttributes::gid) else { return };
        for (place, group) in (0..).zip(self.groups(endpoint)) {
            cx.clear_timer(token(endpoint, place));
            if let (0, Some(member)) = (place, group.member) {
                cx.detach(endpoint, group.mgid, member.mlid);
            }
            if group.member.is_some() || group.joining {
                let query = Query::<McMemberRecord>::new().mgid(group.mgid).port_gid(gid);
                cx.sa_leave(endpoint, &query.join_state(JoinState::FULL_MEMBER));
            }
        }
    }

    /// The port is down: the subnet manager takes it out of all groups.
    pub(super) fn forget_groups(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        for (place, group) in (0..).zip(self.groups(endpoint)) {
            cx.clear_timer(token(endpoint, place));
            if let (0, Some(member)) = (place, group.member) {
                cx.detach(endpoint, group.mgid, member.mlid);
            }
        }
        if let Some(ep) = self.endpoints.get_mut(&endpoint) {
            ep.groups.iter_mut().for_each(|group| group.member = None);
        }
    }

    fn groups(&self, endpoint: EndpointId) -> Vec<Group> {
        self.endpoints.get(&endpoint).map(|ep| ep.groups.clone()).unwrap_or_default()
    }

    /// The groups that an endpoint is in, least preferred first.
    pub(super) fn joined(&self, endpoint: EndpointId) -> impl Iterator<Item = &McMemberRecord> {
        self.endpoints.get(&endpoint).into_iter().flat_map(|ep| &ep.groups).filter_map(|group| group.member.as_ref())
    }

    /// The base group, if the endpoint is in it.
    pub(super) fn base_group(&self, endpoint: EndpointId) -> Option<&McMemberRecord> {
        self.endpoints.get(&endpoint)?.groups.first()?.member.as_ref()
    }

    /// The last of an asker's groups that the endpoint is in, too.
    pub(super) fn best_shared(&self, endpoint: EndpointId, theirs: &[Gid]) -> Option<Gid> {
        theirs.iter().rev().copied().find(|mgid| self.joined(endpoint).any(|member| member.mgid == *mgid))
    }
}

/// Where a datagram to a group goes.
pub(super) fn send_to(member: &McMemberRecord) -> SendTo {
    SendTo {
        lid: member.mlid,
        sl: member.sl_flow_hop.sl(),
        src_path_bits: 0,
        rate: member.rate.value(),
        gid: member.mgid,
        sgid: member.port_gid,
        flow_label: member.sl_flow_hop.flow_label(),
        hop_limit: member.sl_flow_hop.hop_limit(),
        traffic_class: member.traffic_class,
        qpn: Qpn::MULTICAST,
        qkey: Qkey::GSI,
    }
}
