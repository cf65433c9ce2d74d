//! An attribute of a vendor's class. Copy this crate, and replace the attribute and the scenario by your own.
use ib_mad::{
    AttributeId, MgmtClass, VendorId,
    attribute::Attribute,
    vendor::OPENIB_OUI,
    wire,
    wire::{Be32, Octets},
};

wire! {
    /// A ping in the vendor's layout.
    pub struct Ping [8] {
        /// Number of the ping.
        pub number: Be32,
        /// Bytes that the response returns.
        pub payload: Octets<4>,
    }
}

impl Attribute for Ping {
    const CLASS: MgmtClass = MgmtClass::new(0x32);
    const ATTRIBUTE: AttributeId = AttributeId::new(0);
    const OUI: Option<VendorId> = Some(OPENIB_OUI);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Mad, Method, TransactionId};

    #[test]
    fn ping_has_the_vendors_bytes_and_is_answered() {
        let ping = Ping { number: 0x0102_0304.into(), payload: Octets(*b"ping") };
        let request = Mad::request(Method::GET, 0, TransactionId::new(7), &ping);
        assert_eq!(ib_mad::as_bytes(request.attribute_as::<Ping>().unwrap()), b"\x01\x02\x03\x04ping");
        let answer = request.answer_with(&Ping { number: 5.into(), ..ping }).unwrap();
        assert_eq!(answer.attribute_as::<Ping>().unwrap().number.get(), 5);
    }
}
