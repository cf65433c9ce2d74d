//! The destination with a key, made if there is none and there is room.
use super::{
    dest::{Class, DestKey},
    room::Room,
    state::Ibacmp,
    token::DestId,
};
use crate::{context::Context, id::EndpointId};

impl Ibacmp {
    /// The destination with a key that somebody here asks for, made if need be; `None` if there is no room.
    pub(super) fn acquire(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey) -> Option<DestId> {
        if let Some(id) = self.cache.find(endpoint, &key) {
            if self.cache.get(id).is_some_and(|dest| dest.class == Class::Unsolicited) {
                self.cache.set_class(id, Class::Wanted);
            }
            return Some(id);
        }
        self.make(cx, endpoint, key, Class::Wanted)
    }

    /// The destination with a key that a stranger told of, made if need be; `None` if there is no room.
    pub(super) fn learn_of(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey) -> Option<DestId> {
        self.cache.find(endpoint, &key).or_else(|| self.make(cx, endpoint, key, Class::Unsolicited))
    }

    fn make(&mut self, cx: &mut Context, endpoint: EndpointId, key: DestKey, class: Class) -> Option<DestId> {
        match self.cache.make_room(class, &cx.config().limits) {
            Room::Free => {}
            Room::Evicted => self.stats.destinations_evicted += 1,
            Room::None => {
                self.stats.destinations_refused += 1;
                return None;
            }
        }
        let id = self.cache.insert(endpoint, key, class);
        self.schedule_sweep(cx);
        Some(id)
    }
}
