//! Service ids that paths from an endpoint depend on (`path_service_ids auto`), as far as responses of the subnet
//! administrator (SA) have shown.
//!
//! An SA without the capability QoS ignores service ids, so no query names one. Every other SA may have a rule for each
//! id and each destination, so each query names the requested id. The only exception are dynamic ports: the ports from
//! 32768 on, which rdma_cm assigns to programs that name none. A port space has 32768 of them, and a query for each
//! connection would be too many. Once enough pairs of them had equal paths to the same destination, all of them
//! share one path to each destination. One of them is compared again in each minute.
use crate::{
    api::{IdFinding, Time, id::SaQueryId},
    resolver::{dest::RouteKey, token::DestId},
};
use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;
use ib_mad::{ServiceId, sa::PathRecord};

/// The number of pairs of dynamic ports with equal paths after which all ports of the space share a path.
const ENOUGH: usize = 32;
/// The time between two comparisons of a port space whose ports share a path.
const COMPARE_AGAIN: Duration = Duration::from_secs(60);
/// The number of lookups whose service id may turn out not to count. Further lookups are queried with it.
const MOST_UNDECIDED: usize = 65_536;
/// The time until the SA is asked for its capabilities again after it did not return them.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// The bits that distinguish the ids of rdma_cm's port spaces (0x0000000001NNPPPP) with a port PPPP from 32768 on.
const DYNAMIC_MASK: u64 = 0xffff_ffff_ff00_8000;
const DYNAMIC: u64 = 0x0000_0000_0100_8000;
const PORT_IN_SPACE: u64 = 0x7fff;

/// Returns the first dynamic port of the id's port space, if the id is a dynamic port.
fn first_of_space(id: ServiceId) -> Option<ServiceId> {
    (id.get() & DYNAMIC_MASK == DYNAMIC).then(|| ServiceId::new(id.get() & !PORT_IN_SPACE))
}

/// The rules of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct IdRules {
    sa: Sa,
    /// The SA did not return its capabilities when they were last requested. Stays so until it returns them.
    silent: bool,
    /// Port spaces by their first dynamic port.
    spaces: BTreeMap<u64, Space>,
    /// Lookups whose service id may turn out not to count.
    undecided: Vec<DestId>,
}

/// The capabilities of the SA, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sa {
    /// Nothing so far. They may be requested from this time on.
    Unknown(Time),
    Requested(SaQueryId),
    /// It ignores service ids.
    WithoutQos,
    WithQos,
}

impl Default for Sa {
    fn default() -> Self {
        Self::Unknown(Time::ZERO)
    }
}

/// The dynamic ports of a port space.
#[derive(Debug)]
enum Space {
    /// The first path to each destination, and the number of pairs with equal paths.
    Learning { first: Vec<FirstPath>, equal: usize },
    /// Their paths are equal. The next one is compared at this time.
    Alike(Time),
    /// Their paths differ.
    Different,
}

/// The first path to a destination; `None` if there is none.
#[derive(Debug)]
struct FirstPath {
    to: RouteKey,
    id: ServiceId,
    path: Option<PathRecord>,
}

fn without_id(path: &PathRecord) -> PathRecord {
    PathRecord { service_id: ServiceId::default(), ..*path }
}

impl IdRules {
    /// Returns the id that the query for a path names instead of `id`, and that the path is cached by. Zero stands for
    /// none.
    pub(crate) fn canonical(&self, id: ServiceId) -> ServiceId {
        match self.sa {
            Sa::WithoutQos => ServiceId::default(),
            Sa::Unknown(_) | Sa::Requested(_) => id,
            Sa::WithQos => match first_of_space(id) {
                Some(first) if matches!(self.spaces.get(&first.get()), Some(Space::Alike(_))) => first,
                _ => id,
            },
        }
    }

    /// Does the same for a new request. Once a minute it returns a dynamic port itself, so that its path is compared.
    pub(crate) fn id_to_query(&mut self, now: Time, id: ServiceId) -> ServiceId {
        let canonical = self.canonical(id);
        match self.spaces.get_mut(&canonical.get()) {
            Some(Space::Alike(compare_at)) if canonical != id && *compare_at <= now => {
                *compare_at = now + COMPARE_AGAIN;
                id
            }
            _ => canonical,
        }
    }

