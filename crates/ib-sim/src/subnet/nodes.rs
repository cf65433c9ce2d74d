//! Nodes, ports and queue pairs.
use super::{
    Subnet,
    state::{Queue, Queues},
};
use crate::{
    error::Error,
    id::{NodeId, PortId, QpId},
    port::{Node, NodeConfig, Port, PortChange},
};
use alloc::{collections::BTreeMap, vec::Vec};
use ib_mad::{Gid, Guid, Lid, PortState, Qkey, Qpn, notice::TrapNumber};

/// The first queue pair number that is assigned. Lower numbers are reserved for QP 0, QP 1 and the kernel of each node.
const FIRST_QPN: u32 = 0x40;

impl Subnet {
    /// Adds the next node of the configuration ([`SubnetConfig::node`](crate::port::SubnetConfig::node)).
    ///
    /// # Errors
    /// [`Error::Exhausted`] if no LID is left, [`Error::LidTaken`].
    pub fn add_node(&mut self) -> Result<NodeId, Error> {
        let node = self.config.node(self.node_count().saturating_add(1))?;
        self.add_node_with(node)
    }

    /// Adds a node.
    ///
    /// # Errors
    /// [`Error::LidTaken`]; the subnet is then unchanged.
    pub fn add_node_with(&mut self, node: NodeConfig) -> Result<NodeId, Error> {
        let id = NodeId::new(self.node_count().saturating_add(1));
        for (index, port) in node.ports.iter().enumerate() {
            self.lids_free(port)?;
            let clash =
                node.ports.iter().take(index).find(|other| lids(other).any(|taken| lids(port).any(|lid| lid == taken)));
            if clash.is_some() {
                return Err(Error::LidTaken(port.lid));
            }
        }
        for (number, port) in (1..).zip(&node.ports) {
            self.index(PortId { node: id, port: number }, port);
        }
        let added: Vec<Gid> = node.ports.iter().filter_map(in_service).collect();
        self.nodes.push(node);
        self.queues.push(Queues { next: Qpn::masked(FIRST_QPN), open: BTreeMap::new() });
        for gid in added {
            self.report_trap(TrapNumber::GID_IN_SERVICE, gid);
        }
        Ok(id)
    }

