//! Datagrams of C ibacm and acm-mio, compared byte by byte: joins, all kinds of path queries, multicast requests and
//! responses. All differences are listed here and in docs/deviations.md.
use acm_tests::{Kind, Lab, until};
use ib_mad::{
    AttributeId, Lid, Method, TransactionId, Wire,
    acm::AcmMad,
    sa::{McMemberRecord, PathMask, PathRecord, ReversiblePaths, SaMad},
    wire::{Be16, Be64},
};

/// Datagrams of one node.
#[derive(Debug)]
struct Sent {
    joins: Vec<SaMad>,
    /// New path queries for a name, a LID, the LID with QUERY_SA, a GID, and the GID with QUERY_SA.
    queries: Vec<(&'static str, Vec<SaMad>)>,
    requests: Vec<AcmMad>,
    responses: Vec<AcmMad>,
}

/// Returns the datagrams of a daemon of `kind` at node1, which resolves node2 and is resolved by node2. Node2 has the
/// other kind.
fn sent(kind: Kind, options: &[&str]) -> Sent {
    let lab = Lab::new(2, &[]);
    // No request is repeated, however busy this machine is.
    let options = &[options, &["timeout 60000"]].concat();
    let other = if kind == Kind::C { Kind::Rust } else { Kind::C };
    let (one, two) = (lab.start(1, kind, options), lab.start(2, other, options));
    let of = |selected: &str| -> Vec<Vec<u8>> {
        let all = lab.sent().into_iter().filter(|(node, kind, _)| *node == 1 && kind == selected);
        all.map(|(_, _, bytes)| bytes).collect()
    };
    let mads = |id| -> Vec<SaMad> {
        let mads = of("mad").into_iter().map(|bytes| *SaMad::parse(&bytes).unwrap());
        mads.filter(|mad| mad.header.attribute_id == id).collect()
    };
    let (lid, gid) = (lab.fabric.port(2).lid.to_string(), lab.fabric.port(2).gid.to_string());
    let mut queries = Vec::new();
    for (what, arguments) in [
        ("name", ["-f", "n", "-s", "node1", "-d", "node2"].as_slice()),
        ("LID", &["-f", "l", "-d", &lid]),
        ("LID, QUERY_SA", &["-f", "l", "-d", &lid, "-v"]),
        ("GID", &["-f", "g", "-d", &gid]),
        ("GID, QUERY_SA", &["-f", "g", "-d", &gid, "-v"]),
    ] {
        let before = mads(AttributeId::PATH_RECORD).len();
        assert_eq!(one.acme(arguments).path().slid, lab.fabric.port(1).lid, "{what}");
        // The daemon compares its first path by a group with the SA's, up to a second later.
        let is_compared = kind == Kind::Rust && what == "name" && options.contains(&"route_prot acm");
        let compared = usize::from(is_compared);
        if is_compared {
            until("the comparison", || (mads(AttributeId::PATH_RECORD).len() > before).then_some(()));
        }
        queries.push((what, mads(AttributeId::PATH_RECORD).split_off(before + compared)));
    }
    assert_eq!(two.acme(&["-f", "i", "-s", "10.77.0.2", "-d", "10.77.0.1"]).path().slid, lab.fabric.port(2).lid);
    let datagrams = |method| -> Vec<AcmMad> {
        let all = of("datagram").into_iter().map(|bytes| *AcmMad::parse(&bytes).unwrap());
        all.filter(|mad| mad.method == method).collect()
    };
    Sent {
        joins: mads(AttributeId::MC_MEMBER_RECORD),
        queries,
        requests: datagrams(Method::GET),
        responses: datagrams(Method::GET_RESP),
    }
}

/// Removes the transaction id: C ibacm's ids are consecutive, acm-mio's are random, and the kernel sets the upper half.
fn anonymous(mut mad: SaMad) -> SaMad {
    mad.header.transaction_id = TransactionId::new(0);
    mad
}

/// Converts a join of acm-mio to C ibacm's form. C ibacm has attribute offset 0; acm-mio has the record's length, as
/// OpenSM's clients. The field is used in responses only (IBTA 15.2.1.1).
fn join_as_cs(ours: SaMad) -> SaMad {
    let mut join = anonymous(ours);
    assert_eq!(join.sa.attribute_offset, Be16::new(7));
    join.sa.attribute_offset = Be16::new(0);
    join
}

/// Converts a path query of acm-mio to C ibacm's form. acm-mio also requests one path that is valid in both directions.
/// A client's QUERY_SA is sent unchanged.
fn query_as_cs(what: &str, ours: SaMad) -> SaMad {
    let mut query = anonymous(ours);
    assert_eq!(query.sa.attribute_offset, Be16::new(8), "{what}");
    query.sa.attribute_offset = Be16::new(0);
    if what.ends_with("QUERY_SA") {
        return query;
    }
    let added = (PathMask::REVERSIBLE | PathMask::NUM_PATH).bits();
    assert_eq!(query.sa.component_mask.get() & added, added, "{what}");
    query.sa.component_mask = Be64::new(query.sa.component_mask.get() & !added);
    let record = PathRecord::parse_mut(&mut query.data.0).unwrap();
    assert_eq!(record.reversible_paths, ReversiblePaths::default().with_reversible(true).with_num_path(1), "{what}");
    record.reversible_paths = ReversiblePaths::default();
    query
}

/// Removes the SLID from C ibacm's path query by LID or GID. acm-mio's queries have a SLID only if the request has one.
fn query_of_c(what: &str, theirs: SaMad) -> SaMad {
    let mut query = anonymous(theirs);
    if what == "LID" || what == "GID" {
        let slid = PathMask::SLID.bits();
        assert_eq!(query.sa.component_mask.get() & slid, slid, "{what}");
        query.sa.component_mask = Be64::new(query.sa.component_mask.get() & !slid);
        let record = PathRecord::parse_mut(&mut query.data.0).unwrap();
        assert!(record.slid.is_unicast(), "{what}");
        record.slid = Lid::NONE;
    }
    query
}

fn assert_same(c: &Sent, ours: &Sent, joins: usize, queries: [usize; 5]) {
    let of_ours: Vec<SaMad> = ours.joins.iter().copied().map(join_as_cs).collect();
    assert_eq!(of_ours, c.joins.iter().copied().map(anonymous).collect::<Vec<_>>());
    assert_eq!(of_ours.len(), joins);
    assert_eq!(of_ours[0].record::<McMemberRecord>().unwrap().scope_state.scope(), 5);
    for (((what, theirs), (_, ours)), count) in c.queries.iter().zip(&ours.queries).zip(queries) {
        let ours: Vec<SaMad> = ours.iter().map(|mad| query_as_cs(what, *mad)).collect();
        let theirs: Vec<SaMad> = theirs.iter().map(|mad| query_of_c(what, *mad)).collect();
        assert_eq!(ours, theirs, "{what}");
        assert_eq!(ours.len(), count, "{what}");
    }
    // C ibacm has no witnesses, and its datagrams have no generation of the node's addresses.
    let anonymous = |mads: &[AcmMad]| -> Vec<AcmMad> {
        let requested = mads.iter().filter(|mad| mad.init_depth & 1 == 0);
        let none = TransactionId::new(0);
        requested.map(|mad| AcmMad { transaction_id: none, resp_resources: 0, init_depth: 0, ..*mad }).collect()
    };
    assert_eq!((c.requests.len(), c.responses.len()), (1, 1));
    assert_eq!(anonymous(&ours.requests), anonymous(&c.requests));
    assert_eq!(anonymous(&ours.responses), anonymous(&c.responses));
}

// docs/deviations.md: slid
#[test]
fn datagrams_equal_c_ibacms_except_for_listed_differences() {
    assert_same(&sent(Kind::C, &[]), &sent(Kind::Rust, &[]), 1, [1; 5]);
}

/// There is a second group with the port's MTU and rate, and no path query for a name.
#[test]
fn datagrams_equal_c_ibacms_with_route_prot_acm() {
    let options = ["route_prot acm"];
    assert_same(&sent(Kind::C, &options), &sent(Kind::Rust, &options), 2, [0, 1, 1, 1, 1]);
}
