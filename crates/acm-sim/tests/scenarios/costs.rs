//! The cost of an event does not grow with the cache. Cost is measured as the number of outputs and of entries that are
//! removed at a time, not as run time.
use acm_sansio::{
    Acm, ClientId, Config, EndpointId, Input, Output, PortId, Time, api::DatagramSource, config::Limits,
    port::PortAttributes,
};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{
    AttributeId, Gid, Guid, Lid, Method, Mtu, Pkey, Qpn, Rate, TransactionId, Wire, acm::group_mgid, sa::McMemberRecord,
};

const DESTINATIONS: u64 = 131_072;
const PARTITIONS: u16 = 128;
const PORT: PortId = PortId(0);

/// A core without a simulated subnet: one port with many partitions, and an address in each.
struct Core {
    acm: Acm,
    now: Time,
    endpoints: Vec<(EndpointId, u16)>,
}

fn attributes() -> PortAttributes {
    PortAttributes {
        port_number: 1,
        port_count: 1,
        lid: Lid::new(16),
        sm_lid: Lid::new(1),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: (0..PARTITIONS).map(pkey).collect(),
        mtu: Mtu::B2048,
        rate: Rate::GBPS_100,
        ..PortAttributes::default()
    }
}

fn pkey(number: u16) -> Pkey {
    Pkey::new(0xffff - number)
}

fn name(number: u16) -> Address {
    Address::from_text(&format!("local{number}"))
}

impl Core {
    fn new() -> Self {
        let limits = Limits { unsolicited: 2 * DESTINATIONS as usize, ..Limits::default() };
        // Destinations do not expire.
        let config = Config { limits, addr_timeout: None, ..Config::default() };
        let mut core = Self { acm: Acm::new(config, 1), now: Time::ZERO, endpoints: Vec::new() };
        for number in 0..PARTITIONS {
            let local = Input::AddressAdded { port: PORT, pkey: Some(pkey(number)), address: name(number) };
            core.input(local);
        }
        core.input(Input::PortUp { port: PORT, attributes: attributes() });
        core
    }

    /// Passes an input to the core, opens endpoints and answers requests to subnet administration. Returns the number
    /// of outputs.
    fn input(&mut self, input: Input<'_>) -> usize {
        self.acm.handle_input(self.now, input);
        self.carry_out()
    }

