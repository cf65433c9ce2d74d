//! The paths that a node's clients read without a request.
use acm_sansio::{Acm, EndpointId, Time, api::Publication};
use acm_wire::Address;
use ib_mad::sa::PathRecord;
use std::collections::BTreeMap;

/// A model of the memory that a daemon shares with its clients.
#[derive(Debug, Default)]
pub struct Published {
    sources: BTreeMap<Address, EndpointId>,
    paths: BTreeMap<(EndpointId, Address), (PathRecord, Time)>,
}

impl Published {
    /// Applies a change.
    pub fn apply(&mut self, now: Time, publication: Publication) {
        match publication {
            Publication::Source { address, endpoint: Some(endpoint) } => {
                self.sources.insert(address, endpoint);
            }
            Publication::Source { address, endpoint: None } => {
                self.sources.remove(&address);
            }
            Publication::Path { endpoint, dest, path, lifetime } => {
                self.paths.insert((endpoint, dest), (path, now + lifetime));
            }
            Publication::Withdrawn { endpoint, dest } => {
                self.paths.remove(&(endpoint, dest));
            }
            Publication::AllWithdrawn(endpoint) => self.paths.retain(|(other, _), _| *other != endpoint),
        }
    }

    /// Returns the path that a client reads; `None` if it must send a request. A destination that is a GID or LID needs
    /// no source.
    #[must_use]
    pub fn path(&self, now: Time, source: Option<&Address>, dest: &Address) -> Option<PathRecord> {
        let source = match (*dest, source) {
            (Address::Gid(gid), _) => Address::Gid(ib_mad::Gid::from_parts(gid.prefix(), ib_mad::Guid::default())),
            (Address::Lid(_), _) => Address::Lid(ib_mad::Lid::NONE),
            (_, source) => source?.canonical(),
        };
        let endpoint = *self.sources.get(&source)?;
        let (path, until) = self.paths.get(&(endpoint, dest.canonical()))?;
        (now < *until).then_some(*path)
    }

    /// Returns the number of published paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Reports whether no path is published.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Checks that a request would get each published path from the cache.
    ///
    /// # Panics
    /// If a published path is not in the cache, or is marked as stale there, or if anything is published without the
    /// option.
    pub fn check(&self, acm: &Acm, now: Time) {
        assert!(acm.config().shared_cache || self.sources.is_empty() && self.paths.is_empty(), "at {now}: {self:?}");
        for ((endpoint, dest), (path, _)) in self.paths.iter().filter(|(_, (_, until))| now < *until) {
            let fresh = acm.fresh_path(*endpoint, dest);
            assert_eq!(fresh, Some(*path), "at {now}: {dest} from {endpoint} is published");
        }
    }
}
