//! Tests of the whole core by its API.
mod administration;
mod datagrams;
mod mads;
mod ports;
mod reports;
mod scale;
mod watched;

use crate::{
    datagram::{Datagram, MadSend},
    error::Error,
    event::Event,
    id::{AgentId, PortId, QpId},
    port::{Port, PortChange, SubnetConfig},
    settings::{Faults, Probability},
    subnet::Subnet,
};
use alloc::{vec, vec::Vec};
use core::time::Duration;
use ib_mad::{
    FlowLabel, Gid, Lid, Method, Mtu, Pkey, PortState, Qkey, Qpn, Rate, Selector, ServiceLevel, Status, TransactionId,
    sa::{JoinState, McMemberRecord, PathRecord, Query, SaMad},
};

const T0: Duration = Duration::ZERO;
const QKEY: Qkey = Qkey::GSI;

fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn mgid() -> Gid {
    "ff15:4001:ffff:3:400::".parse().unwrap()
}

fn subnet(nodes: u32) -> Subnet {
    subnet_of(nodes, SubnetConfig::default())
}

fn subnet_of(nodes: u32, config: SubnetConfig) -> Subnet {
    let mut subnet = Subnet::new(config, 1);
    for _ in 0..nodes {
        subnet.add_node().unwrap();
    }
    subnet
}

fn port(node: u32) -> PortId {
    PortId::new(node, 1)
}

fn gid(subnet: &Subnet, node: u32) -> Gid {
    subnet.port(port(node)).unwrap().gids[0]
}

fn lid(subnet: &Subnet, node: u32) -> Lid {
    subnet.port(port(node)).unwrap().lid
}

fn qp(subnet: &mut Subnet, node: u32) -> QpId {
    subnet.create_qp(port(node), QKEY, 0).unwrap()
}

fn join(port_gid: Gid) -> Query<McMemberRecord> {
    Query::<McMemberRecord>::new()
        .mgid(mgid())
        .port_gid(port_gid)
        .qkey(QKEY)
        .mtu(Selector::Exactly, Mtu::B2048)
        .traffic_class(0)
        .pkey(Pkey::DEFAULT_FULL)
        .rate(Selector::Exactly, Rate::GBPS_10)
        .sl(ServiceLevel::ZERO)
        .flow_label(FlowLabel::ZERO)
        .scope(5)
        .join_state(JoinState::FULL_MEMBER)
}

fn leave(port_gid: Gid) -> Query<McMemberRecord> {
    Query::<McMemberRecord>::new().mgid(mgid()).port_gid(port_gid).join_state(JoinState::FULL_MEMBER)
}

fn to_sa(timeout: Duration, retries: u32) -> MadSend {
    MadSend {
        agent: AgentId(9),
        dlid: Lid::new(1),
        qpn: Qpn::GSI,
        sl: ServiceLevel::default(),
        pkey_index: 0,
        timeout,
        retries,
    }
}

/// Sends a request and returns the response of an administrator without delay.
fn request(subnet: &mut Subnet, node: u32, mad: &SaMad) -> SaMad {
    subnet.send_mad(T0, port(node), to_sa(ms(1000), 0), mad).unwrap();
    match subnet.poll_event() {
        Some(Event::Mad { mad: response, .. }) => {
            assert_eq!(response.header.transaction_id, mad.header.transaction_id);
            *response
        }
        other => panic!("no response but {other:?}"),
    }
}

fn tid() -> TransactionId {
    TransactionId::new(0x1234)
}

/// Joins every node to the group. Returns the group's LID.
fn join_all(subnet: &mut Subnet) -> Lid {
    let mut mlid = Lid::NONE;
    for node in 1..=subnet.node_count() {
        let query = join(gid(subnet, node)).request(Method::SET, tid());
        let response = request(subnet, node, &query);
        assert_eq!(response.header.status, Status::OK);
        mlid = response.record::<McMemberRecord>().unwrap().mlid;
    }
    mlid
}

/// Handles all timers. Returns each event with its time.
fn run(subnet: &mut Subnet) -> Vec<(Duration, Event)> {
    let mut seen: Vec<(Duration, Event)> = Vec::new();
    let mut now = T0;
    loop {
        seen.extend(core::iter::from_fn(|| subnet.poll_event()).map(|event| (now, event)));
        let Some(due) = subnet.poll_timeout() else { return seen };
        now = due;
        subnet.handle_timeout(now);
    }
}

fn payloads(events: &[(Duration, Event)]) -> Vec<(Duration, u8)> {
    events
        .iter()
        .filter_map(|(at, event)| match event {
            Event::Datagram { payload, .. } => Some((*at, payload[0])),
            _ => None,
        })
        .collect()
}