    fn carry_out(&mut self) -> usize {
        let mut outputs = 0;
        loop {
            let Some(output) = self.acm.poll_output() else { return outputs };
            outputs += 1;
            let mut rest: Vec<Output> = core::iter::from_fn(|| self.acm.poll_output()).collect();
            outputs += rest.len();
            rest.insert(0, output);
            for output in rest {
                match output {
                    Output::OpenEndpoint { endpoint, pkey_index, .. } => {
                        self.endpoints.push((endpoint, pkey_index));
                        outputs += self.input(Input::EndpointOpened { endpoint, qpn: Qpn::of::<100>() });
                    }
                    Output::SaSend(send) => {
                        let mut mad = send.mad;
                        mad.header.method = Method::GET_RESP;
                        if mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD {
                            let record = McMemberRecord::parse_mut(&mut mad.data.0).unwrap();
                            assert!(record.mgid.is_multicast());
                            record.mlid = Lid::new(0xc001);
                        }
                        outputs += self.input(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
                    }
                    _ => {}
                }
            }
        }
    }

    /// Fills the cache with `count` addresses of remote hosts, on all endpoints in turn.
    fn fill(&mut self, count: u64) {
        let endpoints = self.endpoints.clone();
        for number in 0..count {
            let (endpoint, pkey_index) = endpoints[number as usize % endpoints.len()];
            let group = group_mgid(pkey(pkey_index), 0, Rate::GBPS_10, Mtu::B2048);
            let [source, dest] = ["peer", "nobody"].map(|text| Address::from_text(&format!("{text}{number}")));
            let mad = multicast::request(TransactionId::new(number), &dest, &source, &[group]);
            let gid = Some(Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x1_0000 + number)));
            let source =
                DatagramSource { lid: Lid::new(0x100), path_bits: 0, qpn: Qpn::of::<7>(), gid, group: Some(group) };
            self.input(Input::Datagram { endpoint, source, payload: ib_mad::as_bytes(&mad) });
        }
    }

    /// Returns the number of destinations in the cache, taken from the report.
    fn cached(&self) -> usize {
        let report = self.acm.report().to_string();
        report.split("cache: destinations ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }
}

fn full() -> Core {
    let mut core = Core::new();
    assert_eq!(core.endpoints.len(), usize::from(PARTITIONS));
    core.fill(DESTINATIONS - u64::from(PARTITIONS));
    assert_eq!(core.cached() as u64, DESTINATIONS);
    core
}

/// The events are a new LID, a new subnet manager, a new rate, reregistration, down and up. They remove no entry.
#[test]
fn number_of_outputs_of_a_port_event_does_not_depend_on_the_cache() {
    let moved = PortAttributes { lid: Lid::new(17), ..attributes() };
    let manager = PortAttributes { sm_lid: Lid::new(2), ..moved.clone() };
    let slower = PortAttributes { rate: Rate::GBPS_40, ..manager.clone() };
    let outputs = |core: &mut Core| {
        let up = |core: &mut Core, attributes: &PortAttributes| {
            core.input(Input::PortUp { port: PORT, attributes: attributes.clone() })
        };
        let mut all = [&moved, &manager, &slower].map(|attributes| up(core, attributes)).to_vec();
        all.push(core.input(Input::ClientReregister(PORT)));
        all.push(core.input(Input::PortDown(PORT)));
        all.push(up(core, &slower));
        all
    };
    let empty = outputs(&mut Core::new());
    let mut core = full();
    let with_full_cache = outputs(&mut core);
    println!("outputs of six port events with {PARTITIONS} partitions: {with_full_cache:?}");
    assert_eq!(with_full_cache, empty);
    assert_eq!(core.cached() as u64, DESTINATIONS);
}

/// All endpoints are closed. A sweep then removes their destinations.
#[test]
fn destinations_of_a_closed_endpoint_are_removed_1024_at_a_time() {
    let mut core = full();
    let before = core.cached();
    for number in 0..PARTITIONS {
        core.input(Input::AddressRemoved { port: PORT, pkey: Some(pkey(number)), address: name(number) });
    }
    // Only the local addresses are removed at once, one for each endpoint.
    let local = usize::from(PARTITIONS);
    assert!(core.cached() >= before - local, "{} of {before}", core.cached());
    let start = core.now;
    let (mut left, mut slices) = (core.cached(), 0);
    while left > 0 {
        core.now = core.acm.poll_timeout().expect("the sweep continues").max(core.now);
        core.acm.handle_timeout(core.now);
        core.carry_out();
        let now = core.cached();
        assert!(left - now <= 1024, "{} entries at once", left - now);
        left = now;
        slices += 1;
        assert!(slices < 1000, "{left} entries are left");
    }
    println!("{before} entries were removed in {slices} slices within {:?}", core.now.since(start));
    assert!(core.now.since(start) <= Duration::from_secs(2));
}

#[test]
fn names_that_are_not_found_evict_nothing_from_a_full_cache() {
    let mut core = full();
    let client = ClientId::new(0, 0);
    core.input(Input::ClientOpened { client, account: acm_sansio::Account::User(1) });
    for number in 0..100 {
        let unknown = Address::from_text(&format!("wanted{number}"));
        let message = resolve_request(Some(&name(0)), &unknown, EntryFlags::NO_DELAY, [1; 8]);
        core.input(Input::ClientMessage { client, message: &message });
    }
    assert_eq!(core.acm.stat("destinations_evicted"), Some(0));
    assert_eq!(core.cached() as u64, DESTINATIONS + 100);
}
