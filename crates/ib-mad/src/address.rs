//! Route of a packet, which the sender chooses.
use crate::{FlowLabel, Gid, Lid, Rate, ServiceLevel};

/// Destination and route of a packet (IBTA 11.2.2, "address vector"; `struct ibv_ah_attr`).
///
/// On Ethernet (RoCE), `grh` is required and `dlid` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressVector {
    /// LID of the destination port, including the path bits, or LID of a multicast group.
    pub dlid: Lid,
    /// Service level of the packet (LRH.SL).
    pub sl: ServiceLevel,
    /// Offset of the source LID from the base LID of the sending port; less than 2^LMC.
    pub path_bits: u8,
    /// Maximum rate to the destination; `None` for the speed of the link. Management datagrams ignore it.
    pub static_rate: Option<Rate>,
    /// Fields of the global route header, if the packet has one. Packets to other subnets, to multicast groups and on
    /// RoCE require it.
    pub grh: Option<GlobalRoute>,
}

impl AddressVector {
    /// Returns the route to a port of the same subnet, by its LID.
    #[must_use]
    pub const fn local(dlid: Lid, sl: ServiceLevel) -> Self {
        Self { dlid, sl, path_bits: 0, static_rate: None, grh: None }
    }

    /// Returns the route with a global route header.
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
    /// Index of the source GID in the GID table of the sending port. Linux accepts indexes up to 255 here.
    pub sgid_index: u8,
    /// Flow label: routers keep packets with the same label in order. 0 means no flow.
    pub flow_label: FlowLabel,
    /// Maximum number of routers on the path; with 0 or 1 the packet stays in the subnet.
    pub hop_limit: u8,
    /// Class of service between subnets.
    pub traffic_class: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_route_has_only_lid_and_service_level() {
        let route = AddressVector::local(Lid::new(7), ServiceLevel::of::<3>());
        assert_eq!((route.dlid, route.sl, route.path_bits), (Lid::new(7), ServiceLevel::of::<3>(), 0));
        assert_eq!((route.static_rate, route.grh), (None, None));
        let grh = GlobalRoute { dgid: "fe80::1".parse().unwrap(), ..GlobalRoute::default() };
        assert_eq!(route.with_grh(grh), AddressVector { grh: Some(grh), ..route });
    }
}
