//! What the core hears of wishes that the fabric cannot fulfil.
use super::*;

#[test]
fn a_question_that_could_not_be_sent_is_answered_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    daemon.host.fabric = Some(Box::new(Chatter { on_sa_send: Box::new(|| false), ..Chatter::default() }));
    client.write_all(&pending_request()).unwrap();
    // No time passes for the core: nothing is due.
    turns(&mut daemon);
    assert_eq!(received(&mut client), (88, false));
    assert!(!daemon.acm.has_requests(daemon.host.clients.open[0].id));
}

#[test]
fn an_endpoint_that_could_not_be_opened_is_opened_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let (opened, asked) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (opened_then, asked_then) = (Rc::clone(&opened), Rc::clone(&asked));
    daemon.host.fabric = Some(Box::new(Chatter {
        on_open: Box::new(move || {
            opened_then.set(opened_then.get() + 1);
            if opened_then.get() == 1 { Err(FabricError::NoDevice) } else { Ok(ib_mad::Qpn::of::<7>()) }
        }),
        on_sa_send: Box::new(move || {
            asked_then.set(asked_then.get() + 1);
            true
        }),
        ..Chatter::default()
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
    let before = asked.get();
    daemon.acm.handle_timeout(again);
    daemon.drain(again);
    assert_eq!(opened.get(), 2);
    // It joins its group.
    let joined = (0..20).any(|tenth| {
        let now = again + Duration::from_millis(100 * tenth);
        daemon.acm.handle_timeout(now);
        daemon.drain(now);
        asked.get() > before
    });
    assert!(joined);
}
