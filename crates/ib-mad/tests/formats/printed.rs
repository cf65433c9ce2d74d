//! Comparison of captured frames with the output of smpquery and saquery: `testdata/captures`.
use crate::{
    common::{lines, mad, packets, unpack},
    text,
};
use core::time::Duration;
use ib_mad::{
    AttributeId, AttributeRef, Gid, MadRef, MgmtClass, Pkey, Qkey, Qpn, ServiceId, Status, TimeCode, as_bytes,
    attribute::Structure,
    cm::CmAttribute,
    diags::{Dump, GroupLines, MemberLines},
    id::PortSpace,
    notice::{CapabilityResponse, ClassCapability, ClassPortInfo},
    rmpp::{Reassembler, ReassemblerLimits, Received},
    sa::{
        GuidInfoRecord, InformInfoRecord, LinearForwardingTableRecord, LinkRecord, McMemberRecord, NodeRecord,
        PathRecord, PkeyTableRecord, PortInfoRecord, SaRecord, ServiceRecord, SlToVlMappingTableRecord, SmInfoRecord,
        SwitchInfoRecord, VlArbitrationTableRecord,
    },
    smp::{NodeDescription, NodeInfo, PortInfo},
    umad::{Frame, Layout},
    wire::Text,
};
use std::collections::{BTreeMap, BTreeSet};

