//! A provider that does not return from a call.
use super::shared::{Answers, Machine, OF_ONE, ONE, attributes};
use acm_sansio::{ClientId, Input, PortId};
use core::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn nobody_waits_for_a_provider_that_hangs_and_it_serves_when_it_returns() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = None;
    let waiting: Vec<ClientId> = (0..100).map(|_| machine.resolve(1, "one")).collect();
    machine.run(Duration::from_millis(9_999));
    assert!(machine.replies.is_empty());
    machine.run(MS);
    assert!(waiting.iter().all(|client| machine.status(*client) == Some(3)), "as for a port that is down");
    assert_eq!(machine.said("provider 1 hangs: resolve has not returned for 10 s"), 1);
    assert_eq!((machine.stat("provider_hangs"), machine.gauge("provider_hangs_now")), (1, 1));
    assert_eq!(machine.gauge("endpoint_open"), 2);
    // At once, without a call.
    let calls = machine.fake(ONE).calls.len();
    let client = machine.resolve(1, "one");
    assert_eq!((machine.status(client), machine.fake(ONE).calls.len()), (Some(3), calls));
    // The others go on.
    let other = machine.resolve(1, "two");
    machine.run(Duration::from_secs(60));
    let said = machine.said("ERROR - provider 1 hangs");
    assert_eq!((machine.status(other), said), (Some(0), 1), "once");
    machine.fake(ONE).takes = Some(Duration::ZERO);
    machine.wake_up(ONE);
    assert_eq!(machine.said("provider 1 returned; it serves again"), 1);
    assert_eq!((machine.gauge("endpoint_open"), machine.gauge("provider_calls")), (3, 0));
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}

/// The time begins anew with each call that returns.
#[test]
fn who_returns_now_and_then_does_not_hang() {
    let mut machine = Machine::started();
    machine.fake(ONE).answers = Answers::Nothing;
    machine.fake(ONE).takes = Some(Duration::from_secs(9));
    (0..5).for_each(|_| _ = machine.resolve(1, "one"));
    machine.run(Duration::from_secs(60));
    assert_eq!(machine.stat("provider_hangs"), 0);
}

/// What happens to a port meanwhile is told when it returns, and only what is so then.
#[test]
fn a_provider_that_hung_is_told_what_is_so_now() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = None;
    machine.resolve(1, "one");
    machine.run(Duration::from_secs(10));
    machine.fake(ONE).functions();
    for lid in 20..30 {
        machine.tell(Input::PortDown(PortId(1)));
        machine.up(1, &attributes(OF_ONE, lid));
    }
    machine.tell(Input::ClientReregister(PortId(1)));
    machine.run(Duration::from_secs(60));
    assert!(machine.fake(ONE).functions().is_empty());
    machine.fake(ONE).takes = Some(Duration::ZERO);
    machine.wake_up(ONE);
    let again = ["remove_address", "close_endpoint", "close_port", "open_port", "open_endpoint", "add_address"];
    assert_eq!(machine.fake(ONE).functions(), again);
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}

#[test]
fn the_daemon_ends_without_a_provider_that_hangs() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = None;
    machine.tell(Input::Shutdown);
    machine.run(Duration::from_millis(1999));
    assert!(!machine.stopped);
    machine.run(MS);
    assert!(machine.stopped);
    machine.replay();
}