    /// Returns the number of nodes. Nodes are numbered from 1 to this number.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// Returns a node; `None` if no node has this number.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index()?)
    }

    /// Returns the first node with this name.
    #[must_use]
    pub fn node_by_name(&self, name: &str) -> Option<NodeId> {
        (1..).zip(&self.nodes).find(|(_, node)| node.name == name).map(|(number, _)| NodeId::new(number))
    }

    /// Returns a port.
    #[must_use]
    pub fn port(&self, id: PortId) -> Option<&Port> {
        self.node(id.node)?.ports.get(usize::from(id.port).checked_sub(1)?)
    }

    /// Returns all ports in the order of nodes and numbers.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &Port)> {
        (1..).zip(&self.nodes).flat_map(|(number, node)| {
            (1..).zip(&node.ports).map(move |(index, port)| (PortId::new(number, index), port))
        })
    }

    pub(super) fn port_ids(&self) -> Vec<PortId> {
        self.ports().map(|(id, _)| id).collect()
    }

    /// Returns the port with this LID.
    #[must_use]
    pub fn port_by_lid(&self, lid: Lid) -> Option<PortId> {
        self.lids.get(&lid).copied()
    }

    /// Returns the port with this GID.
    #[must_use]
    pub fn port_by_gid(&self, gid: Gid) -> Option<PortId> {
        self.gids.get(&gid).copied()
    }

    /// Changes a port. Each difference from the previous state causes an event. A port that is no longer active leaves
    /// its groups.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`], [`Error::LidTaken`]; the subnet is then unchanged.
    pub fn set_port(&mut self, id: PortId, port: Port) -> Result<(), Error> {
        self.set_ports(&BTreeMap::from([(id, port)]))
    }

    /// Changes several ports at once, so that they may exchange LIDs.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`], [`Error::LidTaken`]; the subnet is then unchanged.
    pub fn set_ports(&mut self, ports: &BTreeMap<PortId, Port>) -> Result<(), Error> {
        let mut owners = BTreeMap::new();
        for (id, port) in ports {
            self.port(*id).ok_or(Error::NoSuchPort(*id))?;
            for lid in lids(port) {
                let is_taken = self.lids.get(&lid).is_some_and(|owner| !ports.contains_key(owner));
                if is_taken || owners.insert(lid, *id).is_some() {
                    return Err(Error::LidTaken(lid));
                }
            }
        }
        for id in ports.keys() {
            self.remove_from_index(*id);
        }
        for (id, port) in ports {
            self.index(*id, port);
        }
        ports.iter().for_each(|(id, port)| self.replace(*id, port.clone()));
        Ok(())
    }

    /// Replaces a port and queues events for the differences. The caller has already added the new LIDs to the index.
    fn replace(&mut self, id: PortId, port: Port) {
        let Some(current) = self.port_mut(id) else { return };
        let new = port.clone();
        let old = core::mem::replace(current, port);
        let deleted = if old.state == PortState::ACTIVE && new.state != PortState::ACTIVE {
            self.sa.unsubscribe(id);
            self.sa.remove_memberships(id)
        } else {
            Vec::new()
        };
        for change in changes(&old, &new) {
            self.push_port_event(id, change);
        }
        let (before, after) = (in_service(&old), in_service(&new));
        if before != after {
            before.into_iter().for_each(|gid| self.report_trap(TrapNumber::GID_OUT_OF_SERVICE, gid));
            after.into_iter().for_each(|gid| self.report_trap(TrapNumber::GID_IN_SERVICE, gid));
        }
        deleted.into_iter().for_each(|mgid| self.report_trap(TrapNumber::MGID_DESTROYED, mgid));
    }

    /// Replaces the device of a node. The node gets this GUID, its ports get the GUIDs after it, and the first GID of
    /// each port has the port's new GUID.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`] with the node's first port if there is no such node.
    pub fn set_node_guid(&mut self, id: NodeId, guid: Guid) -> Result<(), Error> {
        let first = PortId { node: id, port: 1 };
        let node = id.index().and_then(|index| self.nodes.get_mut(index)).ok_or(Error::NoSuchPort(first))?;
        node.guid = guid;
        for (number, mut port) in (1..).zip(node.ports.clone()) {
            port.guid = Guid::new(guid.get().wrapping_add(u64::from(number)));
            if let Some(first) = port.gids.first_mut() {
                *first = Gid::from_parts(first.prefix(), port.guid);
            }
            self.set_port(PortId { node: id, port: number }, port)?;
        }
        Ok(())
    }

    /// Sets the state of a port.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`].
    pub fn set_port_state(&mut self, id: PortId, state: PortState) -> Result<(), Error> {
        let port = self.port(id).ok_or(Error::NoSuchPort(id))?.clone();
        self.set_port(id, Port { state, ..port })
    }

    /// Requests a new registration of a port, as the subnet manager does ([`PortChange::ClientReregister`]).
    ///
    /// # Errors
    /// [`Error::NoSuchPort`].
    pub fn reregister(&mut self, id: PortId) -> Result<(), Error> {
        self.port(id).ok_or(Error::NoSuchPort(id))?;
        self.push_port_event(id, PortChange::ClientReregister);
        Ok(())
    }

    /// Opens a UD queue pair with the next unused number of its node.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`], [`Error::NoSuchPkey`], [`Error::Exhausted`].
    pub fn create_qp(&mut self, port: PortId, qkey: Qkey, pkey_index: u16) -> Result<QpId, Error> {
        self.port(port).ok_or(Error::NoSuchPort(port))?;
        let queues = self.queues(port.node).ok_or(Error::NoSuchPort(port))?;
        let after = (queues.next.get()..Qpn::MULTICAST.get()).chain(FIRST_QPN..queues.next.get());
        let qpn = after.map(Qpn::masked).find(|qpn| !queues.open.contains_key(qpn));
        let qp = QpId { port, qpn: qpn.ok_or(Error::Exhausted("queue pair number"))? };
        self.create_qp_numbered(qp, qkey, pkey_index)?;
        if let Some(queues) = self.queues_mut(port.node) {
            queues.next = Qpn::masked(qp.qpn.get() + 1);
        }
        Ok(qp)
    }

    /// Opens a UD queue pair with a number that the caller chose.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`], [`Error::NoSuchPkey`], [`Error::QpnTaken`].
    pub fn create_qp_numbered(&mut self, qp: QpId, qkey: Qkey, pkey_index: u16) -> Result<(), Error> {
        let QpId { port, qpn } = qp;
        let pkeys = &self.port(port).ok_or(Error::NoSuchPort(port))?.pkeys;
        if usize::from(pkey_index) >= pkeys.len() {
            return Err(Error::NoSuchPkey { port, index: pkey_index });
        }
        let queues = self.queues_mut(port.node).ok_or(Error::NoSuchPort(port))?;
        if qpn <= Qpn::GSI || qpn == Qpn::MULTICAST || queues.open.contains_key(&qpn) {
            return Err(Error::QpnTaken(qp));
        }
        queues.open.insert(qpn, Queue { port: port.port, qkey, pkey_index });
        Ok(())
    }

    /// Closes a queue pair. Datagrams on their way to the queue pair are lost.
    ///
    /// # Errors
    /// [`Error::NoSuchQp`].
    pub fn destroy_qp(&mut self, qp: QpId) -> Result<(), Error> {
        self.queue(qp).ok_or(Error::NoSuchQp(qp))?;
        if let Some(queues) = self.queues_mut(qp.port.node) {
            queues.open.remove(&qp.qpn);
        }
        self.attached.retain(|_, members| {
            members.remove(&qp);
            !members.is_empty()
        });
        Ok(())
    }

    /// Attaches a queue pair to a group. The queue pair then receives the group's datagrams that reach the port.
    ///
    /// # Errors
    /// [`Error::NoSuchQp`], [`Error::NotMulticast`].
    pub fn attach(&mut self, qp: QpId, mgid: Gid) -> Result<(), Error> {
        self.queue(qp).ok_or(Error::NoSuchQp(qp))?;
        if !mgid.is_multicast() {
            return Err(Error::NotMulticast(mgid));
        }
        self.attached.entry(mgid).or_default().insert(qp);
        Ok(())
    }

    /// Detaches a queue pair from a group. Does nothing if it is not attached.
    ///
    /// # Errors
    /// [`Error::NoSuchQp`].
    pub fn detach(&mut self, qp: QpId, mgid: Gid) -> Result<(), Error> {
        self.queue(qp).ok_or(Error::NoSuchQp(qp))?;
        if let Some(members) = self.attached.get_mut(&mgid) {
            members.remove(&qp);
            if members.is_empty() {
                self.attached.remove(&mgid);
            }
        }
        Ok(())
    }

    /// Returns the index of a queue pair's P_Key in its port's table.
    #[must_use]
    pub fn pkey_index(&self, qp: QpId) -> Option<u16> {
        self.queue(qp).map(|queue| queue.pkey_index)
    }

    pub(super) fn queue(&self, qp: QpId) -> Option<Queue> {
        self.queues(qp.port.node)?.open.get(&qp.qpn).copied().filter(|queue| queue.port == qp.port.port)
    }

    fn queues(&self, node: NodeId) -> Option<&Queues> {
        self.queues.get(node.index()?)
    }

    fn queues_mut(&mut self, node: NodeId) -> Option<&mut Queues> {
        self.queues.get_mut(node.index()?)
    }

    fn lids_free(&self, port: &Port) -> Result<(), Error> {
        lids(port).find(|lid| self.lids.contains_key(lid)).map_or(Ok(()), |lid| Err(Error::LidTaken(lid)))
    }

    fn port_mut(&mut self, id: PortId) -> Option<&mut Port> {
        let node = self.nodes.get_mut(id.node.index()?)?;
        node.ports.get_mut(usize::from(id.port).checked_sub(1)?)
    }

    fn remove_from_index(&mut self, id: PortId) {
        let Some(old) = self.port(id) else { return };
        let (lids, gids): (Vec<Lid>, Vec<Gid>) = (lids(old).collect(), old.gids.clone());
        for lid in lids {
            self.lids.remove(&lid);
        }
        for gid in gids {
            if self.gids.get(&gid) == Some(&id) {
                self.gids.remove(&gid);
            }
        }
    }

    fn index(&mut self, id: PortId, port: &Port) {
        for lid in lids(port) {
            self.lids.insert(lid, id);
        }
        for gid in port.gids.iter().filter(|gid| !gid.is_zero()) {
            self.gids.entry(*gid).or_insert(id);
        }
    }
}

