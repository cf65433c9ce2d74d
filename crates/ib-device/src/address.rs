//! How a packet gets to another port.
use ib_mad::{FlowLabel, Gid, Lid, Rate, ServiceLevel};

/// Where a packet goes and how: what umad and a queue pair need beside the queue pair number.
///
/// With link layer Ethernet (RoCE) a [`Grh`] is required and the LID is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressVector {
    /// Destination LID; a multicast LID for a group.
    pub dlid: Lid,
    /// Service level.
    pub sl: ServiceLevel,
    /// Path bits of our own LID, below 2^LMC.
    pub path_bits: u8,
    /// Fastest rate for this destination; `None` = as fast as the link. Does not count for MADs.
    pub static_rate: Option<Rate>,
    /// Global route header: needed between subnets, for multicast, and on RoCE.
    pub grh: Option<Grh>,
}

impl AddressVector {
    /// To a port of the same subnet, by its LID alone.
    #[must_use]
    pub fn local(dlid: Lid, sl: ServiceLevel) -> Self {
        Self { dlid, sl, ..Self::default() }
    }

    /// The same with a global route header.
    #[must_use]
    pub const fn with_grh(self, grh: Grh) -> Self {
        Self { grh: Some(grh), ..self }
    }
}

/// Fields of the global route header that the sender chooses (IBTA 8.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grh {
    /// Destination GID, or a multicast group's.
    pub dgid: Gid,
    /// Which of our GIDs is the source: an index of the port's table. Linux takes no index above 255 here.
    pub sgid_index: u8,
    /// Flow label.
    pub flow_label: FlowLabel,
    /// Hop limit: 0 or 1 stay in the subnet.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
}
