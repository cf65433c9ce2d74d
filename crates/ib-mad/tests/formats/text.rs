//! Comparison of the output of smpquery and saquery with the crate's dissection of the same bytes.
#![allow(dead_code, reason = "not every test uses all of it")]
use ib_mad::{
    Gid, Wire,
    attribute::Structure,
    sa::PathRecord,
    smp::{NodeInfo, PortInfo, SwitchInfo},
    wire::{Field, find, read_bits},
};

/// Names of smpquery for fields of `PortInfo`, `NodeInfo` and `SwitchInfo`, with the crate's paths.
const NAMES: &[(&str, &str, &str)] = &[
    ("PortInfo", "GidPrefix", "gid_prefix"),
    ("PortInfo", "Lid", "lid"),
    ("PortInfo", "SMLid", "master_sm_lid"),
    ("PortInfo", "CapMask", "capability_mask"),
    ("PortInfo", "DiagCode", "diag_code"),
    ("PortInfo", "MkeyLeasePeriod", "mkey_lease_period"),
    ("PortInfo", "LocalPort", "local_port_num"),
    ("PortInfo", "LinkWidthEnabled", "link_width_enabled"),
    ("PortInfo", "LinkWidthSupported", "link_width_supported"),
    ("PortInfo", "LinkWidthActive", "link_width_active"),
    ("PortInfo", "LinkSpeedSupported", "speed_state.link_speed_supported"),
    ("PortInfo", "LinkState", "speed_state.port_state"),
    ("PortInfo", "PhysLinkState", "physical_states.port_physical_state"),
    ("PortInfo", "LinkDownDefState", "physical_states.link_down_default_state"),
    ("PortInfo", "ProtectBits", "mkey_lmc.mkey_protect_bits"),
    ("PortInfo", "LMC", "mkey_lmc.lmc"),
    ("PortInfo", "LinkSpeedActive", "link_speed.link_speed_active"),
    ("PortInfo", "LinkSpeedEnabled", "link_speed.link_speed_enabled"),
    ("PortInfo", "NeighborMTU", "neighbor_mtu_sl.neighbor_mtu"),
    ("PortInfo", "SMSL", "neighbor_mtu_sl.master_smsl"),
    ("PortInfo", "VLCap", "vl_cap_init.vl_cap"),
    ("PortInfo", "InitType", "vl_cap_init.init_type"),
    ("PortInfo", "VLHighLimit", "vl_high_limit"),
    ("PortInfo", "VLArbHighCap", "vl_arbitration_high_cap"),
    ("PortInfo", "VLArbLowCap", "vl_arbitration_low_cap"),
    ("PortInfo", "InitReply", "init_reply_mtu.init_type_reply"),
    ("PortInfo", "MtuCap", "init_reply_mtu.mtu_cap"),
    ("PortInfo", "VLStallCount", "stall_life.vl_stall_count"),
    ("PortInfo", "HoqLife", "stall_life.hoq_life"),
    ("PortInfo", "OperVLs", "operational.operational_vls"),
    ("PortInfo", "PartEnforceInb", "operational.partition_enforcement_inbound"),
    ("PortInfo", "PartEnforceOutb", "operational.partition_enforcement_outbound"),
    ("PortInfo", "FilterRawInb", "operational.filter_raw_inbound"),
    ("PortInfo", "FilterRawOutb", "operational.filter_raw_outbound"),
    ("PortInfo", "MkeyViolations", "mkey_violations"),
    ("PortInfo", "PkeyViolations", "pkey_violations"),
    ("PortInfo", "QkeyViolations", "qkey_violations"),
    ("PortInfo", "GuidCap", "guid_cap"),
    ("PortInfo", "ClientReregister", "register_time_out.client_reregister"),
    ("PortInfo", "McastPkeyTrapSuppressionEnabled", "register_time_out.multicast_pkey_trap_suppression_enabled"),
    ("PortInfo", "SubnetTimeout", "register_time_out.subnet_time_out"),
    ("PortInfo", "RespTimeVal", "resp_time.resp_time_value"),
    ("PortInfo", "LocalPhysErr", "error_limits.local_phy_errors"),
    ("PortInfo", "OverrunErr", "error_limits.overrun_errors"),
    ("PortInfo", "MaxCreditHint", "max_credit_hint"),
    ("PortInfo", "RoundTrip", "ext_speeds2.link_round_trip_latency"),
    ("PortInfo", "CapabilityMask2", "capability_mask2"),
    ("PortInfo", "LinkSpeedExtActive", "ext_speeds.link_speed_ext_active"),
    ("PortInfo", "LinkSpeedExtSupported", "ext_speeds.link_speed_ext_supported"),
    ("PortInfo", "LinkSpeedExtEnabled", "ext_enabled.link_speed_ext_enabled"),
    ("NodeInfo", "BaseVers", "base_version"),
    ("NodeInfo", "ClassVers", "class_version"),
    ("NodeInfo", "NodeType", "node_type"),
    ("NodeInfo", "NumPorts", "num_ports"),
    ("NodeInfo", "SystemGuid", "system_image_guid"),
    ("NodeInfo", "Guid", "node_guid"),
    ("NodeInfo", "PortGuid", "port_guid"),
    ("NodeInfo", "PartCap", "partition_cap"),
    ("NodeInfo", "DevId", "device_id"),
    ("NodeInfo", "Revision", "revision"),
    ("NodeInfo", "LocalPort", "port_vendor.local_port_num"),
    ("NodeInfo", "VendorId", "port_vendor.vendor_id"),
    ("SwitchInfo", "LinearFdbCap", "linear_fdb_cap"),
    ("SwitchInfo", "RandomFdbCap", "random_fdb_cap"),
    ("SwitchInfo", "McastFdbCap", "multicast_fdb_cap"),
    ("SwitchInfo", "LinearFdbTop", "linear_fdb_top"),
    ("SwitchInfo", "DefPort", "default_port"),
    ("SwitchInfo", "DefMcastPrimPort", "default_multicast_primary_port"),
    ("SwitchInfo", "DefMcastNotPrimPort", "default_multicast_not_primary_port"),
    ("SwitchInfo", "LifeTime", "life_time_change.life_time_value"),
    ("SwitchInfo", "StateChange", "life_time_change.port_state_change"),
    ("SwitchInfo", "OptSLtoVLMapping", "life_time_change.optimized_sl_to_vl_mapping_programming"),
    ("SwitchInfo", "LidsPerPort", "lids_per_port"),
    ("SwitchInfo", "PartEnforceCap", "partition_enforcement_cap"),
    ("SwitchInfo", "InboundPartEnf", "enforcement_caps.inbound_enforcement_cap"),
    ("SwitchInfo", "OutboundPartEnf", "enforcement_caps.outbound_enforcement_cap"),
    ("SwitchInfo", "FilterRawInbound", "enforcement_caps.filter_raw_inbound_cap"),
    ("SwitchInfo", "FilterRawOutbound", "enforcement_caps.filter_raw_outbound_cap"),
    ("SwitchInfo", "EnhancedPort0", "enforcement_caps.enhanced_port0"),
    ("SwitchInfo", "MulticastFDBTop", "multicast_fdb_top"),
];

