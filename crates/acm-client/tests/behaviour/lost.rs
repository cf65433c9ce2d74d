//! Lost connections: what a client sends again, and which requests fail.
use super::{LONG, Peer, Serve, ServerAddress, options, path, route};
use acm_client::{Address, Client, ClientError, Connection, ib_mad::Lid};
use acm_wire::client::Reply;
use core::time::Duration;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{fs, net::TcpListener, os::unix::net::UnixStream, thread};

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

/// The daemon restarts twice, the first time after it has answered one of the requests.
#[test]
fn requests_that_a_restart_loses_are_sent_again() {
    let address = ServerAddress::new();
    let server = address.serve(vec![
        Box::new(|peer| {
            let tids = [peer.next().unwrap(), peer.next().unwrap(), peer.next().unwrap()];
            peer.respond(&Reply::resolved(tids[1], &path(2), None));
        }),
        Box::new(|peer| _ = (peer.next(), peer.next())),
        Box::new(|peer| peer.find(9)),
    ]);
    let mut connection = Connection::open(&address.service(), options(LONG)).unwrap();
    let ids = [1, 2, 3].map(|lid| connection.ask(&route(lid)).unwrap());
    let mut lid = |id| connection.response_to(id).unwrap().into_path().unwrap().path.dlid.get();
    assert_eq!(lid(ids[1]), 2);
    assert!(ids.map(|id| if id == ids[1] { 9 } else { lid(id) }).iter().all(|lid| [1, 3, 9].contains(lid)));
    drop(connection);
    server.join().unwrap();
}

#[test]
fn requests_of_resolve_all_that_a_restart_loses_are_sent_again() {
    let address = ServerAddress::new();
    address.serve(vec![
        Box::new(|peer| {
            for lid in 1..=3 {
                let tid = peer.next().unwrap();
                peer.respond(&Reply::resolved(tid, &path(lid), None));
            }
        }),
        Box::new(|peer| peer.find(9)),
    ]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    let dests: Vec<_> = (1..=20).map(|lid| Address::Lid(Lid::new(lid))).collect();
    let found = client.resolve_all(None, &dests).into_iter().map(|found| found.unwrap().path.dlid.get());
    // Another connection may have responded with the requested LID.
    assert!((1..).zip(found).all(|(number, lid)| lid == 9 || lid == number));
}

#[test]
fn request_fails_after_three_lost_connections_and_without_a_daemon_after_its_time() {
    let address = ServerAddress::new();
    let close = || Box::new(|peer: &mut Peer| _ = peer.next()) as Serve;
    let server = address.serve(vec![close(), close(), close()]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    assert!(matches!(client.route(&path(1)), Err(ClientError::Closed { .. })));
    server.join().unwrap();
    fs::remove_file(address.socket()).unwrap();
    let mut connection = Connection::open(&address.service(), options(LONG)).map(drop).unwrap_err();
    assert!(matches!(&mut connection, ClientError::Connect { .. }), "the first attempt does not wait");
    let server = address.serve(vec![close()]);
    let mut client = Client::with_options(address.service(), options(Duration::from_millis(300))).unwrap();
    let failed = client.route(&path(1)).unwrap_err();
    assert!(matches!(failed, ClientError::Connect { .. }), "{failed}");
    server.join().unwrap();
}

#[test]
fn program_without_reconnection_gets_an_error_at_once() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| _ = peer.next())]);
    let mut client = Client::with_options(address.service(), options(LONG).with_reconnect(false)).unwrap();
    assert!(matches!(client.route(&path(1)), Err(ClientError::Closed { .. })));
    server.join().unwrap();
    assert!(matches!(client.route(&path(1)), Err(ClientError::Connect { .. })));
}

/// Waits for the descriptor. Does nothing else.
fn wait(connection: &mut Connection) {
    let fd = connection.fd().unwrap();
    let ready = poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], PollTimeout::try_from(LONG).unwrap()).unwrap();
    assert_eq!(ready, 1, "nothing to do");
}

/// Nothing else wakes the caller.
#[test]
fn descriptor_is_readable_for_responses_losses_and_deadlines() {
    let address = ServerAddress::new();
    let server = address.serve(vec![
        Box::new(|peer| {
            let tid = peer.next().unwrap();
            peer.respond(&Reply::resolved(tid, &path(1), None));
            _ = peer.next();
        }),
        Box::new(|peer| {
            let tid = peer.next().unwrap();
            peer.respond(&Reply::resolved(tid, &path(2), None));
            while peer.next().is_some() {}
        }),
    ]);
    let mut connection = Connection::open(&address.service(), options(LONG)).unwrap();
    let next = |connection: &mut Connection| loop {
        wait(connection);
        if let Some((_, response)) = connection.next_within(Some(Duration::ZERO)) {
            break response;
        }
    };
    for lid in [1, 2] {
        connection.ask(&route(lid)).unwrap();
        let found = next(&mut connection).unwrap().into_path().unwrap();
        assert_eq!(found.path.dlid.get(), lid);
    }
    connection.queue(&route(3), Some(Duration::from_millis(20))).unwrap();
    connection.flush();
    assert!(matches!(next(&mut connection), Err(ClientError::TimedOut { .. })));
    drop(connection);
    server.join().unwrap();
}

#[test]
fn connection_waits_for_room_in_the_queue_of_the_daemon() {
    let address = ServerAddress::new();
    let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    listener.bind(&SockAddr::unix(address.socket()).unwrap()).unwrap();
    listener.listen(0).unwrap();
    // A connection that waits to be accepted fills the queue.
    let _waiting = UnixStream::connect(address.socket()).unwrap();
    let mut connection = Connection::open(&address.service(), options(LONG)).unwrap();
    assert!(!connection.is_connected());
    let id = connection.ask(&route(5)).unwrap();
    let server = thread::spawn(move || {
        drop(listener.accept().unwrap());
        let stream = UnixStream::from(std::os::fd::OwnedFd::from(listener.accept().unwrap().0));
        Peer { stream, received: Vec::new() }.find(5);
    });
    assert!(connection.response_to(id).is_ok());
    drop(connection);
    server.join().unwrap();
}

#[test]
fn tcp_connection_is_opened_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let service = listener.local_addr().unwrap().to_string().parse().unwrap();
    let server = thread::spawn(move || {
        use std::io::{Read, Write};
        drop(listener.accept().unwrap());
        let mut stream = listener.accept().unwrap().0;
        let mut request = [0; 88];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(&Reply::resolved(request[8..16].try_into().unwrap(), &path(7), None)).unwrap();
    });
    let mut client = Client::with_options(service, options(LONG)).unwrap();
    assert_eq!(client.route(&path(7)).unwrap().dlid, Lid::new(7));
    server.join().unwrap();
}
