//! Inputs for outputs that the fabric cannot carry out.
use super::*;

#[test]
fn request_that_cannot_be_sent_fails_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    daemon.host.fabric = Some(Box::new(TestFabric { on_sa_send: Box::new(|| false), ..TestFabric::default() }));
    client.write_all(&pending_request()).unwrap();
    // The core's time does not advance: no deadline passes.
    turns(&mut daemon);
    assert_eq!(received(&mut client), (88, false));
    assert!(!daemon.acm.has_requests(daemon.host.clients.open[0].id));
}

#[test]
fn endpoint_that_cannot_be_opened_is_retried() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let (opened, requests) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (opened_then, requests_then) = (Rc::clone(&opened), Rc::clone(&requests));
    daemon.host.fabric = Some(Box::new(TestFabric {
        on_open: Box::new(move || {
            opened_then.set(opened_then.get() + 1);
            if opened_then.get() == 1 { Err(FabricError::NoDevice) } else { Ok(ib_mad::Qpn::of::<7>()) }
        }),
        on_sa_send: Box::new(move || {
            requests_then.set(requests_then.get() + 1);
            true
        }),
        ..TestFabric::default()
    }));
    let attributes = PortAttributes {
        lid: Lid::new(2),
        gids: vec!["fe80::2".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    let address = Address::from_text("node2");
    daemon.input(Time::ZERO, Input::AddressAdded { port: PortId(1), pkey: None, address });
    daemon.input(Time::ZERO, Input::PortUp { port: PortId(1), attributes });
    assert_eq!((opened.get(), daemon.acm.stats().endpoints_failed), (1, 1));
    let again = Time::ZERO + Duration::from_millis(100);
    assert!(daemon.due().is_some_and(|due| due <= again), "{:?}", daemon.due());
    let before = requests.get();
    daemon.acm.handle_timeout(again);
    daemon.drain(again);
    assert_eq!(opened.get(), 2);
    // The endpoint joins its group.
    let joined = (0..20).any(|tenth| {
        let now = again + Duration::from_millis(100 * tenth);
        daemon.acm.handle_timeout(now);
        daemon.drain(now);
        requests.get() > before
    });
    assert!(joined);
}