struct Line {
    app: String,
    received: bool,
    frame: Vec<u8>,
    json: serde_json::Value,
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|two| u8::from_str_radix(core::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

fn frames() -> Vec<Line> {
    lines("mads.jsonl.gz")
        .iter()
        .map(|line| {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| json[name].as_str().unwrap().to_owned();
            let frame = hex(&(text("umad_hdr") + &text("mad")));
            Line { app: text("app"), received: json["dir"] == "recv", frame, json }
        })
        .collect()
}

/// Returns the output of each run, by its name.
fn printed() -> BTreeMap<String, String> {
    let all = String::from_utf8_lossy(&unpack("text.gz")).into_owned();
    all.split("== ")
        .skip(1)
        .filter_map(|run| run.split_once('\n'))
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

/// Returns the lines of a run without comments, and without the warnings that the tool wrote at the same time.
fn body(text: &str) -> String {
    let (text, _) = text.split_once("# exit ").unwrap_or((text, ""));
    let mut clean = String::new();
    for (index, part) in text.split("ibwarn: [").enumerate() {
        let rest = part.split_once("bad width 0\n").map_or(part, |(_, rest)| rest);
        clean += if index == 0 { part } else { rest };
    }
    clean.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// smpdump prints the bytes of the attribute that smpquery prints as text.
#[test]
fn dump_of_bytes_equals_the_text_of_smpquery() {
    let printed = printed();
    for (bytes, text, structure) in [
        ("smpdump-ni", "smp-L2-ni", Structure::of::<NodeInfo>()),
        ("smpdump-pi", "smp-L2-pi13", Structure::of::<PortInfo>()),
    ] {
        let attribute = hex(&body(&printed[bytes]).replace([' ', '\n'], ""));
        assert_eq!(Dump::new(&structure, &attribute).unwrap().to_string(), body(&printed[text]), "{text}");
    }
    let name = NodeDescription { node_string: Text::new(b"leaf1 Quantum-sim:sw/Leaf1") };
    let dump = Dump::new(&Structure::of::<NodeDescription>(), as_bytes(&name)).unwrap();
    assert_eq!(dump.to_string(), body(&printed["smp-L2-nd"]));
}

/// Returns the records that the tool of a run received.
fn received<R: SaRecord + 'static>(frames: &[Line], name: &str) -> Option<Vec<R>> {
    let mut buffer = vec![0; 1 << 16];
    let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
    for line in frames.iter().filter(|line| line.app == *name && line.received) {
        let mad = Frame::parse(&line.frame, Layout::WithPkeyIndex).unwrap().view().unwrap();
        if mad.header().attribute_id == R::ID {
            let _ = receiver.handle(Duration::ZERO, mad.as_bytes());
        }
    }
    let message = MadRef::new(receiver.message()?).unwrap();
    Some(message.records().unwrap().copied().collect())
}

/// Compares each run of saquery that begins with `title` and whose response was captured. Returns the number of runs
/// and of records.
fn compare<R: SaRecord + 'static>(
    (frames, printed): (&[Line], &BTreeMap<String, String>),
    title: &str,
    dump: impl Fn(&R, bool) -> String,
) -> (usize, usize) {
    let (mut runs, mut records) = (0, 0);
    for (name, text) in printed.iter().filter(|(_, text)| body(text).starts_with(title)) {
        let Some(all) = received::<R>(frames, name) else { continue };
        let dumps: String = all.iter().map(|record| dump(record, text.contains(" -K "))).collect();
        assert_eq!(dumps, body(text), "{name}");
        runs += 1;
        records += all.len();
    }
    (runs, records)
}

/// Compares by the table of a structure.
fn compare_dumps<R: SaRecord + 'static>(captured: (&[Line], &BTreeMap<String, String>), title: &str) -> (usize, usize) {
    compare(captured, title, |record: &R, keys| {
        let dump = Dump::new(&Structure::of::<R>(), as_bytes(record)).unwrap();
        if keys { dump.show_keys().to_string() } else { dump.to_string() }
    })
}

#[test]
fn records_are_dumped_as_by_saquery() {
    let (frames, printed) = (frames(), printed());
    let captured = (&frames[..], &printed);
    let compared = [
        compare_dumps::<NodeRecord>(captured, "NodeRecord dump:"),
        compare_dumps::<PortInfoRecord>(captured, "PortInfoRecord dump:\n\tRID\n"),
        compare_dumps::<McMemberRecord>(captured, "MCMember Record dump:"),
        compare_dumps::<LinkRecord>(captured, "LinkRecord dump:"),
        compare_dumps::<GuidInfoRecord>(captured, "GUIDInfo Record dump:"),
        compare_dumps::<SmInfoRecord>(captured, "SMInfoRecord dump:"),
        compare_dumps::<SwitchInfoRecord>(captured, "SwitchInfoRecord dump:"),
        compare_dumps::<SlToVlMappingTableRecord>(captured, "SL2VLTableRecord dump:"),
        compare_dumps::<VlArbitrationTableRecord>(captured, "VLArbTableRecord dump:"),
        compare_dumps::<LinearForwardingTableRecord>(captured, "LFT Record dump:"),
        compare_dumps::<PkeyTableRecord>(captured, "PKeyTableRecord dump:"),
        compare_dumps::<ServiceRecord>(captured, "ServiceRecord dump:"),
        compare_dumps::<InformInfoRecord>(captured, "InformInfoRecord dump:"),
    ];
    let figures = [
        (1, 9),
        (4, 114),
        (8, 27),
        (2, 27),
        (1, 1),
        (3, 4),
        (1, 1),
        (2, 2524),
        (2, 5),
        (1, 1),
        (3, 130),
        (1, 1),
        (1, 2),
    ];
    assert_eq!(compared, figures);
}

/// `saquery -g` and `saquery -m` print records of groups in forms of their own; `-m` also names the member's node.
#[test]
fn groups_and_members_are_dumped_as_by_saquery() {
    let (frames, printed) = (frames(), printed());
    let name = NodeDescription { node_string: Text::new(b"node1 mlx5_0") };
    // The capture has the records of the same groups in other runs.
    for (groups, members, run, count) in [("sakh-g", "sakh-m", "sakh-MCMR", 13), ("sa-g", "sa-m", "sa-MC-scope", 3)] {
        let records = received::<McMemberRecord>(&frames, run).unwrap();
        assert_eq!(records.len(), count);
        let dumps: String = records.iter().map(|record| GroupLines(record).to_string()).collect();
        assert_eq!(dumps, body(&printed[groups]), "{groups}");
        let dumps: String = records
            .iter()
            .map(|record| MemberLines(record, (record.port_gid != Gid::default()).then_some(&name)).to_string())
            .collect();
        assert_eq!(dumps, body(&printed[members]), "{members}");
    }
}

/// The capture has no response with ClassPortInfo: the values are those of the text.
#[test]
fn class_port_info_is_dumped_as_by_saquery() {
    let capability =
        CapabilityResponse::default().with_capability_mask2(0xb5ea).with_resp_time_value(TimeCode::of::<16>());
    let info = ClassPortInfo {
        base_version: 1,
        class_version: 2,
        capability_mask: ClassCapability::from_bits_retain(0x2602),
        capability_response: capability,
        redirect_qp: Qpn::GSI.into(),
        redirect_qkey: Qkey::GSI,
        trap_qkey: Qkey::GSI,
        ..ClassPortInfo::default()
    };
    let dump = Dump::new(&Structure::of::<ClassPortInfo>(), as_bytes(&info)).unwrap();
    assert_eq!(dump.to_string(), body(&printed()["sak-CPI"]));
}

/// Compares with the decoding by a separate program.
#[test]
fn umad_headers_are_decoded_as_by_another_program() {
    let frames = frames();
    assert_eq!(frames.len(), 3018);
    for line in &frames {
        let frame = Frame::parse(&line.frame, Layout::WithPkeyIndex).unwrap();
        let umad = &line.json["umad"];
        let number = |name: &str| umad[name].as_u64().unwrap();
        let header = frame.header;
        assert_eq!(u64::from(header.id.get()), number("agent_id"));
        assert_eq!(u64::from(header.status.get()), number("status"));
        assert_eq!(u64::from(header.timeout_ms.get()), number("timeout_ms"));
        assert_eq!(u64::from(header.retries.get()), number("retries"));
        assert_eq!(u64::from(header.length.get()), number("length"));
        assert_eq!(u64::from(header.qpn.get()), number("qpn"));
        assert_eq!(u64::from(header.qkey.get()), number("qkey"));
        assert_eq!(u64::from(header.lid.get()), number("lid"));
        assert_eq!(u64::from(header.sl), number("sl"));
        assert_eq!(u64::from(header.path_bits), number("path_bits"));
        assert_eq!(u64::from(frame.pkey_index.unwrap()), number("pkey_index"));
        assert_eq!(frame.mad.len(), 256);
    }
}

#[test]
fn smpquery_output_agrees_with_the_frames() {
    let (frames, printed) = (frames(), printed());
    let (mut runs, mut fields) = (0, 0);
    for (name, text) in printed.iter().filter(|(name, _)| name.starts_with("smp-")) {
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("# ")).collect();
        let [_, title, _] = titles[..] else { continue };
        let title = title.trim_start_matches("# ").split(':').next().unwrap();
        let Some(structure) = text::smpquery_structure(title) else { continue };
        // smpquery prints the last successful response with this attribute.
        let answer = frames.iter().rev().filter(|line| line.app == *name && line.received).find_map(|line| {
            let mad = Frame::parse(&line.frame, Layout::WithPkeyIndex).unwrap().view().unwrap();
            let attribute = mad.attribute().ok()?;
            let status = mad.header().status.get() & 0x7fff;
            (status == 0 && attribute.structure()?.name == structure.name).then(|| attribute.as_bytes().to_vec())
        });
        let Some(answer) = answer else { continue };
        fields += text::compare_smpquery(structure, &answer, text);
        assert_eq!(Dump::new(&structure, &answer).unwrap().to_string(), body(text), "{name}");
        runs += 1;
    }
    // The capture has the responses of few runs of smpquery; acm-tests' `mad_opensm` covers more.
    assert_eq!((runs, fields), (1, 18));
}

