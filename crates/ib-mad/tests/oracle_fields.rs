//! The crate's field tables against those of other programs: `testdata/oracle`.
use ib_mad::{
    Gid, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkWidth, Method, MgmtClass, Mtu, MulticastFlags,
    NodeType, PortPhysicalState, PortState, Qkey, Rate, Selected, Selector, SmControl, SmState, Status, VlCap, Wire,
    acm,
    attribute::Structure,
    cm, device, notice, perf, registry, rmpp,
    rmpp::RmppFlags,
    sa::{self, Component, SaRecord},
    smp, umad, vendor,
    wire::{Field, find},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

fn oracle(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/oracle").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Row {
    class: String,
    attribute: String,
    field: String,
    offset: u32,
    bits: u32,
    host_order: bool,
    notes: String,
    source: String,
    checked_by: String,
}

fn rows() -> Vec<Row> {
    let table = oracle("mad-fields.tsv");
    let rows: Vec<Row> = table
        .lines()
        .skip(1)
        .map(|line| {
            let column: Vec<&str> = line.split('\t').collect();
            Row {
                class: column[0].into(),
                attribute: column[1].into(),
                field: column[2].into(),
                offset: column[3].parse().unwrap(),
                bits: column[4].parse().unwrap(),
                host_order: column[5] == "le",
                notes: column[6].into(),
                source: column[7].into(),
                checked_by: column[8].into(),
            }
        })
        .collect();
    assert_eq!(rows.len(), 2574, "2571 fields, and three attributes without data");
    rows
}

/// Names that differ: structures by `class|attribute`, field paths by structure and field pattern.
struct Names {
    attributes: BTreeMap<String, (String, u32)>,
    fields: Vec<(String, String, String)>,
    ours: BTreeSet<String>,
    /// Fields that C declares past the end of the datagram.
    past: BTreeSet<String>,
}

fn names() -> Names {
    let mut names =
        Names { attributes: BTreeMap::new(), fields: Vec::new(), ours: BTreeSet::new(), past: BTreeSet::new() };
    for line in oracle("names.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["attribute", theirs, ours] => {
                let (name, offset) = ours.split_once('@').unwrap_or((ours, "0"));
                names.attributes.insert(theirs.into(), (name.into(), offset.parse().unwrap()));
            }
            ["field", structure, theirs, ours] => {
                names.fields.push((structure.into(), theirs.into(), ours.into()));
            }
            ["ours", structure, path, _source] => {
                names.ours.insert(format!("{structure}.{path}"));
            }
            ["past", structure, theirs, _why] => {
                names.past.insert(format!("{structure}.{theirs}"));
            }
            _ => panic!("{line}"),
        }
    }
    names
}

fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Every field and part and element, as paths.
fn paths(fields: &[Field], prefix: &str, out: &mut Vec<String>) {
    for field in fields.iter().filter(|field| !field.reserved) {
        let elements: Vec<String> = match field.count {
            1 => vec![format!("{prefix}{}", field.name)],
            count => (0..count).map(|index| format!("{prefix}{}[{index}]", field.name)).collect(),
        };
        if field.count > 1 {
            out.push(format!("{prefix}{}", field.name));
        }
        for element in elements {
            paths(field.parts, &format!("{element}."), out);
            out.push(element);
        }
    }
}

/// Matches a name with a pattern with one `*` for a number, and gives the number.
fn matches(pattern: &str, name: &str) -> Option<u32> {
    match pattern.split_once('*') {
        None => (pattern == name).then_some(0),
        Some((before, after)) => name.strip_prefix(before)?.strip_suffix(after)?.parse().ok(),
    }
}

