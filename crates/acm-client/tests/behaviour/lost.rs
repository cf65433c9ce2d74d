//! Lost connections: what a client sends again, and what it returns.
use super::{LONG, Peer, ServerAddress, options, path, route, until_asleep};
use acm_client::{Address, AskError, Client, ClientError, Connection, Response, ib_mad::Lid};
use acm_wire::client::Reply;
use core::time::Duration;
use std::{fs, thread};

#[test]
fn client_reconnects_to_a_restarted_daemon() {
    let address = ServerAddress::new();
    let before = address.serve(vec![Box::new(|peer| {
        let tid = peer.next().unwrap();
        peer.respond(&Reply::resolved(tid, &path(1), None));
    })]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    assert_eq!(client.route(&path(1)).unwrap().dlid, Lid::new(1));
    before.join().unwrap();
    // The server is restarted while the client reconnects.
    let asks = thread::spawn(move || (client.route(&path(2)).unwrap().dlid, client.reconnects()));
    let after = address.serve(vec![Box::new(|peer| peer.find(2))]);
    assert_eq!(asks.join().unwrap(), (Lid::new(2), 1));
    after.join().unwrap();
}

#[test]
fn reconnect_keeps_received_responses_and_returns_lost_requests() {
    let address = ServerAddress::new();
    let server = address.serve(vec![
        Box::new(|peer| {
            let tids = [peer.next().unwrap(), peer.next().unwrap(), peer.next().unwrap()];
            peer.respond(&Reply::resolved(tids[1], &path(2), None));
        }),
        Box::new(|peer| peer.find(3)),
    ]);
    let mut connection = Connection::open(&address.service(), options(LONG)).unwrap();
    let ids = [1, 2, 3].map(|lid| connection.ask(&route(lid)).unwrap());
    let (responded, _) = connection.next().unwrap();
    assert_eq!(responded, ids[1]);
    let lost = connection.next().unwrap_err();
    assert!(lost.is_lost(), "{lost}");
    assert_eq!(connection.reconnect().unwrap(), [ids[0], ids[2]]);
    assert_eq!(connection.in_flight(), 0);
    let again = connection.ask(&route(3)).unwrap();
    assert!(!ids.contains(&again) && matches!(connection.response_to(again).unwrap(), Response::Path(_)));
    drop(connection);
    server.join().unwrap();
}

/// The caller has no id of the request, so it cannot send it again.
#[test]
fn request_that_could_not_be_sent_is_not_among_the_lost_ones() {
    let address = ServerAddress::new();
    let server = address
        .serve(vec![Box::new(|peer| assert!(peer.next().is_some())), Box::new(|peer| assert!(peer.next().is_none()))]);
    let mut connection = Connection::open(&address.service(), options(LONG)).unwrap();
    let lost = connection.ask(&route(1)).unwrap();
    assert!(connection.next().unwrap_err().is_lost(), "the server has closed the connection");
    assert!(matches!(connection.ask(&route(2)), Err(AskError::Connection(error)) if error.is_lost()));
    assert_eq!(connection.reconnect().unwrap(), [lost]);
    assert_eq!(connection.in_flight(), 0);
    drop(connection);
    server.join().unwrap();
}

/// The daemon restarts after it has answered some of the requests.
#[test]
fn requests_of_resolve_all_that_a_restart_loses_are_sent_again() {
    let address = ServerAddress::new();
    let server = address.serve(vec![
        Box::new(|peer| {
            for lid in 1..=3 {
                let tid = peer.next().unwrap();
                peer.respond(&Reply::resolved(tid, &path(lid), None));
            }
        }),
        Box::new(|peer| peer.find(9)),
    ]);
    let mut client = Client::with_options(address.service(), options(LONG).with_depth(4)).unwrap();
    let dests: Vec<_> = (1..=20).map(|lid| Address::Lid(Lid::new(lid))).collect();
    let responses = client.resolve_all(None, &dests).unwrap();
    for (number, response) in (1..).zip(&responses) {
        let Response::Path(found) = response else { panic!("{number}: {response:?}") };
        // A response that the client had not read when it noticed the loss is requested again, too.
        assert!(found.path.dlid.get() == 9 || number <= 3 && found.path.dlid.get() == number, "{number}: {found:?}");
    }
    assert_eq!(client.reconnects(), 1);
    drop(client);
    server.join().unwrap();
}

/// A time of zero does not wait for the daemon. A longer time than that of the options does.
#[test]
fn reconnect_takes_the_time_of_the_caller() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer: &mut Peer| assert!(peer.next().is_some()))]);
    let mut connection = Connection::open(&address.service(), options(Duration::ZERO)).unwrap();
    let lost = connection.ask(&route(1)).unwrap();
    assert!(connection.next_within(Some(LONG)).unwrap_err().is_lost());
    server.join().unwrap();
    assert!(matches!(connection.reconnect_within(Some(Duration::ZERO)), Err(ClientError::Connect { .. })));
    let this_thread = fs::read_link("/proc/thread-self").unwrap();
    let restarted = thread::spawn(move || {
        until_asleep(&this_thread);
        address.serve(vec![Box::new(|peer: &mut Peer| assert!(peer.next().is_none()))]).join().unwrap();
    });
    assert_eq!(connection.reconnect_within(Some(LONG)).unwrap(), [lost], "the failed attempt has lost no request");
    drop(connection);
    restarted.join().unwrap();
}

#[test]
fn client_gives_up_after_the_second_lost_connection() {
    let address = ServerAddress::new();
    let close = |peer: &mut Peer| assert!(peer.next().is_some());
    let server = address.serve(vec![Box::new(close), Box::new(close)]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    let error = client.route(&path(1)).unwrap_err();
    assert!(error.is_lost(), "{error}");
    server.join().unwrap();
}
