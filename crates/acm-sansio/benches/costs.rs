//! Costs that must not grow with the cache: `cargo bench -p acm-sansio`.
//!
//! Each operation is measured with a small cache and with a full one of 131,072 destinations. Both must cost the same.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Input, Output, PortId, Time, api::DatagramSource, port::PortAttributes,
};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
    multicast::{self, group_mgid},
};
use core::{net::Ipv4Addr, time::Duration};
use divan::{Bencher, black_box};
use ib_mad::{
    AttributeId, Gid, Lid, Mtu, Pkey, Qpn, Rate, TransactionId,
    sa::{McMemberRecord, PathRecord, SaMad},
};

const CLIENT: ClientId = ClientId::new(0, 0);
const SMALL: u32 = 16;
const FULL: u32 = 131_072;

fn main() {
    divan::main();
}

fn name() -> Address {
    Address::from_text("node1")
}

fn attributes(pkeys: u16) -> PortAttributes {
    PortAttributes {
        lid: Lid::new(16),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: (0..pkeys).map(|number| Pkey::new(0xffff - number)).collect(),
        mtu: Mtu::B2048,
        rate: Rate::GBPS_10,
        ..PortAttributes::default()
    }
}

/// A core whose requests all succeed at once.
struct Core {
    acm: Acm,
    now: Time,
}

impl Core {
    fn new(pkeys: u16, config: Config) -> Self {
        let mut core = Self { acm: Acm::new(config, 1), now: Time::ZERO };
        for number in 0..pkeys {
            let pkey = Some(Pkey::new(0xffff - number));
            let address = Address::from_text(&format!("node{}", number + 1));
            core.input(Input::AddressAdded { port: PortId(0), pkey, address });
        }
        core.input(Input::PortUp { port: PortId(0), attributes: attributes(pkeys) });
        core.input(Input::ClientOpened { client: CLIENT, account: Account::User(0) });
        core
    }

    fn input(&mut self, input: Input<'_>) {
        self.acm.handle_input(self.now, input);
        let (mut opened, mut sa) = (Vec::new(), Vec::new());
        loop {
            while let Some(output) = self.acm.poll_output() {
                match output {
                    Output::OpenEndpoint { endpoint, .. } => {
                        opened.push(endpoint);
                    }
                    Output::SaSend(send) => {
                        let mad = answer(&send.mad);
                        // Passed in after the last output, as every input.
                        sa.push((send.id, mad));
                    }
                    _ => {}
                }
            }
            if let Some(endpoint) = opened.pop() {
                self.acm.handle_input(self.now, Input::EndpointOpened { endpoint, qpn: Qpn::of::<2>() });
            } else if let Some((id, mad)) = sa.pop() {
                self.acm.handle_input(self.now, Input::SaResponse { id, mad: ib_mad::as_bytes(&mad) });
            } else {
                return;
            }
        }
    }

    /// Receives a multicast request of a remote host, so that its location is cached.
    fn learn(&mut self, number: u32) {
        let groups = [group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048)];
        let source = Address::Ip4(Ipv4Addr::from(number));
        let mad = multicast::request(TransactionId::new(number.into()), &Address::from_text("x"), &source, &groups);
        let source = DatagramSource {
            lid: Lid::new(9),
            path_bits: 0,
            qpn: Qpn::of::<9>(),
            gid: Some(Gid::new([2; 16])),
            group: Some(groups[0]),
        };
        let endpoint = EndpointId::new(0, 0);
        self.input(Input::Datagram { endpoint, source, payload: ib_mad::as_bytes(&mad) });
    }
}

fn answer(request: &SaMad) -> SaMad {
    let mut mad = *request;
    mad.header.method = request.header.method.response().unwrap();
    if request.header.attribute_id == AttributeId::PATH_RECORD {
        let path = PathRecord { dlid: Lid::new(9), ..*request.record::<PathRecord>().unwrap() };
        mad.data.0[..64].copy_from_slice(ib_mad::as_bytes(&path));
    } else {
        let member = McMemberRecord { mlid: Lid::new(0xc001), ..*request.record::<McMemberRecord>().unwrap() };
        mad.data.0[..52].copy_from_slice(ib_mad::as_bytes(&member));
    }
    mad
}

