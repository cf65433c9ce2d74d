//! Ids of attributes and their names in each class.
use super::MgmtClass;
use crate::{id, sa::SaAttribute, smp::SmpAttribute};
use core::fmt;

id! {
    /// Attribute id: the type of a datagram's data. Its meaning depends on the class. The constants are the attributes
    /// of subnet administration, including those that every class shares (IBTA 13.4.8, 15.2.5).
    pub struct AttributeId(u16), "{:#06x}"
}

impl AttributeId {
    /// Returns the name of the attribute in a class; `None` if it has no type in this crate.
    #[must_use]
    pub const fn name(self, class: MgmtClass) -> Option<&'static str> {
        match class {
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE => SmpAttribute::name_of(self),
            MgmtClass::SUBN_ADM => SaAttribute::name_of(self),
            #[cfg(feature = "perf")]
            MgmtClass::PERF => crate::perf::PerfAttribute::name_of(self),
            #[cfg(feature = "baseboard")]
            MgmtClass::BASEBOARD => crate::baseboard::BaseboardAttribute::name_of(self),
            #[cfg(feature = "device")]
            MgmtClass::DEVICE_MGMT => crate::device::DeviceAttribute::name_of(self),
            #[cfg(feature = "cm")]
            MgmtClass::COMM_MGMT => crate::cm::CmAttribute::name_of(self),
            #[cfg(feature = "congestion")]
            MgmtClass::CONGESTION => match self {
                // The log has two types, one for switches and one for channel adapters.
                crate::congestion::CONGESTION_LOG => Some("CongestionLog"),
                own => crate::congestion::CongestionAttribute::name_of(own),
            },
            _ => None,
        }
    }

    /// Returns a printable form: the name in a class, or the number.
    #[must_use]
    pub const fn of(self, class: MgmtClass) -> AttributeOf {
        AttributeOf { id: self, class }
    }
}

/// An attribute id with its class, to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeOf {
    id: AttributeId,
    class: MgmtClass,
}

impl fmt::Display for AttributeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id.name(self.class) {
            Some(name) => f.write_str(name),
            None => fmt::Display::fmt(&self.id, f),
        }
    }
}
