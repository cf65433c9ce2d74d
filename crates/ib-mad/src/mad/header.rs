//! The common MAD header.
use super::{AttributeId, Method, MgmtClass, Status};
use crate::{
    DecodeError, TransactionId, wire,
    wire::{Be16, Be32, Reserved},
};
use core::fmt;

wire! {
    /// Common header of every management datagram (IBTA 13.4.2).
    ///
    /// ```text
    ///  0  base version | class | class version | method
    ///  4  status               | class specific
    ///  8  transaction id (8 bytes)
    /// 16  attribute id         | reserved
    /// 20  attribute modifier
    /// ```
    pub struct MadHeader [24] {
        /// Version of the MAD format: 1 for InfiniBand, 0x80 for Omni-Path ([`opa`](crate::opa)).
        pub base_version: u8,
        /// Management class, which defines attributes and layout.
        pub mgmt_class: MgmtClass,
        /// Version of the class's format.
        pub class_version: u8,
        /// Method of the request or response.
        pub method: Method,
        /// Status of a response; zero in a request. In a directed route the top bit is the direction:
        /// [`masked_status`](Self::masked_status) clears it. [`Status::of`] prints it as text.
        pub status: Status as show_status,
        /// Hop pointer and hop count of a directed route; otherwise zero.
        pub class_specific: Be16,
        /// Transaction id, which a response copies from its request.
        pub transaction_id: TransactionId,
        /// Attribute id: the type of the data.
        pub attribute_id: AttributeId as show_attribute,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Attribute modifier, defined by the attribute: a port number, a block number.
        pub attribute_modifier: Be32,
    }
}

fn show_status(own: &MadHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.masked_status().of(own.mgmt_class))?;
    f.write_str(if own.masked_status() == own.status { "" } else { ", on its way back" })
}

fn show_attribute(own: &MadHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // In other base versions the ids mean other attributes.
    let class = if own.base_version > 1 { MgmtClass::default() } else { own.mgmt_class };
    write!(f, "{}", own.attribute_id.of(class))
}

impl MadHeader {
    /// Returns a header of base version 1 with zero status and modifier.
    #[must_use]
    #[inline]
    pub const fn new(
        mgmt_class: MgmtClass,
        class_version: u8,
        method: Method,
        attribute_id: AttributeId,
        transaction_id: TransactionId,
    ) -> Self {
        Self { base_version: 1, mgmt_class, class_version, method, attribute_id, transaction_id, ..Self::ZERO }
    }

    /// Returns the status without the direction bit of a directed route (IBTA 14.2.1.2).
    #[must_use]
    pub const fn masked_status(&self) -> Status {
        match self.mgmt_class {
            MgmtClass::SUBN_DIRECTED_ROUTE => Status::new(self.status.get() & 0x7fff),
            _ => self.status,
        }
    }

    /// True if this is a response: by its method, or in baseboard management by the lowest bit of the modifier
    /// (`ib_response_mad` in Linux's `rdma/ib_mad.h`).
    #[must_use]
    pub const fn is_response(&self) -> bool {
        self.method.is_response() || self.is_baseboard() && self.attribute_modifier.get() & BASEBOARD_RESPONSE != 0
    }

    /// Checks that this is no response with an error, whose data is not what was requested.
    ///
    /// # Errors
    /// [`DecodeError::ErrorResponse`] if it is one.
    pub const fn check_status(&self) -> Result<(), DecodeError> {
        // Most datagrams have the status zero, so this is compared first.
        if self.status.is_ok() || self.masked_status().is_ok() || !self.is_response() {
            return Ok(());
        }
        Err(DecodeError::ErrorResponse { status: self.masked_status().get() })
    }

    /// Turns the header of a request into the header of its response. In a directed route it also sets the direction
    /// bit.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the datagram has no response; the header stays unchanged.
    pub fn answer(&mut self, status: Status) -> Result<(), DecodeError> {
        match self.method.response() {
            _ if self.is_response() => {
                return Err(DecodeError::BadValue { what: "method", value: self.method.get().into() });
            }
            // Baseboard management responds to a Send with a Send; a bit of the modifier marks the response.
            _ if self.is_baseboard() && self.method == Method::SEND => {
                self.attribute_modifier = Be32::new(self.attribute_modifier.get() | BASEBOARD_RESPONSE);
            }
            Some(method) => self.method = method,
            None => return Err(DecodeError::BadValue { what: "method", value: self.method.get().into() }),
        }
        self.status = match self.mgmt_class {
            MgmtClass::SUBN_DIRECTED_ROUTE => Status::new(status.get() | 0x8000),
            _ => status,
        };
        Ok(())
    }

    const fn is_baseboard(&self) -> bool {
        matches!(self.mgmt_class, MgmtClass::BASEBOARD)
    }
}

/// Bit of the attribute modifier that marks a response in baseboard management.
const BASEBOARD_RESPONSE: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn request(class: MgmtClass, method: Method) -> MadHeader {
        MadHeader::new(class, 1, method, AttributeId::new(1), TransactionId::new(1))
    }

    #[test]
    fn response_on_a_directed_route_has_the_direction_bit() {
        let mut header = request(MgmtClass::SUBN_DIRECTED_ROUTE, Method::GET);
        assert_eq!(header.answer(Status::OK), Ok(()));
        assert_eq!((header.method, header.status), (Method::GET_RESP, Status::new(0x8000)));
        assert!(header.masked_status().is_ok() && !header.status.is_ok());
        let mut header = request(MgmtClass::SUBN_DIRECTED_ROUTE, Method::SET);
        assert_eq!(header.answer(Status::INVALID_FIELD), Ok(()));
        assert_eq!((header.status.get(), header.masked_status()), (0x801c, Status::INVALID_FIELD));
        let mut other = request(MgmtClass::SUBN_ADM, Method::GET);
        assert_eq!((other.answer(Status::new(0x8100)), other.masked_status().get()), (Ok(()), 0x8100));
    }

    #[test]
    fn header_of_a_request_becomes_a_response_once() {
        let none = |method: Method| DecodeError::BadValue { what: "method", value: method.get().into() };
        let answer = |mut header: MadHeader| header.answer(Status::OK).map(|()| (header.method, header.is_response()));
        assert_eq!(answer(request(MgmtClass::SUBN_ADM, Method::REPORT)), Ok((Method::REPORT_RESP, true)));
        for method in [Method::SEND, Method::GET_RESP, Method::TRAP_REPRESS] {
            assert_eq!(answer(request(MgmtClass::SUBN_ADM, method)), Err(none(method)));
        }
        let mut header = request(MgmtClass::BASEBOARD, Method::SEND);
        header.attribute_modifier = Be32::new(0x100);
        assert!(!header.is_response());
        assert_eq!(header.answer(Status::OK), Ok(()));
        assert_eq!((header.method, header.attribute_modifier.get()), (Method::SEND, 0x101));
        assert!(header.is_response());
        assert_eq!(header.answer(Status::OK), Err(none(Method::SEND)));
        assert!(!request(MgmtClass::PERF, Method::GET).is_response());
        assert!(request(MgmtClass::PERF, Method::TRAP_REPRESS).is_response());
    }
}
