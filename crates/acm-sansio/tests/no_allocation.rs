//! The way of a cached resolve, from the client's message to the reply, allocates nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]
use acm_sansio::{Acm, ClientId, Config, EndpointId, Input, Output, PortId, Time, port::PortAttributes};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use ib_mad::{Lid, Pkey, Qpn};

fn tell(acm: &mut Acm, input: Input<'_>) -> Option<ClientStatus> {
    acm.handle_input(Time::ZERO, input);
    let mut status = None;
    while let Some(output) = acm.poll_output() {
        if let Output::Reply { reply, .. } = output {
            status = Some(reply.status());
        }
    }
    status
}

#[test]
fn cached_resolve() {
    let mut acm = Acm::new(Config::default(), 1);
    let (port, client, name) = (PortId(0), ClientId::new(0, 0), Address::from_text("node1"));
    let attributes = PortAttributes {
        lid: Lid::new(16),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    tell(&mut acm, Input::AddressAdded { port, pkey: None, address: name });
    tell(&mut acm, Input::PortUp { port, attributes: &attributes });
    tell(&mut acm, Input::EndpointOpened { endpoint: EndpointId::new(0, 0), qpn: Qpn::new(2) });
    tell(&mut acm, Input::ClientOpened { client, account: acm_sansio::Account::User(0) });
    // Own addresses are in the cache from the start; they take the same way as others.
    let message = resolve_request(Some(&name), &name, EntryFlags::empty(), [1; 8]);
    let ask = || Input::ClientMessage { client, message: &message };
    assert_eq!(tell(&mut acm, ask()), Some(ClientStatus::SUCCESS));
    let seen = allocation_counter::measure(|| {
        for _ in 0..1000 {
            assert_eq!(tell(&mut acm, ask()), Some(ClientStatus::SUCCESS));
        }
    });
    assert_eq!((seen.count_total, seen.bytes_total), (0, 0));
}
