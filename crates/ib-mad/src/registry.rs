//! Lists of every structure of the crate, for tools and tests that visit all of them.
use crate::{
    AttributeId, Mad, MadHeader, MgmtClass,
    attribute::{AttributeInfo, Structure},
    notice, rmpp, sa, smp, vendor,
};

/// Attributes of each class, with their offset in its datagrams.
pub const ATTRIBUTES: &[&[AttributeInfo]] = &[
    smp::SmpAttribute::TABLE,
    sa::SaAttribute::TABLE,
    #[cfg(feature = "perf")]
    crate::perf::PerfAttribute::TABLE,
    #[cfg(feature = "baseboard")]
    crate::baseboard::BaseboardAttribute::TABLE,
    #[cfg(feature = "device")]
    crate::device::DeviceAttribute::TABLE,
    #[cfg(feature = "cm")]
    crate::cm::CmAttribute::TABLE,
    #[cfg(feature = "congestion")]
    crate::congestion::CongestionAttribute::TABLE,
];

/// Structures that are not in [`ATTRIBUTES`]: headers, datagrams, attributes with the number of another attribute,
/// details of notices, and structures of the kernel.
pub const STRUCTURES: &[Structure] = &[
    Structure::of::<Mad>(),
    Structure::of::<MadHeader>(),
    Structure::of::<rmpp::RmppHeader>(),
    Structure::of::<smp::Smp>(),
    Structure::of::<smp::DrSmp>(),
    Structure::of::<sa::SaHeader>(),
    Structure::of::<sa::SaMad>(),
    #[cfg(feature = "perf")]
    Structure::of::<crate::perf::PerfMad>(),
    #[cfg(feature = "perf")]
    Structure::of::<crate::perf::PortExtendedSpeedsCountersRsFec>(),
    #[cfg(feature = "baseboard")]
    Structure::of::<crate::baseboard::BaseboardMad>(),
    #[cfg(feature = "baseboard")]
    Structure::of::<crate::baseboard::VpdRange>(),
    #[cfg(feature = "device")]
    Structure::of::<crate::device::DeviceMad>(),
    #[cfg(feature = "cm")]
    Structure::of::<crate::cm::CmMad>(),
    #[cfg(feature = "cm")]
    Structure::of::<crate::cm::CmaHeader>(),
    #[cfg(feature = "congestion")]
    Structure::of::<crate::congestion::CongestionMad>(),
    #[cfg(feature = "congestion")]
    Structure::of::<crate::congestion::CongestionLogSwitch>(),
    #[cfg(feature = "congestion")]
    Structure::of::<crate::congestion::CongestionLogCa>(),
    Structure::of::<vendor::VendorMad>(),
    Structure::of::<vendor::VendorOuiMad>(),
    Structure::of::<vendor::MlnxGeneralInfo>(),
    Structure::of::<vendor::IbPing>(),
    Structure::of::<vendor::IbSysstatHost>(),
    #[cfg(feature = "acm")]
    Structure::of::<crate::acm::AcmMad>(),
    Structure::of::<notice::GidTrap>(),
    Structure::of::<notice::PathTrap>(),
    Structure::of::<notice::LinkStateTrap>(),
    Structure::of::<notice::PortErrorTrap>(),
    Structure::of::<notice::CapabilityTrap>(),
    Structure::of::<notice::SystemImageTrap>(),
    Structure::of::<notice::BadMkeyTrap>(),
    Structure::of::<notice::BadKeyTrap>(),
    Structure::of::<notice::BadSwitchPkeyTrap>(),
    Structure::of::<notice::BkeyTrap>(),
    Structure::of::<notice::BmTrap>(),
    Structure::of::<notice::CcKeyTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaDirectedRoute>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaNodeInfo>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaSwitchInfo>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaPortInfo>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaPathRecord>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaVirtualFabric>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaPortStatus>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaVlStatus>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaVlErrorCounters>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaDataPortCounters>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaErrorPortCounters>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaNotice>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaGidTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaNodeTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaPortErrorTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaCapabilityTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaSystemImageTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaBadMkeyTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaBadKeyTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaBadSwitchPkeyTrap>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaNodeRecord>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaPortInfoRecord>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaLinkRecord>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaMcMemberRecord>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaClearPortStatus>(),
    #[cfg(feature = "opa")]
    Structure::of::<crate::opa::OpaErrorInfo>(),
    #[cfg(feature = "packet")]
    Structure::of::<crate::packet::Lrh>(),
    #[cfg(feature = "packet")]
    Structure::of::<crate::packet::Grh>(),
    #[cfg(feature = "packet")]
    Structure::of::<crate::packet::Bth>(),
    #[cfg(feature = "packet")]
    Structure::of::<crate::packet::Deth>(),
    #[cfg(feature = "packet")]
    Structure::of::<crate::packet::Reth>(),
    #[cfg(feature = "packet")]
    Structure::of::<crate::packet::Aeth>(),
    #[cfg(feature = "umad")]
    Structure::of::<crate::umad::UmadHeader>(),
    #[cfg(feature = "umad")]
    Structure::of::<crate::umad::UmadHeaderOld>(),
    #[cfg(feature = "umad")]
    Structure::of::<crate::umad::RegisterRequest>(),
    #[cfg(feature = "umad")]
    Structure::of::<crate::umad::RegisterRequest2>(),
];

/// Returns the attribute of a class by its number; `None` if it has no type in this crate. Directed-route subnet
/// management has the attributes of the LID-routed class.
#[must_use]
pub fn attribute(class: MgmtClass, id: AttributeId) -> Option<&'static AttributeInfo> {
    let class = class.attribute_class();
    ATTRIBUTES.iter().copied().flatten().find(|info| info.class == class && info.id == id)
}

/// Returns every structure: the attributes and all others.
pub fn all() -> impl Iterator<Item = Structure> {
    let attributes = ATTRIBUTES.iter().copied().flatten().map(|info| info.structure);
    STRUCTURES.iter().copied().chain(attributes)
}
