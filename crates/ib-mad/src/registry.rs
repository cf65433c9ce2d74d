//! Lists of every structure of the crate, for tools and tests that visit all of them.
use crate::{
    AttributeId, MgmtClass,
    attribute::{AttributeInfo, Structure},
    notice, sa, smp,
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

macro_rules! structures {
    ($($(#[$m:meta])* $module:ident { $($name:ident)+ })*) => {
        &[$($(#[$m])* &[$(Structure::of::<crate::$module::$name>()),+]),*]
    };
}

/// Structures that are not in [`ATTRIBUTES`]: headers, datagrams, attributes with the number of another attribute, and
/// structures of the kernel.
pub const STRUCTURES: &[&[Structure]] = structures! {
    datagram { Mad }
    mad { MadHeader }
    rmpp { RmppHeader }
    smp { Smp DrSmp }
    sa { SaHeader SaMad }
    #[cfg(feature = "perf")]
    perf { PerfMad PortExtendedSpeedsCountersRsFec }
    #[cfg(feature = "baseboard")]
    baseboard { BaseboardMad VpdRange }
    #[cfg(feature = "device")]
    device { DeviceMad }
    #[cfg(feature = "cm")]
    cm { CmMad CmaHeader }
    #[cfg(feature = "congestion")]
    congestion { CongestionMad CongestionLogSwitch CongestionLogCa }
    vendor { VendorMad VendorOuiMad MlnxGeneralInfo IbPing IbSysstatHost }
    #[cfg(feature = "acm")]
    acm { AcmMad }
    #[cfg(feature = "opa")]
    opa {
        OpaDirectedRoute OpaNodeInfo OpaSwitchInfo OpaPortInfo OpaPathRecord OpaVirtualFabric OpaPortStatus OpaVlStatus
        OpaVlErrorCounters OpaDataPortCounters OpaErrorPortCounters OpaNotice OpaNodeRecord OpaPortInfoRecord
        OpaLinkRecord OpaMcMemberRecord OpaClearPortStatus OpaErrorInfo
    }
    #[cfg(feature = "packet")]
    packet { Lrh Grh Bth Deth Reth Aeth }
    #[cfg(feature = "umad")]
    umad { UmadHeader UmadHeaderOld RegisterRequest RegisterRequest2 }
};

/// Details of notices.
const DETAILS: &[&[Structure]] = &[
    notice::TrapDetails::TABLE,
    #[cfg(feature = "opa")]
    crate::opa::OpaTrapDetails::TABLE,
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
    STRUCTURES.iter().chain(DETAILS).copied().flatten().copied().chain(attributes)
}
