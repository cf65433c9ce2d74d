//! Random inputs and outputs, and traces of them.
pub(crate) mod inputs;
pub(crate) mod outputs;

use acm_sansio::{
    Account, ClientId, Config, EndpointId, Event, Failure, Input, KernelRequestId, Output, PortId, RequestId,
    SaRequestId, Time,
    api::{
        CallId, DatagramSource, ExternalRequestId, ExternalSaId, FailedRequest, Level, ProviderCall, ProviderEvent,
        ProviderFunction, ProviderId, ProviderMessage, RequestedBy, ResolverEvent, SaAddress, SaError, SaSend,
        SendFailure, SendTo,
    },
    config::{Depth, RouteProt, ServiceIds, Subnets},
    failure::{Attempt, AttemptDetails, Bound, MulticastAttempt, SaAttempt},
    id::DestId,
    port::{InterfaceAddress, PortAttributes},
    preload::{Hosts, Preload, Route, Routes},
};
use acm_trace::{
    Crossing, Entry, FabricRecorder, Fact, GlobalHeader, OwnedInput, PacketHeaders, Reader, Recorder, Start,
};
use acm_wire::{
    Address, Name,
    client::{ClientStatus, Counter, FrameError, Reply},
    multicast::MessageError,
};
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    AddressVector, FlowLabel, Gid, GlobalRoute, Guid, Lid, Method, MgmtClass, Mtu, Pkey, Qkey, Qpn, Rate, ServiceId,
    ServiceLevel, Status, TransactionId, Wire,
    acm::{AcmControl, AcmMad},
    id::Lmc,
    packet::GrhFlow,
    sa::{PathRecord, SaMad},
    wire::Bits,
};
use proptest::{collection::vec, prelude::*};

/// Converts a number. Excess bits are cut off.
pub(crate) fn small<T: Bits>(number: impl Into<u64>) -> T {
    T::from_raw(number.into())
}

pub(crate) fn bytes(most: usize) -> BoxedStrategy<Vec<u8>> {
    // Well-formed datagrams have 256 bytes.
    prop_oneof![vec(any::<u8>(), 256), vec(any::<u8>(), 0..most)].boxed()
}

pub(crate) fn structure<T: Wire + Copy + core::fmt::Debug + 'static>() -> BoxedStrategy<T> {
    vec(any::<u8>(), size_of::<T>()).prop_map(|bytes| *T::parse(&bytes).unwrap()).boxed()
}

pub(crate) fn gid() -> BoxedStrategy<Gid> {
    any::<[u8; 16]>().prop_map(Gid::new).boxed()
}

pub(crate) fn pkey() -> BoxedStrategy<Option<Pkey>> {
    any::<Option<u16>>().prop_map(|key| key.map(Pkey::new)).boxed()
}

pub(crate) fn time() -> BoxedStrategy<Duration> {
    prop_oneof![any::<u32>().prop_map(|nanos| Duration::from_nanos(nanos.into())), Just(Duration::MAX)].boxed()
}

pub(crate) fn address() -> BoxedStrategy<Address> {
    prop_oneof![
        vec(any::<u8>(), 0..70).prop_map(|name| Address::Name(Name::new(&name))),
        any::<IpAddr>().prop_map(Address::from),
        gid().prop_map(Address::Gid),
        any::<u16>().prop_map(|lid| Address::Lid(Lid::new(lid))),
    ]
    .boxed()
}

pub(crate) fn account() -> BoxedStrategy<Account> {
    prop_oneof![
        Just(Account::Daemon),
        Just(Account::Kernel),
        Just(Account::Remote),
        any::<u32>().prop_map(Account::User),
        any::<IpAddr>().prop_map(Account::Peer),
    ]
    .boxed()
}

pub(crate) fn attributes() -> BoxedStrategy<PortAttributes> {
    (vec(gid(), 0..3), vec(any::<u16>(), 0..3), any::<[u16; 2]>(), any::<[u8; 6]>())
        .prop_map(|(gids, pkeys, [lid, sm_lid], [number, lmc, sl, mtu, rate, time])| PortAttributes {
            device_guid: Guid::new(u64::from(lid) << 40),
            port_number: number,
            port_count: number,
            lid: Lid::new(lid),
            lmc: small::<Lmc>(lmc),
            sm_lid: Lid::new(sm_lid),
            sm_sl: small::<ServiceLevel>(sl),
            gids,
            pkeys: pkeys.into_iter().map(Pkey::new).collect(),
            mtu: Mtu::new(mtu),
            rate: Rate::new(rate),
            subnet_timeout: time,
            takes_reports: number > 7,
        })
        .boxed()
}

