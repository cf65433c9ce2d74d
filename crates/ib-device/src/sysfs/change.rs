//! What differs between two looks.
use super::{Device, Port};
use bitflags::bitflags;

/// A difference between two looks at the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A device that was not there. Open it.
    Added(String),
    /// A device that is not there any more, or that is another one under the same name (then [`Change::Added`]
    /// follows). Close it.
    Removed(String),
    /// A port of a device that stayed.
    Port {
        /// The device's name.
        device: String,
        /// The port's number.
        port: u8,
        /// What is different.
        changed: PortChange,
    },
}

bitflags! {
    /// What changed at a port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct PortChange: u8 {
        /// Logical state: whether the port can carry packets.
        const STATE = 1;
        /// LID or LMC.
        const LID = 2;
        /// Subnet manager's LID or service level.
        const SM = 4;
        /// P_Key table: what or where.
        const PKEYS = 8;
        /// GID table: what or where.
        const GIDS = 16;
        /// Rate of the link.
        const RATE = 32;
        /// Link layer or umad file.
        const OTHER = 64;
    }
}

/// What is different in `new`, in the order of removed, added and changed devices. For those who lost an event, or
/// never had any: scan again, compare, act.
#[must_use]
pub fn changes(old: &[Device], new: &[Device]) -> Vec<Change> {
    let mut changes = Vec::new();
    let same = |device: &Device, among: &[Device]| among.iter().any(|other| device.can_be(other));
    changes.extend(old.iter().filter(|device| !same(device, new)).map(|device| Change::Removed(device.name.clone())));
    changes.extend(new.iter().filter(|device| !same(device, old)).map(|device| Change::Added(device.name.clone())));
    for (before, after) in new.iter().filter_map(|after| Some((old.iter().find(|old| old.can_be(after))?, after))) {
        for (was, is) in before.ports.iter().zip(&after.ports) {
            let changed = port_change(was, is);
            if !changed.is_empty() {
                changes.push(Change::Port { device: after.name.clone(), port: is.number, changed });
            }
        }
    }
    changes
}

fn port_change(was: &Port, is: &Port) -> PortChange {
    let mut changed = PortChange::empty();
    changed.set(PortChange::STATE, was.state != is.state);
    changed.set(PortChange::LID, (was.lid, was.lmc) != (is.lid, is.lmc));
    changed.set(PortChange::SM, (was.sm_lid, was.sm_sl) != (is.sm_lid, is.sm_sl));
    changed.set(PortChange::PKEYS, was.pkeys != is.pkeys);
    changed.set(PortChange::GIDS, was.gids != is.gids);
    changed.set(PortChange::RATE, was.rate != is.rate);
    changed.set(PortChange::OTHER, was.link_layer != is.link_layer || was.umad != is.umad);
    changed
}