fn config() -> Config {
    let mut config = Config::default();
    config.limits.unsolicited = config.limits.destinations;
    config
}

/// Returns a core with this many unsolicited destinations, which fill its cache except for the local addresses.
fn full(destinations: u32, pkeys: u16) -> Core {
    let mut config = config();
    config.limits.destinations = destinations as usize + usize::from(pkeys);
    config.limits.unsolicited = config.limits.destinations;
    let mut core = Core::new(pkeys, config);
    (0..destinations).for_each(|number| core.learn(number));
    core
}

#[divan::bench(args = [SMALL, FULL])]
fn cached_resolve(bencher: Bencher<'_, '_>, destinations: u32) {
    let mut core = full(destinations, 1);
    let message = resolve_request(Some(&name()), &name(), EntryFlags::empty(), [1; 8]);
    bencher.bench_local(|| core.input(Input::ClientMessage { client: CLIENT, message: black_box(&message) }));
}

/// Each new remote host evicts another one.
#[divan::bench(args = [SMALL, FULL])]
fn eviction(bencher: Bencher<'_, '_>, destinations: u32) {
    let mut core = full(destinations, 1);
    let mut number = destinations;
    bencher.bench_local(|| {
        number += 1;
        core.learn(number);
    });
}

/// The port's link changes, with 128 partitions: groups and loopback paths are updated, without a scan of the cache.
#[divan::bench(args = [SMALL, FULL])]
fn port_event(bencher: Bencher<'_, '_>, destinations: u32) {
    let mut core = full(destinations, 128);
    let links = [Rate::GBPS_10, Rate::GBPS_40].map(|rate| PortAttributes { rate, ..attributes(128) });
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        core.input(Input::PortUp { port: PortId(0), attributes: links[turn % 2].clone() });
    });
}

#[divan::bench(args = [SMALL, FULL])]
fn port_down_and_up(bencher: Bencher<'_, '_>, destinations: u32) {
    let mut core = full(destinations, 128);
    let attributes = attributes(128);
    bencher.bench_local(|| {
        core.input(Input::PortDown(PortId(0)));
        core.input(Input::PortUp { port: PortId(0), attributes: attributes.clone() });
    });
}

/// 128 endpoints lose their partition and get it back, with many destinations on another endpoint.
#[divan::bench(args = [SMALL, FULL], sample_count = 20)]
fn endpoints_closed_and_opened(bencher: Bencher<'_, '_>, destinations: u32) {
    let mut core = full(destinations, 129);
    let (few, many) = (attributes(1), attributes(129));
    bencher.bench_local(|| {
        core.input(Input::PortUp { port: PortId(0), attributes: few.clone() });
        core.input(Input::PortUp { port: PortId(0), attributes: many.clone() });
    });
}

/// One slice of the sweep.
#[divan::bench(args = [SMALL, FULL])]
fn sweep(bencher: Bencher<'_, '_>, destinations: u32) {
    let mut core = full(destinations, 1);
    bencher.bench_local(|| {
        core.now = core.acm.poll_timeout().unwrap_or(core.now + Duration::from_secs(1)).max(core.now);
        core.acm.handle_timeout(core.now);
        core.acm.drain(core.now, |_| None);
    });
}

/// A client with a request in the middle of a long queue disconnects.
#[divan::bench(args = [SMALL, 16_384])]
fn waiting_client_disconnects(bencher: Bencher<'_, '_>, waiting: u32) {
    let mut config = config();
    config.limits.requests_per_client = 100_000;
    let mut core = Core::new(1, config);
    let ask = |number: u32| {
        let dest = Address::Ip4(Ipv4Addr::from(number));
        resolve_request(Some(&name()), &dest, EntryFlags::empty(), [1; 8])
    };
    for number in 0..waiting {
        core.input(Input::ClientMessage { client: CLIENT, message: &ask(number) });
    }
    let mut number = waiting;
    bencher.bench_local(|| {
        number += 1;
        let client = ClientId::new(1, number);
        core.input(Input::ClientOpened { client, account: Account::User(0) });
        core.input(Input::ClientMessage { client, message: &ask(number) });
        core.input(Input::ClientClosed(client));
    });
}
