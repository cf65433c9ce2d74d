//! Programs on the fabric that are not this project's daemon: they send forged datagrams, or run on nodes of their own.
use crate::{World, inbox::Inbox};
use acm_wire::{Address, multicast};
use ib_mad::{Gid, GlobalRoute, Lid, Qkey, Qpn, TransactionId, acm::AcmMad};
use ib_sim::{Datagram, Event, QpId};

/// A queue pair that belongs to no core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteHost {
    qp: QpId,
}

impl World {
    /// Opens a remote host's queue pair on the first port of a node.
    ///
    /// # Panics
    /// If the port has no room for a queue pair.
    pub fn remote_host(&mut self, index: usize) -> RemoteHost {
        let qp = self.subnet.create_qp(Self::port_id(index), Qkey::GSI, 0).expect("the port has room for a queue pair");
        RemoteHost { qp }
    }

    /// Adds a node without a core to the subnet, and returns its number, from 0.
    ///
    /// # Panics
    /// If the subnet has no room.
    pub(crate) fn add_foreign_node(&mut self) -> usize {
        let node = self.subnet.add_node().expect("the subnet has room");
        self.foreign.inboxes.push(Inbox::default());
        node.get() as usize - 1
    }

    /// Returns the events of the nodes without a core since the last call, at the speed of
    /// [`WorldConfig::handling`](crate::WorldConfig::handling).
    pub(crate) fn take_foreign_events(&mut self) -> Vec<Event> {
        core::mem::take(&mut self.foreign.events)
    }

    /// Returns MGID and MLID of the subnet's first group, which all nodes send multicast requests to.
    ///
    /// # Panics
    /// If the subnet has no group.
    #[must_use]
    pub fn group(&self) -> (Gid, Lid) {
        self.subnet.groups().next().map(|group| (group.mgid, group.mlid)).expect("the subnet has a group")
    }

    /// Sends the group a request for `dest` that claims the source address `source`.
    ///
    /// # Panics
    /// If the subnet rejects the datagram.
    pub fn forge_request(&mut self, from: RemoteHost, path_bits: u8, tid: u64, source: &Address, dest: &Address) {
        let mad = multicast::request(TransactionId::new(tid), dest, source, &[self.group().0]);
        self.forge_multicast(from, path_bits, &mad);
    }

    /// Sends the group a datagram.
    ///
    /// # Panics
    /// If the subnet rejects the datagram.
    pub fn forge_multicast(&mut self, from: RemoteHost, path_bits: u8, mad: &AcmMad) {
        self.forge_multicast_as(from, path_bits, 0, mad);
    }

    /// Sends the group a datagram with a GID of the sender's port, by its index.
    ///
    /// # Panics
    /// If the subnet rejects the datagram.
    pub(crate) fn forge_multicast_as(&mut self, from: RemoteHost, path_bits: u8, sgid_index: u8, mad: &AcmMad) {
        let (dgid, mlid) = self.group();
        let mut datagram = Datagram::multicast(mlid, dgid, Qkey::GSI, ib_mad::as_bytes(mad));
        (datagram.to.path_bits, datagram.to.grh) =
            (path_bits, Some(GlobalRoute { dgid, sgid_index, ..GlobalRoute::default() }));
        let now = self.now().since_start();
        self.subnet.send_datagram(now, from.qp, &datagram).expect("the subnet accepts the datagram");
        self.settle();
    }

    /// Sends a datagram to a queue pair of a node's first port.
    ///
    /// # Panics
    /// If the subnet rejects the datagram.
    pub fn forge_response(&mut self, from: RemoteHost, index: usize, to: Qpn, mad: &AcmMad) {
        let (lid, dgid) = (self.port(index).lid, self.port(index).gids.first().copied().unwrap_or_default());
        let mut datagram = Datagram::unicast(lid, to, Qkey::GSI, ib_mad::as_bytes(mad));
        datagram.to.grh = Some(GlobalRoute { dgid, ..GlobalRoute::default() });
        let now = self.now().since_start();
        self.subnet.send_datagram(now, from.qp, &datagram).expect("the subnet accepts the datagram");
        self.settle();
    }

    /// Returns the queue pair number of a node's first endpoint.
    ///
    /// # Panics
    /// If the node has no endpoint.
    #[must_use]
    pub fn qpn(&self, index: usize) -> Qpn {
        let port = Self::port_id(index);
        let mut queue_pairs = self.subnet.qps().filter(|qp| qp.port == port);
        queue_pairs.find(|qp| self.node(index).endpoint_of(*qp).is_some()).expect("the node has an endpoint").qpn
    }
}
