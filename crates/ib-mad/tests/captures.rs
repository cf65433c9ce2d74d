//! Captured packets against Wireshark's dissection of them: `testdata/captures`.
mod common;

use common::{headers, lines, packets};
use core::time::Duration;
use ib_mad::{
    AttributeRef, MadRef, MgmtClass, Wire,
    attribute::Structure,
    packet::{Bth, Deth, Lrh},
    rmpp::{Reassembler, ReassemblerLimits, Received, RmppType, Segmenter, SegmenterLimits, Sent},
    sa::SaMad,
    smp::{DrSmp, Smp},
    wire::{Field, read_bits, write_bits},
};
use std::collections::{BTreeMap, BTreeSet};

/// Wireshark's names that are not ours, with ours.
const NAMES: &[(&str, &str)] = &[
    ("mad.baseversion", "base_version"),
    ("tclass", "traffic_class"),
    ("numbpath", "num_path"),
    ("mtuselector", "selector"),
    ("rateselector", "selector"),
    ("packetlifetimeselector", "selector"),
    ("mtu", "value"),
    ("rate", "value"),
    ("packetlifetime", "value"),
    ("producertypevendorid", "producer"),
    ("trapnumberdeviceid", "trap_number"),
    ("type", "notice_type"),
    ("smpstatus", "status"),
    ("enum", "enumeration"),
    ("enhancedportzero", "enhanced_port0"),
    ("linkspeecenabledchange", "link_speed_enabled_change"),
    ("gidaddr", "gid_addr"),
    ("rmppversion", "version"),
    ("rmppstatus", "status"),
    ("segmentnumber", "data1"),
    ("payloadlength", "data2"),
    ("newwindowlast", "data2"),
    ("localcommid", "local_comm_id"),
    ("lver", "link_version"),
    ("lnh", "next_header"),
    ("pktlen", "packet_length"),
    ("se", "solicited_event"),
    ("m", "migration"),
    ("padcnt", "pad_count"),
    ("tver", "header_version"),
    ("destqp", "dest_qp"),
    ("a", "ack_request"),
    ("srcqp", "src_qp"),
    ("endportlid", "endport_lid"),
    ("blocknum_eightbit", "block_num"),
    ("blocknum_ninebit", "block_num"),
    ("blocknum_sixteenbit", "block_num"),
    ("sltovlhighbits", "lanes"),
    ("sltovllowbits", "lanes"),
    ("port", "ports"),
    ("portmask", "port_masks"),
    ("redirecttc", "traffic_class"),
    ("redirectsl", "sl"),
    ("redirectfl", "flow_label"),
    ("traptc", "traffic_class"),
    ("trapsl", "sl"),
    ("trapfl", "flow_label"),
    ("trapqp", "qp"),
    ("sdgid", "gids"),
    ("remotecommid", "remote_comm_id"),
    ("rejinfolen", "rejected_info_length"),
    ("msgrej", "message"),
    ("e2eflowctrl", "end_to_end_flow_control"),
    ("failoveracc", "failover_accepted"),
    ("initdepth", "initiator_depth"),
    ("respres", "responder_resources"),
    ("responderres", "responder_resources"),
    ("rnrretrcount", "rnr_retry_count"),
    ("retrcount", "retry_count"),
    ("startpsn", "starting_psn"),
    ("tgtackdelay", "target_ack_delay"),
    ("ext_transport", "extended_transport_type"),
    ("localresptout", "local_cm_response_timeout"),
    ("remoteresptout", "remote_cm_response_timeout"),
    ("maxcmretr", "max_cm_retries"),
    ("pppmtu", "path_packet_payload_mtu"),
    ("rdcexist", "rdc_exists"),
    ("transpsvctype", "transport_service_type"),
    ("remoteqpneecn", "remote_qpn"),
    ("alt_hoplim", "alternate_hop_limit"),
    ("alt_localacktout", "local_ack_timeout"),
    ("alt_localgid", "alternate_local_port_gid"),
    ("alt_locallid", "alternate_local_port_lid"),
    ("alt_remotegid", "alternate_remote_port_gid"),
    ("alt_remotelid", "alternate_remote_port_lid"),
    ("alt_sl", "sl"),
    ("alt_subnetlocal", "subnet_local"),
    ("alt_tfcclass", "alternate_traffic_class"),
    ("prim_hoplim", "primary_hop_limit"),
    ("prim_localacktout", "local_ack_timeout"),
    ("prim_locallid", "primary_local_port_lid"),
    ("prim_remotelid", "primary_remote_port_lid"),
    ("prim_sl", "sl"),
    ("prim_subnetlocal", "subnet_local"),
    ("prim_tfcclass", "primary_traffic_class"),
    ("linkrecord.servicedata", "service_data8"),
    ("vlarbitrationtable.weight", "weight"),
    ("serviceid", "service_id"),
    ("cm.req", "local_comm_id"),
    ("cm.rep", "local_comm_id"),
];

