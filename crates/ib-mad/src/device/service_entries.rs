//! Services of an I/O controller.
use crate::{ServiceId, wire, wire::Text};

wire! {
    /// A service.
    pub struct ServiceEntry [48] {
        /// What a person calls it.
        pub service_name: Text<40>,
        /// What a connection asks for.
        pub service_id: ServiceId,
    }
}

wire! {
    /// Up to four services in a row of an I/O controller (IBTA 16.3.3.5), 192 bytes.
    ///
    /// The attribute modifier is the slot times 65536, the last service's number times 256, and the first's.
    pub struct ServiceEntries [192] {
        /// The services.
        pub entries: [ServiceEntry; 4],
    }
}
