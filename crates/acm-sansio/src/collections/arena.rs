//! An arena with generational handles.
use crate::api::id::{Handle, Key};
use alloc::vec::Vec;
use core::marker::PhantomData;

#[derive(Debug)]
enum Slot<T> {
    Free { next: Option<u32> },
    Used(T),
}

/// Slots per allocation. Growing moves no element, so inserting into a cache of a hundred thousand destinations stays
/// cheap.
const CHUNK: usize = 256;

/// Elements in reusable slots. The handle of a removed element finds nothing.
#[derive(Debug)]
pub(crate) struct Arena<K, T> {
    chunks: Vec<Vec<(u32, Slot<T>)>>,
    free: Option<u32>,
    len: usize,
    key: PhantomData<fn() -> K>,
}

impl<K: Key, T> Arena<K, T> {
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new(), free: None, len: 0, key: PhantomData }
    }

    pub(crate) fn slots(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    fn slot(&self, index: u32) -> Option<&(u32, Slot<T>)> {
        self.chunks.get(index as usize / CHUNK)?.get(index as usize % CHUNK)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut (u32, Slot<T>)> {
        self.chunks.get_mut(index as usize / CHUNK)?.get_mut(index as usize % CHUNK)
    }

    pub(crate) fn insert(&mut self, value: T) -> K {
        self.len += 1;
        if let Some(index) = self.free
            && let Some((generation, slot)) = self.slot_mut(index)
            && let Slot::Free { next } = *slot
        {
            *slot = Slot::Used(value);
            let generation = *generation;
            self.free = next;
            return K::from_handle(Handle { index, generation });
        }
        let index = u32::try_from(self.slots()).unwrap_or(u32::MAX);
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push((0, Slot::Used(value))),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push((0, Slot::Used(value)));
                self.chunks.push(chunk);
            }
        }
        K::from_handle(Handle { index, generation: 0 })
    }

    pub(crate) fn get(&self, key: K) -> Option<&T> {
        let Handle { index, generation } = key.handle();
        match self.slot(index) {
            Some((used, Slot::Used(value))) if *used == generation => Some(value),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut T> {
        let Handle { index, generation } = key.handle();
        match self.slot_mut(index) {
            Some((used, Slot::Used(value))) if *used == generation => Some(value),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<T> {
        let Handle { index, generation } = key.handle();
        let free = self.free;
        let (used, slot) = self.slot_mut(index)?;
        if *used != generation || matches!(slot, Slot::Free { .. }) {
            return None;
        }
        *used = used.wrapping_add(1);
        let value = core::mem::replace(slot, Slot::Free { next: free });
        self.free = Some(index);
        self.len -= 1;
        match value {
            Slot::Used(value) => Some(value),
            Slot::Free { .. } => None,
        }
    }

    /// Returns the handle of the element in a slot.
    pub(crate) fn key_at(&self, slot: usize) -> Option<K> {
        let index = u32::try_from(slot).ok()?;
        match self.slot(index)? {
            (generation, Slot::Used(_)) => Some(K::from_handle(Handle { index, generation: *generation })),
            _ => None,
        }
    }

    /// Returns all elements in slot order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        (0..).zip(self.chunks.iter().flatten()).filter_map(|(index, (generation, slot))| match slot {
            Slot::Used(value) => Some((K::from_handle(Handle { index, generation: *generation }), value)),
            Slot::Free { .. } => None,
        })
    }
}

impl<K, T> Arena<K, T> {
    pub(crate) const fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::id::RequestId;
    use proptest::prelude::*;

    #[test]
    fn elements_do_not_move_when_the_arena_grows() {
        let mut arena = Arena::<RequestId, usize>::new();
        let first = arena.insert(0);
        let address: *const usize = arena.get(first).unwrap();
        let keys: Vec<RequestId> = (1..10_000).map(|number| arena.insert(number)).collect();
        assert_eq!((arena.slots(), arena.len()), (10_000, 10_000));
        assert_eq!(arena.get(first).unwrap() as *const usize, address);
        assert!((1..).zip(&keys).all(|(number, key)| arena.get(*key) == Some(&number)));
    }

    #[test]
    fn slots_of_removed_elements_are_reused() {
        let mut arena = Arena::<RequestId, usize>::new();
        let keys = [0, 1, 2, 3].map(|number| arena.insert(number));
        for _ in 0..3 {
            let keys = [1, 2].map(|index| arena.remove(arena.key_at(keys[index].index() as usize).unwrap()));
            assert!(keys.iter().all(Option::is_some));
            (0..2).for_each(|number| _ = arena.insert(number));
        }
        assert_eq!((arena.slots(), arena.len()), (4, 4));
    }

    proptest! {
        /// Compares the arena with a list: present elements are found, removed ones are not, even if their slot is
        /// reused.
        #[test]
        fn arena_behaves_like_a_list(ops in proptest::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..200)) {
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
            for (key, value) in alive {
                prop_assert_eq!(arena.get(key), Some(&value));
                prop_assert_eq!(arena.key_at(key.index() as usize), Some(key));
            }
            for key in dead {
                prop_assert!(arena.get(key).is_none() && arena.get_mut(key).is_none() && arena.remove(key).is_none());
            }
        }
    }

    #[test]
    fn handle_is_displayed_as_index_and_generation() {
        assert_eq!(alloc::format!("{:?} {}", RequestId::new(3, 2), RequestId::new(4, 1)), "request3.2 request4.1");
    }
}
