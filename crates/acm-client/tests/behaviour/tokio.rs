//! The client for tokio.
use super::{LONG, Peer, ServerAddress, options, path, route};
use acm_client::{Address, ClientError, ClientStatus, ib_mad::Lid, tokio::Client};
use acm_wire::client::Reply;
use core::time::Duration;

const SHORT: Duration = Duration::from_millis(30);

async fn connect(address: &ServerAddress) -> Client {
    Client::with_options(address.service(), options(LONG)).await.unwrap()
}

async fn lid(client: &Client, lid: u16) -> Result<u16, ClientError> {
    client.resolve(None, &Address::Lid(Lid::new(lid))).await.map(|found| found.path.dlid.get())
}

#[tokio::test]
async fn each_task_gets_its_own_response() {
    let address = ServerAddress::new();
    // More requests than one connection carries.
    let server = address.serve_further(vec![Box::new(Peer::respond_to_all)], Peer::respond_to_all);
    // A client for tokio has no bound of its own.
    let client = Client::with_options(address.service(), options(LONG).with_depth(4)).await.unwrap();
    let tasks: Vec<_> = (1..=500)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { lid(&client, number).await })
        })
        .collect();
    for (number, task) in (1..).zip(tasks) {
        assert_eq!(task.await.unwrap().unwrap(), number);
    }
    drop(client);
    server.join().unwrap();
}

#[tokio::test]
async fn refusals_late_responses_and_a_missing_daemon_are_different_errors() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| {
        let tid = peer.next().unwrap();
        peer.respond(&Reply::unresolved(tid, ClientStatus::ENODATA));
        assert!(peer.next().is_some());
    })]);
    let client = connect(&address).await;
    assert_eq!(lid(&client, 1).await.unwrap_err().status(), Some(ClientStatus::ENODATA));
    let ended = client.ask_within(&route(1), Some(SHORT)).await;
    assert!(matches!(ended, Err(ClientError::Connect { .. })), "{ended:?}");
    server.join().unwrap();
    let nowhere = Client::connect("/nowhere/s".parse().unwrap()).await;
    assert!(matches!(nowhere, Err(ClientError::Connect { .. })));
}

#[tokio::test]
async fn request_without_a_response_is_late() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| while peer.next().is_some() {})]);
    let client = connect(&address).await;
    let late = client.ask_within(&route(1), Some(SHORT)).await;
    assert!(matches!(late, Err(ClientError::TimedOut { after: SHORT, .. })), "{late:?}");
    drop(client);
    server.join().unwrap();
}

#[tokio::test]
async fn requests_are_sent_again_to_the_restarted_daemon() {
    let address = ServerAddress::new();
    let first = address.serve(vec![Box::new(|peer| _ = peer.next())]);
    let client = connect(&address).await;
    let request = route(1);
    let (response, ()) = tokio::join!(client.ask(&request), async {
        tokio::task::spawn_blocking(move || first.join().unwrap()).await.unwrap();
        address.serve(vec![Box::new(|peer| peer.find(9))]);
    });
    assert_eq!(response.unwrap().into_path().unwrap().path, path(9));
    assert!(client.is_connected());
}

/// The task that reads responses would else live as long as the runtime.
#[tokio::test]
async fn dropped_future_and_dropped_client_leave_nothing_behind() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| while peer.next().is_some() {})]);
    let client = connect(&address).await;
    let request = route(1);
    assert!(tokio::time::timeout(SHORT, client.ask(&request)).await.is_err());
    drop(client);
    // The daemon sees the end of the connection.
    server.join().unwrap();
    let metrics = tokio::runtime::Handle::current().metrics();
    while metrics.num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}
