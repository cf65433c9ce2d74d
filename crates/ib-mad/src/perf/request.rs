//! Requests of performance management.
use super::PerfMad;
use crate::{MadHeader, Method, MgmtClass, TransactionId, attribute::Attribute, wire::Octets};

impl PerfMad {
    /// Returns a request to read an attribute. The attribute contains the number of the port; the modifier is zero.
    ///
    /// ```
    /// use ib_mad::{TransactionId, as_bytes, perf::{PerfMad, PortCounters}};
    /// let port = PortCounters { port_select: 2, ..PortCounters::default() };
    /// assert_eq!(as_bytes(&PerfMad::get(TransactionId::new(1), &port))[65], 2);
    /// ```
    #[must_use]
    pub fn get<A: Attribute>(tid: TransactionId, attribute: &A) -> Self {
        Self::request(Method::GET, tid, attribute)
    }

    /// Returns a request to change an attribute, for example to clear its counters.
    #[must_use]
    pub fn set<A: Attribute>(tid: TransactionId, attribute: &A) -> Self {
        Self::request(Method::SET, tid, attribute)
    }

    fn request<A: Attribute>(method: Method, tid: TransactionId, attribute: &A) -> Self {
        const { assert!(A::CLASS.get() == MgmtClass::PERF.get(), "an attribute of another class") };
        let header = MadHeader::new(MgmtClass::PERF, 1, method, A::ATTRIBUTE, tid);
        Self { header, data: Octets::of(attribute), ..Self::default() }
    }
}
