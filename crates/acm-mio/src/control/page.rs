//! One page of the cache: the entries in some of its slots that meet a filter.
use super::{entry::Entry, filter::Filter};
use crate::peer::Peer;
use acm_sansio::{
    Account, Acm, Time,
    api::{CacheEntry, Names},
    id::DestId,
};
use serde::{Deserialize, Serialize};

/// Maximum number of the core's pages, of 256 slots each, that are read for one page, if no entry of the earlier ones has
/// the requested name and state. So a search for one name needs few requests.
const PAGES: usize = 8;

/// Calls its second argument for the entries in the next slots from the first one on, as [`Acm::cache_entries`] does.
type CorePage<'a> = &'a dyn Fn(usize, &mut dyn FnMut(CacheEntry)) -> Option<usize>;

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

/// The request that continues a removal of entries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Removal {
    /// The user and the program.
    pub(crate) by: (Account, Peer),
    pub(crate) conditions: String,
    /// The slot at which it continues.
    pub(crate) from: usize,
}

impl Page {
    /// Returns the entries of the page from a slot on, and their ids. A page has entries of at most 256 slots.
    pub(crate) fn read(acm: &Acm, now: Time, names: &dyn Names, filter: &Filter, from: usize) -> (Self, Vec<DestId>) {
        Self::visit(&|slot, emit| acm.cache_entries(slot, emit), now, names, filter, from)
    }

    fn visit(
        core_page: CorePage<'_>,
        now: Time,
        names: &dyn Names,
        filter: &Filter,
        from: usize,
    ) -> (Self, Vec<DestId>) {
        let (mut entries, mut ids, mut next) = (Vec::new(), Vec::new(), Some(from));
        for _ in 0..PAGES {
            let Some(slot) = next else { break };
            let mut is_cheap = true;
            next = core_page(slot, &mut |found| {
                if !filter.may_match(&found) {
                    return;
                }
                is_cheap = false;
                let entry = Entry::new(&found, now, names);
                if filter.matches(&entry) {
                    entries.push(entry);
                    ids.push(found.id);
                }
            });
            if !is_cheap {
                break;
            }
        }
        (Self { entries, next, host: None }, ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Parameters;
    use acm_sansio::{api::Ids, id::EndpointId};
    use acm_wire::Address;

    /// Returns the number of entries in the page from a slot on, and the next slot. The core has an entry in each of
    /// 10,000 slots, whose number is its name, and returns 256 at a time.
    fn page(word: &str, from: usize) -> (usize, Option<usize>) {
        let entry = |number: usize| CacheEntry {
            id: DestId::new(u32::try_from(number).unwrap(), 0),
            endpoint: EndpointId::new(0, 0),
            dest: Address::from_text(&format!("n{number}")),
            state: "located",
            cause: "user",
            gid: None,
            address_source: None,
            address_until: None,
            path: None,
            failure: None,
            conflict: None,
        };
        let core_page = |slot: usize, emit: &mut dyn FnMut(CacheEntry)| {
            let end = (slot + 256).min(10_000);
            (slot..end).for_each(|number| emit(entry(number)));
            (end < 10_000).then_some(end)
        };
        let filter = Filter::parse(Parameters::of_words(&[word.to_owned()]).unwrap()).unwrap();
        let (page, ids) = Page::visit(&core_page, Time::ZERO, &Ids, &filter, from);
        assert_eq!(page.entries.len(), ids.len());
        (ids.len(), page.next)
    }

    #[test]
    fn page_passes_over_2048_slots_without_the_requested_name_or_state() {
        assert_eq!(page("name=n9999", 0), (0, Some(2048)));
        assert_eq!(page("state=ready", 9000), (0, None));
        assert_eq!(page("name=n2047", 0), (1, Some(2048)));
        assert_eq!(page("name=n2048", 0), (0, Some(2048)));
        assert_eq!(page("name=n9*", 0), (11, Some(256)), "n9 and n90 to n99");
        assert_eq!(page("state=located", 512), (256, Some(768)));
        assert_eq!(page("user=7", 512), (0, Some(768)), "facts about each entry are collected");
    }
}