/// Names of saquery for fields of a path record, with the crate's paths.
const PATH: &[(&str, &str)] = &[
    ("service_id", "service_id"),
    ("dgid", "dgid"),
    ("sgid", "sgid"),
    ("dlid", "dlid"),
    ("slid", "slid"),
    ("hop_flow_raw", "flow_hop"),
    ("tclass", "traffic_class"),
    ("num_path_revers", "reversible_paths"),
    ("pkey", "pkey"),
    ("qos_class", "qos_sl.qos_class"),
    ("sl", "qos_sl.sl"),
    ("mtu", "mtu"),
    ("rate", "rate"),
    ("pkt_life", "packet_life_time"),
    ("preference", "preference"),
];

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Normalizes the spelling of a list item: speeds become the whole numbers of the crate's names.
fn spelled(word: &str) -> String {
    let word = word.trim().replace(" Gbps", " Gb/s");
    let speed = match word.split(' ').next() {
        Some("5.0") => "5 Gb/s",
        Some("10.0") => "10 Gb/s",
        Some("14.0625") => "14 Gb/s",
        Some("25.78125") => "25 Gb/s",
        Some("53.125") => "50 Gb/s",
        Some("106.25") => "100 Gb/s",
        _ => &word,
    };
    let speed = if speed.starts_with("Extended speed") { "extended" } else { speed };
    let speed = if speed == "No Extended Speed" { "none" } else { speed };
    speed.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn shown(fields: &[Field], path: &str, bytes: &[u8]) -> String {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = fields.iter().find(|field| field.name == name).unwrap();
    match rest {
        Some(rest) => shown(field.parts, rest, &bytes[usize::try_from(field.bit_offset / 8).unwrap()..]),
        None => {
            struct Show<'a>(&'a Field, &'a [u8]);
            impl core::fmt::Display for Show<'_> {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    self.0.show(self.1, f)
                }
            }
            Show(field, bytes).to_string()
        }
    }
}

