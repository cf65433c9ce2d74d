//! A request for a cached path, from a client's message or the kernel's request to the response, allocates no memory.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Input, KernelRequestId, Output, PortId, Time, api::SaSend,
    port::PortAttributes,
};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use core::net::Ipv4Addr;
use ib_mad::{AttributeId, Gid, Lid, Pkey, Qpn, sa::PathRecord};

const PORT: PortId = PortId(0);
const CLIENT: ClientId = ClientId::new(0, 0);

/// The outputs of an input.
#[derive(Default)]
struct Outcome {
    status: Option<ClientStatus>,
    sa_request: Option<SaSend>,
}

fn input(acm: &mut Acm, input: Input<'_>) -> Outcome {
    acm.handle_input(Time::ZERO, input);
    let mut outcome = Outcome::default();
    while let Some(output) = acm.poll_output() {
        match output {
            Output::Reply { reply, .. } => outcome.status = Some(reply.status()),
            Output::KernelReply { path, .. } => {
                outcome.status = Some(path.map_or_else(acm_sansio::Failure::status, |_| ClientStatus::SUCCESS));
            }
            Output::SaSend(send) => outcome.sa_request = Some(send),
            _ => {}
        }
    }
    outcome
}

fn core() -> Acm {
    let mut acm = Acm::new(Config::default(), 1);
    let attributes = PortAttributes {
        lid: Lid::new(16),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    input(&mut acm, Input::AddressAdded { port: PORT, pkey: None, address: Address::from_text("node1") });
    input(&mut acm, Input::PortUp { port: PORT, attributes });
    input(&mut acm, Input::EndpointOpened { endpoint: EndpointId::new(0, 0), qpn: Qpn::of::<2>() });
    input(&mut acm, Input::ClientOpened { client: CLIENT, account: Account::User(0) });
    acm
}

/// Sends a request once to check its result, and a thousand times to count allocations.
fn allocates_nothing(acm: &mut Acm, ask: impl Fn() -> Input<'static>) {
    assert_eq!(input(acm, ask()).status, Some(ClientStatus::SUCCESS));
    let seen = allocation_counter::measure(|| {
        for _ in 0..1000 {
            assert_eq!(input(acm, ask()).status, Some(ClientStatus::SUCCESS));
        }
    });
    assert_eq!((seen.count_total, seen.bytes_total), (0, 0));
}

#[test]
fn cached_resolve_allocates_nothing() {
    // Local addresses are in the cache from the start, and are resolved like any others.
    let name = Address::from_text("node1");
    let message: &'static [u8] = resolve_request(Some(&name), &name, EntryFlags::empty(), [1; 8]).to_vec().leak();
    allocates_nothing(&mut core(), || Input::ClientMessage { client: CLIENT, message });
}

#[test]
fn cached_path_for_the_kernel_allocates_nothing() {
    let mut acm = core();
    let dgid: Gid = "fe80::2".parse().unwrap();
    let path = PathRecord { dgid, ..PathRecord::default() };
    let ask_at = |port| move || Input::KernelRequest { id: KernelRequestId(1), port, path };
    let ask = ask_at(Some(PORT));
    // The join gets no response; the path query does.
    let send = input(&mut acm, ask()).sa_request.unwrap();
    let mut mad = send.mad;
    assert_eq!(mad.header.attribute_id, AttributeId::PATH_RECORD);
    mad.header.method = mad.header.method.response().unwrap();
    input(&mut acm, Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
    allocates_nothing(&mut acm, ask);
    // The port is chosen by the requested path.
    allocates_nothing(&mut acm, ask_at(None));
}

#[test]
fn cached_address_for_the_kernel_allocates_nothing() {
    let mut acm = core();
    let ip = Ipv4Addr::new(10, 0, 0, 1).into();
    input(&mut acm, Input::AddressAdded { port: PORT, pkey: None, address: Address::Ip4(Ipv4Addr::new(10, 0, 0, 1)) });
    allocates_nothing(&mut acm, || Input::KernelAddressRequest { id: KernelRequestId(1), source: ip, dest: ip });
}
