//! Services of an I/O controller.
use crate::{ServiceId, wire, wire::Text};

wire! {
    /// A service of an I/O controller.
    pub struct ServiceEntry [48] {
        /// Name of the service.
        pub service_name: Text<40>,
        /// Service id for connection requests.
        pub service_id: ServiceId,
    }
    /// Up to four consecutive services of an I/O controller (IBTA 16.3.3.5), 192 bytes.
    ///
    /// The attribute modifier is the slot times 65536, plus the number of the last service times 256, plus the number
    /// of the first service.
    pub struct ServiceEntries [192] {
        /// Services, the first in the lowest entry.
        pub entries: [ServiceEntry; 4],
    }
}
