//! The end of a connection.
use crate::{
    Qpn, wire,
    wire::{Be32, InBytes, Octets, Reserved},
};

wire! {
    /// A connection should end (IBTA 12.6.10), 232 bytes.
    pub struct CmDreq [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// Queue pair or end-to-end context of the receiver.
        pub remote_qpn: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved: Reserved<1>,
        /// What the sender tells.
        pub private_data: Octets<220>,
    }
}

wire! {
    /// A connection ended (IBTA 12.6.11), 232 bytes.
    pub struct CmDrep [232] {
        /// The sender's name of the connection.
        pub local_comm_id: Be32,
        /// The receiver's name of the connection.
        pub remote_comm_id: Be32,
        /// What the sender tells.
        pub private_data: Octets<224>,
    }
}
