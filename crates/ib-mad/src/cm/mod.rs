//! Communication management (IBTA 12): messages that establish and end connections.
//!
//! Every message starts at byte 24, right after the common header, and fills the datagram. The field `private_data` of
//! a message carries data of the connecting programs. librdmacm puts a [`CmaHeader`] at its start.
//!
//! | message | purpose |
//! |---|---|
//! | [`CmReq`] | requests a connection |
//! | [`CmMra`] | requests more time |
//! | [`CmRej`] | rejects a connection |
//! | [`CmRep`] | accepts a connection |
//! | [`CmRtu`] | confirms that the requester is ready |
//! | [`CmDreq`], [`CmDrep`] | request the end of a connection; confirm it |
//! | [`CmSidrReq`], [`CmSidrRep`] | request the queue pair of a datagram service; return it |
//! | [`CmLap`], [`CmApr`] | load an alternate path; confirm it |
mod cma;
mod code;
mod connect;
mod migrate;
mod req;
mod sidr;

pub use cma::*;
pub use code::*;
pub use connect::*;
pub use migrate::*;
pub use req::*;
pub use sidr::*;

use crate::{MadHeader, attribute::attributes, notice::ClassPortInfo, wire, wire::Octets};

wire! {
    /// A communication management datagram (IBTA 12.6); class version 2.
    pub struct CmMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Message, with the layout of its attribute id.
        pub data: Octets<232>,
    }
}

attributes! {
    /// A message of communication management.
    pub enum CmAttribute in COMM_MGMT {
        own {
            CmReq = 0x0010,
            CmMra = 0x0011,
            CmRej = 0x0012,
            CmRep = 0x0013,
            CmRtu = 0x0014,
            CmDreq = 0x0015,
            CmDrep = 0x0016,
            CmSidrReq = 0x0017,
            CmSidrRep = 0x0018,
            CmLap = 0x0019,
            CmApr = 0x001a,
            CmSap = 0x001b,
            CmSpr = 0x001c,
        }
        shared {
            ClassPortInfo = 0x0001,
        }
    }
}
