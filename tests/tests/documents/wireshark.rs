//! The recorded sessions in tshark with dist/wireshark/acm.lua: no packet is malformed, the fields of path and member
//! records equal those of ib-mad, and each response refers to its request.
#[expect(dead_code, reason = "its `main`")]
#[path = "../../../crates/ib-mad/examples/analyser.rs"]
mod analyser;

use acm_tests::{Fabric, Node, program, run};
use acm_trace::{Dated, Entry, Fact, OwnedInput, Phase, Reader, Stats};
use ib_mad::{
    AttributeId, MadRef, MgmtClass,
    sa::{McMemberRecord, PathRecord},
    wire::{Field, Wire, find, read_bits},
};
use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn traces() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("testdata/traces")).unwrap();
    let mut traces: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    traces.retain(|path| path.extension().is_some_and(|extension| extension == "pcapng"));
    traces.sort();
    assert!(traces.len() >= 17, "{traces:?}");
    traces
}

/// Returns these fields of each packet of a trace, printed by tshark.
pub(super) fn tshark(trace: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let script = format!("lua_script:{}", root().join("dist/wireshark/acm.lua").display());
    let mut arguments = vec!["-X", &script, "-r", trace.to_str().unwrap(), "-T", "fields"];
    fields.iter().for_each(|field| arguments.extend(["-e", field]));
    let done = run(program("tshark", "tshark"), &arguments);
    assert_eq!(done.code, Some(0), "{done}");
    done.stdout.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// A field of tshark and the equivalent field of ib-mad.
type Same = (&'static str, &'static str);

const PATH: &[Same] = &[
    ("infiniband.pathrecord.dgid", "dgid"),
    ("infiniband.pathrecord.sgid", "sgid"),
    ("infiniband.pathrecord.dlid", "dlid"),
    ("infiniband.pathrecord.slid", "slid"),
    ("infiniband.pathrecord.flowlabel", "flow_hop.flow_label"),
    ("infiniband.pathrecord.hoplimit", "flow_hop.hop_limit"),
    ("infiniband.pathrecord.tclass", "traffic_class"),
    ("infiniband.pathrecord.reversible", "reversible_paths.reversible"),
    ("infiniband.pathrecord.numbpath", "reversible_paths.num_path"),
    ("infiniband.pathrecord.p_key", "pkey"),
    ("infiniband.pathrecord.sl", "qos_sl.sl"),
    ("infiniband.pathrecord.mtuselector", "mtu.selector"),
    ("infiniband.pathrecord.mtu", "mtu.value"),
    ("infiniband.pathrecord.rateselector", "rate.selector"),
    ("infiniband.pathrecord.rate", "rate.value"),
    ("infiniband.pathrecord.packetlifetimeselector", "packet_life_time.selector"),
    ("infiniband.pathrecord.packetlifetime", "packet_life_time.value"),
    ("infiniband.pathrecord.preference", "preference"),
];

const MEMBER: &[Same] = &[
    ("infiniband.mcmemberrecord.mgid", "mgid"),
    ("infiniband.mcmemberrecord.portgid", "port_gid"),
    ("infiniband.mcmemberrecord.q_key", "qkey"),
    ("infiniband.mcmemberrecord.mlid", "mlid"),
    ("infiniband.mcmemberrecord.mtuselector", "mtu.selector"),
    ("infiniband.mcmemberrecord.mtu", "mtu.value"),
    ("infiniband.mcmemberrecord.tclass", "traffic_class"),
    ("infiniband.mcmemberrecord.p_key", "pkey"),
    ("infiniband.mcmemberrecord.rateselector", "rate.selector"),
    ("infiniband.mcmemberrecord.rate", "rate.value"),
    ("infiniband.mcmemberrecord.packetlifetimeselector", "packet_life_time.selector"),
    ("infiniband.mcmemberrecord.packetlifetime", "packet_life_time.value"),
    ("infiniband.mcmemberrecord.sl", "sl_flow_hop.sl"),
    ("infiniband.mcmemberrecord.flowlabel", "sl_flow_hop.flow_label"),
    ("infiniband.mcmemberrecord.hoplimit", "sl_flow_hop.hop_limit"),
    ("infiniband.mcmemberrecord.scope", "scope_state.scope"),
    ("infiniband.mcmemberrecord.joinstate", "scope_state.join_state"),
    ("infiniband.mcmemberrecord.proxyjoin", "proxy_join.proxy_join"),
];

const HEADER: &[&str] = &[
    "infiniband.mad.mgmtclass",
    "infiniband.mad.method",
    "infiniband.mad.status",
    "infiniband.mad.transactionid",
    "infiniband.mad.attributeid",
    "infiniband.mad.attributemodifier",
    "infiniband.sa.componentmask",
    "infiniband.sa.attributeoffset",
];

/// Parses a number or GID printed by tshark.
fn number(text: &str) -> u128 {
    if let Some(hex) = text.strip_prefix("0x") {
        return u128::from_str_radix(hex, 16).unwrap();
    }
    match text {
        "True" => 1,
        "False" => 0,
        _ if text.contains(':') => u128::from(text.parse::<core::net::Ipv6Addr>().unwrap()),
        _ => text.parse().unwrap(),
    }
}

/// Returns the number in a field of ib-mad.
fn ours(fields: &[Field], bytes: &[u8], path: &str) -> u128 {
    let (offset, bits) = find(fields, path).unwrap_or_else(|| panic!("no field {path}"));
    let parts = (0..bits.div_ceil(64)).map(|part| {
        let width = (bits - 64 * part).min(64);
        (width, read_bits(bytes, offset + 64 * part, width).unwrap())
    });
    parts.fold(0, |all, (width, part)| all << width | u128::from(part))
}

/// Returns the datagram of subnet administration in a fact.
fn sa_mad(fact: &Fact) -> Option<Vec<u8>> {
    let bytes = match fact {
        Fact::Input(OwnedInput::SaResponse { mad, .. } | OwnedInput::SaReport { mad, .. }) => mad.clone(),
        Fact::Output(output) => match &**output {
            acm_sansio::Output::SaSend(send) => ib_mad::as_bytes(&send.mad).to_vec(),
            acm_sansio::Output::SaReply { mad, .. } => ib_mad::as_bytes(mad).to_vec(),
            _ => return None,
        },
        _ => return None,
    };
    (bytes.len() == 256).then_some(bytes)
}

fn compare(frame: u64, shown: &BTreeMap<&str, &str>, mad: &[u8]) -> Option<AttributeId> {
    let mad = MadRef::new(mad).unwrap();
    let header = mad.header();
    let sa = mad.sa().unwrap();
    let expected: [u64; 8] = [
        header.mgmt_class.get().into(),
        header.method.get().into(),
        header.status.get().into(),
        header.transaction_id.get(),
        header.attribute_id.get().into(),
        header.attribute_modifier.get().into(),
        sa.component_mask.get(),
        sa.attribute_offset.get().into(),
    ];
    for (name, expected) in HEADER.iter().zip(expected) {
        assert_eq!(number(shown[name]), expected.into(), "packet {frame}: {name} of {mad}");
    }
    let (fields, table) = match header.attribute_id {
        AttributeId::PATH_RECORD => (PathRecord::FIELDS, PATH),
        AttributeId::MC_MEMBER_RECORD => (McMemberRecord::FIELDS, MEMBER),
        _ => return None,
    };
    for (name, path) in table {
        // A response without a record.
        if shown[name].is_empty() && !header.status.is_ok() {
            continue;
        }
        let (theirs, ours) = (number(shown[name]), ours(fields, mad.data(), path));
        assert_eq!(theirs, ours, "packet {frame}: {name} is {}, {path} of {mad:#}", shown[name]);
    }
    Some(header.attribute_id)
}

#[test]
fn tshark_dissects_each_packet_as_ib_mad() {
    let others = ["_ws.malformed", "_ws.lua.error", "acm_trace.kind", "acm.answer_to", "acm.time", "acm.mad.tid"];
    let names: Vec<&str> =
        others.iter().chain(HEADER).copied().chain(PATH.iter().chain(MEMBER).map(|(name, _)| *name)).collect();
    // All traces in one file, so that tshark runs once.
    let all: Vec<u8> = traces().iter().flat_map(|path| fs::read(path).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.pcapng");
    fs::write(&file, &all).unwrap();
    let shown = tshark(&file, &names);

    let mut stats = Stats::default();
    let entries = Reader::new(all.as_slice()).map(Result::unwrap).inspect(|entry| stats.add(entry));
    let fact = |entry| if let Entry::Fact(fact) = entry { Some((fact.frame, fact)) } else { None };
    let facts: BTreeMap<u64, Dated> = entries.filter_map(fact).collect();
    assert_eq!(shown.len() as u64, facts.keys().last().copied().unwrap());
    let mut compared: BTreeMap<u16, usize> = BTreeMap::new();
    let mut responses = 0;
    for (frame, line) in (1..).zip(&shown) {
        let shown: BTreeMap<&str, &str> = names.iter().copied().zip(line.iter().map(String::as_str)).collect();
        assert_eq!(
            (shown["_ws.malformed"], shown["_ws.lua.error"]),
            ("", ""),
            "packet {frame}: {:?}",
            facts.get(&frame)
        );
        responses += usize::from(!shown["acm.answer_to"].is_empty());
        let mad = facts.get(&frame).and_then(|fact| sa_mad(&fact.fact));
        if let Some(mad) = mad.filter(|mad| MadRef::new(mad).unwrap().class() == MgmtClass::SUBN_ADM) {
            let record = compare(frame, &shown, &mad);
            *compared.entry(record.map_or(0, AttributeId::get)).or_default() += 1;
        } else {
            assert!(!shown["acm_trace.kind"].is_empty() || is_datagram(&facts, frame), "packet {frame}");
        }
    }
    let phases = [Phase::Client, Phase::Kernel, Phase::Group, Phase::Peer];
    let measured: usize = phases.iter().map(|phase| stats.measured(*phase)).sum();
    assert!(measured > 100, "{measured}");
    assert_eq!(responses, measured, "responses with their requests");
    let enough = |attribute: AttributeId| compared.get(&attribute.get()).is_some_and(|count| *count > 30);
    assert!(enough(AttributeId::PATH_RECORD) && enough(AttributeId::MC_MEMBER_RECORD), "{compared:?}");
}

/// tshark reads the fabric's trace of two daemons without errors, and shows the same transactions as acm-trace's
/// reader.
#[test]
fn trace_of_a_fabric_is_shown_by_tshark() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fabric.pcapng");
    let mut fabric = Fabric::serve(2, &["--record", file.to_str().unwrap()]);
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).join());
    let path = nodes[0].acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path.dlid, fabric.port(2).lid);
    drop(nodes);
    fabric.stop();

    let names = ["_ws.malformed", "infiniband.lrh.slid", "infiniband.mad.transactionid", "acm.mad.tid", "acm.mad.dest"];
    let shown = tshark(&file, &names);
    let mut stats = Stats::default();
    let mut crossings = Vec::new();
    for entry in Reader::new(fs::read(&file).unwrap().as_slice()) {
        let entry = entry.unwrap();
        stats.add(&entry);
        match entry {
            Entry::Fact(Dated { fact: Fact::Crossing(crossing), .. }) => crossings.push(*crossing),
            Entry::Fact(Dated { fact: Fact::End, .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(shown.len(), crossings.len() + 1, "one line per packet, and the end");
    for (line, crossing) in shown.iter().zip(&crossings) {
        let tid = MadRef::new(&crossing.payload).unwrap().header().transaction_id;
        let theirs = if line[2].is_empty() { &line[3] } else { &line[2] };
        assert_eq!(line[0], "", "{crossing:?}");
        assert_eq!(
            (number(&line[1]), number(theirs)),
            (crossing.headers.slid.get().into(), tid.get().into()),
            "{line:?}"
        );
    }
    // Requests that the first node sent and the second node received.
    let requests = |delivered, node| {
        let found = shown.iter().zip(&crossings);
        found
            .filter(|(line, crossing)| line[4] == "node2" && (crossing.delivered, crossing.node) == (delivered, node))
            .count()
    };
    assert!(requests(false, 1) > 0 && requests(true, 2) > 0, "{shown:?}");
    assert!(stats.measured(Phase::Group) > 0 && stats.measured(Phase::Sa) > 2, "{stats}");
}

fn is_datagram(facts: &BTreeMap<u64, Dated>, frame: u64) -> bool {
    facts.get(&frame).is_some_and(|fact| match &fact.fact {
        Fact::Input(OwnedInput::Datagram { .. }) => true,
        Fact::Output(output) => matches!(**output, acm_sansio::Output::Send { .. }),
        _ => false,
    })
}

/// Covers clients' messages, datagrams between daemons, events of the log, and requests of the kernel.
#[test]
fn dissector_shows_fields_of_acm() {
    let fields = [
        "acm_client.opcode",
        "acm_client.status",
        "acm_client.length",
        "acm.name",
        "acm.mad.method",
        "acm.mad.dest",
        "acm.answer_to",
        "acm_path.dlid",
        "acm_trace.event",
    ];
    let cold = tshark(&root().join("testdata/traces/cold-name.pcapng"), &fields);
    let has = |line: &[&str]| assert!(cold.iter().any(|found| found == line), "{line:?} in {cold:?}");
    has(&["0x01", "0", "160", "node1,node2", "", "", "", "", ""]);
    has(&["0x01", "0", "88", "", "", "", "19", "17", ""]);
    has(&["", "", "", "", "0x01", "node2", "", "", ""]);
    has(&["", "", "", "", "0x81", "type 0", "21", "", ""]);
    has(&["", "", "", "", "", "", "", "", "Located"]);
    let kernel = tshark(
        &root().join("testdata/traces/kernel.pcapng"),
        &["acm_kernel.id", "acm_kernel.has_port", "acm_path.dgid", "acm.answer_to"],
    );
    let lines: Vec<&Vec<String>> = kernel.iter().filter(|line| line[0] == "1").collect();
    assert_eq!(lines.len(), 2, "{kernel:?}");
    assert!((lines[0][1].as_str(), lines[0][3].as_str()) == ("1", "") && lines[0][2] == lines[1][2], "{lines:?}");
    assert!(!lines[1][3].is_empty(), "{lines:?}");
}

#[test]
fn analyser_of_the_book_equals_tshark() {
    let folder = tempfile::tempdir().unwrap();
    let packed = root().join("testdata/captures/mads-erf.pcap.gz");
    let capture = folder.path().join("mads.pcap");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(&packed).unwrap()).read_to_end(&mut bytes).unwrap();
    fs::write(&capture, bytes).unwrap();
    // Wireshark parses later segments of a message as records, and a record in empty tables and in error responses.
    let paths = "infiniband.mad.mgmtclass == 3 && infiniband.mad.attributeid == 0x35";
    let empty = "infiniband.mad.method == 0x92 && infiniband.mad.status == 0 && infiniband.sa.attributeoffset == 0";
    let error = "infiniband.mad.method >= 0x80 && infiniband.mad.status != 0";
    let filter = format!("{paths} && !(infiniband.rmpp.segmentnumber > 1) && !({empty}) && !({error})");
    let mut arguments = vec!["-r", capture.to_str().unwrap(), "-Y", &filter, "-T", "fields"];
    for field in [
        "frame.number",
        "infiniband.lrh.slid",
        "infiniband.lrh.dlid",
        "infiniband.mad.method",
        "infiniband.mad.transactionid",
        "infiniband.pathrecord.dgid",
        "infiniband.pathrecord.sgid",
        "infiniband.pathrecord.dlid",
        "infiniband.pathrecord.slid",
        "infiniband.pathrecord.p_key",
        "infiniband.pathrecord.mtu",
    ] {
        arguments.extend(["-e", field]);
    }
    let shown = run(program("tshark", "tshark"), &arguments).success();
    let (ours, theirs) = (analyser::analyse(packed.to_str().unwrap()).unwrap(), shown.lines().collect::<Vec<_>>());
    assert!(theirs.len() > 100, "{shown}");
    assert_eq!(ours, theirs);
}
