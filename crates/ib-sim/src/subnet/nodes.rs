//! Nodes, ports, queue pairs: who is there.
use super::{
    Subnet,
    state::{Queue, Queues},
};
use crate::{Error, Node, NodeConfig, NodeId, Port, PortChange, PortId, QpId};
use alloc::{collections::BTreeMap, vec::Vec};
use ib_mad::{Gid, Guid, Lid, PortState, Qkey, Qpn, notice::TrapNumber};

/// The first queue pair number that is given out: lower ones are the two of every node and those of its kernel.
const FIRST_QPN: u32 = 0x40;

impl Subnet {
    /// Adds the next node as the configuration makes it ([`SubnetConfig::node`](crate::SubnetConfig::node)).
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
    /// [`Error::LidTaken`]; nothing has changed then.
    pub fn add_node_with(&mut self, node: NodeConfig) -> Result<NodeId, Error> {
        let id = NodeId::new(self.node_count().saturating_add(1));
        for (index, port) in node.ports.iter().enumerate() {
            self.lids_free(port)?;
            let clash =
                node.ports.iter().take(index).find(|other| lids(other).any(|lid| lids(port).any(|own| own == lid)));
            if clash.is_some() {
                return Err(Error::LidTaken(port.lid));
            }
        }
        for (number, port) in (1..).zip(&node.ports) {
            self.index(PortId { node: id, port: number }, port);
        }
        let come: Vec<Gid> = node.ports.iter().filter_map(in_service).collect();
        self.nodes.push(node);
        self.queues.push(Queues { next: Qpn::masked(FIRST_QPN), open: BTreeMap::new() });
        for gid in come {
            self.notice(TrapNumber::GID_IN_SERVICE, gid);
        }
        Ok(id)
    }

    /// How many nodes there are: their numbers are 1 to this.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// A node as it is now; `None` for a number that no node has.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index()?)
    }

    /// The first node with this name.
    #[must_use]
    pub fn node_by_name(&self, name: &str) -> Option<NodeId> {
        (1..).zip(&self.nodes).find(|(_, node)| node.name == name).map(|(number, _)| NodeId::new(number))
    }

    /// A port as it is now.
    #[must_use]
    pub fn port(&self, id: PortId) -> Option<&Port> {
        self.node(id.node)?.ports.get(usize::from(id.port).checked_sub(1)?)
    }

    /// Every port, by node and number.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &Port)> {
        (1..).zip(&self.nodes).flat_map(|(number, node)| {
            (1..).zip(&node.ports).map(move |(port, what)| (PortId::new(number, port), what))
        })
    }

    pub(super) fn port_ids(&self) -> Vec<PortId> {
        self.ports().map(|(id, _)| id).collect()
    }

    /// Who has this LID.
    #[must_use]
    pub fn port_by_lid(&self, lid: Lid) -> Option<PortId> {
        self.lids.get(&lid).copied()
    }

    /// Who has this GID.
    #[must_use]
    pub fn port_by_gid(&self, gid: Gid) -> Option<PortId> {
        self.gids.get(&gid).copied()
    }

    /// Changes a port: whatever differs from [`Subnet::port`] becomes an event. A port that is no longer active leaves
    /// its groups.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`], [`Error::LidTaken`]; nothing has changed then.
    pub fn set_port(&mut self, id: PortId, port: Port) -> Result<(), Error> {
        self.set_ports(&BTreeMap::from([(id, port)]))
    }

    /// Changes ports at once, as [`set_port`](Self::set_port) does: they may exchange LIDs.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`], [`Error::LidTaken`]; nothing has changed then.
    pub fn set_ports(&mut self, ports: &BTreeMap<PortId, Port>) -> Result<(), Error> {
        let mut owners = BTreeMap::new();
        for (id, port) in ports {
            self.port(*id).ok_or(Error::NoSuchPort(*id))?;
            for lid in lids(port) {
                let keeps_it = self.lids.get(&lid).is_some_and(|owner| !ports.contains_key(owner));
                if keeps_it || owners.insert(lid, *id).is_some() {
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

    /// Puts a port, whose LIDs are in the index already, in the place of the old one, and tells what is different.
    fn replace(&mut self, id: PortId, port: Port) {
        let Some(place) = self.port_mut(id) else { return };
        let new = port.clone();
        let old = core::mem::replace(place, port);
        let gone = if old.state == PortState::ACTIVE && new.state != PortState::ACTIVE {
            self.sa.unsubscribe(id);
            self.sa.forget(id)
        } else {
            Vec::new()
        };
        for change in changes(&old, &new) {
            self.tell(id, change);
        }
        let (was, is) = (in_service(&old), in_service(&new));
        if was != is {
            was.into_iter().for_each(|gid| self.notice(TrapNumber::GID_OUT_OF_SERVICE, gid));
            is.into_iter().for_each(|gid| self.notice(TrapNumber::GID_IN_SERVICE, gid));
        }
        gone.into_iter().for_each(|mgid| self.notice(TrapNumber::MGID_DESTROYED, mgid));
    }

    /// Puts another device in the place of a node's: the node has this GUID, its ports have those after it, and their
    /// first GIDs are made of these.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`] of its first port if there is no such node.
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

    /// Brings a port up or down.
    ///
    /// # Errors
    /// [`Error::NoSuchPort`].
    pub fn set_port_state(&mut self, id: PortId, state: PortState) -> Result<(), Error> {
        let port = self.port(id).ok_or(Error::NoSuchPort(id))?.clone();
        self.set_port(id, Port { state, ..port })
    }

    /// The subnet manager asks the port to register again ([`PortChange::ClientReregister`]).
    ///
    /// # Errors
    /// [`Error::NoSuchPort`].
    pub fn reregister(&mut self, id: PortId) -> Result<(), Error> {
        self.port(id).ok_or(Error::NoSuchPort(id))?;
        self.tell(id, PortChange::ClientReregister);
        Ok(())
    }

    /// Opens a UD queue pair with the next free number of its node.
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

    /// Opens a UD queue pair with a number of the caller's choice.
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

    /// Closes a queue pair. What is on its way to it is lost.
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

    /// Attaches a queue pair to a group: it receives the group's datagrams that reach its port.
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

    /// Detaches a queue pair from a group; no error if it was not attached.
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

    /// The place of a queue pair's P_Key in its port's table.
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

/// The GID that others reach a port by, if they do.
fn in_service(port: &Port) -> Option<Gid> {
    Some(port.gid()).filter(|gid| port.carries() && !gid.is_zero())
}

/// Every LID of a port.
fn lids(port: &Port) -> impl Iterator<Item = Lid> + use<> {
    let first = port.lid.base(port.lmc).get();
    let last = if port.lid.is_unicast() { first.saturating_add(port.lmc.mask()) } else { 0 };
    (first..=last).map(Lid::new).filter(|lid| lid.is_unicast())
}

/// What is different, in the order in which a device reports it.
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
    .filter_map(|(change, happened)| happened.then_some(change))
    .collect()
}
