//! Status of an answer.
use super::MgmtClass;
use crate::code;

code! {
    /// How a request went: general bits below, a class's own code in the upper byte (IBTA 13.4.7).
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
        /// Subnet administration has no room left.
        SA_NO_RESOURCES = 0x0100 "SA: no resources",
        /// Subnet administration finds the request wrong.
        SA_REQUEST_INVALID = 0x0200 "SA: request invalid",
        /// Nothing matches.
        SA_NO_RECORDS = 0x0300 "SA: no records",
        /// More than one matches a request for one.
        SA_TOO_MANY_RECORDS = 0x0400 "SA: too many records",
        /// A GID in the request is nobody's.
        SA_INVALID_GID = 0x0500 "SA: invalid GID",
        /// Fields that the request must have are missing.
        SA_INSUFFICIENT_COMPONENTS = 0x0600 "SA: insufficient components",
        /// Not for this asker.
        SA_REQUEST_DENIED = 0x0700 "SA: request denied",
        /// Subnet administration suggests another priority.
        SA_PRIORITY_SUGGESTED = 0x0800 "SA: priority suggested",
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
        if self.class_code() != 0 && class != MgmtClass::SUBN_ADM {
            return None;
        }
        self.name()
    }
}
