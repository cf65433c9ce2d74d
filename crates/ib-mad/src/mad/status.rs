//! Status of a response.
use crate::{DecodeError, code};

code! {
    /// Status of a response: general bits in the lower byte, a class-specific code in the upper byte (IBTA 13.4.7).
    /// `Display` names the values that all classes share; [`Status::of`] also names class-specific codes.
    pub struct Status(u16) {
        /// The request succeeded.
        OK = 0x0000 "success",
        /// The responder is busy; retry later.
        BUSY = 0x0001 "busy",
        /// The service is at another port, given in ClassPortInfo.
        REDIRECT = 0x0002 "redirect",
        /// The base or class version is not supported.
        BAD_VERSION = 0x0004 "bad version",
        /// The method is not supported.
        METHOD_NOT_SUPPORTED = 0x0008 "method not supported",
        /// The method is not supported for this attribute.
        METHOD_ATTRIBUTE_NOT_SUPPORTED = 0x000c "method/attribute not supported",
        /// A field or the attribute modifier has an invalid value.
        INVALID_FIELD = 0x001c "invalid field value",
    }
}

impl DecodeError {
    /// Returns the status of the response, if it reports an error instead of data.
    #[must_use]
    pub const fn status(&self) -> Option<Status> {
        match self {
            Self::ErrorResponse { status } => Some(Status::new(*status)),
            Self::TooShort { .. } | Self::BadValue { .. } => None,
        }
    }
}

impl Status {
    /// True if the request succeeded.
    #[must_use]
    pub const fn is_ok(self) -> bool {
        self.get() == 0
    }
    /// True if the responder was busy; the request may be retried.
    #[must_use]
    pub const fn is_busy(self) -> bool {
        self.get() & 1 != 0
    }
    /// Returns the lower byte, which every class shares.
    #[must_use]
    pub const fn general(self) -> u8 {
        self.get().to_be_bytes()[1]
    }
    /// Returns the upper byte, the class-specific code.
    #[must_use]
    pub const fn class_code(self) -> u8 {
        self.get().to_be_bytes()[0]
    }
}

impl Status {
    /// The SA has no resources left.
    pub const SA_NO_RESOURCES: Self = Self::new(0x0100);
    /// The SA considers the request invalid.
    pub const SA_REQUEST_INVALID: Self = Self::new(0x0200);
    /// No record matches.
    pub const SA_NO_RECORDS: Self = Self::new(0x0300);
    /// A Get matches more than one record.
    pub const SA_TOO_MANY_RECORDS: Self = Self::new(0x0400);
    /// A GID in the request is invalid.
    pub const SA_INVALID_GID: Self = Self::new(0x0500);
    /// Required components are missing in the request.
    pub const SA_INSUFFICIENT_COMPONENTS: Self = Self::new(0x0600);
    /// The requester is not permitted to make the request.
    pub const SA_REQUEST_DENIED: Self = Self::new(0x0700);
    /// The SA suggests another priority.
    pub const SA_PRIORITY_SUGGESTED: Self = Self::new(0x0800);
    /// Class-specific codes of subnet administration with their texts.
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
