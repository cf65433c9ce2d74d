//! Datagrams of communication management from what they say.
use super::CmMad;
use crate::{MadHeader, Method, MgmtClass, TransactionId, attribute::Attribute, wire::Octets};

impl CmMad {
    /// A datagram that says `message`. One that is no message of communication management does not compile.
    #[must_use]
    pub fn send<A: Attribute>(tid: TransactionId, message: &A) -> Self {
        const { assert!(A::CLASS.get() == MgmtClass::COMM_MGMT.get(), "an attribute of another class") };
        let header = MadHeader::new(MgmtClass::COMM_MGMT, A::CLASS_VERSION, Method::SEND, A::ATTRIBUTE, tid);
        Self { header, data: Octets::of(message) }
    }
}
