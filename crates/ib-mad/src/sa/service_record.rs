//! ServiceRecord: a registered service.
use super::record::sa_record;
use crate::{
    Gid, Pkey, ServiceId, wire,
    wire::{Be16, Be32, Be64, Octets, Reserved, Text},
};

wire! {
    /// A registered service (IBTA 15.2.5.14), 176 bytes.
    ///
    /// ```text
    ///   0  service id (8)
    ///   8  GID (16)
    ///  24  P_Key | reserved
    ///  28  lease, in seconds
    ///  32  key (16)
    ///  48  name (64)
    /// 112  data: 16 x 1, 8 x 2, 4 x 4, 2 x 8 bytes
    /// ```
    pub struct ServiceRecord [176] {
        /// Id of the service.
        pub service_id: ServiceId,
        /// GID of the port that offers the service.
        pub service_gid: Gid,
        /// Partition in which the service is offered.
        pub service_pkey: Pkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Lease of the registration, in seconds; all ones means no limit.
        pub service_lease: Be32,
        /// Key required to change the record; zero means that no key is required.
        pub service_key: Octets<16>,
        /// Name of the service.
        pub service_name: Text<64>,
        /// Data of the service, 1 byte each.
        pub service_data8: [u8; 16],
        /// Data of the service, 2 bytes each.
        pub service_data16: [Be16; 8],
        /// Data of the service, 4 bytes each.
        pub service_data32: [Be32; 4],
        /// Data of the service, 8 bytes each.
        pub service_data64: [Be64; 2],
    }
}

sa_record! {
    /// Component mask of a [`ServiceRecord`].
    ServiceRecord SERVICE_RECORD ServiceMask;
    /// Id of the service.
    SERVICE_ID = 0x1 service_id: ServiceId;
    /// GID of the port that offers the service.
    SERVICE_GID = 0x2 service_gid: Gid;
    /// Partition in which the service is offered.
    SERVICE_PKEY = 0x4 service_pkey: Pkey;
    /// Lease of the registration, in seconds; all ones means no limit.
    SERVICE_LEASE = 0x10 service_lease: u32;
    /// Key required to change the record.
    SERVICE_KEY = 0x20 service_key: Octets<16>;
    /// Name of the service.
    SERVICE_NAME = 0x40 service_name: Text<64>;
    /// One byte of the service's data, index 0 to 15; one bit each.
    SERVICE_DATA8 = 0x7f_ff80 service_data8 [service_data8: u8];
    /// One 2-byte number of the service's data, index 0 to 7; one bit each.
    SERVICE_DATA16 = 0x7f80_0000 service_data16 [service_data16: u16];
    /// One 4-byte number of the service's data, index 0 to 3; one bit each.
    SERVICE_DATA32 = 0x7_8000_0000 service_data32 [service_data32: u32];
    /// One 8-byte number of the service's data, index 0 or 1; one bit each.
    SERVICE_DATA64 = 0x18_0000_0000 service_data64 [service_data64: u64];
}