/// Compares each line `Name:.....value` of smpquery's output with an attribute; returns the number of compared lines.
pub(crate) fn compare_smpquery(structure: Structure, bytes: &[u8], text: &str) -> usize {
    let mut compared = 0;
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim_start_matches('.');
        let Some((_, _, path)) = NAMES.iter().find(|(own, theirs, _)| *own == structure.name && *theirs == name) else {
            continue;
        };
        let (offset, bits) = find(structure.fields, path).unwrap();
        let raw = read_bits(bytes, offset, bits).unwrap();
        let ours = shown(structure.fields, path, bytes);
        match number(value) {
            Some(number) if path.ends_with("mtu") || path.ends_with("mtu_cap") => {
                assert_eq!(128 << raw, number, "{name}: {ours}");
            }
            Some(number) => assert_eq!(raw, number, "{name}: {ours}"),
            None if value.starts_with('<') || value.starts_with("undefined") => continue,
            None => {
                let theirs: Vec<String> = value.split(" or ").map(spelled).collect();
                let ours: Vec<String> = ours.split('|').map(spelled).collect();
                assert_eq!(ours, theirs, "{name}");
            }
        }
        compared += 1;
    }
    compared
}

/// Compares saquery's output of path records with records; returns the number of records.
pub(crate) fn compare_paths<'a>(mut records: impl Iterator<Item = &'a PathRecord>, text: &str) -> usize {
    let mut count = 0;
    for dump in text.split("PathRecord dump:").skip(1) {
        let record = records.next().expect("saquery printed more records than there are");
        let bytes = ib_mad::as_bytes(record);
        let mut compared = 0;
        for line in dump.lines().filter(|line| line.starts_with("\t\t")) {
            let (name, value) = line.trim().split_once("..").unwrap();
            let value = value.trim_start_matches('.');
            let Some((_, path)) = PATH.iter().find(|(theirs, _)| *theirs == name) else { continue };
            let (offset, bits) = find(PathRecord::FIELDS, path).unwrap();
            match value.parse::<Gid>() {
                Ok(gid) => {
                    let at = usize::try_from(offset / 8).unwrap();
                    assert_eq!(bytes[at..at + 16], gid.get(), "{name}");
                }
                Err(_) => assert_eq!(read_bits(bytes, offset, bits), number(&value.to_lowercase()), "{name}"),
            }
            compared += 1;
        }
        assert_eq!(compared, PATH.len(), "{dump}");
        count += 1;
    }
    assert!(records.next().is_none(), "there are more records than saquery printed");
    count
}

/// Returns the structure of a title of smpquery, if its names are listed here.
pub(crate) fn smpquery_structure(title: &str) -> Option<Structure> {
    match title {
        "Port info" => Some(Structure::of::<PortInfo>()),
        "Node info" => Some(Structure::of::<NodeInfo>()),
        "Switch info" => Some(Structure::of::<SwitchInfo>()),
        _ => None,
    }
}
