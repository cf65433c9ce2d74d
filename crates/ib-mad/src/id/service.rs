//! Services, service levels, flows, transactions.
use super::{from_str_number, small};
use crate::id;

id! {
    /// Service id: what a connection asks for, 8 bytes (IBTA A3, A11 for the IP ones).
    pub struct ServiceId(u64), "{:#018x}"
}
id! {
    /// Transaction id: an answer carries its request's, 8 bytes. Linux keeps the upper half for itself.
    pub struct TransactionId(u64), "{:#018x}"
}
from_str_number! {
    ServiceId: u64, "service id (64 bits)";
    TransactionId: u64, "transaction id (64 bits)";
}

small! {
    /// Service level, 4 bits: which virtual lanes a packet takes (IBTA 7.6.5).
    ServiceLevel(u8) 4 "{}";
    /// Flow label of the global route header, 20 bits (IBTA 8.3).
    FlowLabel(u32) 20 "{:#x}";
}