/// First bit and width of the oracle's field in our structure, and the path that it was found by.
fn locate(structure: Structure, names: &Names, paths: &[String], field: &str) -> Result<(u32, u32, String), String> {
    for (name, pattern, path) in &names.fields {
        if name == structure.name
            && let Some(number) = matches(pattern, field)
        {
            let path = path
                .replace("{*}", &number.to_string())
                .replace("{*-1}", &number.saturating_sub(1).to_string())
                .replace("{*8}", &(number * 8).to_string());
            let (path, part) = path.split_once(':').unwrap_or((&path, ""));
            let (offset, bits) = find(structure.fields, path).ok_or(format!("no path {path}"))?;
            return Ok(match part.split_once('+') {
                None => (offset, bits, path.into()),
                Some((from, width)) => (offset + from.parse::<u32>().unwrap(), width.parse().unwrap(), path.into()),
            });
        }
    }
    let found: Vec<&String> =
        paths.iter().filter(|path| plain(path.rsplit('.').next().unwrap()) == plain(field)).collect();
    match found[..] {
        [path] => {
            let (offset, bits) = find(structure.fields, path).unwrap();
            Ok((offset, bits, path.clone()))
        }
        [] => Err("lacking".into()),
        _ => Err(format!("ambiguous: {found:?}")),
    }
}

fn structures() -> BTreeMap<&'static str, Structure> {
    registry::all().chain([Structure::of::<RmppFlags>()]).map(|structure| (structure.name, structure)).collect()
}

fn structure_of(row: &Row, names: &Names, all: &BTreeMap<&str, Structure>) -> Option<(Structure, u32)> {
    let listed = names.attributes.get(&format!("{}|{}", row.class, row.attribute));
    match listed {
        Some((name, offset)) => Some((*all.get(name.as_str())?, offset * 8)),
        None => all.values().find(|own| plain(own.name) == plain(&row.attribute)).map(|own| (*own, 0)),
    }
}

#[test]
fn every_field_of_other_programs_is_where_they_say() {
    let (names, all) = (names(), structures());
    let mut lacking = Vec::new();
    let mut seen: BTreeMap<&str, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for row in rows() {
        let Some((structure, base)) = structure_of(&row, &names, &all) else {
            lacking.push(format!("{} {}: no structure", row.class, row.attribute));
            continue;
        };
        if row.bits == 0 {
            assert_eq!(structure.size, 0, "{}", row.attribute);
            continue;
        }
        if names.past.contains(&format!("{}.{}", structure.name, row.field)) {
            let end = u32::try_from(structure.size).unwrap() * 8;
            assert!(row.offset + base + row.bits > end, "{} is in the structure", row.field);
            continue;
        }
        let mut own_paths = Vec::new();
        paths(structure.fields, "", &mut own_paths);
        match locate(structure, &names, &own_paths, &row.field) {
            Err(why) => lacking.push(format!("{}: {} @{}+{}: {why}", structure.name, row.field, row.offset, row.bits)),
            Ok((offset, bits, path)) => {
                if (offset, bits) != (row.offset + base, row.bits) {
                    lacking.push(format!(
                        "{}: {} @{}+{} is {path} @{}+{bits}",
                        structure.name,
                        row.field,
                        row.offset,
                        row.bits,
                        i64::from(offset) - i64::from(base),
                    ));
                }
                let host_order = structure.fields.iter().any(|field| {
                    field.name == path.split('[').next().unwrap() && field.order == ib_mad::wire::ByteOrder::Host
                });
                if row.bits > 8 && row.class == "umad" && host_order != row.host_order {
                    lacking.push(format!("{}: {}: byte order", structure.name, row.field));
                }
                seen.entry(structure.name).or_default().insert((offset, bits));
            }
        }
    }
    assert!(lacking.is_empty(), "{} lacking:\n{}", lacking.len(), lacking.join("\n"));
    only_ours(&names, &all, &seen);
}

