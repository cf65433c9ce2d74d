//! Packet headers of captured packets (IBTA 7, 8, 9). Start with [`Headers`].
//!
//! ```text
//!  0  LRH (8)     local route: lane, service level, LIDs, length
//!  8  GRH (40)    global route: GIDs; present if the LRH announces it, and always over Ethernet
//!     BTH (12)    operation, partition, queue pair, sequence number
//!     DETH (8)    Q_Key, source queue pair; in datagrams. Packets of connections have RETH (16), AETH (4), or neither
//!     payload     256 bytes for a management datagram
//!     ICRC (4), VCRC (2)
//! ```
mod base;
mod crc;
mod local;
mod parse;
mod reliable;
mod transport;

pub use base::*;
pub use local::*;
pub use parse::*;
pub use reliable::*;
pub use transport::*;
