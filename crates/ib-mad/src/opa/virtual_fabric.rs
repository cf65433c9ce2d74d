//! A virtual fabric of the Omni-Path fabric manager.
use super::OpaMtu;
use crate::{
    AttributeId, Gid, Pkey, Rate, ServiceId, bits, flags,
    sa::record::sa_record,
    wire,
    wire::{Be16, Reserved, Text},
};

bits! {
    /// The base service level of a virtual fabric, and what distinguishes its paths.
    pub struct OpaBaseSl [1] {
        /// True if a path query has to name the service level.
        needs_sl / with_needs_sl: bool = 1,
        /// True if a path query has to name the P_Key.
        needs_pkey / with_needs_pkey: bool = 1,
        _: 1,
        /// Service level, 0 to 31.
        sl / with_sl: u8 = 5,
    }
    /// The largest MTU of a virtual fabric.
    pub struct OpaMaxMtu [1] {
        /// True if the virtual fabric limits the MTU.
        is_limited / with_is_limited: bool = 1,
        _: 1,
        /// The limit.
        mtu / with_mtu: OpaMtu = 6,
    }
    /// The highest rate of a virtual fabric.
    pub struct OpaMaxRate [1] {
        /// True if the virtual fabric limits the rate.
        is_limited / with_is_limited: bool = 1,
        _: 1,
        /// The limit.
        rate / with_rate: Rate = 6,
    }
    /// The factor of packet lifetimes in a virtual fabric.
    pub struct OpaLifeTimeFactor [1] {
        /// True if there is a factor.
        is_given / with_is_given: bool = 1,
        _: 4,
        /// The factor is 2^n.
        exponent / with_exponent: u8 = 3,
    }
    /// A service level that only some packets of a virtual fabric have.
    pub struct OpaOtherSl [1] {
        /// True if it differs from the base service level.
        is_given / with_is_given: bool = 1,
        _: 2,
        /// Service level, 0 to 31.
        sl / with_sl: u8 = 5,
    }
}
flags! {
    /// Properties of a virtual fabric.
    pub struct OpaVirtualFabricOptions(u8) {
        /// Its P_Key is enforced.
        SECURITY = 1 "security",
        /// It has quality of service.
        QOS = 2 "QoS",
        /// Packets may be dropped instead of delayed.
        FLOW_CONTROL_DISABLED = 4 "flow control disabled",
    }
}

wire! {
    /// A virtual fabric (`VFInfoRecord`), 128 bytes. A full member of the default partition gets all virtual fabrics,
    /// another port those of its partitions.
    ///
    /// Sources: `STL_VFINFO_RECORD` in `stl_sa_types.h` and `sa_VFabricRecord.c` of opa-fm.
    ///
    /// ```text
    ///   0  index (2) | P_Key (2) | reserved (4)
    ///   8  name (64)
    ///  72  service id (8) | MGID (16)
    ///  96  needs SL 1, P_Key 1, 1, SL 5 | MTU limited 1, 1, MTU 6 | rate limited 1, 1, rate 6 | factor 1, 4, exponent 3
    /// 100  options | bandwidth | priority | number of SLs
    /// 104  preemption rank | head of queue lifetime | SL of responses 1, 2, 5 | SL of multicasts 1, 2, 5
    /// 108  reserved (20)
    /// ```
    pub struct OpaVirtualFabric [128] {
        /// Number of the virtual fabric.
        pub index: Be16,
        /// P_Key of its partition.
        pub pkey: Pkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Name, ended by a 0 byte.
        pub name: Text<64>,
        /// Service of the query; 0 in the response to a query without one.
        pub service_id: ServiceId,
        /// Multicast group of the query; 0 in the response to a query without one.
        pub mgid: Gid,
        /// Base service level, and what a path query has to name.
        pub base_sl: OpaBaseSl,
        /// Limit of the MTU.
        pub max_mtu: OpaMaxMtu,
        /// Limit of the rate.
        pub max_rate: OpaMaxRate,
        /// Factor of packet lifetimes.
        pub life_time_factor: OpaLifeTimeFactor,
        /// Properties.
        pub options: OpaVirtualFabricOptions,
        /// Its part of the bandwidth, in percent.
        pub bandwidth_percent: u8,
        /// 1 if its packets come before those of virtual fabrics with 0.
        pub priority: u8,
        /// Number of service levels for routing.
        pub routing_sls: u8,
        /// Rank for preemption of packets, 0 to 127.
        pub preemption_rank: u8,
        /// Code of the time after which a packet at the head of a queue is dropped.
        pub head_of_queue_life: u8,
        /// Service level of responses.
        pub response_sl: OpaOtherSl,
        /// Service level of multicasts.
        pub multicast_sl: OpaOtherSl,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<20>,
    }
}

