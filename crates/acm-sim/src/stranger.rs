//! Programs on the fabric that are no acm: they say to the group what they like.
use crate::World;
use acm_wire::{Address, multicast};
use ib_mad::{Gid, Lid, Qkey, Qpn, TransactionId, acm::AcmMad};
use ib_sim::{Datagram, QpId};

/// A queue pair of a node that no core knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stranger {
    qp: QpId,
}

impl World {
    /// A stranger on the first port of a node.
    ///
    /// # Panics
    /// If the node has no room for a queue pair.
    pub fn stranger(&mut self, index: usize) -> Stranger {
        let qp = self.subnet.create_qp(Self::port_id(index), Qkey::GSI, 0).expect("a queue pair");
        Stranger { qp }
    }

    /// The group that all nodes ask in: the first one of the subnet.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn group(&self) -> (Gid, Lid) {
        self.subnet.groups().next().map(|group| (group.mgid, group.mlid)).expect("a group")
    }

    /// A stranger asks the group for an address, and says that it is another one.
    ///
    /// # Panics
    /// If the subnet does not take it.
    pub fn forge_request(&mut self, from: Stranger, path_bits: u8, tid: u64, source: &Address, dest: &Address) {
        let (mgid, mlid) = self.group();
        let mad = multicast::request(TransactionId::new(tid), dest, source, &[mgid]);
        let mut datagram = Datagram::multicast(mlid, mgid, Qkey::GSI, ib_mad::as_bytes(&mad));
        datagram.to.path_bits = path_bits;
        let now = self.now().since_start();
        self.subnet.send_datagram(now, from.qp, &datagram).expect("a datagram that may be sent");
        self.settle();
    }

    /// A stranger sends a datagram to a queue pair of a node's first port.
    ///
    /// # Panics
    /// If the subnet does not take it.
    pub fn forge_response(&mut self, from: Stranger, index: usize, to: Qpn, mad: &AcmMad) {
        let (lid, dgid) = (self.port(index).lid, self.port(index).gids.first().copied().unwrap_or_default());
        let mut datagram = Datagram::unicast(lid, to, Qkey::GSI, ib_mad::as_bytes(mad));
        datagram.to.grh = Some(ib_mad::GlobalRoute { dgid, ..Default::default() });
        let now = self.now().since_start();
        self.subnet.send_datagram(now, from.qp, &datagram).expect("a datagram that may be sent");
        self.settle();
    }

    /// The number of the queue pair of a node's first endpoint.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn qpn(&self, index: usize) -> Qpn {
        let port = Self::port_id(index);
        let mut own = self.subnet.qps().filter(|qp| qp.port == port);
        own.find(|qp| self.node(index).endpoint_of(*qp).is_some()).expect("an endpoint").qpn
    }
}
