//! The core under any sequence of facts.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Input, PortId, SaRequestId, Time,
    door::{DatagramSource, SendFailure},
    port::PortAttributes,
};
use acm_wire::Address;
use arbitrary::Arbitrary;
use core::time::Duration;
use ib_mad::{Gid, Lid, Pkey, Qpn};

/// A fact, in a form that shrinks well. Ids are small, so that they often name something.
#[derive(Clone, Debug, Arbitrary)]
pub enum Fact {
    /// A client comes.
    Opened(u8),
    /// A client says something.
    Message(u8, Vec<u8>),
    /// A client goes.
    Gone(u8),
    /// A datagram.
    Datagram(u8, u16, Option<[u8; 16]>, Vec<u8>),
    /// An answer of subnet administration.
    SaAnswer(u8, Vec<u8>),
    /// None will come.
    SaFailed(u8, bool),
    /// An endpoint has its queue pair.
    EndpointOpened(u8, u32),
    /// A port is active, with this LID and these P_Keys.
    PortUp(u8, u16, Vec<u16>),
    /// A port is not active any more.
    PortDown(u8),
    /// A subnet manager forgot.
    Reregister(u8),
    /// An address comes.
    AddressAdded(u8, [u8; 4]),
    /// An address goes.
    AddressRemoved(u8, [u8; 4]),
    /// Time passes.
    Wait(u16),
}

/// Tells a core all facts; whatever they are, it drains and does not spin.
///
/// # Panics
/// If the core wants to be woken again and again at one instant.
pub fn core(facts: &[Fact]) {
    let mut acm = Acm::new(Config::default(), 1);
    let mut now = Time::ZERO;
    for fact in facts {
        tell(&mut acm, &mut now, fact);
        while acm.poll_output().is_some() {}
    }
}

fn tell(acm: &mut Acm, now: &mut Time, fact: &Fact) {
    let client = |index: u8| ClientId::new((index % 4).into(), (index / 4 % 2).into());
    let endpoint = |index: u8| EndpointId::new((index % 4).into(), (index / 4 % 2).into());
    let request = |index: u8| SaRequestId::new((index % 8).into(), (index / 8 % 4).into());
    let port = |index: u8| PortId((index % 2).into());
    let address = |bytes: [u8; 4]| Address::Ip4(bytes.into());
    match fact {
        Fact::Opened(id) => {
            let account = Account::User(u32::from(*id) % 3);
            acm.handle_input(*now, Input::ClientOpened { client: client(*id), account });
        }
        Fact::Message(id, message) => {
            acm.handle_input(*now, Input::ClientMessage { client: client(*id), message });
        }
        Fact::Gone(id) => acm.handle_input(*now, Input::ClientGone(client(*id))),
        Fact::Datagram(id, lid, gid, payload) => {
            let gid = gid.map(Gid::new);
            let source = DatagramSource { lid: Lid::new(*lid), path_bits: 0, qpn: Qpn::new(7), gid };
            acm.handle_input(*now, Input::Datagram { endpoint: endpoint(*id), source, payload });
        }
        Fact::SaAnswer(id, mad) => acm.handle_input(*now, Input::SaAnswer { id: request(*id), mad }),
        Fact::SaFailed(id, late) => {
            let failure = if *late { SendFailure::TimedOut } else { SendFailure::NotSent };
            acm.handle_input(*now, Input::SaFailed { id: request(*id), failure });
        }
        Fact::EndpointOpened(id, qpn) => {
            acm.handle_input(*now, Input::EndpointOpened { endpoint: endpoint(*id), qpn: Qpn::new(*qpn) });
        }
        Fact::PortUp(id, lid, pkeys) => {
            let attributes = PortAttributes {
                lid: Lid::new(*lid),
                gids: vec![Gid::new([0xfe; 16])],
                pkeys: pkeys.iter().copied().map(Pkey::new).collect(),
                ..PortAttributes::default()
            };
            acm.handle_input(*now, Input::PortUp { port: port(*id), attributes: &attributes });
        }
        Fact::PortDown(id) => acm.handle_input(*now, Input::PortDown(port(*id))),
        Fact::Reregister(id) => acm.handle_input(*now, Input::ClientReregister(port(*id))),
        Fact::AddressAdded(id, bytes) => {
            acm.handle_input(*now, Input::AddressAdded { port: port(*id), pkey: None, address: address(*bytes) });
        }
        Fact::AddressRemoved(id, bytes) => {
            acm.handle_input(*now, Input::AddressRemoved { port: port(*id), pkey: None, address: address(*bytes) });
        }
        Fact::Wait(millis) => {
            let until = *now + Duration::from_millis((*millis).into());
            let mut rounds = 0;
            while let Some(at) = acm.poll_timeout().filter(|at| *at <= until) {
                assert!(at >= *now || rounds == 0, "a deadline in the past");
                *now = at.max(*now);
                acm.handle_timeout(*now);
                while acm.poll_output().is_some() {}
                rounds += 1;
                assert!(rounds < 10_000, "the core spins at {now}");
            }
            *now = until;
        }
    }
}
