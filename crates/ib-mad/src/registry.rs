//! Every structure of the crate as a value, for tools and tests that go through all of them.
use crate::{
    AttributeId, Mad, MadHeader, MgmtClass, acm,
    attribute::{Placed, Structure},
    baseboard, cm, congestion, device, notice, opa, packet, perf, rmpp, sa, smp, umad, vendor,
};

/// The attributes of each class, with their place in its datagrams.
pub const ATTRIBUTES: &[&[Placed]] = &[
    smp::SmpAttribute::TABLE,
    sa::SaAttribute::TABLE,
    perf::PerfAttribute::TABLE,
    baseboard::BaseboardAttribute::TABLE,
    device::DeviceAttribute::TABLE,
    cm::CmAttribute::TABLE,
    congestion::CongestionAttribute::TABLE,
];

/// Headers and datagrams, attributes that no number alone tells, notices' details, and the kernel's structures.
pub const STRUCTURES: &[Structure] = &[
    Structure::of::<Mad>(),
    Structure::of::<MadHeader>(),
    Structure::of::<rmpp::RmppHeader>(),
    Structure::of::<smp::Smp>(),
    Structure::of::<smp::DrSmp>(),
    Structure::of::<sa::SaHeader>(),
    Structure::of::<sa::SaMad>(),
    Structure::of::<perf::PerfMad>(),
    Structure::of::<perf::PortExtendedSpeedsCountersRsFec>(),
    Structure::of::<baseboard::BaseboardMad>(),
    Structure::of::<device::DeviceMad>(),
    Structure::of::<cm::CmMad>(),
    Structure::of::<cm::CmaHeader>(),
    Structure::of::<congestion::CongestionMad>(),
    Structure::of::<congestion::CongestionLogSwitch>(),
    Structure::of::<congestion::CongestionLogCa>(),
    Structure::of::<vendor::VendorMad>(),
    Structure::of::<vendor::VendorOuiMad>(),
    Structure::of::<acm::AcmMad>(),
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
    Structure::of::<notice::CcKeyTrap>(),
    Structure::of::<opa::OpaDirectedRoute>(),
    Structure::of::<opa::OpaNodeInfo>(),
    Structure::of::<opa::OpaSwitchInfo>(),
    Structure::of::<opa::OpaPortInfo>(),
    Structure::of::<opa::OpaPathRecord>(),
    Structure::of::<opa::OpaPortStatus>(),
    Structure::of::<opa::OpaVlStatus>(),
    Structure::of::<opa::OpaVlErrorCounters>(),
    Structure::of::<opa::OpaDataPortCounters>(),
    Structure::of::<opa::OpaErrorPortCounters>(),
    Structure::of::<packet::Lrh>(),
    Structure::of::<packet::Grh>(),
    Structure::of::<packet::Bth>(),
    Structure::of::<packet::Deth>(),
    Structure::of::<packet::Reth>(),
    Structure::of::<packet::Aeth>(),
    Structure::of::<umad::UmadHeader>(),
    Structure::of::<umad::UmadHeaderOld>(),
    Structure::of::<umad::RegisterRequest>(),
    Structure::of::<umad::RegisterRequest2>(),
];

/// The attribute of a class by its number; `None` if the crate does not know it. Directed-route subnet management has
/// the attributes of the LID-routed.
#[must_use]
pub fn attribute(class: MgmtClass, id: AttributeId) -> Option<&'static Placed> {
    let class = if class == MgmtClass::SUBN_DIRECTED_ROUTE { MgmtClass::SUBN_LID_ROUTED } else { class };
    ATTRIBUTES.iter().copied().flatten().find(|placed| placed.class == class && placed.id == id)
}

/// Every structure: attributes, and all the others.
pub fn all() -> impl Iterator<Item = Structure> {
    let attributes = ATTRIBUTES.iter().copied().flatten().map(|placed| placed.structure);
    STRUCTURES.iter().copied().chain(attributes)
}
