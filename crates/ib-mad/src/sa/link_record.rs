//! LinkRecord: a link between two ports.
use super::record::sa_record;
use crate::{Lid, wire};

wire! {
    /// A link between two ports (IBTA 15.2.5.13), 6 bytes; 8 apart in tables.
    pub struct LinkRecord [6] {
        /// One end's node.
        pub from_lid: Lid,
        /// One end's port.
        pub from_port: u8,
        /// The other end's port.
        pub to_port: u8,
        /// The other end's node.
        pub to_lid: Lid,
    }
}

sa_record! {
    /// Which fields of a [`LinkRecord`] count.
    LinkRecord LINK_RECORD LinkMask;
    /// One end's node.
    FROM_LID = 0x1 "from_lid" from_lid(value: Lid) |r| r.from_lid = value;
    /// One end's port.
    FROM_PORT = 0x2 "from_port" from_port(value: u8) |r| r.from_port = value;
    /// The other end's port.
    TO_PORT = 0x4 "to_port" to_port(value: u8) |r| r.to_port = value;
    /// The other end's node.
    TO_LID = 0x8 "to_lid" to_lid(value: Lid) |r| r.to_lid = value;
}
