//! Communication management (IBTA 12): how two ends agree on a connection.
//!
//! Every message stands at byte 24, right after the common header, and fills the datagram; what the ends tell each other
//! beyond the specification is its `private_data`; librdmacm begins it with a [`CmaHeader`].
//!
//! | message | says |
//! |---|---|
//! | [`CmReq`] | I want a connection |
//! | [`CmMra`] | I need more time |
//! | [`CmRej`] | no |
//! | [`CmRep`] | yes |
//! | [`CmRtu`] | ready |
//! | [`CmDreq`], [`CmDrep`] | the end; agreed |
//! | [`CmSidrReq`], [`CmSidrRep`] | which queue pair serves datagrams of this service? this one |
//! | [`CmLap`], [`CmApr`] | take this other path; done |
mod cma;
mod code;
mod connect;
mod disconnect;
mod migrate;
mod req;
mod send;
mod sidr;

pub use cma::{CmaHeader, CmaIpVersion};
pub use code::{AprStatus, CmMessage, ExtendedTransport, RejectReason, SidrStatus, TransportService};
pub use connect::{AckFailover, CmMra, CmRej, CmRep, CmRtu, InfoLength, MessageBits, RetrySrq, ServiceTimeout};
pub use disconnect::{CmDrep, CmDreq};
pub use migrate::{ApPacketRate, CmApr, CmLap, CmSap, CmSpr, LapAckTimeout, LapFlowLabel, LapQpTimeout};
pub use req::{
    AckTimeout, AltAckTimeout, CmReq, EecnDepth, EecnTimeout, FlowRate, MtuRetry, PsnTimeoutRetry, QpnResources,
    RetriesSrq, SubnetLocalSl,
};
pub use sidr::{CmSidrRep, CmSidrReq};

use crate::{MadHeader, attribute::attributes, notice::ClassPortInfo, wire, wire::Octets};

wire! {
    /// A communication management datagram (IBTA 12.6); class version 2.
    pub struct CmMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// The message as its attribute id lays it out.
        pub data: Octets<232>,
    }
}

attributes! {
    /// A message of communication management.
    pub enum CmAttribute in COMM_MGMT at 24 {
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