/// OpenSM's component mask: each bit stands for the field that mad-fields.tsv has the bit at, and our record agrees.
#[test]
fn component_mask_bits_are_opensms() {
    let (names, all) = (names(), structures());
    let records = sa_components();
    let mut bits_seen: BTreeMap<(&str, u32), ()> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| row.class == "SubnAdm") {
        let Some(bit) = row.notes.split("component mask bit ").nth(1) else { continue };
        // PathRecord's service id is one field with two bits.
        let bit: u32 = bit.split(',').next().unwrap().parse().unwrap();
        let (structure, _) = structure_of(row, &names, &all).unwrap();
        let components = records[structure.name];
        let Some(component) = components.iter().find(|component| component.mask >> bit & 1 == 1) else {
            wrong.push(format!("{} bit {bit} ({}) has no name", structure.name, row.field));
            continue;
        };
        let (mut offset, mut width) = find(structure.fields, component.field).unwrap();
        let bits = component.mask.count_ones();
        // One bit for each element of an array; or, as PathRecord's service id, bits for the parts of one field.
        if structure.fields.iter().any(|field| field.name == component.field && field.count == bits) && bits > 1 {
            width /= bits;
            offset += (bit - component.mask.trailing_zeros()) * width;
        }
        if row.offset < offset || row.offset + row.bits > offset + width || (bits == 1 && width != row.bits) {
            wrong.push(format!("{} bit {bit}: {} is not {}", structure.name, component.field, row.field));
        }
        bits_seen.insert((structure.name, bit), ());
    }
    // Every named bit of OpenSM, and not a bit that it reserves.
    for line in oracle("compmask.tsv").lines().skip(1) {
        let column: Vec<&str> = line.split('\t').collect();
        let record = all.keys().copied().find(|name| plain(name) == plain(column[0])).unwrap();
        let bit: u32 = column[1].parse().unwrap();
        let reserved = ["RESV", "RESERVED", "RES1"].iter().any(|name| column[2].starts_with(name));
        if reserved == records[record].iter().any(|component| component.mask >> bit & 1 == 1) {
            wrong.push(format!("{record} bit {bit} {}", column[2]));
        }
    }
    // The bits count the fields in their order, so their places go up with them; PortInfoRecord's have only this check.
    for (record, components) in &records {
        let places: Vec<u32> =
            components.iter().map(|component| find(all[record].fields, component.field).unwrap().0).collect();
        let ascending = components.windows(2).all(|two| two[0].mask < two[1].mask);
        assert!(ascending && places.is_sorted(), "{record}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(bits_seen.len(), 144);
}

fn sa_components() -> BTreeMap<&'static str, &'static [Component]> {
    macro_rules! components {
        ($($record:ident)*) => { [$((sa::$record::NAME, sa::$record::COMPONENTS)),*] };
    }
    components! {
        NodeRecord PortInfoRecord SlToVlMappingTableRecord SwitchInfoRecord LinearForwardingTableRecord
        RandomForwardingTableRecord MulticastForwardingTableRecord SmInfoRecord LinkSpeedWidthPairsTableRecord
        LinkRecord GuidInfoRecord ServiceRecord PkeyTableRecord PathRecord VlArbitrationTableRecord McMemberRecord
        TraceRecord MultiPathRecord ServiceAssociationRecord HierarchyInfoRecord CableInfoRecord
        PortInfoExtendedRecord InformInfoRecord
    }
    .into_iter()
    .collect()
}

/// Values of the others' code spaces that are not names of ours, with the reason.
const NOT_CODES: &[(&str, u64, &str)] = &[
    ("MGMT_CLASS", 0x09, "first of a range: vendor::is_vendor"),
    ("MGMT_CLASS", 0x0f, "last of a range"),
    ("MGMT_CLASS", 0x30, "first of a range: vendor::is_vendor_oui"),
    ("MGMT_CLASS", 0x4f, "last of a range"),
    ("MGMT_CLASS", 0x2f, "last of a range"),
    ("MGMT_CLASS", 0x1f, "a mask of ClassPortInfo"),
    ("METHOD", 0x80, "a mask: Method::is_response"),
    ("MAD_STATUS", 0xff00, "a mask: Status::class_code"),
    ("PORT_CAPMASK", 1, "reserved"),
    ("RATE(verbs)", 0, "no rate: the largest that the device has"),
    ("JOIN_STATE", 0, "none"),
    ("CC_ATTR_ID", 0x13, "the log has no type yet"),
];

#[test]
#[expect(clippy::too_many_lines, reason = "a table of every code space")]
fn code_values_have_names() {
    fn codes<T>(known: &'static [(T, &'static str)], get: impl Fn(&T) -> u64) -> Vec<u64> {
        known.iter().map(|(value, _)| get(value)).collect()
    }
    macro_rules! of {
        ($($t:ty)*) => { [$(codes(<$t>::KNOWN, |value| value.get().into())),*].concat() };
    }
    let attributes = |class: MgmtClass| -> Vec<u64> {
        registry::ATTRIBUTES
            .iter()
            .copied()
            .flatten()
            .filter(|placed| placed.class == class)
            .map(|placed| placed.id.get().into())
            .collect()
    };
    let all_attributes: Vec<u64> =
        registry::ATTRIBUTES.iter().copied().flatten().map(|placed| placed.id.get().into()).collect();
    let mut lacking = Vec::new();
    for line in oracle("mad-enums.tsv").lines().skip(1) {
        let column: Vec<&str> = line.split('\t').collect();
        let value: u64 = column[1].parse().unwrap();
        let known: Vec<u64> = match column[0] {
            "MGMT_CLASS" => of![MgmtClass],
            "METHOD" => of![Method],
            "MAD_STATUS" | "SA_STATUS" => of![Status],
            "SA_STATUS(high byte)" => codes(Status::KNOWN, |status| status.class_code().into()),
            "DM_STATUS" => of![device::DeviceStatus],
            "ATTR_ID" => all_attributes.clone(),
            "SA_ATTR_ID" => attributes(MgmtClass::SUBN_ADM),
            "SM_ATTR_ID" if value == 0xff00 => continue,
            "SM_ATTR_ID" => attributes(MgmtClass::SUBN_LID_ROUTED),
            "PM_ATTR_ID" => attributes(MgmtClass::PERF),
            "BM_ATTR_ID" => attributes(MgmtClass::BASEBOARD),
            "CC_ATTR_ID" => attributes(MgmtClass::CONGESTION),
            "CM_ATTR_ID" => attributes(MgmtClass::COMM_MGMT),
            "NODE_TYPE" => of![NodeType],
            "MTU" => of![Mtu],
            "SELECTOR" => vec![selector(column[3])],
            "SM_STATE" => of![SmState],
            "PORT_STATE" => of![PortState],
            "PORT_PHYS_STATE" => of![PortPhysicalState],
            "LINKDOWN_DEFAULT" => of![LinkDownDefault],
            "VLCAP" => of![VlCap],
            "RMPP_TYPE" => of![rmpp::RmppType],
            "RMPP_STATUS" => of![rmpp::RmppStatus],
            "RMPP_FLAGS" => vec![number(&rmpp_flag(column[3]))],
            "PORT_CAPMASK" => of![smp::PortCapability],
            "PORT_CAPMASK2" => of![smp::PortCapability2],
            "LINK_WIDTH" => of![LinkWidth],
            "LINK_SPEED" => of![LinkSpeed],
            "LINK_SPEED_EXT" => of![LinkSpeedExt],
            "LINK_SPEED_EXT2" => of![LinkSpeedExt2],
            "RATE" | "RATE(verbs)" => of![Rate],
            "JOIN_STATE" => sa::JoinState::all().iter().map(|state| state.bits().into()).collect(),
            "SCOPE" => vec![scope(value)],
            "NOTICE_TYPE" => of![notice::NoticeType],
            "NOTICE_PRODUCER" => vec![producer(column[3])],
            "SMINFO_ATTR_MOD" => of![SmControl],
            "CPI_CAPMASK" => of![notice::ClassCapability],
            "SA_CPI_CAPMASK" => of![sa::SaCapability],
            "SA_CPI_CAPMASK2" => of![sa::SaCapability2],
            "PM_CAPMASK" => of![perf::PerfCapability perf::PerfCapability2],
            "COUNTER_SELECT" => of![perf::SampledCounter],
            "IOC_CTRL_OPS" => of![device::ControllerOperations],
            "TRAP" => of![notice::TrapNumber],
            "TRAP144_CHANGE" => vec![local_change(column[3])],
            "CM_REJ_REASON" => of![cm::RejectReason],
            "CM_APR_STATUS" => of![cm::AprStatus],
            "CM_SIDR_STATUS" => of![cm::SidrStatus],
            "CM_PRIVATE_DATA_LEN" => private_data_lengths(),
            "ACM_CONTROL" => of![acm::AcmControl],
            "UMAD_IOCTL" => [umad::REGISTER_AGENT, umad::UNREGISTER_AGENT, umad::ENABLE_PKEY, umad::REGISTER_AGENT2]
                .map(u64::from)
                .to_vec(),
            "UMAD_CONST" | "CONST" => vec![constant(column[3])],
            // Values with a meaning only in a Set; LinkWidths and the others keep them as they are.
            "LINK_SPECIAL" => continue,
            other => panic!("no type for {other}"),
        };
        if !known.contains(&value) && !NOT_CODES.iter().any(|(space, code, _)| (*space, *code) == (column[0], value)) {
            lacking.push(line.to_owned());
        }
    }
    assert!(lacking.is_empty(), "{} lacking:\n{}", lacking.len(), lacking.join("\n"));
}

