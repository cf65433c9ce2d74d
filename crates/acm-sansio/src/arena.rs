//! Things with handles that go stale.
use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};

/// Names a thing in an [`Arena`]: its place, and how often the place was used before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Handle {
    /// Place.
    pub index: u32,
    /// How often the place was used before.
    pub generation: u32,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// A handle of one kind of thing.
pub(crate) trait Key: Copy {
    fn from_handle(handle: Handle) -> Self;
    fn handle(self) -> Handle;
}

#[derive(Debug)]
enum Slot<T> {
    Free { next: Option<u32> },
    Used(T),
}

/// Things in places that are used again. A handle of a thing that is gone finds nothing.
#[derive(Debug)]
pub(crate) struct Arena<K, T> {
    slots: Vec<(u32, Slot<T>)>,
    free: Option<u32>,
    len: usize,
    key: PhantomData<fn() -> K>,
}

impl<K: Key, T> Arena<K, T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: None, len: 0, key: PhantomData }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// How many places there are, used or not.
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> K {
        self.len += 1;
        if let Some(index) = self.free
            && let Some((generation, slot)) = self.slots.get_mut(index as usize)
        {
            if let Slot::Free { next } = *slot {
                self.free = next;
            }
            *slot = Slot::Used(value);
            return K::from_handle(Handle { index, generation: *generation });
        }
        let index = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        self.slots.push((0, Slot::Used(value)));
        K::from_handle(Handle { index, generation: 0 })
    }

    pub(crate) fn get(&self, key: K) -> Option<&T> {
        let Handle { index, generation } = key.handle();
        match self.slots.get(index as usize) {
            Some((own, Slot::Used(value))) if *own == generation => Some(value),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut T> {
        let Handle { index, generation } = key.handle();
        match self.slots.get_mut(index as usize) {
            Some((own, Slot::Used(value))) if *own == generation => Some(value),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<T> {
        let Handle { index, generation } = key.handle();
        let (own, slot) = self.slots.get_mut(index as usize)?;
        if *own != generation || matches!(slot, Slot::Free { .. }) {
            return None;
        }
        *own = own.wrapping_add(1);
        self.len -= 1;
        let next = self.free.replace(index);
        match core::mem::replace(slot, Slot::Free { next }) {
            Slot::Used(value) => Some(value),
            Slot::Free { .. } => None,
        }
    }

    /// What is at a place, with its handle.
    pub(crate) fn at(&mut self, place: usize) -> Option<(K, &mut T)> {
        let index = u32::try_from(place).ok()?;
        match self.slots.get_mut(place)? {
            (generation, Slot::Used(value)) => Some((K::from_handle(Handle { index, generation: *generation }), value)),
            _ => None,
        }
    }

    /// All things in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        (0..).zip(&self.slots).filter_map(|(index, (generation, slot))| match slot {
            Slot::Used(value) => Some((K::from_handle(Handle { index, generation: *generation }), value)),
            Slot::Free { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RequestId;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list: what is in is found, what is out is not, even where its place is used again.
        #[test]
        fn model(ops in proptest::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..200)) {
            let mut arena = Arena::<RequestId, usize>::new();
            let (mut alive, mut dead) = (Vec::new(), Vec::new());
            for (number, (insert, which)) in ops.into_iter().enumerate() {
                if insert || alive.is_empty() {
                    alive.push((arena.insert(number), number));
                } else {
                    let (key, value) = alive.swap_remove(which.index(alive.len()));
                    prop_assert_eq!(arena.remove(key), Some(value));
                    dead.push(key);
                }
            }
            prop_assert_eq!(arena.len(), alive.len());
            prop_assert_eq!(arena.iter().count(), alive.len());
            for (key, value) in alive { prop_assert_eq!(arena.get(key), Some(&value)); }
            for key in dead { prop_assert!(arena.get(key).is_none() && arena.remove(key).is_none()); }
        }
    }
}
