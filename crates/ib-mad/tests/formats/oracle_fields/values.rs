//! Values of other programs' names that are not codes of a type in this crate.
use ib_mad::{
    Gid, MgmtClass, Mtu, MulticastFlags, Qkey, Selected, Selector, Wire, notice, registry, rmpp::RmppFlags, umad,
    vendor, wire::find,
};

/// Returns the bytes of a structure as one number.
pub(super) fn number(own: &impl Wire) -> u64 {
    ib_mad::as_bytes(own).iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

pub(super) fn selector(name: &str) -> u64 {
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

pub(super) fn rmpp_flag(name: &str) -> RmppFlags {
    let none = RmppFlags::default();
    match name {
        "IB_RMPP_FLAG_ACTIVE" => none.with_active(true),
        "IB_RMPP_FLAG_FIRST" => none.with_first(true),
        "IB_RMPP_FLAG_LAST" => none.with_last(true),
        other => panic!("no flag for {other}"),
    }
}

/// Writes a scope into a multicast GID and reads it back.
pub(super) fn scope(value: u64) -> u64 {
    let gid = Gid::multicast(MulticastFlags::TRANSIENT, value.try_into().unwrap(), [0xff; 14]);
    gid.multicast_scope().into()
}

pub(super) fn producer(name: &str) -> u64 {
    let own = match name.strip_prefix("IB_NOTICE_PRODUCER_TYPE_").unwrap() {
        "CA" => notice::Producer::CHANNEL_ADAPTER,
        "SWITCH" => notice::Producer::SWITCH,
        "ROUTER" => notice::Producer::ROUTER,
        "CLASS_MGR" => notice::Producer::CLASS_MANAGER,
        other => panic!("no producer for {other}"),
    };
    own.get().into()
}

pub(super) fn local_change(name: &str) -> u64 {
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

pub(super) fn constant(name: &str) -> u64 {
    let size = |size: usize| u64::try_from(size).unwrap();
    match name {
        "IB_USER_MAD_ABI_VERSION" => umad::ABI_VERSION.into(),
        // The byte above the number, which is the same in all calls.
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

pub(super) fn private_data_lengths() -> Vec<u64> {
    registry::ATTRIBUTES
        .iter()
        .copied()
        .flatten()
        .filter(|placed| placed.class == MgmtClass::COMM_MGMT)
        .filter_map(|placed| find(placed.structure.fields, "private_data"))
        .map(|(_, bits)| u64::from(bits / 8))
        .collect()
}
