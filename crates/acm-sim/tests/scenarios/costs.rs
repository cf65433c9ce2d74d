//! What an event costs does not grow with the cache: it is told in wishes and in entries that go at a time, not in
//! time.
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

/// A core alone, on one port with many partitions, each with an address, and all that it wanted.
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
    Address::from_text(&format!("own{number}"))
}

impl Core {
    fn new() -> Self {
        let limits = Limits { unsolicited: 2 * DESTINATIONS as usize, ..Limits::default() };
        // Nothing is swept away because it is old.
        let config = Config { limits, addr_timeout: None, ..Config::default() };
        let mut core = Self { acm: Acm::new(config, 1), now: Time::ZERO, endpoints: Vec::new() };
        for number in 0..PARTITIONS {
            let local = Input::AddressAdded { port: PORT, pkey: Some(pkey(number)), address: name(number) };
            core.tell(local);
        }
        core.tell(Input::PortUp { port: PORT, attributes: attributes() });
        core
    }

    /// Tells a fact, does what is wanted of the fabric, answers every join. How many wishes that were.
    fn tell(&mut self, input: Input<'_>) -> usize {
        self.acm.handle_input(self.now, input);
        self.carry_out()
    }

    fn carry_out(&mut self) -> usize {
        let mut wishes = 0;
        loop {
            let Some(output) = self.acm.poll_output() else { return wishes };
            wishes += 1;
            let mut rest: Vec<Output> = core::iter::from_fn(|| self.acm.poll_output()).collect();
            wishes += rest.len();
            rest.insert(0, output);
            for output in rest {
                match output {
                    Output::OpenEndpoint { endpoint, pkey_index, .. } => {
                        self.endpoints.push((endpoint, pkey_index));
                        wishes += self.tell(Input::EndpointOpened { endpoint, qpn: Qpn::of::<100>() });
                    }
                    Output::SaSend(send) => {
                        let mut mad = send.mad;
                        mad.header.method = Method::GET_RESP;
                        if mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD {
                            let record = McMemberRecord::parse_mut(&mut mad.data.0).unwrap();
                            assert!(record.mgid.is_multicast());
                            record.mlid = Lid::new(0xc001);
                        }
                        wishes += self.tell(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
                    }
                    _ => {}
                }
            }
        }
    }

    /// Strangers tell of so many addresses, on all endpoints by turn.
    fn fill(&mut self, count: u64) {
        let endpoints = self.endpoints.clone();
        for number in 0..count {
            let (endpoint, pkey_index) = endpoints[number as usize % endpoints.len()];
            let group = group_mgid(pkey(pkey_index), 0, Rate::GBPS_10, Mtu::B2048);
            let [source, dest] = ["peer", "nobody"].map(|text| Address::from_text(&format!("{text}{number}")));
            let mad = multicast::request(TransactionId::new(number), &dest, &source, &[group]);
            let gid = Some(Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x1_0000 + number)));
            let source = DatagramSource { lid: Lid::new(0x100), path_bits: 0, qpn: Qpn::of::<7>(), gid };
            self.tell(Input::Datagram { endpoint, source, payload: ib_mad::as_bytes(&mad) });
        }
    }

    /// Destinations in the cache, as the report tells it.
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

/// Another LID, another manager, another rate, down and up: the same number of wishes whatever is cached, and no entry
/// goes because of it.
#[test]
fn port_events_do_not_look_at_the_cache() {
    let moved = PortAttributes { lid: Lid::new(17), ..attributes() };
    let manager = PortAttributes { sm_lid: Lid::new(2), ..moved.clone() };
    let slower = PortAttributes { rate: Rate::GBPS_40, ..manager.clone() };
    let wishes = |core: &mut Core| {
        let up = |core: &mut Core, attributes: &PortAttributes| {
            core.tell(Input::PortUp { port: PORT, attributes: attributes.clone() })
        };
        let mut all = [&moved, &manager, &slower].map(|attributes| up(core, attributes)).to_vec();
        all.push(core.tell(Input::ClientReregister(PORT)));
        all.push(core.tell(Input::PortDown(PORT)));
        all.push(up(core, &slower));
        all
    };
    let empty = wishes(&mut Core::new());
    let mut core = full();
    let with_all = wishes(&mut core);
    println!("wishes of six port events, {PARTITIONS} partitions, whatever is cached: {with_all:?}");
    assert_eq!(with_all, empty);
    assert_eq!(core.cached() as u64, DESTINATIONS);
}

/// An endpoint with all of the cache is closed: nothing goes at once, and 1,024 entries at most each time after that.
#[test]
fn what_was_known_on_a_closed_port_goes_in_slices() {
    let mut core = full();
    let before = core.cached();
    for number in 0..PARTITIONS {
        core.tell(Input::AddressRemoved { port: PORT, pkey: Some(pkey(number)), address: name(number) });
    }
    // Only our own addresses went, one with each endpoint.
    let own = usize::from(PARTITIONS);
    assert!(core.cached() >= before - own, "{} of {before}", core.cached());
    let start = core.now;
    let (mut left, mut slices) = (core.cached(), 0);
    while left > 0 {
        core.now = core.acm.poll_timeout().expect("a sweep that goes on").max(core.now);
        core.acm.handle_timeout(core.now);
        core.carry_out();
        let now = core.cached();
        assert!(left - now <= 1024, "{} at once", left - now);
        left = now;
        slices += 1;
        assert!(slices < 1000, "{left} are left");
    }
    println!("{before} entries went in {slices} slices, in {:?}", core.now.since(start));
    assert!(core.now.since(start) <= Duration::from_secs(2));
}

/// A cache that is full makes room by looking at a few entries: one goes for each that comes.
#[test]
fn one_entry_goes_for_each_that_comes() {
    let mut core = full();
    let client = ClientId::new(0, 0);
    core.tell(Input::ClientOpened { client, account: acm_sansio::Account::User(1) });
    for number in 0..100 {
        let dead = Address::from_text(&format!("wanted{number}"));
        let message = resolve_request(Some(&name(0)), &dead, EntryFlags::NO_DELAY, [1; 8]);
        core.tell(Input::ClientMessage { client, message: &message });
    }
    assert_eq!(core.acm.stat("destinations_evicted"), Some(100));
    assert_eq!(core.cached() as u64, DESTINATIONS);
}
