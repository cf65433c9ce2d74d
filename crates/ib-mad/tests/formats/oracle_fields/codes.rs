//! Comparison of code values with those of other programs.
use super::{
    tables::oracle,
    values::{constant, local_change, number, private_data_lengths, producer, rmpp_flag, scope, selector},
};
use ib_mad::{
    LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkWidth, Method, MgmtClass, Mtu, NodeType,
    PortPhysicalState, PortState, Rate, SmControl, SmState, Status, VlCap, acm, cm, device, notice, perf, registry,
    rmpp, sa, smp, umad,
};

/// Values of other programs' code spaces that are not codes of this crate, with the reason.
const NOT_CODES: &[(&str, u64, &str)] = &[
    ("MGMT_CLASS", 0x09, "first of a range: MgmtClass::is_vendor"),
    ("MGMT_CLASS", 0x0f, "last of a range"),
    ("MGMT_CLASS", 0x30, "first of a range: MgmtClass::is_vendor_oui"),
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
    macro_rules! flags {
        ($($t:ty)*) => { [$(codes(<$t>::KNOWN, |value| value.bits().into())),*].concat() };
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
            "MAD_STATUS" => of![Status],
            "SA_STATUS" => [of![Status], codes(Status::SA, |status| status.get().into())].concat(),
            "SA_STATUS(high byte)" => [vec![0], codes(Status::SA, |status| status.class_code().into())].concat(),
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
            "PORT_CAPMASK" => flags![smp::PortCapability],
            "PORT_CAPMASK2" => flags![smp::PortCapability2],
            "LINK_WIDTH" => of![LinkWidth],
            "LINK_SPEED" => of![LinkSpeed],
            "LINK_SPEED_EXT" => of![LinkSpeedExt],
            "LINK_SPEED_EXT2" => of![LinkSpeedExt2],
            "RATE" | "RATE(verbs)" => of![Rate],
            "JOIN_STATE" => flags![sa::JoinState],
            "SCOPE" => vec![scope(value)],
            "NOTICE_TYPE" => of![notice::NoticeType],
            "NOTICE_PRODUCER" => vec![producer(column[3])],
            "SMINFO_ATTR_MOD" => of![SmControl],
            "CPI_CAPMASK" => flags![notice::ClassCapability],
            "SA_CPI_CAPMASK" => flags![sa::SaCapability],
            "SA_CPI_CAPMASK2" => flags![sa::SaCapability2],
            "PM_CAPMASK" => flags![perf::PerfCapability perf::PerfCapability2],
            "COUNTER_SELECT" => of![perf::SampledCounter],
            "IOC_CTRL_OPS" => flags![device::ControllerOperations],
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
            // These values have a meaning only in a Set; LinkWidths and the other sets keep them.
            "LINK_SPECIAL" => continue,
            other => panic!("no type for {other}"),
        };
        if !known.contains(&value) && !NOT_CODES.iter().any(|(space, code, _)| (*space, *code) == (column[0], value)) {
            lacking.push(line.to_owned());
        }
    }
    assert!(lacking.is_empty(), "{} lacking:\n{}", lacking.len(), lacking.join("\n"));
}
