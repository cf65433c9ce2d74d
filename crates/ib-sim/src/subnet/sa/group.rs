//! Multicast groups.
use crate::id::PortId;
use alloc::collections::BTreeMap;
use ib_mad::{
    Gid, Lid, Mtu, PacketLifeTime, Pkey, Qkey, Rate,
    sa::{JoinState, SlFlowHop},
};

/// A multicast group and its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// GID of the group; its first byte is 0xff.
    pub mgid: Gid,
    /// Multicast LID.
    pub mlid: Lid,
    /// Queue key of the group's datagrams.
    pub qkey: Qkey,
    /// P_Key of the group: switches drop datagrams of other partitions.
    pub pkey: Pkey,
    /// Maximum payload of the group's datagrams.
    pub mtu: Mtu,
    /// Maximum rate of the group's datagrams.
    pub rate: Rate,
    /// Maximum time of the group's datagrams in the subnet: 4.096 us x 2^n.
    pub packet_life_time: PacketLifeTime,
    /// Traffic class in the global route header of the group's datagrams.
    pub traffic_class: u8,
    /// Service level, flow label and hop limit.
    pub sl_flow_hop: SlFlowHop,
    /// Scope bits of `mgid`: 2 is link-local, 5 site-local, 8 organization-local, 14 global.
    pub scope: u8,
    /// The members and their join states.
    pub members: BTreeMap<PortId, JoinState>,
}

impl Group {
    /// True if the group receives the port's datagrams.
    #[must_use]
    pub fn may_send(&self, port: PortId) -> bool {
        self.members.contains_key(&port)
    }

    /// True if the port receives the group's datagrams.
    #[must_use]
    pub fn receives(&self, port: PortId) -> bool {
        let both = JoinState::FULL_MEMBER | JoinState::NON_MEMBER;
        self.members.get(&port).is_some_and(|state| state.intersects(both))
    }

    /// True if a member's join state keeps the group in existence.
    pub(crate) fn lives(&self) -> bool {
        let keepers = JoinState::FULL_MEMBER | JoinState::SEND_ONLY_FULL_MEMBER;
        self.members.values().any(|state| state.intersects(keepers))
    }
}