impl AttributeId {
    /// The attribute of an [`OpaVirtualFabric`] in Omni-Path's subnet administration.
    pub const OPA_VF_INFO_RECORD: Self = Self::new(0x0089);
}

sa_record! {
    /// Component mask of an [`OpaVirtualFabric`].
    OpaVirtualFabric OPA_VF_INFO_RECORD OpaVirtualFabricMask in [super::OPA_BASE_VERSION, super::OPA_CLASS_VERSION];
    /// Number of the virtual fabric.
    INDEX = 0x1 index: u16;
    /// P_Key of its partition; the membership bit is ignored.
    PKEY = 0x2 pkey (Partition): Pkey;
    /// Name.
    NAME = 0x8 name: Text<64>;
    /// A service that belongs to it.
    SERVICE_ID = 0x10 service_id (Ignored): ServiceId;
    /// A multicast group that belongs to it.
    MGID = 0x20 mgid (Ignored): Gid;
    /// Base service level.
    SL = 0x80 base_sl.sl / with_sl: u8;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MadRef, Method, Status, TransactionId, Wire as _, as_bytes, sa::Query};

    /// A record as the fabric manager writes it, field by field.
    fn bytes() -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes[..4].copy_from_slice(&[0, 3, 0x80, 0x01]);
        bytes[8..15].copy_from_slice(b"Storage");
        bytes[72..80].copy_from_slice(&0x0106_03db_u64.to_be_bytes());
        bytes[80] = 0xff;
        // SL and P_Key are needed, SL 17; MTU 10240 and 100 Gb/s are limits; lifetimes are multiplied by 4.
        bytes[96..100].copy_from_slice(&[0xd1, 0x87, 0x90, 0x82]);
        bytes[100..108].copy_from_slice(&[0x03, 40, 1, 1, 127, 8, 0x85, 0x86]);
        bytes
    }

    #[test]
    fn fields_are_at_the_places_of_the_fabric_manager() {
        let bytes = bytes();
        let found = OpaVirtualFabric::parse(&bytes).unwrap();
        assert_eq!((found.index.get(), found.pkey, &found.name.0[..9]), (3, Pkey::new(0x8001), &b"Storage\0\0"[..]));
        assert_eq!((found.service_id.get(), found.mgid.prefix() >> 56), (0x0106_03db, 0xff));
        let (sl, mtu, rate) = (found.base_sl, found.max_mtu, found.max_rate);
        assert!(sl.needs_sl() && sl.needs_pkey() && sl.sl() == 17);
        assert!(mtu.is_limited() && mtu.mtu() == OpaMtu::B10240 && rate.is_limited() && rate.rate() == Rate::GBPS_100);
        assert!(found.life_time_factor.is_given() && found.life_time_factor.exponent() == 2);
        assert_eq!(found.options, OpaVirtualFabricOptions::SECURITY | OpaVirtualFabricOptions::QOS);
        assert_eq!((found.bandwidth_percent, found.priority, found.routing_sls), (40, 1, 1));
        assert_eq!((found.preemption_rank, found.head_of_queue_life), (127, 8));
        let (response, multicast) = (found.response_sl, found.multicast_sl);
        assert!(response.is_given() && response.sl() == 5 && multicast.is_given() && multicast.sl() == 6);
    }

    #[test]
    fn queries_and_responses_have_the_versions_of_omni_path() {
        let query = Query::<OpaVirtualFabric>::new().pkey(Pkey::new(1)).sl(17);
        let request = query.request(Method::GET, TransactionId::new(1));
        assert_eq!((request.header.base_version, request.header.class_version), (0x80, 0x80));
        assert_eq!((request.header.attribute_id.get(), request.sa.component_mask.get()), (0x89, 0x82));
        let bytes = bytes();
        let record = OpaVirtualFabric::parse(&bytes).unwrap();
        assert!(query.matches(record) && !Query::<OpaVirtualFabric>::new().index(4).matches(record));
        let mut response = request.answer_with(record).unwrap();
        let mut found = MadRef::new(as_bytes(&response)).unwrap().records::<OpaVirtualFabric>().unwrap();
        assert_eq!((found.next(), found.next()), (Some(record), None));
        response.header.base_version = 1;
        assert!(MadRef::new(as_bytes(&response)).unwrap().records::<OpaVirtualFabric>().is_err());
        assert_eq!(response.header.status, Status::OK);
    }
}
