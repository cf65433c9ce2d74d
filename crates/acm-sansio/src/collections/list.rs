//! Intrusive doubly linked lists: insertion and removal take constant time.
use crate::{api::id::Key, collections::arena::Arena};

/// The neighbours of an element in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links<K> {
    before: Option<K>,
    after: Option<K>,
}

impl<K: Copy> Links<K> {
    /// Returns the next element of the list.
    pub(crate) const fn next(&self) -> Option<K> {
        self.after
    }
}

impl<K> Default for Links<K> {
    fn default() -> Self {
        Self { before: None, after: None }
    }
}

/// The storage of the links of list `LIST`.
pub(crate) trait Nodes<K, const LIST: usize> {
    /// Returns the links of an element, if it exists.
    fn links(&mut self, key: K) -> Option<&mut Links<K>>;
}

/// An element of an [`Arena`] with links for list `LIST`.
pub(crate) trait Linked<K, const LIST: usize> {
    fn links(&mut self) -> &mut Links<K>;
}

impl<K: Key, T: Linked<K, LIST>, const LIST: usize> Nodes<K, LIST> for Arena<K, T> {
    fn links(&mut self, key: K) -> Option<&mut Links<K>> {
        self.get_mut(key).map(T::links)
    }
}

/// A list of keys. An element is in at most one list with the same `LIST`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<K, const LIST: usize> {
    first: Option<K>,
    last: Option<K>,
    len: usize,
}

impl<K, const LIST: usize> Default for List<K, LIST> {
    fn default() -> Self {
        Self { first: None, last: None, len: 0 }
    }
}

impl<K: Copy + PartialEq, const LIST: usize> List<K, LIST> {
    pub(crate) const fn first(&self) -> Option<K> {
        self.first
    }

    pub(crate) const fn last(&self) -> Option<K> {
        self.last
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Appends an element that is in no list.
    pub(crate) fn push_last(&mut self, nodes: &mut impl Nodes<K, LIST>, key: K) {
        let Some(links) = nodes.links(key) else { return };
        *links = Links { before: self.last, after: None };
        match self.last.and_then(|last| nodes.links(last)) {
            Some(last) => last.after = Some(key),
            None => self.first = Some(key),
        }
        self.last = Some(key);
        self.len += 1;
    }

    /// Prepends an element that is in no list.
    pub(crate) fn push_first(&mut self, nodes: &mut impl Nodes<K, LIST>, key: K) {
        let Some(links) = nodes.links(key) else { return };
        *links = Links { before: None, after: self.first };
        match self.first.and_then(|first| nodes.links(first)) {
            Some(first) => first.before = Some(key),
            None => self.last = Some(key),
        }
        self.first = Some(key);
        self.len += 1;
    }

    /// Removes an element that is in this list.
    pub(crate) fn remove(&mut self, nodes: &mut impl Nodes<K, LIST>, key: K) {
        let Some(Links { before, after }) = nodes.links(key).map(core::mem::take) else { return };
        match before.and_then(|before| nodes.links(before)) {
            Some(links) => links.after = after,
            None => self.first = after,
        }
        match after.and_then(|after| nodes.links(after)) {
            Some(links) => links.before = before,
            None => self.last = before,
        }
        self.len -= 1;
    }

    /// Moves an element that is in this list to its end.
    pub(crate) fn move_last(&mut self, nodes: &mut impl Nodes<K, LIST>, key: K) {
        // Often it is: an account uses one of its connections again and again.
        if self.last != Some(key) {
            self.remove(nodes, key);
            self.push_last(nodes, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::id::RequestId;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    struct Thing(Links<RequestId>, u32);
    impl Linked<RequestId, 0> for Thing {
        fn links(&mut self) -> &mut Links<RequestId> {
            &mut self.0
        }
    }

    proptest! {
        /// Compares the list with a vector after random operations.
        #[test]
        fn list_behaves_like_a_vector(ops in proptest::collection::vec((0..4_u8, any::<prop::sample::Index>()), 0..200)) {
            let mut arena = Arena::<RequestId, Thing>::new();
            let (mut list, mut model) = (List::<RequestId, 0>::default(), Vec::new());
            for (number, (op, which)) in (0..).zip(ops) {
                match op {
                    0 | 1 => {
                        let key = arena.insert(Thing(Links::default(), number));
                        if op == 0 { list.push_last(&mut arena, key); model.push(key); }
                        else { list.push_first(&mut arena, key); model.insert(0, key); }
                    }
                    _ if model.is_empty() => {}
                    2 => {
                        let key = model.remove(which.index(model.len()));
                        list.remove(&mut arena, key);
                        arena.remove(key);
                    }
                    _ => {
                        let key = model.remove(which.index(model.len()));
                        list.move_last(&mut arena, key);
                        model.push(key);
                    }
                }
            }
            prop_assert_eq!(list.len(), model.len());
            let numbers: Vec<u32> = model.iter().map(|key| arena.get(*key).unwrap().1).collect();
            let mut seen = Vec::new();
            while let Some(key) = list.first() {
                seen.push(arena.get(key).unwrap().1);
                list.remove(&mut arena, key);
            }
            prop_assert_eq!(seen, numbers);
            prop_assert_eq!(list.len(), 0);
        }
    }
}
