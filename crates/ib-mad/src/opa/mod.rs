//! Omni-Path: datagrams of base version 0x80, up to 2,048 bytes, with LIDs of 4 bytes.
//!
//! The datagrams start with the common header of InfiniBand. Attributes whose layout differs from that of InfiniBand
//! have their own types in this module. Sources: `rdma/opa_smi.h`, `rdma/opa_port_info.h` and `sa_query.c` of Linux 6,
//! and `stl_sm_types.h`, `stl_pm.h` of opa-ff 10.11 (<https://github.com/cornelisnetworks/opa-ff>).
//!
//! ```text
//!   0  common header (24 bytes)
//!  24  M_Key (8)                                                subnet management
//!  32  attribute (2016)                                         by LID
//!  32  DrSLID (4) | DrDLID (4) | initial path (64) | return path (64) | reserved (8) | attribute (1872)   directed route
//!
//!  24  RMPP header (12) | SA header (20) | record (1992)        subnet administration
//!
//!  24  attribute (2024)                                         performance management
//! ```
mod attribute;
mod code;
mod error_info;
mod node_info;
mod notice;
mod path_record;
mod port_counters;
mod port_info;
mod port_words;
mod records;
mod route;
mod switch_info;
#[cfg(test)]
mod tests;
mod virtual_fabric;

pub use attribute::*;
pub use code::*;
pub use error_info::*;
pub use node_info::*;
pub use notice::*;
pub use path_record::*;
pub use port_counters::*;
pub use port_info::*;
pub use port_words::*;
pub use records::*;
pub use route::*;
pub use switch_info::*;
pub use virtual_fabric::*;
