//! Names of attributes and statuses, whose numbers have other meanings in each class.
#[cfg(feature = "device")]
use crate::device::DeviceStatus;
use crate::{AttributeId, MgmtClass, Status, sa::SaAttribute, smp::SmpAttribute};
use core::fmt;

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

impl Status {
    /// Returns the text of the status in a class; `None` if the value has no text.
    #[must_use]
    pub fn text(self, class: MgmtClass) -> Option<&'static str> {
        match class {
            _ if self.class_code() == 0 => self.name(),
            MgmtClass::SUBN_ADM => Self::SA.iter().find(|(status, _)| *status == self).map(|(_, text)| *text),
            #[cfg(feature = "device")]
            MgmtClass::DEVICE_MGMT => DeviceStatus::new(self.get()).name(),
            _ => None,
        }
    }

    /// Returns a printable form: the text in a class, or the number.
    #[must_use]
    pub const fn of(self, class: MgmtClass) -> StatusOf {
        StatusOf { status: self, class }
    }
}

/// A status with its class, to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusOf {
    status: Status,
    class: MgmtClass,
}

impl fmt::Display for StatusOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status.text(self.class) {
            Some(text) => f.write_str(text),
            None => write!(f, "{:#06x}", self.status.get()),
        }
    }
}
