//! GuidInfoRecord: GUIDs of a port.
use super::record::sa_record;
use crate::{Guid, Lid, wire, wire::Reserved};

wire! {
    /// A block of a port's GUID table (IBTA 15.2.5.18), 72 bytes.
    pub struct GuidInfoRecord [72] {
        /// LID of the port.
        pub lid: Lid,
        /// Number of the block of eight GUIDs.
        pub block_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<5>,
        /// Eight GUIDs of the table, from index 8 x the block number.
        pub guids: [Guid; 8],
    }
}

sa_record! {
    /// Component mask of a [`GuidInfoRecord`].
    GuidInfoRecord GUID_INFO_RECORD GuidInfoMask;
    /// LID of the port.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Number of the block of eight GUIDs.
    BLOCK_NUM = 0x2 "block_num" block_num(value: u8) |r| r.block_num = value;
    /// One of the eight GUIDs, index 0 to 7; one bit each.
    GUIDS = 0xff0 "guids" [guids] guid(value: Guid);
}
