//! Forms of values in libibmad's spelling.
use crate::code::{PortCapability, PortCapability2};
use core::fmt::{Formatter, Result};

pub(super) fn uint(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "{value}")
}

/// Prints two digits for each byte that the bits need.
pub(super) fn hex(value: u64, bits: u32, f: &mut Formatter<'_>) -> Result {
    let digits = usize::try_from(bits.div_ceil(8) * 2).unwrap_or_default();
    write!(f, "0x{value:0digits$x}")
}

/// Prints upper-case digits without leading zeros.
pub(super) fn upper(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "0x{value:X}")
}

/// Prints lower-case digits without leading zeros.
pub(super) fn lower(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "{value:#x}")
}

/// Prints two upper-case digits for each byte that the bits need.
pub(super) fn upper_bytes(value: u64, bits: u32, f: &mut Formatter<'_>) -> Result {
    let digits = usize::try_from(bits.div_ceil(8) * 2).unwrap_or_default();
    write!(f, "0x{value:0digits$X}")
}

/// Prints upper-case digits of four bytes.
pub(super) fn upper_word(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    upper_bytes(value, 32, f)
}

/// Prints a number of two bytes whose first byte is the least significant one, in decimal.
///
/// OpenSM and saquery on a little-endian machine use this order for the block number of a PkeyTableRecord.
pub(super) fn swapped(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "{}", value.swap_bytes() >> 48)
}

/// Prints a cell of a row.
pub(super) fn cell(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "{value:2}|")
}

/// Prints the name of a value, or `else_` with its number.
fn named(names: &[(u64, &str)], value: u64, [before, after]: [&str; 2], f: &mut Formatter<'_>) -> Result {
    match names.iter().find(|(own, _)| *own == value) {
        Some((_, name)) => f.write_str(name),
        None => write!(f, "{before}({value}){after}"),
    }
}

/// Prints the names of bits, with " or " between them.
fn set(names: &[(u64, &str)], value: u64, f: &mut Formatter<'_>) -> Result {
    let mut first = true;
    for (_, name) in names.iter().filter(|(bit, _)| value & bit != 0) {
        f.write_str(if first { "" } else { " or " })?;
        f.write_str(name)?;
        first = false;
    }
    let known = names.iter().fold(0, |known, (bit, _)| known | bit);
    if value == 0 || value & !known != 0 {
        // libibmad writes the separator before this text, too.
        write!(f, "{}undefined ({value})", if first { "" } else { " or " })?;
    }
    Ok(())
}

const UNKNOWN: [&str; 2] = ["?", ""];
const UNDEFINED: [&str; 2] = ["undefined ", ""];
const WIDTHS: &[(u64, &str)] = &[(1, "1X"), (2, "4X"), (4, "8X"), (8, "12X"), (16, "2X")];
const SPEEDS: &[(u64, &str)] = &[(1, "2.5 Gbps"), (2, "5.0 Gbps"), (4, "10.0 Gbps")];
const EXTENDED: &[(u64, &str)] = &[(1, "14.0625 Gbps"), (2, "25.78125 Gbps"), (4, "53.125 Gbps"), (8, "106.25 Gbps")];
const NODE_TYPES: &[(u64, &str)] = &[(1, "Channel Adapter"), (2, "Switch"), (3, "Router")];
const VLS: &[(u64, &str)] = &[(1, "VL0"), (2, "VL0-1"), (3, "VL0-3"), (4, "VL0-7"), (5, "VL0-14")];

pub(super) fn width(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    named(WIDTHS, value, UNDEFINED, f)
}

pub(super) fn widths(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    set(WIDTHS, value, f)
}

/// Prints a set of supported widths. Sets that version 1.2 of the specification did not permit are marked.
pub(super) fn supported_widths(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    set(WIDTHS, value, f)?;
    let is_standard = matches!(value, 1 | 3 | 7 | 11 | 15 | 17 | 19 | 23 | 27 | 31);
    f.write_str(if is_standard || value >> 5 != 0 { "" } else { " (IBA extension)" })
}

