//! LinkRecord: a link between two ports.
use super::record::sa_record;
use crate::{Lid, wire};

wire! {
    /// A link between two ports (IBTA 15.2.5.13), 6 bytes; 8 bytes from record to record in a response.
    pub struct LinkRecord [6] {
        /// LID of the node at the first end.
        pub from_lid: Lid,
        /// Port number at the first end.
        pub from_port: u8,
        /// Port number at the second end.
        pub to_port: u8,
        /// LID of the node at the second end.
        pub to_lid: Lid,
    }
}

sa_record! {
    /// Component mask of a [`LinkRecord`].
    LinkRecord LINK_RECORD LinkMask;
    /// LID of the node at the first end.
    FROM_LID = 0x1 "from_lid" from_lid(value: Lid) |r| r.from_lid = value;
    /// Port number at the first end.
    FROM_PORT = 0x2 "from_port" from_port(value: u8) |r| r.from_port = value;
    /// Port number at the second end.
    TO_PORT = 0x4 "to_port" to_port(value: u8) |r| r.to_port = value;
    /// LID of the node at the second end.
    TO_LID = 0x8 "to_lid" to_lid(value: Lid) |r| r.to_lid = value;
}
