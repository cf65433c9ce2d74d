//! One page of the cache: the entries in some of its slots that meet a filter.
use super::{entry::Entry, filter::Filter};
use acm_sansio::{Acm, Time, api::Names, id::DestId};
use serde::{Deserialize, Serialize};

/// The response to a request for cache entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Page {
    pub(crate) entries: Vec<Entry>,
    /// The slot at which the next page begins; `None` at the end.
    pub(crate) next: Option<usize>,
    /// The GID in the host file of the requested address.
    #[serde(default)]
    pub(crate) host: Option<String>,
}

/// The response to a request to remove cache entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flushed {
    /// Number of entries that were removed.
    pub(crate) flushed: u64,
    /// The slot at which the next page begins; `None` at the end.
    pub(crate) next: Option<usize>,
}

impl Page {
    /// Returns the entries of the page from a slot on, and their ids.
    pub(crate) fn read(acm: &Acm, now: Time, names: &dyn Names, filter: &Filter, from: usize) -> (Self, Vec<DestId>) {
        let (mut entries, mut ids) = (Vec::new(), Vec::new());
        let next = acm.cache_entries(from, &mut |found| {
            let entry = Entry::new(&found, now, names);
            if filter.matches(&entry) {
                entries.push(entry);
                ids.push(found.id);
            }
        });
        (Self { entries, next, host: None }, ids)
    }
}