pub(crate) fn config() -> BoxedStrategy<Config> {
    let id = |number: u8| ServiceId::new(number.into());
    (any::<[u8; 4]>(), time(), any::<bool>())
        .prop_map(move |([a, b, c, d], time, flag)| Config {
            addr_timeout: flag.then_some(time),
            route_prot: if flag { RouteProt::Acm } else { RouteProt::Sa },
            path_service_ids: match a % 4 {
                0 => ServiceIds::None,
                1 => ServiceIds::All,
                2 => ServiceIds::Auto,
                _ => ServiceIds::ranges([id(b)..=id(c)]),
            },
            sa_depth: if flag { Depth::Auto } else { Depth::Fixed(d.into()) },
            group_sl: ServiceLevel::masked(d),
            shared_cache: flag,
            min_mtu: Mtu::new(b),
            min_rate: Rate::new(c),
            kernel_deadline: time,
            log_level: [Level::Always, Level::Verbose, Level::Debug][usize::from(a % 3)],
            subnets: if flag {
                Subnets::only([d.into()])
            } else {
                Subnets::all_but([b.into()]).with(a.into(), ProviderId(c))
            },
            retries: a.into(),
            ..Config::default()
        })
        .boxed()
}

pub(crate) fn preload() -> BoxedStrategy<Preload> {
    let hosts = vec((address(), gid()), 0..5).prop_map(|all| {
        let mut hosts = Hosts::builder();
        all.iter().for_each(|(address, gid)| hosts.host(address, *gid));
        Preload::Hosts(hosts.finish().into())
    });
    let routes = vec(any::<(u16, u8, u64)>(), 0..5).prop_map(|all| {
        let mut routes = Routes::builder();
        for (lid, number, guid) in all {
            routes.port(Guid::new(guid), Lid::new(lid), small(number));
            routes.section(Guid::new(guid), Lid::new(lid));
            let (sl, mtu, rate) = (small(number), Mtu::new(number), Rate::new(number));
            routes.route(Route { dlid: Lid::new(lid), sl, mtu, rate });
        }
        Preload::Routes(routes.finish().into())
    });
    prop_oneof![hosts, routes].boxed()
}

pub(crate) fn start() -> Start {
    Start::new(&Config::default(), 7)
}

/// Records facts, one for each microsecond.
pub(crate) fn trace<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Vec<u8> {
    let mut recorder = Recorder::new(Vec::new(), &start()).unwrap();
    for (micros, fact) in (1..).zip(facts) {
        let now = Time::from_nanos(micros * 1000);
        match fact {
            Fact::Input(input) => recorder.input(now, &input.as_input()),
            Fact::Output(output) => recorder.output(now, output),
            Fact::Timeout(_) => recorder.timeout(now, None),
            Fact::Lost(count) => recorder.lost(now, *count),
            Fact::Crossing(_) | Fact::End => {}
        }
    }
    recorder.finish().unwrap()
}

/// Records a fabric: a multicast request that one node receives, the response, and bytes of an odd length.
pub(crate) fn of_fabric() -> (Vec<Crossing>, Vec<u8>) {
    let mut mad = AcmMad { method: Method::GET, transaction_id: TransactionId::new(7), ..AcmMad::default() };
    (mad.base_version, mad.mgmt_class, mad.class_version) = (1, MgmtClass::ACM, 1);
    let answer = AcmMad { method: Method::GET_RESP, ..mad };
    let flow = GrhFlow::default().with_traffic_class(3).with_flow_label(FlowLabel::of::<9>());
    let global =
        Some(GlobalHeader { sgid: "fe80::1".parse().unwrap(), dgid: "ff12::2".parse().unwrap(), flow, hop_limit: 1 });
    let request = PacketHeaders {
        slid: Lid::new(16),
        dlid: Lid::new(0xc000),
        dest: Qpn::MULTICAST,
        qkey: Qkey::GSI,
        global,
        ..PacketHeaders::default()
    };
    let response = PacketHeaders { slid: Lid::new(17), dlid: Lid::new(16), global: None, ..request };
    let crossing = |delivered, node, headers, payload: &[u8]| {
        let payload = payload.to_vec();
        Crossing { delivered, node, port: 1, headers, payload }
    };
    let all = vec![
        crossing(false, 1, request, ib_mad::as_bytes(&mad)),
        crossing(true, 2, request, ib_mad::as_bytes(&mad)),
        crossing(false, 2, response, ib_mad::as_bytes(&answer)),
        crossing(true, 1, response, ib_mad::as_bytes(&answer)),
        crossing(false, 2, response, &[1, 2, 3]),
    ];
    let mut recorder = FabricRecorder::new(Vec::new(), Duration::ZERO).unwrap();
    for (micros, crossing) in (1..).zip(&all) {
        recorder.crossing(Duration::from_micros(micros), crossing).unwrap();
    }
    (all, recorder.finish().unwrap())
}

/// Reads all entries.
pub(crate) fn read(trace: &[u8]) -> Vec<Entry> {
    Reader::new(trace).map(|entry| entry.unwrap()).collect()
}