/// Fields of Wireshark that are not compared, with the reason. A name that ends in `.` stands for all below it.
const FAULTS: &[(&str, &str)] = &[
    ("rmpp.rresptime", "Wireshark splits the byte 4/4, the specification 5/3"),
    ("rmpp.rmppflags", "Wireshark splits the byte 4/4, the specification 5/3"),
    ("multipathrecord.sl", "at a wrong bit"),
    ("multipathrecord.gidscope", "was never in the specification; the bits are reserved"),
    ("portinfo.guid", "Wireshark's name of the subnet prefix, see gid_prefix"),
    ("portinfo.capabilitymask.", "single bits of the mask, compared as a whole"),
    ("p_keytable.", "Wireshark splits the key into membership and base"),
    ("sa.drdlid", "24 bits at the place of LinkRecord's from-LID"),
    ("trap.", "Wireshark reads every notice's details as those of one trap; oracle_fields.rs has their places"),
    ("cm.req.ip_cm.", "a program's own layout of the private data"),
    ("cm.req.serviceid.", "parts of the service id of IP addresses"),
    ("cm.req.prim_flowlabel", "Wireshark reads 3 bytes where the word has 4"),
    ("cm.req.alt_flowlabel", "Wireshark reads 3 bytes where the word has 4"),
    ("cm.req.prim_pktrate", "Wireshark reads the first byte of the word, the rate is in the last"),
    ("cm.req.alt_pktrate", "Wireshark reads the first byte of the word, the rate is in the last"),
    ("smpdirected.d", "Wireshark shows the bit as one of 64; DrStatus is in oracle_fields.rs"),
    ("cm.req.prim_localgid_ipv4", "the last bytes of the GID"),
    ("cm.req.prim_remotegid_ipv4", "the last bytes of the GID"),
    ("linkrecord.servicedata", "Wireshark shows 16 bytes at once for each of four arrays"),
    ("switchinfo.guid", "Wireshark's name for the GUIDs of GuidInfo"),
    ("sminfo.sm_key", "compared as SaHeader's; SmInfo's is in oracle_fields.rs"),
    ("invariant.crc", "not part of a datagram"),
    ("variant.crc", "not part of a datagram"),
    ("aeth", "not a datagram"),
    ("reth", "not a datagram"),
    ("immdt", "not a datagram"),
    ("lrh", "the header as a whole"),
    ("bth", "the header as a whole"),
    ("deth", "the header as a whole"),
    ("rmpp", "the header as a whole"),
];

fn leaves(fields: &[Field], start: u32, out: &mut BTreeMap<(u32, u32), Vec<&'static str>>) {
    for field in fields.iter().filter(|field| !field.reserved) {
        let width = field.bits / field.count;
        for index in 0..field.count {
            let at = start + field.bit_offset + index * width;
            out.entry((at, width)).or_default().push(field.name);
            leaves(field.parts, at, out);
        }
        if field.count > 1 && width == 8 {
            out.entry((start + field.bit_offset, field.bits)).or_default().push(field.name);
        }
        // Octets are one field of many bytes.
        if field.parts.is_empty() && field.count == 1 && width > 64 {
            (0..width / 8)
                .for_each(|byte| out.entry((start + field.bit_offset + byte * 8, 8)).or_default().push(field.name));
        }
    }
}

