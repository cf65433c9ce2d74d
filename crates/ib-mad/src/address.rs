//! The way of a packet: what its sender chooses beside the queue pair number.
use crate::{FlowLabel, Gid, Lid, Rate, ServiceLevel};

/// Where a packet goes and how (IBTA 11.2.2, "address vector"; `struct ibv_ah_attr`).
///
/// With link layer Ethernet (RoCE) a [`GlobalRoute`] is required and the LID is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressVector {
    /// LID of the destination port, with the path bits that are wanted there, or of a multicast group.
    pub dlid: Lid,
    /// Service level of the packet (LRH.SL).
    pub sl: ServiceLevel,
    /// What is added to the base LID of the sending port to make the source LID; below 2^LMC.
    pub path_bits: u8,
    /// The rate to stay below towards this destination; `None`: as fast as the link. Management datagrams do not heed
    /// it.
    pub static_rate: Option<Rate>,
    /// The global route header's fields, if the packet has one: between subnets, to multicast groups, and on RoCE it
    /// must.
    pub grh: Option<GlobalRoute>,
}

impl AddressVector {
    /// To a port of the same subnet, by its LID alone.
    #[must_use]
    pub const fn local(dlid: Lid, sl: ServiceLevel) -> Self {
        Self { dlid, sl, path_bits: 0, static_rate: None, grh: None }
    }

    /// The same with a global route header.
    #[must_use]
    pub const fn with_grh(self, grh: GlobalRoute) -> Self {
        Self { grh: Some(grh), ..self }
    }
}

/// The fields of a [global route header](crate::packet::Grh) that the sender chooses (IBTA 8.3;
/// `struct ibv_global_route`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalRoute {
    /// GID of the destination port, or of a multicast group.
    pub dgid: Gid,
    /// Which GID of the sending port is the source: an index of its GID table. Linux takes none above 255 here.
    pub sgid_index: u8,
    /// Packets of one flow are kept in order by routers; 0: no flow.
    pub flow_label: FlowLabel,
    /// How many routers the packet may pass; with 0 or 1 it stays in the subnet.
    pub hop_limit: u8,
    /// Class of service between subnets.
    pub traffic_class: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_in_the_subnet_has_a_lid_and_a_service_level() {
        let way = AddressVector::local(Lid::new(7), ServiceLevel::of::<3>());
        assert_eq!((way.dlid, way.sl, way.path_bits, way.static_rate), (Lid::new(7), ServiceLevel::of::<3>(), 0, None));
        assert_eq!(way.grh, None);
        let grh = GlobalRoute { dgid: "fe80::1".parse().unwrap(), ..GlobalRoute::default() };
        assert_eq!(way.with_grh(grh), AddressVector { grh: Some(grh), ..way });
    }
}
