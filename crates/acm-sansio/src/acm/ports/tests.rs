//! The calls of a provider that follow from changes of ports and addresses.
use super::*;
use crate::{
    api::{
        GaugeSink, Input, Names, SaError, Time,
        account::AccountId,
        config::Config,
        failure::{AttemptDetails, Failure},
        id::Token,
    },
    provider::{Need, Observe, Provider, Resolution, Target},
};
use alloc::{boxed::Box, format, rc::Rc, string::String, vec};
use core::{cell::RefCell, fmt};
use ib_mad::{MadRef, Pkey};

/// Records the changes of endpoints.
#[derive(Debug, Default)]
struct Recorder(Rc<RefCell<Vec<String>>>);

impl Provider for Recorder {
    fn endpoint_changed(&mut self, _: &mut Context, endpoint: EndpointId, change: EndpointChange<'_>) {
        let change = match change {
            EndpointChange::AddressAdded(address) => format!("has {address}"),
            EndpointChange::AddressRemoved(address) => format!("lost {address}"),
            EndpointChange::AddressMoved(address) => format!("clears {address}"),
            other => format!("{other:?}"),
        };
        self.0.borrow_mut().push(format!("{}: {change}", endpoint.index()));
    }
    fn resolve(&mut self, _: &mut Context, _: EndpointId, _: Target<'_>, _: Need) -> Resolution {
        Failure::NoGroup.into()
    }
    fn waiter_left(&mut self, _: &mut Context, _: Token, _: AccountId, _: bool) -> AttemptDetails {
        AttemptDetails::default()
    }
    fn sa_done(&mut self, _: &mut Context, _: EndpointId, _: Token, _: Result<MadRef<'_>, SaError>) {}
    fn timeout(&mut self, _: &mut Context, _: Token) {}
}

impl Observe for Recorder {
    fn timer_name(&self, _: Token) -> &'static str {
        ""
    }
    fn each_gauge(&self, _: &Context, _: GaugeSink<'_>) {}
    fn report(&self, _: &Context, _: &dyn Names, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
    fn check(&self, _: &Context, _: &mut dyn FnMut(AccountId)) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn other_endpoints_clear_an_address_that_comes_goes_or_moves() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut acm = Acm::with_provider(Config::default(), 1, Box::new(Recorder(seen.clone())));
    let mut changes = |input| {
        acm.drive(Time::ZERO, input, |_| None);
        core::mem::take(&mut *seen.borrow_mut())
    };
    let address = |name| Address::from_text(name);
    let add = |port, name| Input::AddressAdded { port: PortId(port), pkey: None, address: address(name) };
    let remove = |port, name| Input::AddressRemoved { port: PortId(port), pkey: None, address: address(name) };
    for port in [0, 1] {
        let attributes = PortAttributes {
            lid: Lid::new(16),
            gids: vec!["fe80::1".parse().unwrap()],
            pkeys: vec![Pkey::DEFAULT_FULL],
            ..PortAttributes::default()
        };
        changes(Input::PortUp { port: PortId(port), attributes });
    }
    assert_eq!(changes(add(0, "a")), ["0: has a"]);
    assert_eq!(changes(add(1, "b")), ["1: has b", "0: clears b"]);
    assert_eq!(changes(add(0, "c")), ["0: has c", "1: clears c"]);
    assert_eq!(changes(remove(0, "c")), ["0: lost c", "1: clears c"]);
    // An endpoint without addresses is closed. An endpoint that has the address, too, keeps it.
    assert_eq!(changes(add(1, "a")), ["1: has a"]);
    assert_eq!(changes(remove(0, "a")), ["0: Closing"]);
    assert_eq!(changes(add(0, "d")), ["0: has d", "1: clears d"]);
    assert_eq!(changes(remove(0, "d")), ["0: Closing", "1: clears d"]);
}
