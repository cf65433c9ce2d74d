//! Attributes of Omni-Path with a different value in each byte, as tshark and ib-mad read them.
use crate::wireshark::tshark;
use core::net::Ipv6Addr;
use ib_mad::{
    Method, MgmtClass,
    attribute::Structure,
    opa::{
        OpaBadKeyTrap, OpaBadMkeyTrap, OpaBadSwitchPkeyTrap, OpaCapabilityTrap, OpaClearPortStatus, OpaErrorInfo,
        OpaGidTrap, OpaLinkRecord, OpaMcMemberRecord, OpaNodeRecord, OpaNodeTrap, OpaNotice, OpaPortErrorTrap,
        OpaPortInfoRecord, OpaSystemImageTrap,
    },
    wire::{find, read_bits},
};
use std::{collections::BTreeMap, fs};

/// Field of tshark, which of its values, and the path in ib-mad.
type Same = (&'static str, usize, &'static str);

/// An attribute, the number of a trap, and the structure at a byte of the attribute.
type Sample = (MgmtClass, u16, Option<u8>, Structure, usize, &'static [Same]);

const SUBNET: MgmtClass = MgmtClass::SUBN_LID_ROUTED;

const SAMPLES: &[Sample] = &[
    (
        SUBNET,
        2,
        Some(64),
        Structure::of::<OpaNotice>(),
        0,
        &[
            ("notice.isgeneric", 0, "generic_type.is_generic"),
            ("notice.type", 0, "generic_type.notice_type"),
            ("notice.producertype", 0, "producer"),
            ("notice.trapnumber", 0, "trap_number"),
            ("notice.toggle", 0, "toggle_count.notice_toggle"),
            ("notice.count", 0, "toggle_count.notice_count"),
            ("notice.issuerlid", 0, "issuer_lid"),
            ("notice.issuergid", 0, "issuer_gid"),
        ],
    ),
    (SUBNET, 2, Some(64), Structure::of::<OpaGidTrap>(), 32, &[("trap.gid", 0, "gid")]),
    (SUBNET, 2, Some(128), Structure::of::<OpaNodeTrap>(), 32, &[("trap.lidaddr", 0, "lid")]),
    (
        SUBNET,
        2,
        Some(129),
        Structure::of::<OpaPortErrorTrap>(),
        32,
        &[("trap.lidaddr", 0, "lid"), ("trap.portno", 0, "port_num")],
    ),
    (
        SUBNET,
        2,
        Some(144),
        Structure::of::<OpaCapabilityTrap>(),
        32,
        &[
            ("trap.lidaddr", 0, "lid"),
            ("trap.capabilitymask", 0, "capability_mask"),
            ("trap.capabilitymask3", 0, "capability_mask3"),
            ("trap.linkwidthdowngradeenabledchange", 0, "changes.link_width_downgrade_enabled_change"),
            ("trap.linkspeecenabledchange", 0, "changes.link_speed_enabled_change"),
            ("trap.linkwidthenabledchange", 0, "changes.link_width_enabled_change"),
            ("trap.nodedescriptionchange", 0, "changes.node_description_change"),
        ],
    ),
    (
        SUBNET,
        2,
        Some(145),
        Structure::of::<OpaSystemImageTrap>(),
        32,
        &[("trap.systemimageguid", 0, "system_image_guid"), ("trap.lidaddr", 0, "lid")],
    ),
    // Traps 256 to 258 have numbers over one byte: see `attribute`.
    (
        SUBNET,
        2,
        Some(0),
        Structure::of::<OpaBadMkeyTrap>(),
        32,
        &[
            ("trap.lidaddr", 0, "lid"),
            ("trap.drslid", 0, "dr_slid"),
            ("trap.method", 0, "method"),
            ("trap.drnotice", 0, "dr.dr_notice"),
            ("trap.drpathtruncated", 0, "dr.dr_path_truncated"),
            ("trap.drhopcount", 0, "dr.dr_hop_count"),
            ("trap.attributeid", 0, "attribute_id"),
            ("trap.attributemodifier", 0, "attribute_modifier"),
            ("trap.mkey", 0, "mkey"),
        ],
    ),
    (
        SUBNET,
        2,
        Some(1),
        Structure::of::<OpaBadKeyTrap>(),
        32,
        &[
            ("trap.lidaddr", 0, "lid1"),
            ("trap.lidaddr", 1, "lid2"),
            ("trap.key", 0, "key"),
            ("trap.sl", 0, "sl.sl"),
            ("trap.gid", 0, "gid1"),
            ("trap.gid", 1, "gid2"),
            ("trap.qp", 0, "qp1"),
            ("trap.qp", 1, "qp2"),
        ],
    ),
    (
        SUBNET,
        2,
        Some(3),
        Structure::of::<OpaBadSwitchPkeyTrap>(),
        32,
        // tshark has the queue pairs one byte earlier than Linux.
        &[
            ("trap.datavalid", 0, "data_valid"),
            ("trap.pkey", 0, "pkey"),
            ("trap.lidaddr", 0, "lid1"),
            ("trap.lidaddr", 1, "lid2"),
            ("trap.sl", 0, "sl.sl"),
            ("trap.gid", 0, "gid1"),
            ("trap.gid", 1, "gid2"),
        ],
    ),
    (
        MgmtClass::PERF,
        0x41,
        None,
        Structure::of::<OpaClearPortStatus>(),
        0,
        &[("pm.clearportstatus.counterselectmask", 0, "counter_select_mask")],
    ),
    (
        MgmtClass::PERF,
        0x44,
        None,
        Structure::of::<OpaErrorInfo>(),
        0,
        &[
            ("pm.errorportinfo.Portnumber", 0, "first.port_number"),
            ("pm.errorportinfo.portrcverrorinfo.status", 0, "first.port_rcv_error.status"),
            ("pm.errorportinfo.portrcverrorinfo.errorcode", 0, "first.port_rcv_error.error_code"),
            ("pm.errorportinfo.excessivebufferoverrunerrorinfo.sc", 0, "first.excessive_buffer_overrun.sc"),
            ("pm.errorportinfo.portxmitconstrainterrorinfo.pkey", 0, "first.port_xmit_constraint_error.pkey"),
            ("pm.errorportinfo.portxmitconstrainterrorinfo.slid", 0, "first.port_xmit_constraint_error.slid"),
            ("pm.errorportinfo.portrcvconstrainterrorinfo.pkey", 0, "first.port_rcv_constraint_error.pkey"),
            ("pm.errorportinfo.portrcvconstrainterrorinfo.slid", 0, "first.port_rcv_constraint_error.slid"),
            (
                "pm.errorportinfo.portrcvswitchrelayerrorinfo.errorcode",
                0,
                "first.port_rcv_switch_relay_error.error_code",
            ),
            ("pm.errorportinfo.uncorrectableerrorinfo.errorcode", 0, "first.uncorrectable_error.error_code"),
            ("pm.errorportinfo.fmconfigerrorinfo.errorcode", 0, "first.fm_config_error.error_code"),
        ],
    ),
    (
        MgmtClass::SUBN_ADM,
        0x11,
        None,
        Structure::of::<OpaNodeRecord>(),
        0,
        &[
            ("nodeinfo.numports", 0, "node_info.num_ports"),
            ("nodeinfo.portguid", 0, "node_info.port_guid"),
            ("nodeinfo.vendorid", 0, "node_info.port_vendor.vendor_id"),
        ],
    ),
    (
        MgmtClass::SUBN_ADM,
        0x12,
        None,
        Structure::of::<OpaPortInfoRecord>(),
        0,
        &[
            ("portinforecord.linkdownreason.linkdownreason", 0, "link_down_reasons[0].link_down_reason"),
            (
                "portinforecord.linkdownreason.neighborlinkdownreason",
                7,
                "link_down_reasons[7].neighbor_link_down_reason",
            ),
            ("portinforecord.linkdownreason.timestamp", 7, "link_down_reasons[7].timestamp"),
        ],
    ),
    (
        MgmtClass::SUBN_ADM,
        0x20,
        None,
        Structure::of::<OpaLinkRecord>(),
        0,
        &[("linkrecord.toport", 0, "to_port"), ("linkrecord.tolid", 0, "to_lid")],
    ),
    (
        MgmtClass::SUBN_ADM,
        0x38,
        None,
        Structure::of::<OpaMcMemberRecord>(),
        0,
        &[
            ("mcmemberrecord.q_key", 0, "qkey"),
            ("mcmemberrecord.mtu", 0, "mtu.value"),
            ("mcmemberrecord.tclass", 0, "traffic_class"),
            ("mcmemberrecord.p_key", 0, "pkey"),
            ("mcmemberrecord.rate", 0, "rate.value"),
            ("mcmemberrecord.packetlifetime", 0, "packet_life_time.value"),
            ("mcmemberrecord.sl", 0, "sl_hop.sl"),
            ("mcmemberrecord.hoplimit", 0, "sl_hop.hop_limit"),
            ("mcmemberrecord.scope", 0, "scope_state.scope"),
            ("mcmemberrecord.proxyjoin", 0, "proxy_join.proxy_join"),
        ],
    ),
];

/// Returns an attribute whose bytes differ from their neighbours.
fn attribute((_, _, trap, structure, _, _): &Sample) -> Vec<u8> {
    let size = structure.size.next_multiple_of(8);
    let mut bytes: Vec<u8> = (0..size.max(96)).map(|at| u8::try_from((at * 7 + 3) % 256).unwrap()).collect();
    match trap {
        // A generic notice; numbers under 64 stand for those from 256.
        Some(trap) => {
            bytes[0] = 0x84;
            bytes[4..6].copy_from_slice(&[u8::from(*trap < 64), *trap]);
        }
        None => bytes.truncate(size),
    }
    bytes
}

/// Returns a packet of 9B format with the header of Omni-Path's capturing, in a record of ERF and of pcap.
fn packet(sample: &Sample) -> Vec<u8> {
    let (class, id, ..) = sample;
    let attribute = attribute(sample);
    let [high, low] = id.to_be_bytes();
    let mut mad = vec![
        0x80,
        class.get(),
        0x80,
        Method::GET_RESP.get(),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
        high,
        low,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    match *class {
        MgmtClass::SUBN_ADM => {
            let data = u32::try_from(20 + attribute.len()).unwrap().to_be_bytes();
            mad[3] = Method::GET_TABLE_RESP.get();
            mad.extend([1, 1, 7, 0, 0, 0, 0, 1]);
            mad.extend(data);
            mad.extend([0; 8]);
            mad.extend([0, u8::try_from(attribute.len() / 8).unwrap()]);
            mad.extend([0; 10]);
        }
        // The number of ports.
        MgmtClass::PERF => mad[20] = 1,
        // A trap, and the M_Key.
        _ => {
            mad[3] = Method::TRAP.get();
            mad.extend([0; 8]);
        }
    }
    mad.extend(attribute);
    mad.resize(mad.len().next_multiple_of(4), 0);
    let qp = u8::from(*class != SUBNET);
    let words = u16::try_from((8 + 20 + mad.len() + 4) / 4).unwrap();
    let mut packet = vec![0; 16];
    packet.extend([if qp == 0 { 0xf0 } else { 0 }, 2, 0, 1]);
    packet.extend(words.to_be_bytes());
    packet.extend([0, 2, 0x64, 0, 0xff, 0xff, 0, 0, 0, qp, 0, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, qp]);
    packet.extend(mad);
    packet.extend([0; 6]);
    let whole = u16::try_from(packet.len()).unwrap();
    let mut record = [[0; 8], [0; 8]].concat();
    let size = u32::from(whole + 16).to_le_bytes();
    record[8..12].copy_from_slice(&size);
    record[12..16].copy_from_slice(&size);
    record.extend([0; 8]);
    // Record type 28 is Omni-Path with the header of its capturing.
    record.extend([28, 4]);
    record.extend((whole + 16).to_be_bytes());
    record.extend([0, 0]);
    record.extend(whole.to_be_bytes());
    record.extend(packet);
    record
}

/// Returns the number that tshark prints in hexadecimal or decimal, or as a GID.
fn number(text: &str) -> u128 {
    match (text.strip_prefix("0x"), text.parse::<Ipv6Addr>()) {
        (Some(hex), _) => u128::from_str_radix(hex, 16).unwrap(),
        (_, Ok(gid)) => gid.to_bits(),
        _ => text.parse().unwrap_or_else(|_| panic!("{text}")),
    }
}

#[test]
fn attributes_of_omni_path_are_read_as_by_tshark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("omni-path.pcap");
    let mut compared = 0;
    for sample in SAMPLES {
        let (class, id, trap, structure, start, same) = sample;
        // Link type 197 is ERF.
        let mut file =
            [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[2, 0, 4, 0], &[0; 8], &[0xff, 0xff, 0, 0], &[197, 0, 0, 0]].concat();
        file.extend(packet(sample));
        fs::write(&path, file).unwrap();
        let mut fields: Vec<String> = same.iter().map(|(field, ..)| format!("opa.{field}")).collect();
        // tshark prints all values of a field once.
        fields.dedup();
        let rows = tshark(&path, &fields.iter().map(String::as_str).collect::<Vec<_>>());
        let seen: BTreeMap<&str, &String> = fields.iter().map(String::as_str).zip(&rows[0]).collect();
        let attribute = attribute(sample);
        for (field, which, path) in *same {
            let values = seen[&*format!("opa.{field}")];
            let (offset, bits) = find(structure.fields, path).unwrap_or_else(|| panic!("no field {path}"));
            let offset = offset + u32::try_from(start * 8).unwrap();
            let read = |offset, bits| u128::from(read_bits(&attribute, offset, bits).unwrap());
            let ours = match bits {
                128 => read(offset, 64) << 64 | read(offset + 64, 64),
                bits => read(offset, bits),
            };
            let theirs = values.split(',').nth(*which).unwrap_or_default();
            assert_eq!(number(theirs), ours, "{class} {id:#x} trap {trap:?}: {field} is {path}");
            compared += 1;
        }
    }
    assert_eq!(compared, 75);
}
