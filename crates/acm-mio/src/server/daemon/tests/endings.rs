//! Connections that are over while their clients have not read all.
use super::*;
use acm_sansio::{
    Config,
    account::AccountKind,
    config::{Limits, Share},
};

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