/// Returns the port's GID if the port carries packets.
fn in_service(port: &Port) -> Option<Gid> {
    Some(port.gid()).filter(|gid| port.carries() && !gid.is_zero())
}

/// Returns all LIDs of a port.
fn lids(port: &Port) -> impl Iterator<Item = Lid> + use<> {
    let first = port.lid.base(port.lmc).get();
    let last = if port.lid.is_unicast() { first.saturating_add(port.lmc.mask()) } else { 0 };
    (first..=last).map(Lid::new).filter(|lid| lid.is_unicast())
}

/// Returns the differences in the order in which a device reports them.
fn changes(old: &Port, new: &Port) -> Vec<PortChange> {
    let was_active = old.state == PortState::ACTIVE;
    let is_active = new.state == PortState::ACTIVE;
    [
        (PortChange::Down, was_active && !is_active),
        (PortChange::Lid, old.lid != new.lid || old.lmc != new.lmc),
        (PortChange::Sm, old.sm_lid != new.sm_lid || old.sm_sl != new.sm_sl),
        (PortChange::Pkey, old.pkeys != new.pkeys),
        (PortChange::Gid, old.gids != new.gids),
        (PortChange::Active, !was_active && is_active),
    ]
    .into_iter()
    .filter_map(|(change, is_different)| is_different.then_some(change))
    .collect()
}