#[test]
fn saquery_output_agrees_with_the_frames() {
    let (frames, printed) = (frames(), printed());
    let (mut runs, mut records) = (0, 0);
    for (name, text) in printed.iter().filter(|(_, text)| text.contains("PathRecord dump:")) {
        let mut buffer = vec![0; 1 << 20];
        let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
        let mut done = false;
        for line in frames.iter().filter(|line| line.app == *name && line.received) {
            let mad = Frame::parse(&line.frame, Layout::WithPkeyIndex).unwrap().view().unwrap();
            let is_path_record =
                mad.header().attribute_id == AttributeId::PATH_RECORD && mad.header().status == Status::OK;
            if is_path_record && mad.class() == MgmtClass::SUBN_ADM && !done {
                done = matches!(receiver.handle(Duration::ZERO, mad.as_bytes()), Ok(Received::Done(_)));
            }
        }
        let Some(message) = receiver.message() else { continue };
        let message = MadRef::new(message).unwrap();
        records += text::compare_paths(message.records().unwrap(), text);
        let dumps = message.records().unwrap().map(|record: &PathRecord| {
            Dump::new(&Structure::of::<PathRecord>(), as_bytes(record)).unwrap().to_string()
        });
        assert_eq!(dumps.collect::<String>(), body(text), "{name}");
        runs += 1;
    }
    assert_eq!((runs, records), (18, 606));
}

/// saquery prints each partition's broadcast group with its P_Key.
#[test]
fn ipoib_groups_are_those_of_opensm() {
    let mut keys = BTreeSet::new();
    for text in printed().values() {
        for dump in text.split("MCMemberRecord group dump:").skip(1) {
            let value = |name: &str| {
                let line = dump.lines().find(|line| line.trim().starts_with(name))?;
                Some(line.rsplit("..").next()?.to_lowercase())
            };
            let mgid: Gid = value("MGID").unwrap().parse().unwrap();
            assert_eq!(mgid.is_multicast(), mgid.get()[0] == 0xff);
            let Some(address) = mgid.ipoib_ipv4_address() else { continue };
            let pkey: Pkey = value("pkey").unwrap().parse().unwrap();
            assert_eq!(mgid.ipoib_pkey(), Some(pkey));
            assert_eq!(Gid::ipoib_ipv4(pkey, 2, address), mgid);
            keys.insert(pkey);
        }
    }
    assert_eq!(keys.into_iter().collect::<Vec<_>>(), [0x8001, 0x8002, 0xffff].map(Pkey::new));
}

/// Covers service ids of Linux's connection manager.
#[test]
fn service_ids_are_read_as_by_wireshark() {
    let (link_type, packets) = packets("cm-roce.pcap.gz");
    let mut compared = 0;
    for (packet, dissected) in packets.iter().zip(lines("cm-roce.dissected.gz")) {
        let field = |name: &str| {
            let own = dissected.split('\t').find(|field| field.split('@').next() == Some(name))?;
            u64::from_str_radix(own.split('=').nth(1)?, 16).ok()
        };
        let (Some(protocol), Some(port)) = (field("cm.req.serviceid.protocol"), field("cm.req.serviceid.dport")) else {
            continue;
        };
        let (protocol, port): (u16, u16) = (protocol.try_into().unwrap(), port.try_into().unwrap());
        let space = PortSpace::new(0x0100 | protocol);
        let mad = mad(link_type, packet).unwrap();
        let AttributeRef::Cm(CmAttribute::CmReq(request)) = mad.attribute().unwrap() else { panic!("{mad}") };
        assert_eq!(request.service_id.port_space(), Some((space, port)));
        assert_eq!(ServiceId::from_port_space(space, port), request.service_id);
        compared += 1;
    }
    assert_eq!(compared, 4);
}
