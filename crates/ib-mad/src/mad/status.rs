//! Status of an answer.
use super::MgmtClass;
use crate::code;
#[cfg(feature = "device")]
use crate::device::DeviceStatus;
use core::fmt;

code! {
    /// How a request went: general bits below, a class's own code in the upper byte (IBTA 13.4.7). Names are those of
    /// every class; [`Status::of`] knows a class's own too.
    pub struct Status(u16) {
        /// No error, and no redirection.
        OK = 0x0000 "success",
        /// Busy; ask again later.
        BUSY = 0x0001 "busy",
        /// Ask elsewhere: ClassPortInfo says where.
        REDIRECT = 0x0002 "redirect",
        /// The base or class version is not supported.
        BAD_VERSION = 0x0004 "bad version",
        /// The method is not supported.
        METHOD_NOT_SUPPORTED = 0x0008 "method not supported",
        /// The method is not supported for this attribute.
        METHOD_ATTRIBUTE_NOT_SUPPORTED = 0x000c "method/attribute not supported",
        /// A field has a value that it must not have.
        INVALID_FIELD = 0x001c "invalid field value",
    }
}

impl Status {
    /// Whether the request was done.
    #[must_use]
    pub const fn is_ok(self) -> bool {
        self.get() == 0
    }
    /// Whether the answerer was too busy: worth asking again.
    #[must_use]
    pub const fn is_busy(self) -> bool {
        self.get() & 1 != 0
    }
    /// The bits that every class shares.
    #[must_use]
    pub const fn general(self) -> u8 {
        self.get().to_be_bytes()[1]
    }
    /// The class's own code.
    #[must_use]
    pub const fn class_code(self) -> u8 {
        self.get().to_be_bytes()[0]
    }
    /// The status in words, as `class` means it; `None` if the value has no words.
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

    /// Itself as a class means it, to be printed: in words, or as a number.
    #[must_use]
    pub const fn of(self, class: MgmtClass) -> StatusOf {
        StatusOf { status: self, class }
    }
}

impl Status {
    /// Subnet administration has no room left.
    pub const SA_NO_RESOURCES: Self = Self::new(0x0100);
    /// Subnet administration finds the request wrong.
    pub const SA_REQUEST_INVALID: Self = Self::new(0x0200);
    /// Nothing matches.
    pub const SA_NO_RECORDS: Self = Self::new(0x0300);
    /// More than one matches a request for one.
    pub const SA_TOO_MANY_RECORDS: Self = Self::new(0x0400);
    /// A GID in the request is nobody's.
    pub const SA_INVALID_GID: Self = Self::new(0x0500);
    /// Fields that the request must have are missing.
    pub const SA_INSUFFICIENT_COMPONENTS: Self = Self::new(0x0600);
    /// Not for this asker.
    pub const SA_REQUEST_DENIED: Self = Self::new(0x0700);
    /// Subnet administration suggests another priority.
    pub const SA_PRIORITY_SUGGESTED: Self = Self::new(0x0800);
    /// What subnet administration calls its own.
    pub const SA: &'static [(Self, &'static str)] = &[
        (Self::SA_NO_RESOURCES, "SA: no resources"),
        (Self::SA_REQUEST_INVALID, "SA: request invalid"),
        (Self::SA_NO_RECORDS, "SA: no records"),
        (Self::SA_TOO_MANY_RECORDS, "SA: too many records"),
        (Self::SA_INVALID_GID, "SA: invalid GID"),
        (Self::SA_INSUFFICIENT_COMPONENTS, "SA: insufficient components"),
        (Self::SA_REQUEST_DENIED, "SA: request denied"),
        (Self::SA_PRIORITY_SUGGESTED, "SA: priority suggested"),
    ];
}

/// A status as a class means it, to be printed.
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
