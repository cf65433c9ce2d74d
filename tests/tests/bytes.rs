//! What C ibacm and acm-mio send, byte by byte: joins, path queries, multicast requests, responses. What differs is
//! listed here and in docs/deviations.md, and nothing else does.
use acm_tests::{Kind, Lab};
use ib_mad::{
    AttributeId, Method, TransactionId, Wire,
    acm::AcmMad,
    sa::{McMemberRecord, PathMask, PathRecord, ReversiblePaths, SaMad},
    wire::{Be16, Be64},
};

/// What one node sent of each kind, first of each.
#[derive(Debug)]
struct Sent {
    join: SaMad,
    query: SaMad,
    request: AcmMad,
    response: AcmMad,
}

/// What the daemon of `kind` sends at node1, when it asks node2 and is asked by node2. Node2 is of the other kind.
fn sent(kind: Kind) -> Sent {
    let lab = Lab::new(2, &[]);
    let other = if kind == Kind::C { Kind::Rust } else { Kind::C };
    let (one, two) = (lab.start(1, kind, &[]), lab.start(2, other, &[]));
    assert_eq!(one.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path().slid, lab.fabric.port(1).lid);
    assert_eq!(two.acme(&["-f", "i", "-s", "10.77.0.2", "-d", "10.77.0.1"]).path().slid, lab.fabric.port(2).lid);
    let all = lab.sent();
    let of = |wanted: &'static str| all.iter().filter(move |(node, kind, _)| *node == 1 && kind == wanted);
    let mads: Vec<SaMad> = of("mad").map(|(_, _, bytes)| *SaMad::parse(bytes).unwrap()).collect();
    let datagrams: Vec<AcmMad> = of("datagram").map(|(_, _, bytes)| *AcmMad::parse(bytes).unwrap()).collect();
    let mad = |id| *mads.iter().find(|mad| mad.header.attribute_id == id).unwrap();
    let datagram = |method| *datagrams.iter().find(|mad| mad.method == method).unwrap();
    Sent {
        join: mad(AttributeId::MC_MEMBER_RECORD),
        query: mad(AttributeId::PATH_RECORD),
        request: datagram(Method::GET),
        response: datagram(Method::GET_RESP),
    }
}

/// Without what is each sender's own: C counts its transaction ids and writes them as it likes, ours are random; the
/// upper half is the kernel's.
fn anonymous(mut mad: SaMad) -> SaMad {
    mad.header.transaction_id = TransactionId::new(0);
    mad
}

#[test]
fn both_send_the_same_but_for_what_is_listed() {
    let (c, ours) = (sent(Kind::C), sent(Kind::Rust));

    // Joins. C ibacm leaves the attribute offset 0; ours is the record's length, as OpenSM's own clients send it. It
    // counts in answers only (IBTA 15.2.1.1).
    let mut join = anonymous(ours.join);
    assert_eq!(join.sa.attribute_offset, Be16::new(7));
    join.sa.attribute_offset = Be16::new(0);
    assert_eq!(join, anonymous(c.join));
    assert_eq!(join.record::<McMemberRecord>().unwrap().scope_state.scope(), 5);

    // Path queries. Ours also ask for one path that is good for both directions (B29).
    let mut query = anonymous(ours.query);
    query.sa.attribute_offset = Be16::new(0);
    let added = (PathMask::REVERSIBLE | PathMask::NUM_PATH).bits();
    assert_eq!(query.sa.component_mask.get() & added, added);
    query.sa.component_mask = Be64::new(query.sa.component_mask.get() & !added);
    let record = PathRecord::parse_mut(&mut query.data.0).unwrap();
    assert_eq!(record.reversible_paths, ReversiblePaths::default().with_reversible(true).with_num_path(1));
    record.reversible_paths = ReversiblePaths::default();
    assert_eq!(query, anonymous(c.query));

    // Multicast requests and responses.
    for (own, theirs) in [(ours.request, c.request), (ours.response, c.response)] {
        let anonymous = |mad: AcmMad| AcmMad { transaction_id: TransactionId::new(0), ..mad };
        assert_eq!(anonymous(own), anonymous(theirs));
    }
}
