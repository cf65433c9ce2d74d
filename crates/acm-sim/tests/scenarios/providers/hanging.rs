//! Providers that do not return from a call.
use super::shared::{Answers, Machine, OF_ONE, ONE, attributes};
use acm_sansio::{ClientId, Input, PortId};
use core::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn hanging_provider_fails_its_requests_and_serves_again_after_its_return() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = None;
    let waiting: Vec<ClientId> = (0..100).map(|_| machine.resolve(1, "one")).collect();
    machine.run(Duration::from_millis(9_999));
    assert!(machine.replies.is_empty());
    machine.run(MS);
    assert!(waiting.iter().all(|client| machine.status(*client) == Some(3)), "ENODATA");
    assert_eq!(machine.logged("provider 1 hangs: resolve has not returned for 10 s"), 1);
    assert_eq!((machine.stat("provider_hangs"), machine.gauge("provider_hangs_now")), (1, 1));
    assert_eq!(machine.gauge("endpoint_open"), 2);
    // Further requests fail at once, without a call.
    let calls = machine.fake(ONE).calls.len();
    let client = machine.resolve(1, "one");
    assert_eq!((machine.status(client), machine.fake(ONE).calls.len()), (Some(3), calls));
    // The other provider still serves.
    let other = machine.resolve(1, "two");
    machine.run(Duration::from_secs(60));
    let logged = machine.logged("ERROR - provider 1 hangs");
    assert_eq!((machine.status(other), logged), (Some(0), 1), "logged once");
    machine.fake(ONE).takes = Some(Duration::ZERO);
    machine.wake_up(ONE);
    assert_eq!(machine.logged("provider 1 returned; it serves again"), 1);
    assert_eq!((machine.gauge("endpoint_open"), machine.gauge("provider_calls")), (3, 0));
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}

/// Each call that returns restarts the time.
#[test]
fn slow_provider_is_not_reported_as_hanging() {
    let mut machine = Machine::started();
    machine.fake(ONE).answers = Answers::Nothing;
    machine.fake(ONE).takes = Some(Duration::from_secs(9));
    (0..5).for_each(|_| _ = machine.resolve(1, "one"));
    machine.run(Duration::from_secs(60));
    assert_eq!(machine.stat("provider_hangs"), 0);
}

/// The port changes ten times during the hang.
#[test]
fn provider_gets_only_the_current_state_after_a_hang() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = None;
    machine.resolve(1, "one");
    machine.run(Duration::from_secs(10));
    machine.fake(ONE).functions();
    for lid in 20..30 {
        machine.input(Input::PortDown(PortId(1)));
        machine.up(1, &attributes(OF_ONE, lid));
    }
    machine.input(Input::ClientReregister(PortId(1)));
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
fn shutdown_waits_two_seconds_for_a_hanging_provider() {
    let mut machine = Machine::started();
    machine.fake(ONE).takes = None;
    machine.input(Input::Shutdown);
    machine.run(Duration::from_millis(1999));
    assert!(!machine.stopped);
    machine.run(MS);
    assert!(machine.stopped);
    machine.replay();
}
