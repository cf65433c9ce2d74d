//! Carries out the acts of a sequence, in the fabric and in the truth.
use super::{
    model::NOBODY,
    play::{End, Player},
    step::{Act, Target},
};
use crate::World;
use acm_sansio::Input;
use acm_wire::Address;
use core::time::Duration;
use ib_mad::{Gid, Guid, Lid, Pkey, PortState, Status};
use ib_sim::{Faults, Probability};
use std::collections::BTreeMap;

/// The first of the GUIDs that [`Act::Guid`] assigns.
const GUIDS: u64 = 0x77_0000;
/// The LIDs of subnet managers after [`Act::Failover`], which are below those of the nodes: the first one, and their
/// number.
const SM_LIDS: (u16, u16) = (2, 13);

impl Player<'_> {
    pub(super) fn end(&mut self, end: End) {
        match end {
            End::Up(node) => self.set_state(node, PortState::ACTIVE),
            End::Answering => {
                let sa = &mut self.world.subnet.settings_mut().sa;
                (sa.mute, sa.status, sa.response_delay) = (false, None, Duration::ZERO);
            }
            End::Noticing => self.world.subnet.settings_mut().sa.notices = true,
            End::Member(node) => self.change_ports(|port, is_it| {
                if is_it(node) {
                    port.pkeys = vec![Pkey::DEFAULT_FULL];
                }
            }),
            End::Running(node) => {
                self.world.continue_daemon(node);
                for (address, has_it) in self.unseen.remove(&node).unwrap_or_default() {
                    self.change_address(node, address, has_it);
                }
            }
            End::Hearing(node) => {
                self.ports().for_each(|from| self.world.subnet.set_link(from, World::port_id(node), None))
            }
        }
        self.note_places();
        self.world.settle();
    }

    fn set_state(&mut self, node: usize, state: PortState) {
        let _ = self.world.subnet.set_port_state(World::port_id(node), state);
    }

    /// Carries out an act. An act that names a node that does not exist has no effect.
    pub(super) fn act(&mut self, act: Act) {
        self.events += 1;
        let nodes = self.sequence.nodes as usize;
        let is_ours = |node| node < nodes && !self.c_nodes.has(node);
        match act {
            Act::Look { node, target } if node.max(target.of) < nodes => self.look(node, target),
            Act::Move { target, to } if target.of.max(to) < nodes => self.move_address(target, to),
            Act::Swap { one, other } if one.max(other) < nodes => self.exchange_lids(&[one, other]),
            Act::Rotate {} => self.exchange_lids(&(0..nodes).collect::<Vec<_>>()),
            Act::Bounce { node, ms } if node < nodes => {
                self.set_state(node, PortState::DOWN);
                self.end_after(ms, End::Up(node));
            }
            Act::Manager {} => self.world.subnet.restart_sm(None),
            Act::Register { node } if node < nodes => {
                self.world.subnet.drop_memberships(World::port_id(node));
                let _ = self.world.subnet.reregister(World::port_id(node));
            }
            Act::Delete {} => {
                let groups: Vec<Gid> = self.world.subnet.groups().map(|group| group.mgid).collect();
                groups.into_iter().for_each(|mgid| self.world.subnet.delete_group(mgid));
            }
            Act::Restart { node } if is_ours(node) && !self.world.is_stopped(node) => {
                // The new daemon numbers its clients from the start.
                self.requests.retain(|request| request.client.node != node);
                self.world.restart(node);
            }
            Act::Guid { node } if node < nodes => {
                let guid = Guid::new(GUIDS + 16 * self.events as u64);
                let _ = self.world.subnet.set_node_guid(World::port_id(node).node, guid);
            }
            Act::Mute { ms } => {
                self.world.subnet.settings_mut().sa.mute = true;
                self.end_after(ms, End::Answering);
            }
            Act::Busy { ms } => {
                self.world.subnet.settings_mut().sa.status = Some(Status::BUSY);
                self.end_after(ms, End::Answering);
            }
            Act::Lag { ms, by } => {
                self.world.subnet.settings_mut().sa.response_delay = Duration::from_millis(by.into());
                self.end_after(ms, End::Answering);
            }
            Act::Deaf { node, ms } if node < nodes => {
                let faults = Faults { loss: Probability::percent(50), ..self.world.subnet.settings().faults };
                self.ports().for_each(|from| self.world.subnet.set_link(from, World::port_id(node), Some(faults)));
                self.end_after(ms, End::Hearing(node));
            }
            Act::Device { node } if is_ours(node) && !self.world.is_stopped(node) => self.world.lose_endpoints(node),
            Act::Remove { target } if target.of < nodes => self.move_address(target, NOBODY),
            Act::Leave { node, ms } if node < nodes => {
                self.change_ports(|port, is_it| {
                    if is_it(node) {
                        port.pkeys = vec![Pkey::new(0x8001)];
                    }
                });
                self.end_after(ms, End::Member(node));
            }
            Act::Failover {} => {
                self.world.subnet.restart_sm(None);
                let lid = Lid::new(SM_LIDS.0 + self.events as u16 % SM_LIDS.1);
                self.change_ports(|port, _| port.sm_lid = lid);
            }
            Act::Quiet { ms } => {
                self.world.subnet.settings_mut().sa.notices = false;
                self.end_after(ms, End::Noticing);
            }
            Act::Stop { node, ms } if is_ours(node) => {
                self.world.stop_daemon(node);
                self.stopped.insert(node, self.world.now() + Duration::from_millis(ms.into()));
                self.end_after(ms, End::Running(node));
            }
            Act::Reload { node } if is_ours(node) && !self.world.is_stopped(node) => {
                let config = self.world.node(node).acm.config().clone();
                self.world.input(node, Input::Configure(config.into()));
            }
            _ => {}
        }
        self.note_places();
        self.world.settle();
        self.judge();
    }

    fn move_address(&mut self, target: Target, to: usize) {
        let (now, Some(address)) = (self.world.now(), target.address()) else { return };
        let from = self.truth.owner(target, now);
        // C ibacm neither announces an address nor refuses requests for it, so that nobody notices such a move.
        let was_at_c = self.truth.owners_of(target).any(|node| self.c_nodes.has(node));
        let is_unnoticed = self.c_nodes.has(from) && self.c_nodes.has(to) || was_at_c && to == NOBODY;
        if from != to && !is_unnoticed {
            self.change_address(from, address, false);
            self.change_address(to, address, true);
            self.truth.note_owner(now, target, to);
        }
    }

    /// Gives an address to a node, or takes it away, as soon as its daemon runs.
    fn change_address(&mut self, node: usize, address: Address, has_it: bool) {
        match (node, has_it) {
            (NOBODY, _) => {}
            _ if self.c_nodes.has(node) => self.c_nodes.change_address(node, address, has_it),
            _ if self.world.is_stopped(node) => self.unseen.entry(node).or_default().push((address, has_it)),
            (_, true) => self.world.add_address(node, address),
            (_, false) => self.world.remove_address(node, address),
        }
    }

    /// Changes all ports at once.
    fn change_ports(&mut self, change: impl Fn(&mut ib_sim::Port, &dyn Fn(usize) -> bool)) {
        let ports: BTreeMap<_, _> = (0..self.sequence.nodes as usize)
            .map(|node| {
                let mut port = self.world.port(node).clone();
                change(&mut port, &|other| other == node);
                (World::port_id(node), port)
            })
            .collect();
        let _ = self.world.subnet.set_ports(&ports);
    }

    /// Gives each node the LID of the next one.
    fn exchange_lids(&mut self, nodes: &[usize]) {
        let lids: Vec<_> = nodes.iter().map(|node| self.world.port(*node).lid).collect();
        let next = lids.iter().cycle().skip(1);
        let ports = nodes
            .iter()
            .zip(next)
            .map(|(node, lid)| (World::port_id(*node), ib_sim::Port { lid: *lid, ..self.world.port(*node).clone() }));
        let ports: BTreeMap<_, _> = ports.collect();
        let _ = self.world.subnet.set_ports(&ports);
    }
}