    /// Reports whether the SA's capabilities are to be requested.
    pub(crate) fn needs_capabilities(&self, now: Time) -> bool {
        matches!(self.sa, Sa::Unknown(since) if since <= now)
    }

    /// Records the query for the capabilities.
    pub(crate) const fn requested(&mut self, query: SaQueryId) {
        self.sa = Sa::Requested(query);
    }

    /// Reports whether the SA was asked for its capabilities and has not returned them.
    pub(crate) const fn is_silent(&self) -> bool {
        self.silent
    }

    /// Records whether the SA supports QoS; `None` if it did not return its capabilities.
    pub(crate) fn answered(&mut self, now: Time, has_qos: Option<bool>) -> Option<IdFinding> {
        self.silent = has_qos.is_none();
        self.sa = match has_qos {
            None => Sa::Unknown(now + ASK_AGAIN),
            Some(false) => Sa::WithoutQos,
            Some(true) => Sa::WithQos,
        };
        has_qos.map(|has_qos| if has_qos { IdFinding::Supported } else { IdFinding::Ignored })
    }

    /// Records the path of a query, or that the SA has none. `shared` is the cached path that all dynamic ports of the
    /// space share. Returns a new finding.
    pub(crate) fn learn(
        &mut self,
        now: Time,
        key: &RouteKey,
        path: Option<&PathRecord>,
        shared: Option<&PathRecord>,
    ) -> Option<IdFinding> {
        let (id, path) = (key.service_id, path.map(without_id));
        let first_port = first_of_space(id).filter(|_| self.sa == Sa::WithQos)?;
        let space = self.spaces.entry(first_port.get()).or_insert(Space::Learning { first: Vec::new(), equal: 0 });
        match space {
            Space::Learning { first, equal } => {
                let to = RouteKey { service_id: ServiceId::default(), ..*key };
                match first.iter().find(|other| other.to == to) {
                    Some(other) if other.id == id => None,
                    Some(other) if other.path != path => {
                        *space = Space::Different;
                        Some(IdFinding::PortsDiffer)
                    }
                    Some(_) => {
                        *equal += 1;
                        (*equal == ENOUGH).then(|| {
                            *space = Space::Alike(now + COMPARE_AGAIN);
                            IdFinding::PortsAlike
                        })
                    }
                    None => {
                        if first.len() < ENOUGH {
                            first.push(FirstPath { to, id, path });
                        }
                        None
                    }
                }
            }
            Space::Alike(_) if shared.is_some_and(|shared| Some(without_id(shared)) != path) => {
                *space = Space::Different;
                Some(IdFinding::PortsDiffer)
            }
            Space::Alike(_) | Space::Different => None,
        }
    }

    /// Reports whether the canonical id of `id` may change by a response that is still to come.
    fn is_undecided(&self, id: ServiceId) -> bool {
        match self.sa {
            Sa::Unknown(_) | Sa::Requested(_) => true,
            Sa::WithoutQos => false,
            Sa::WithQos => first_of_space(id)
                .is_some_and(|first| matches!(self.spaces.get(&first.get()), None | Some(Space::Learning { .. }))),
        }
    }

    /// Records a lookup whose service id may turn out not to count.
    pub(crate) fn note_lookup(&mut self, id: ServiceId, dest: DestId) {
        if self.is_undecided(id) && self.undecided.len() < MOST_UNDECIDED {
            self.undecided.push(dest);
        }
    }

    /// Records such a lookup again: its path is still unknown, or its service id is still undecided.
    pub(crate) fn keep_lookup(&mut self, canonical: ServiceId, id: ServiceId, dest: DestId) {
        if canonical != id || self.is_undecided(id) {
            self.undecided.push(dest);
        }
    }

    /// Returns the lookups recorded so far.
    pub(crate) fn take_undecided(&mut self) -> Vec<DestId> {
        core::mem::take(&mut self.undecided)
    }

    /// Drops everything known after a change of the port or of the subnet manager. Returns the query for the
    /// capabilities, if one is open.
    pub(crate) fn reset(&mut self) -> Option<SaQueryId> {
        self.spaces.clear();
        match core::mem::take(&mut self.sa) {
            Sa::Requested(query) => Some(query),
            Sa::Unknown(_) | Sa::WithoutQos | Sa::WithQos => None,
        }
    }
}

#[cfg(test)]
mod tests;
