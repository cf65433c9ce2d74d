//! Level, subject and text of each event.
use super::super::failed_request::ServedAddresses;
use super::*;
use crate::api::{
    SaError,
    failure::{Bound, Failure, FailureKind},
    id::KernelRequestId,
};
use alloc::{format, string::ToString};
use ib_mad::{Gid, Mtu, Rate};

const CLIENT: ClientId = ClientId::new(3, 0);
const PORT: PortId = PortId(1);
const ENDPOINT: EndpointId = EndpointId::new(4, 2);
const PKEY: Pkey = Pkey::DEFAULT_FULL;

fn address() -> Address {
    Address::from_text("node7")
}

/// The subjects that an event has: address, port, endpoint, client.
type About = (bool, bool, bool, bool);

fn about(event: &Event) -> About {
    let found = (event.dest(), event.port(), event.endpoint(), event.client());
    let expected = (Some(address()), Some(PORT), Some(ENDPOINT), Some(CLIENT));
    let some = (found.0.is_some(), found.1.is_some(), found.2.is_some(), found.3.is_some());
    let equal = (found.0 == expected.0, found.1 == expected.1, found.2 == expected.2, found.3 == expected.3);
    assert_eq!(some, equal, "{event}");
    some
}

fn check(events: impl IntoIterator<Item = (Event, Level, About, &'static str)>) {
    for (event, level, of, text) in events {
        assert_eq!((event.level(), about(&event)), (level, of), "{event}");
        assert!(event.to_string().contains(text), "{event}: {text}");
    }
}

#[test]
fn event_text_names_the_requester() {
    let client = RequestedBy::Client(CLIENT, Account::User(7));
    assert_eq!(
        [client, RequestedBy::Kernel(KernelRequestId(5))].map(|by| by.named(&Ids).to_string()),
        [format!("{CLIENT} of {}", Account::User(7)), "the kernel".into()]
    );
    assert_eq!(Event::PortUp(PortId(1), Lid::new(16)).to_string(), "port 1 is active, LID 16");
}

#[test]
fn port_and_endpoint_events_have_level_subject_and_text() {
    use Level::{Always, Verbose};
    const ON: About = (false, true, true, false);
    const PORT_ONLY: About = (false, true, false, false);
    const ENDPOINT_ONLY: About = (false, false, true, false);
    check([
        (Event::PortUp(PORT, Lid::new(9)), Always, PORT_ONLY, "port 1 is active, LID 9"),
        (Event::PortDown(PORT), Always, PORT_ONLY, "port 1 is down"),
        (Event::EndpointAdded(ENDPOINT, PORT, PKEY), Always, ON, "port 1 pkey 0xffff opened"),
        (Event::EndpointRemoved(ENDPOINT, PORT, PKEY), Always, ON, "port 1 pkey 0xffff closed"),
        (Event::EndpointFailed(ENDPOINT, 90), Always, ENDPOINT_ONLY, "no queue pair; again in 90 ms"),
        (Event::EndpointLost(ENDPOINT), Always, ENDPOINT_ONLY, "queue pair lost"),
        (Event::NoPartition(PORT, address(), Some(PKEY)), Verbose, (true, true, false, false), "0xffff is not in the"),
        (Event::NoPartition(PORT, address(), None), Verbose, (true, true, false, false), "port 1 has no pkey"),
        (Event::DuplicateAddress(address()), Always, (true, false, false, false), "duplicate address node7"),
        (Event::AddressAdded(ENDPOINT, address()), Verbose, (true, false, true, false), "Added node7 to endpoint4.2"),
        (Event::SaMoved(PORT, 5), Always, PORT_ONLY, "moved, 5 requests sent again"),
        (Event::BadSaResponse(PORT), Always, PORT_ONLY, "SA answer does not fit"),
    ]);
}

#[test]
fn client_and_kernel_events_have_level_subject_and_text() {
    use Level::{Debug, Verbose};
    const CLIENT_ONLY: About = (false, false, false, true);
    let account = Account::User(7);
    let (client, kernel) = (RequestedBy::Client(CLIENT, account), RequestedBy::Kernel(KernelRequestId(5)));
    let failed = |by, dest| {
        let (source, endpoint, served) = (None, None, ServedAddresses::default());
        let attempt = Failure::TooMany(Bound::Lookups).into();
        Event::Failed(FailedRequest { by, dest, source, endpoint, attempt, served }.into())
    };
    check([
        (Event::ConnectionClosed(CLIENT, account), Verbose, CLIENT_ONLY, "client3.0 of user 7 closed to make room"),
        (Event::ConnectionRefused(CLIENT, account), Verbose, CLIENT_ONLY, "client3.0 of user 7 refused: too many"),
        (Event::BadFrame(CLIENT, FrameError::Version(9)), Verbose, CLIENT_ONLY, "client3.0 closed: "),
        (failed(client, None), Verbose, CLIENT_ONLY, "failing request of client3.0 of user 7: too many"),
        (failed(kernel, Some(address())), Verbose, (true, false, false, false), "of the kernel for node7: too many"),
        (Event::Answered(client, address()), Debug, (true, false, false, true), "path to node7"),
    ]);
}

#[test]
fn built_in_provider_events_have_level_subject_and_text() {
    use Level::{Always, Debug, Verbose};
    use ResolverEvent as Protocol;
    const HERE: About = (false, false, true, false);
    const DEST: About = (true, false, true, false);
    let (gid, lid): (Gid, Lid) = ("fe80::9".parse().unwrap(), Lid::new(0xc001));
    let refused = Failure::NoSharedGroup;
    let events = [
        (
            Protocol::Joined(ENDPOINT, gid, lid, Mtu::B2048, Rate::GBPS_10),
            Verbose,
            HERE,
            "join successful: endpoint4.2",
        ),
        (Protocol::JoinFailed(ENDPOINT, gid, SaError::TimedOut, 70), Always, HERE, "again in 70 ms"),
        (
            Protocol::LookupFailed(ENDPOINT, address(), refused.into(), 3),
            Debug,
            DEST,
            "no path to node7: the peer shares no",
        ),
        (Protocol::LongDatagram(ENDPOINT, 300), Verbose, HERE, "datagram of 300 bytes"),
        (Protocol::NoGrh(ENDPOINT), Debug, HERE, "without a GRH"),
        (Protocol::NoSharedGroup(ENDPOINT, address()), Verbose, DEST, "no shared multicast group with node7"),
        (Protocol::PeerChanged(ENDPOINT, address()), Verbose, DEST, "node7 has moved"),
        (Protocol::ClaimChecked(ENDPOINT, address(), gid), Verbose, DEST, "fe80::9 claims node7"),
        (Protocol::ClaimRefuted(ENDPOINT, address(), gid), Verbose, DEST, "node7 is still at fe80::9"),
        (
            Protocol::AddressConflict(ENDPOINT, address(), gid, gid),
            Always,
            DEST,
            "fe80::9 and fe80::9 both have node7; using fe80::9",
        ),
        (Protocol::RequestSent(ENDPOINT, address(), 2), Debug, DEST, "requesting the location of node7, time 2"),
        (Protocol::Refused(ENDPOINT, address(), refused), Debug, DEST, "node7: the peer shares no"),
        (Protocol::Located(ENDPOINT, address(), gid, lid), Debug, DEST, "node7 is at fe80::9"),
        (Protocol::RouteRequested(ENDPOINT, address()), Debug, DEST, "asking the SA for the path to node7"),
        (Protocol::RouteFound(ENDPOINT, address()), Debug, DEST, "path to node7 found"),
    ];
    check(events.map(|(event, level, of, text)| (Event::from(event), level, of, text)));
}

#[test]
fn failure_summary_is_always_logged_by_kind() {
    let mut counts = FailureCounts::default();
    counts.count(FailureKind::SaSilent);
    let text = Event::Failures(counts, Duration::from_secs(60)).to_string();
    assert_eq!(text, "notice - 1 request failed in 60 s: 1 SA silent (log_level 1 says why each of them did)");
    counts.count(FailureKind::NoAnswer);
    let event = Event::Failures(counts, Duration::from_secs(12));
    assert_eq!((event.level(), about(&event)), (Level::Always, (false, false, false, false)));
    assert!(event.to_string().contains("2 requests failed in 12 s: 1 no answer from the peer, 1 SA silent ("));
}

/// Names as a daemon has them.
struct TestNames;

impl Names for TestNames {
    fn port(&self, _: PortId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mlx5_0 port 1")
    }
    fn endpoint(&self, _: EndpointId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mlx5_0/1 pkey 0xffff")
    }
    fn client(&self, _: ClientId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mpirun[42]")
    }
}

#[test]
fn event_text_contains_names_in_place_of_ids() {
    let by = RequestedBy::Client(CLIENT, Account::User(7));
    for (event, text) in [
        (Event::PortDown(PORT), "mlx5_0 port 1 is down"),
        (Event::EndpointAdded(ENDPOINT, PORT, PKEY), "mlx5_0 port 1 pkey 0xffff opened"),
        (Event::EndpointLost(ENDPOINT), "mlx5_0/1 pkey 0xffff: queue pair lost with its device"),
        (Event::Answered(by, address()), "mpirun[42] of user 7: path to node7"),
        (
            ResolverEvent::RequestSent(ENDPOINT, address(), 2).into(),
            "mlx5_0/1 pkey 0xffff: requesting the location of node7, time 2",
        ),
    ] {
        assert_eq!(event.named(&TestNames).to_string(), text);
    }
}
