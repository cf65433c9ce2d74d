//! GuidInfoRecord: GUIDs of a port.
use super::record::sa_record;
use crate::{Guid, Lid, wire, wire::Reserved};

wire! {
    /// A block of a port's table of GUIDs (IBTA 15.2.5.18), 72 bytes.
    pub struct GuidInfoRecord [72] {
        /// LID of the port that has the GUIDs.
        pub lid: Lid,
        /// Block of eight GUIDs.
        pub block_num: u8,
        /// Zero.
        pub reserved: Reserved<5>,
        /// Eight GUIDs of the table, from index 8 x the block number on.
        pub guids: [Guid; 8],
    }
}

sa_record! {
    /// Which fields of a [`GuidInfoRecord`] count.
    GuidInfoRecord GUID_INFO_RECORD GuidInfoMask;
    /// LID of the port that has the GUIDs.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Block of eight GUIDs.
    BLOCK_NUM = 0x2 "block_num" block_num(value: u8) |r| r.block_num = value;
    /// One of the GUIDs, 0 to 7; one bit each.
    GUIDS = 0xff0 "guids" [guids] guid(value: Guid);
}
