//! Differences between two scans.
use super::{Device, Port};
use bitflags::bitflags;

/// A difference between two scans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A device was added. Open the device.
    Added(String),
    /// A device was removed, or was replaced by another device of the same name. Close the device. For a replaced
    /// device, [`Change::Added`] follows.
    Removed(String),
    /// A port of an existing device changed.
    Port {
        /// The device's name.
        device: String,
        /// The port's number.
        port: u8,
        /// The changed attributes.
        changed: PortChange,
    },
}

bitflags! {
    /// The changed attributes of a port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct PortChange: u8 {
        /// Logical state. A port carries packets only in the state "active".
        const STATE = 1;
        /// LID or LMC.
        const LID = 2;
        /// Subnet manager's LID or service level.
        const SM = 4;
        /// P_Key table: an entry, or the index of an entry.
        const PKEYS = 8;
        /// GID table: an entry, or the index of an entry.
        const GIDS = 16;
        /// Rate of the link.
        const RATE = 32;
        /// Link layer or umad file.
        const OTHER = 64;
    }
}

/// Returns the differences from `old` to `new`: first removed, then added, then changed devices. Use this function in
/// programs without events, and after events were lost.
#[must_use]
pub fn changes(old: &[Device], new: &[Device]) -> Vec<Change> {
    let mut changes = Vec::new();
    let contains = |devices: &[Device], device: &Device| devices.iter().any(|other| device.is_same_device(other));
    changes.extend(old.iter().filter(|device| !contains(new, device)).map(|gone| Change::Removed(gone.name.clone())));
    changes.extend(new.iter().filter(|device| !contains(old, device)).map(|added| Change::Added(added.name.clone())));
    let kept = new.iter().filter_map(|after| Some((old.iter().find(|old| old.is_same_device(after))?, after)));
    for (before, after) in kept {
        for (old, new) in before.ports.iter().zip(&after.ports) {
            let changed = port_change(old, new);
            if !changed.is_empty() {
                changes.push(Change::Port { device: after.name.clone(), port: new.number, changed });
            }
        }
    }
    changes
}

fn port_change(old: &Port, new: &Port) -> PortChange {
    let mut changed = PortChange::empty();
    changed.set(PortChange::STATE, old.state != new.state);
    changed.set(PortChange::LID, (old.lid, old.lmc) != (new.lid, new.lmc));
    changed.set(PortChange::SM, (old.sm_lid, old.sm_sl) != (new.sm_lid, new.sm_sl));
    changed.set(PortChange::PKEYS, old.pkeys != new.pkeys);
    changed.set(PortChange::GIDS, old.gids != new.gids);
    changed.set(PortChange::RATE, old.rate != new.rate);
    changed.set(PortChange::OTHER, old.link_layer != new.link_layer || old.umad != new.umad);
    changed
}