/// Writes each field's value, read through the field table, into zeroed bytes. Reserved bytes are copied; bits that no
/// field of a packed word names are not, and stay zero.
fn write_fields(fields: &[Field], start: u32, from: &[u8], to: &mut [u8]) {
    for field in fields {
        let width = field.bits / field.count;
        for at in (0..field.count).map(|index| start + field.bit_offset + index * width) {
            if !field.parts.is_empty() {
                write_fields(field.parts, at, from, to);
                continue;
            }
            // Octets, text and reserved bytes are wider than a number.
            for (at, width) in (0..width.div_ceil(64)).map(|word| (at + word * 64, 64.min(width - word * 64))) {
                write_bits(to, at, width, read_bits(from, at, width).unwrap()).unwrap();
            }
        }
    }
}

/// The bits that no field names: holes of packed words.
fn holes(structure: Structure) -> Vec<u8> {
    let mut named = vec![0; structure.size];
    write_fields(structure.fields, 0, &vec![0xff; structure.size], &mut named);
    named.iter().map(|byte| !byte).collect()
}

/// Every attribute of the captures is built anew from the values of its fields, bit by bit, and has the bytes that came.
#[test]
fn attributes_from_their_fields() {
    let mut built: BTreeMap<&str, usize> = BTreeMap::new();
    for capture in ["mads-erf.pcap.gz", "records-erf.pcap.gz", "rmpp-roce.pcap.gz", "cm-roce.pcap.gz"] {
        let (link_type, packets) = packets(capture);
        for packet in &packets {
            let Some(headers) = headers(link_type, packet) else { continue };
            let Ok(mad) = MadRef::new(headers.payload) else { continue };
            let header = Structure::of::<ib_mad::MadHeader>();
            let attribute = mad.attribute().ok().and_then(|own| Some((own.structure()?, own.as_bytes())));
            for (structure, bytes) in [(header, &mad.as_bytes()[..24])].into_iter().chain(attribute) {
                let mut anew = vec![0; structure.size];
                write_fields(structure.fields, 0, bytes, &mut anew);
                // What stands in reserved bits is the sender's.
                let hole = bytes.iter().zip(holes(structure)).map(|(byte, hole)| byte & hole);
                anew.iter_mut().zip(hole).for_each(|(byte, hole)| *byte |= hole);
                assert_eq!(anew, bytes, "{}", structure.name);
                *built.entry(structure.name).or_default() += 1;
            }
        }
    }
    let all: usize = built.values().sum();
    assert_eq!((built.len(), all), (72, 6892), "{built:?}");
}

fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The named bits of a datagram, counted from its first bit; the headers before it have negative places.
fn named_bits(mad: &MadRef<'_>) -> BTreeMap<(u32, u32), Vec<&'static str>> {
    let mut out = BTreeMap::new();
    match mad.class() {
        MgmtClass::SUBN_DIRECTED_ROUTE => leaves(DrSmp::FIELDS, 0, &mut out),
        MgmtClass::SUBN_LID_ROUTED => leaves(Smp::FIELDS, 0, &mut out),
        MgmtClass::SUBN_ADM => leaves(SaMad::FIELDS, 0, &mut out),
        _ => leaves(ib_mad::MadHeader::FIELDS, 0, &mut out),
    }
    // Wireshark knows nothing of status in answers to directed routes: the whole word.
    leaves(ib_mad::MadHeader::FIELDS, 0, &mut out);
    if let Ok(attribute) = mad.attribute()
        && let Some(structure) = attribute.structure()
    {
        let start = attribute.as_bytes().as_ptr() as usize - mad.as_bytes().as_ptr() as usize;
        leaves(structure.fields, u32::try_from(start * 8).unwrap(), &mut out);
    }
    out
}

fn fault(name: &str) -> bool {
    FAULTS.iter().any(|(fault, _)| name == *fault || (fault.ends_with('.') && name.starts_with(fault)))
}

/// Each field of Wireshark's dissection is a field of ours: same bits, same name, same value.
fn compare(capture: &str, dissection: &str, expected: usize) {
    let (link_type, packets) = packets(capture);
    let dissected = lines(dissection);
    assert_eq!(packets.len(), dissected.len());
    let mut wrong = BTreeSet::new();
    let mut compared = 0;
    for (packet, fields) in packets.iter().zip(&dissected) {
        let Some(headers) = headers(link_type, packet) else { continue };
        let Ok(mad) = MadRef::new(headers.payload) else { continue };
        let mut bits = named_bits(&mad);
        // What comes before the datagram: our headers, shifted so that all places are positive.
        let before = u32::try_from(headers.payload.as_ptr() as usize - packet.as_ptr() as usize).unwrap() * 8;
        bits = bits.into_iter().map(|((at, width), names)| ((at + before, width), names)).collect();
        let mut end = before;
        for (fields, present, size) in [
            (Deth::FIELDS, true, size_of::<Deth>()),
            (Bth::FIELDS, true, size_of::<Bth>()),
            (Lrh::FIELDS, headers.lrh.is_some(), size_of::<Lrh>()),
        ] {
            if present {
                end -= u32::try_from(size).unwrap() * 8;
                leaves(fields, end, &mut bits);
            }
        }
        // Wireshark takes the later segments of a message for the start of a record.
        let later = mad.rmpp().is_some_and(|rmpp| rmpp.flags.active() && !rmpp.flags.first());
        for field in fields.split('\t').filter(|field| !field.is_empty()) {
            let (name, rest) = field.split_once('@').unwrap();
            let (place, value) = rest.split_once('=').unwrap();
            let (at, width) = place.split_once('+').unwrap();
            let (at, width): (i64, u32) = (at.parse().unwrap(), width.parse().unwrap());
            if fault(name) || width > 64 && value.len() > 32 {
                continue;
            }
            let at = u32::try_from(at + i64::from(before)).unwrap();
            if later && at >= before + 56 * 8 {
                continue;
            }
            // Wireshark takes every class with RMPP for subnet administration, and its header for 8 bytes shorter in
            // a packet of an unknown kind.
            let odd = mad.rmpp().is_some_and(|rmpp| rmpp.rmpp_type.name().is_none());
            if name.starts_with("sa.") && (mad.class() != MgmtClass::SUBN_ADM || odd) {
                continue;
            }
            let last = name.rsplit('.').next().unwrap();
            let ours = bits.get(&(at, width));
            let same = ours.is_some_and(|ours| {
                ours.iter().any(|our| {
                    plain(our) == plain(last)
                        || NAMES.iter().any(|(theirs, alias)| (*theirs == last || *theirs == name) && our == alias)
                })
            });
            if !same {
                wrong.insert(format!("{name}@{}+{width} is {ours:?}", i64::from(at) - i64::from(before)));
                continue;
            }
            let value_same = (0..width.div_ceil(64)).all(|word| {
                let step = 64.min(width - word * 64);
                let digits = usize::try_from(word * 16).unwrap();
                let hex = value.get(digits..(digits + 16).min(value.len())).unwrap_or(value);
                read_bits(packet, at + word * 64, step) == u64::from_str_radix(hex, 16).ok()
            });
            if !value_same {
                wrong.insert(format!("{name} = {value}"));
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.into_iter().collect::<Vec<_>>().join("\n"));
    assert_eq!(compared, expected, "fields compared");
}

#[test]
fn management_packets() {
    compare("mads-erf.pcap.gz", "mads.dissected.gz", 143_519);
}

#[test]
fn single_records() {
    compare("records-erf.pcap.gz", "records.dissected.gz", 28_095);
}

#[test]
fn rmpp_of_linux() {
    compare("rmpp-roce.pcap.gz", "rmpp-roce.dissected.gz", 19_857);
}

#[test]
fn connections_of_linux() {
    compare("cm-roce.pcap.gz", "cm-roce.dissected.gz", 600);
}

/// Every datagram is one of a known class whose attribute has a type.
#[test]
fn every_datagram_is_known() {
    let mut unknown = BTreeMap::new();
    let mut seen = 0;
    for file in ["mads-erf.pcap.gz", "records-erf.pcap.gz", "rmpp-roce.pcap.gz", "cm-roce.pcap.gz"] {
        let (link_type, packets) = packets(file);
        for packet in &packets {
            let Some(headers) = headers(link_type, packet) else { continue };
            let Ok(mad) = MadRef::new(headers.payload) else { continue };
            seen += 1;
            let attribute = mad.attribute().unwrap();
            if matches!(attribute, AttributeRef::Unknown(_)) && mad.rmpp().is_none_or(|rmpp| !rmpp.flags.active()) {
                *unknown.entry((mad.class(), mad.header().attribute_id.get())).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(seen, 4254);
    // Vendors' classes and device administration have no attributes of ours, a request for a log no type yet.
    let expected = [((0x0a, 1), 3), ((0x21, 0x13), 3), ((0x32, 0), 3), ((0x33, 0x10), 1)];
    assert_eq!(unknown, expected.map(|((class, id), count)| ((MgmtClass::new(class), id), count)).into());
}

/// Linux's segments, put together by our receiver and cut again by our sender, are Linux's segments.
#[test]
fn messages_of_linux_are_cut_as_linux_cuts_them() {
    let (link_type, packets) = packets("rmpp-roce.pcap.gz");
    let mut transfers: BTreeMap<(Vec<u8>, u8, u64), Vec<Vec<u8>>> = BTreeMap::new();
    for packet in &packets {
        let Some(headers) = headers(link_type, packet) else { continue };
        let mad = MadRef::new(headers.payload).unwrap();
        if mad.rmpp().is_some_and(|rmpp| rmpp.flags.active() && rmpp.rmpp_type == RmppType::DATA) {
            let source = packet[..14].to_vec();
            let key = (source, mad.method().get(), mad.header().transaction_id.get());
            transfers.entry(key).or_default().push(headers.payload[..256].to_vec());
        }
    }
    let mut whole = 0;
    for segments in transfers.values() {
        let mut buffer = vec![0; 64 * 1024];
        let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
        let mut done = false;
        for segment in segments {
            done |= matches!(receiver.handle(Duration::ZERO, segment), Ok(Received::Done(_)));
        }
        if !done {
            continue;
        }
        let message = receiver.message().unwrap().to_vec();
        let mut sender = Segmenter::new(&message, SegmenterLimits::default()).unwrap();
        for number in 1..=sender.segments() {
            let ours = sender.poll_send(Duration::ZERO).unwrap();
            let linux = segments.iter().find(|segment| segment[28..32] == number.to_be_bytes()).unwrap();
            // The time to answer, of which Linux writes its own, is the upper five bits of the flags.
            let mut expected = linux.clone();
            expected[26] &= 7;
            let last = number == sender.segments();
            if !last && number != 1 {
                expected[32..36].fill(0);
            }
            assert_eq!(ours[..36], expected[..36], "segment {number}");
            if !last {
                assert_eq!(ours[..], expected[..], "segment {number}");
            }
            let mut ack = ours;
            ack[25] = RmppType::ACK.get();
            ack[28..32].copy_from_slice(&number.to_be_bytes());
            ack[32..36].copy_from_slice(&(number + 1).to_be_bytes());
            let status = sender.handle(Duration::ZERO, &ack).unwrap();
            assert_eq!(status, if last { Sent::Done } else { Sent::More });
        }
        whole += 1;
    }
    assert!(whole > 0, "{} transfers, none whole", transfers.len());
}