/// A structure's bytes as one number.
fn number(own: &impl Wire) -> u64 {
    ib_mad::as_bytes(own).iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// What the others call so is this of ours, for names that are no code of a type.
fn selector(name: &str) -> u64 {
    let (_, name) = name.split_once("SELECTOR_").unwrap();
    let own = match name {
        "GREATER_THAN" => Selector::GreaterThan,
        "LESS_THAN" => Selector::LessThan,
        "EXACTLY" => Selector::Exactly,
        "LARGEST" | "LARGEST_AVAIL" | "SMALLEST_AVAIL" => Selector::Best,
        other => panic!("no selector for {other}"),
    };
    number(&Selected::new(own, Mtu::default())) >> 6
}

fn rmpp_flag(name: &str) -> RmppFlags {
    let none = RmppFlags::default();
    match name {
        "IB_RMPP_FLAG_ACTIVE" => none.with_active(true),
        "IB_RMPP_FLAG_FIRST" => none.with_first(true),
        "IB_RMPP_FLAG_LAST" => none.with_last(true),
        other => panic!("no flag for {other}"),
    }
}

/// A scope, written into a group's GID and read from it.
fn scope(value: u64) -> u64 {
    let gid = Gid::multicast(MulticastFlags::TRANSIENT, value.try_into().unwrap(), [0xff; 14]);
    gid.multicast_scope().into()
}

fn producer(name: &str) -> u64 {
    let own = match name.strip_prefix("IB_NOTICE_PRODUCER_TYPE_").unwrap() {
        "CA" => notice::Producer::CHANNEL_ADAPTER,
        "SWITCH" => notice::Producer::SWITCH,
        "ROUTER" => notice::Producer::ROUTER,
        "CLASS_MGR" => notice::Producer::CLASS_MANAGER,
        other => panic!("no producer for {other}"),
    };
    own.get().into()
}

fn local_change(name: &str) -> u64 {
    let none = notice::LocalChanges::default();
    let own = match name.strip_prefix("TRAP_144_MASK_").unwrap() {
        "OTHER_LOCAL_CHANGES" => {
            return number(&notice::OtherLocalChanges::default().with_other_local_changes(true));
        }
        "CAPABILITY_MASK2_CHANGE" => none.with_capability_mask2_change(true),
        "HIERARCHY_INFO_CHANGE" => none.with_hierarchy_info_change(true),
        "SM_PRIORITY_CHANGE" => none.with_sm_priority_change(true),
        "LINK_SPEED_ENABLE_CHANGE" => none.with_link_speed_enabled_change(true),
        "LINK_WIDTH_ENABLE_CHANGE" => none.with_link_width_enabled_change(true),
        "NODE_DESCRIPTION_CHANGE" => none.with_node_description_change(true),
        other => panic!("no change for {other}"),
    };
    number(&own)
}

fn constant(name: &str) -> u64 {
    let size = |size: usize| u64::try_from(size).unwrap();
    match name {
        "IB_USER_MAD_ABI_VERSION" => umad::ABI_VERSION.into(),
        // The byte that all of its calls have above their number.
        "IB_IOCTL_MAGIC" => u64::from(umad::ENABLE_PKEY) >> 8 & 0xff,
        "sizeof(ib_user_mad_hdr)" => size(size_of::<umad::UmadHeader>()),
        "sizeof(ib_user_mad_hdr_old)" => size(size_of::<umad::UmadHeaderOld>()),
        "sizeof(ib_user_mad_reg_req)" => size(size_of::<umad::RegisterRequest>()),
        "sizeof(ib_user_mad_reg_req2)" => size(size_of::<umad::RegisterRequest2>()),
        "IB_USER_MAD_USER_RMPP" => umad::USER_RMPP.into(),
        "OPENIB_OUI" => vendor::OPENIB_OUI.get().into(),
        "QP1_QKEY" => Qkey::GSI.get().into(),
        other => panic!("no constant for {other}"),
    }
}

fn private_data_lengths() -> Vec<u64> {
    registry::ATTRIBUTES
        .iter()
        .copied()
        .flatten()
        .filter(|placed| placed.class == MgmtClass::COMM_MGMT)
        .filter_map(|placed| find(placed.structure.fields, "private_data"))
        .map(|(_, bits)| u64::from(bits / 8))
        .collect()
}

/// What we have and the others have not must be listed with its source.
fn only_ours(names: &Names, all: &BTreeMap<&str, Structure>, seen: &BTreeMap<&str, BTreeSet<(u32, u32)>>) {
    let mut unlisted = Vec::new();
    for structure in all.values() {
        let mut own_paths = Vec::new();
        paths(structure.fields, "", &mut own_paths);
        for path in &own_paths {
            let inner = own_paths.iter().any(|other| {
                other.len() > path.len()
                    && other.starts_with(path.as_str())
                    && !other[path.len()..].starts_with('_')
                    && ['.', '['].contains(&char::from(other.as_bytes()[path.len()]))
            });
            let (offset, bits) = find(structure.fields, path).unwrap();
            let theirs = seen.get(structure.name).is_some_and(|seen| {
                // Whole, or all of it in parts, or as a part of something whole.
                let covered: u32 = seen
                    .iter()
                    .filter(|(from, width)| *from >= offset && from + width <= offset + bits)
                    .map(|(_, width)| width)
                    .sum();
                covered >= bits || seen.iter().any(|(from, width)| *from <= offset && offset + bits <= from + width)
            });
            let first = format!("{}.{}", structure.name, path.split(['.', '[']).next().unwrap());
            if !inner
                && !theirs
                && !names.ours.contains(&first)
                && !names.ours.contains(&format!("{}.*", structure.name))
            {
                unlisted.push(format!("{}\t{path}", structure.name));
            }
        }
    }
    assert!(unlisted.is_empty(), "only ours, and not listed:\n{}", unlisted.join("\n"));
}

/// The README's table of coverage is what the columns `source` and `checked_by` say.
#[test]
fn the_readme_counts_right() {
    let readme = include_str!("../README.md");
    let mut classes: BTreeMap<String, [BTreeSet<String>; 4]> = BTreeMap::new();
    for row in rows() {
        let counts = classes.entry(row.class).or_default();
        let all = format!("{},{}", row.source, row.checked_by);
        let has = [true, row.checked_by.contains("tshark"), all.contains("libibmad"), all.contains("ib_types")];
        for (count, _) in counts.iter_mut().zip(has).filter(|(_, has)| *has) {
            count.insert(row.attribute.clone());
        }
    }
    for (class, counts) in classes {
        let [all, wireshark, libibmad, opensm] = counts.map(|count| count.len());
        let line = format!("| {class} | {all} | {wireshark} | {libibmad} | {opensm} |");
        assert!(readme.contains(&line), "{line}");
    }
}