pub(super) fn speed(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    if value == 0 { f.write_str("Extended speed") } else { named(SPEEDS, value, UNDEFINED, f) }
}

pub(super) fn speeds(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    set(SPEEDS, value, f)?;
    let is_standard = matches!(value, 1 | 3 | 5 | 7);
    f.write_str(if is_standard || value >> 3 != 0 { "" } else { " (IBA extension)" })
}

pub(super) fn extended_speed(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    if value == 0 { f.write_str("No Extended Speed") } else { named(EXTENDED, value, UNDEFINED, f) }
}

pub(super) fn extended_speeds(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    if value == 0 { f.write_str("0") } else { set(EXTENDED, value, f) }
}

pub(super) fn enabled_extended_speeds(value: u64, bits: u32, f: &mut Formatter<'_>) -> Result {
    if value == 30 { f.write_str("Extended link speeds disabled") } else { extended_speeds(value, bits, f) }
}

pub(super) fn port_state(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    let names = [(0, "NoChange"), (1, "Down"), (2, "Initialize"), (3, "Armed"), (4, "Active")];
    named(&names, value, UNKNOWN, f)
}

pub(super) fn physical_state(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    let names = [
        (0, "NoChange"),
        (1, "Sleep"),
        (2, "Polling"),
        (3, "Disabled"),
        (4, "PortConfigurationTraining"),
        (5, "LinkUp"),
        (6, "LinkErrorRecovery"),
        (7, "PhyTest"),
    ];
    named(&names, value, UNKNOWN, f)
}

pub(super) fn down_default(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    named(&[(0, "NoChange"), (1, "Sleep"), (2, "Polling")], value, UNKNOWN, f)
}

pub(super) fn mtu(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    named(&[(1, "256"), (2, "512"), (3, "1024"), (4, "2048"), (5, "4096")], value, UNKNOWN, f)
}

pub(super) fn vl_cap(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    named(VLS, value, UNKNOWN, f)
}

pub(super) fn operational_vls(value: u64, bits: u32, f: &mut Formatter<'_>) -> Result {
    if value == 0 { f.write_str("No change") } else { vl_cap(value, bits, f) }
}

pub(super) fn node_type(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    named(NODE_TYPES, value, ["?", "?"], f)
}

/// Prints a node type as saquery does.
pub(super) fn record_node_type(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    f.write_str(NODE_TYPES.iter().find(|(own, _)| *own == value).map_or("UNKNOWN", |(_, name)| name))
}

/// Capabilities that libibmad spells in another way; `None` for a capability that libibmad does not print.
const CAPABILITIES: &[(PortCapability, Option<&str>)] = &[
    (PortCapability::LED_INFO, Some("IsLedInfoSupported")),
    (PortCapability::SYSTEM_IMAGE_GUID, Some("IsSystemImageGUIDsupported")),
    (PortCapability::PKEY_SWITCH_TRAP, Some("IsPkeySwitchExternalPortTrapSupported")),
    (PortCapability::CABLE_INFO, None),
    (PortCapability::COMMUNICATION_MANAGEMENT, Some("IsCommunicatonManagementSupported")),
    (PortCapability::CLIENT_REREGISTRATION, Some("IsClientRegistrationSupported")),
];

/// Prints the number, then one capability a line.
pub(super) fn capabilities(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "{value:#x}")?;
    for (own, name) in PortCapability::KNOWN.iter().filter(|(own, _)| u64::from(own.bits()) & value != 0) {
        let spelled = CAPABILITIES.iter().find(|(other, _)| other == own).map_or(Some(*name), |(_, name)| *name);
        spelled.map_or(Ok(()), |name| write!(f, "\n\t\t\t\t{name}"))?;
    }
    Ok(())
}

