//! Datagrams of communication management from what they say.
use super::CmMad;
use crate::{MadHeader, Method, MgmtClass, TransactionId, as_bytes, attribute::Attribute, wire::Octets};

impl CmMad {
    /// A datagram that says `message`. One that is no message of communication management does not compile.
    #[must_use]
    pub fn send<A: Attribute>(message: &A, tid: TransactionId) -> Self {
        const { assert!(A::CLASS.get() == MgmtClass::COMM_MGMT.get(), "an attribute of another class") };
        let mut data = Octets([0; 232]);
        data.0.iter_mut().zip(as_bytes(message)).for_each(|(to, from)| *to = *from);
        Self { header: MadHeader::new(MgmtClass::COMM_MGMT, 2, Method::SEND, A::ATTRIBUTE, tid), data }
    }
}
