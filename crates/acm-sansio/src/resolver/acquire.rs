//! Destinations of requests: found, or created.
use super::{
    cache::Eviction,
    dest::{DestKey, EvictionClass},
    state::Ibacmp,
    token::DestId,
};
use crate::{api::id::EndpointId, provider::Context};

impl Ibacmp {
    /// Returns the destination with a key for a local user's request and creates it if necessary. Returns `None` if the
    /// cache is full.
    pub(crate) fn acquire(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey) -> Option<DestId> {
        let Some(id) = self.cache.find(endpoint, &key) else {
            return self.create(cx, endpoint, key, EvictionClass::Probation);
        };
        if self.cache.at(id).class == EvictionClass::Unsolicited {
            self.cache.set_class(id, EvictionClass::Requested);
        }
        Some(id)
    }

    /// Returns the destination with a key from a remote host's request and creates it if necessary. Returns `None` if
    /// the cache is full.
    pub(crate) fn acquire_unsolicited(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        key: DestKey,
    ) -> Option<DestId> {
        self.cache.find(endpoint, &key).or_else(|| self.create(cx, endpoint, key, EvictionClass::Unsolicited))
    }

    fn create(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey, class: EvictionClass) -> Option<DestId> {
        match self.cache.make_room(class, &cx.shared.config().limits) {
            Eviction::NotNeeded => {}
            Eviction::Done => self.stats.destinations_evicted += 1,
            Eviction::Impossible => {
                self.stats.destinations_refused += 1;
                return None;
            }
        }
        let id = self.cache.insert(endpoint, key, class);
        self.schedule_sweep(cx);
        Some(id)
    }
}
