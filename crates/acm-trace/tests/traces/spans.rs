//! Durations between requests and responses, also if transaction ids are reused.
use crate::common::{read, trace};
use acm_sansio::{ClientId, Input, Output};
use acm_trace::{Crossing, Entry, FabricRecorder, Fact, OwnedInput, PacketHeaders, Phase, Spans};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, Reply, resolve_request},
};
use core::time::Duration;
use ib_mad::{AttributeId, Method, TransactionId, sa::SaMad};

/// Records packets of a fabric: the second, true if delivered, the node, and the method. All have one transaction id.
fn spans(packets: &[(u64, bool, u32, Method)]) -> Vec<Duration> {
    let mut recorder = FabricRecorder::new(Vec::new(), Duration::ZERO).unwrap();
    for (second, delivered, node, method) in packets {
        let mad = SaMad::request(*method, AttributeId::PATH_RECORD, TransactionId::new(7));
        let (headers, payload) = (PacketHeaders::default(), ib_mad::as_bytes(&mad).to_vec());
        let crossing = Crossing { delivered: *delivered, node: *node, port: 1, headers, payload };
        recorder.crossing(Duration::from_secs(*second), &crossing).unwrap();
    }
    durations(&read(&recorder.finish().unwrap()), Phase::Sa)
}

fn durations(entries: &[Entry], phase: Phase) -> Vec<Duration> {
    let mut spans = Spans::default();
    let ended = entries.iter().filter_map(|entry| spans.add(entry));
    ended.filter(|span| span.phase == phase).map(|span| span.took()).collect()
}

const SENT: bool = false;
const DELIVERED: bool = true;

#[test]
fn retry_belongs_to_the_first_request_and_a_request_after_a_minute_is_another() {
    let seconds = |first, retry| {
        spans(&[
            (first, SENT, 1, Method::GET),
            (retry, SENT, 1, Method::GET),
            (retry + 1, DELIVERED, 1, Method::GET_RESP),
        ])
    };
    assert_eq!(seconds(0, 60), [Duration::from_secs(61)]);
    assert_eq!(seconds(0, 61), [Duration::from_secs(1)]);
}

#[test]
fn equal_transaction_ids_of_two_nodes_are_two_requests() {
    let found = spans(&[
        (0, SENT, 1, Method::GET),
        (2, SENT, 2, Method::GET),
        (3, DELIVERED, 2, Method::GET_RESP),
        (5, DELIVERED, 1, Method::GET_RESP),
    ]);
    assert_eq!(found, [1, 5].map(Duration::from_secs));
    // The request arrives, and the response leaves: neither ends the request of the node.
    let other_way = spans(&[(0, SENT, 1, Method::GET), (1, DELIVERED, 1, Method::GET), (2, SENT, 1, Method::GET_RESP)]);
    assert_eq!(other_way, []);
}

#[test]
fn replies_out_of_order_end_the_request_with_their_transaction_id() {
    let name = Address::from_text("a");
    let request = |tid: u8| {
        let message = resolve_request(None, &name, EntryFlags::default(), [tid; 8]).to_vec();
        Fact::Input(OwnedInput::ClientMessage { client: ClientId::new(1, 0), message })
    };
    let reply = |tid: u8| {
        let reply = Reply::unresolved([tid; 8], ClientStatus::ENODATA);
        Fact::Output(Output::Reply { client: ClientId::new(1, 0), reply }.into())
    };
    let micros = |facts: &[Fact]| durations(&read(&trace(facts)), Phase::Client);
    let [one, two, three] = [1, 2, 3].map(Duration::from_micros);
    assert_eq!(micros(&[request(1), request(2), reply(2), reply(1)]), [one, three]);
    assert_eq!(micros(&[request(1), request(1), reply(1), reply(1)]), [two, two], "the oldest with this id first");
    let restarted: Vec<Entry> =
        [request(1), reply(1)].iter().flat_map(|fact| read(&trace(core::slice::from_ref(fact)))).collect();
    assert_eq!(durations(&restarted, Phase::Client), [], "of another core");
    let closed = Fact::Input(OwnedInput::Other(Input::ClientClosed(ClientId::new(1, 0))));
    assert_eq!(micros(&[request(1), closed, reply(1)]), []);
    let closed = Fact::Output(Output::CloseClient(ClientId::new(1, 0)).into());
    assert_eq!(micros(&[request(1), closed, request(1), reply(1)]), [one]);
}
