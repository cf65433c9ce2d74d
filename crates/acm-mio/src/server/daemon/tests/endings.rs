//! Connections that are over while their clients have not read all.
use super::*;
use crate::shared::SharedCache;
use acm_sansio::{
    Config,
    account::AccountKind,
    config::{Limits, Share},
};
use acm_wire::client::{ClientStatus, Header, Opcode, SHARED_CACHE};

/// Sends a request, and then an invalid message, for which the daemon ends the connection.
fn end_unread(daemon: &mut Daemon, client: &mut UnixStream) {
    client.write_all(&[perf_request(0, [1; 8]).to_vec(), vec![9; 20]].concat()).unwrap();
    turns(daemon);
}

fn accounts(daemon: &Daemon) -> u64 {
    let mut clients = 0;
    daemon.acm.each_gauge(&mut |name, _, value| clients += if name == "clients" { value as u64 } else { 0 });
    clients
}

#[test]
fn connection_is_charged_until_its_responses_are_read_or_its_client_closes() {
    for reads in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        end_unread(&mut daemon, &mut client);
        let at = daemon.clock.now() + Duration::from_secs(3600);
        daemon.close_stalled(at);
        turns(&mut daemon);
        assert_eq!((daemon.host.clients.ending(), accounts(&daemon)), (1, 1));
        assert!(client.write_all(&[1]).is_err(), "it takes nothing more");
        if reads {
            assert_eq!(received(&mut client), (72, true));
        } else {
            drop(client);
        }
        turns(&mut daemon);
        assert_eq!((daemon.host.clients.open.len(), accounts(&daemon)), (0, 0));
        assert_eq!(daemon.check_due(), None);
    }
}

/// A client opens connection after connection, each of which the daemon ends for another reason.
// docs/deadlines.md: unread-connections
#[test]
fn account_with_eight_unread_endings_beyond_its_share_gets_no_further_connection() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let limits = Limits { connections: Share { total: 40, percent: 50 }, ..Limits::default() };
    daemon.input(Time::ZERO, Input::Configure(Config { limits, ..Config::default() }.into()));
    let mut clients = Vec::new();
    for _ in 0..100 {
        let mut client = connect(dir.path());
        turns(&mut daemon);
        // An eviction leaves the response unread.
        let _ = client.write_all(&perf_request(0, [1; 8]));
        turns(&mut daemon);
        clients.push(client);
    }
    assert_eq!((daemon.host.clients.open.len(), daemon.host.clients.ending()), (28, 8), "a share of 20");
    assert_eq!(daemon.acm.stats().connections_refused.of(AccountKind::User), 100 - 28);
    clients.clear();
    turns(&mut daemon);
    assert_eq!(daemon.host.clients.open.len(), 0);
}

/// The descriptor limit of the daemon in tests is 1,024, of which 128 may be unread: of one account half of what is free.
// docs/deadlines.md: descriptors
#[test]
fn unread_descriptors_of_the_shared_cache_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    daemon.host.shared = Some(SharedCache::create(9).unwrap());
    let request = Header::new(Opcode::new(SHARED_CACHE), ClientStatus::SUCCESS, 16, [0; 8]);
    let got = |daemon: &mut Daemon, user: u32, count: usize| -> Vec<UnixStream> {
        let ask = |mut client: UnixStream| {
            client.write_all(ib_mad::as_bytes(&request)).unwrap();
            client
        };
        let clients: Vec<_> = turns::connect_as(daemon, user, count).into_iter().map(ask).collect();
        for _ in 0..count {
            turns(daemon);
        }
        clients
    };
    let mut ours = got(&mut daemon, 1, 100);
    assert_eq!(daemon.host.clients.ending(), 64, "the others were closed");
    let theirs = got(&mut daemon, 2, 100);
    assert_eq!(daemon.host.clients.ending(), 64 + 32);
    assert_eq!(ours.iter_mut().map(|client| received(client).0).sum::<usize>(), 64 * 16);
    turns(&mut daemon);
    assert_eq!(daemon.host.clients.ending(), 32);
    drop(theirs);
    for _ in 0..10 {
        turns(&mut daemon);
    }
    assert_eq!(daemon.host.clients.open.len(), 0);
    let again = got(&mut daemon, 1, 100);
    assert_eq!((daemon.host.clients.ending(), again.len()), (64, 100));
}