/// Prints the number, then one capability a line, up to NDR.
pub(super) fn capabilities2(value: u64, _: u32, f: &mut Formatter<'_>) -> Result {
    write!(f, "{value:#x}")?;
    let known = PortCapability2::KNOWN.iter().filter(|(own, _)| own.bits() <= PortCapability2::LINK_SPEED_NDR.bits());
    for (_, name) in known.filter(|(own, _)| u64::from(own.bits()) & value != 0) {
        write!(f, "\n\t\t\t\t{name}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{
        Wire as _,
        attribute::Structure,
        diags::Dump,
        smp::{NodeInfo, PortInfo},
        wire::{find, write_bits},
    };
    use std::{format, string::ToString};

    /// Returns the lines of PortInfo with one field set.
    fn line(path: &str, name: &str, value: u64) -> std::string::String {
        let mut bytes = [0; 64];
        let (offset, bits) = find(PortInfo::FIELDS, path).unwrap();
        write_bits(&mut bytes, offset, bits, value).unwrap();
        let text = Dump::new(&Structure::of::<PortInfo>(), &bytes).unwrap().show_keys().to_string();
        let (_, rest) = text.split_once(&format!("\n{name}:")).unwrap();
        let end = rest.find("\n").unwrap();
        let next = rest[end + 1..].split('\n').take_while(|line| line.starts_with('\t')).count();
        rest.split('\n')
            .take(next + 1)
            .collect::<std::vec::Vec<_>>()
            .join("|")
            .trim_start_matches('.')
            .replace('\t', "")
    }

    /// The texts are those of libibmad's `dump.c`.
    #[test]
    fn values_are_spelled_as_by_libibmad() {
        for (path, name, value, text) in [
            ("link_width_enabled", "LinkWidthEnabled", 0x21, "1X or undefined (33)"),
            ("link_width_enabled", "LinkWidthEnabled", 0, "undefined (0)"),
            ("link_width_supported", "LinkWidthSupported", 2, "4X (IBA extension)"),
            ("link_width_active", "LinkWidthActive", 3, "undefined (3)"),
            ("speed_state.link_speed_supported", "LinkSpeedSupported", 2, "5.0 Gbps (IBA extension)"),
            ("link_speed.link_speed_active", "LinkSpeedActive", 0, "Extended speed"),
            ("ext_speeds.link_speed_ext_active", "LinkSpeedExtActive", 0, "No Extended Speed"),
            ("ext_speeds.link_speed_ext_active", "LinkSpeedExtActive", 8, "106.25 Gbps"),
            ("ext_speeds.link_speed_ext_supported", "LinkSpeedExtSupported", 3, "14.0625 Gbps or 25.78125 Gbps"),
            ("ext_enabled.link_speed_ext_enabled", "LinkSpeedExtEnabled", 30, "Extended link speeds disabled"),
            ("speed_state.port_state", "LinkState", 5, "?(5)"),
            ("physical_states.port_physical_state", "PhysLinkState", 4, "PortConfigurationTraining"),
            ("neighbor_mtu_sl.neighbor_mtu", "NeighborMTU", 6, "?(6)"),
            ("operational.operational_vls", "OperVLs", 0, "No change"),
            (
                "capability_mask",
                "CapMask",
                0x0201_2202,
                "0x2012202|IsSM|IsLedInfoSupported|IsCommunicatonManagementSupported|IsClientRegistrationSupported",
            ),
            (
                "capability_mask2",
                "CapabilityMask2",
                0x1422,
                "0x1422|IsPortInfoExtendedSupported|IsLinkSpeedHDRSupported|IsLinkSpeedNDRSupported",
            ),
        ] {
            assert_eq!(line(path, name, value), text, "{path} {value}");
        }
        let text = Dump::new(&Structure::of::<PortInfo>(), &[0; 64]).unwrap().to_string();
        assert!(text.starts_with("Mkey:............................<not displayed>\n"), "{text}");
        let text = Dump::new(&Structure::of::<NodeInfo>(), &[9; 40]).unwrap().to_string();
        assert!(text.contains("NodeType:........................?(9)?\n"), "{text}");
    }

    #[test]
    fn each_line_has_a_field() {
        for structure in crate::registry::all() {
            let bytes = [0; 256];
            let Some(dump) = Dump::new(&structure, &bytes) else { continue };
            assert_eq!(dump.missing(), None, "{}", structure.name);
        }
    }
}
