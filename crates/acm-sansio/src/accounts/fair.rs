//! A fair queue: its lanes are served round-robin, so that a lane with many items delays only itself. A lane that had
//! no turn in this round comes before the others. Within a lane, items that a request waits for come before tickets.
use crate::{
    api::id::handle,
    collections::{
        arena::Arena,
        list::{Linked, Links, List},
    },
};
use alloc::{collections::VecDeque, vec::Vec};

handle! {
    /// A position in a [`FairQueue`].
    pub Position "position";
}

const IN_LANE: usize = 0;
/// After this many items that a request waits for, a lane yields a ticket. Tickets wait longer, but not forever.
const ITEMS_BEFORE_TICKET: u32 = 15;

/// The urgency of an item in its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// A request waits for the item.
    Waited,
    /// Only a ticket needs the item.
    Ticket,
}

#[derive(Debug)]
struct Item<T> {
    lane: u32,
    urgency: Urgency,
    value: T,
    links: Links<Position>,
}

impl<T> Linked<Position, IN_LANE> for Item<T> {
    fn links(&mut self) -> &mut Links<Position> {
        &mut self.links
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    waited: List<Position, IN_LANE>,
    tickets: List<Position, IN_LANE>,
    /// Number of items that came before the first ticket.
    before_ticket: u32,
    /// `true` if the lane is in `new` or `served`. An empty lane stays there until its next turn, and is then skipped.
    has_turn: bool,
}

impl Lane {
    fn list(&mut self, urgency: Urgency) -> &mut List<Position, IN_LANE> {
        match urgency {
            Urgency::Waited => &mut self.waited,
            Urgency::Ticket => &mut self.tickets,
        }
    }

    /// Returns the next item.
    fn first(&mut self) -> Option<Position> {
        let ticket = self.tickets.first();
        let waited = self.waited.first().filter(|_| ticket.is_none() || self.before_ticket < ITEMS_BEFORE_TICKET);
        self.before_ticket = if waited.is_some() && ticket.is_some() { self.before_ticket + 1 } else { 0 };
        waited.or(ticket)
    }
}

/// A queue of lanes with small numbers. Each lane in turn yields its oldest item of the highest urgency. All operations
/// take constant time, including removal from the middle.
#[derive(Debug)]
pub struct FairQueue<T> {
    items: Arena<Position, Item<T>>,
    lanes: Vec<Lane>,
    /// Lanes that were empty at their last turn. They come first, the newest of them before the others, so that a lane
    /// waits for no round of all lanes that came before it.
    new: Vec<u32>,
    /// Lanes that yielded an item. A lane stays here until its next turn even if it is empty, so that it is new at most
    /// once in a round.
    served: VecDeque<u32>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> FairQueue<T> {
    /// Creates an empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self { items: Arena::new(), lanes: Vec::new(), new: Vec::new(), served: VecDeque::new() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    /// Reports whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an item to its lane.
    pub fn push(&mut self, lane: u32, urgency: Urgency, value: T) -> Position {
        let position = self.items.insert(Item { lane, urgency, value, links: Links::default() });
        if let Some((lane, items)) = self.lane(lane) {
            lane.list(urgency).push_last(items, position);
        }
        self.give_turn(lane);
        position
    }

    /// Prepends an item that had its turn before to its lane.
    pub(crate) fn push_first(&mut self, lane: u32, value: T) -> Position {
        let urgency = Urgency::Waited;
        let position = self.items.insert(Item { lane, urgency, value, links: Links::default() });
        if let Some((lane, items)) = self.lane(lane) {
            lane.waited.push_first(items, position);
        }
        self.give_turn(lane);
        position
    }

    /// Removes and returns the first item of the lane whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        loop {
            let number = self.new.pop().or_else(|| self.served.pop_front())?;
            let Some((lane, items)) = self.lane(number) else { continue };
            lane.has_turn = false;
            let Some(position) = lane.first() else { continue };
            let Some(urgency) = items.get(position).map(|item| item.urgency) else { continue };
            lane.list(urgency).remove(items, position);
            lane.has_turn = true;
            self.served.push_back(number);
            return self.items.remove(position).map(|item| item.value);
        }
    }

    /// Returns the last item of this urgency in a lane.
    pub(crate) fn last(&self, lane: u32, urgency: Urgency) -> Option<&T> {
        let lane = self.lanes.get(lane as usize)?;
        let list = match urgency {
            Urgency::Waited => &lane.waited,
            Urgency::Ticket => &lane.tickets,
        };
        self.items.get(list.last()?).map(|item| &item.value)
    }

    /// Removes an item at any position.
    pub fn remove(&mut self, position: Position) -> Option<T> {
        let Item { lane, urgency, .. } = *self.items.get(position)?;
        if let Some((lane, items)) = self.lane(lane) {
            lane.list(urgency).remove(items, position);
        }
        self.items.remove(position).map(|item| item.value)
    }

    fn lane(&mut self, number: u32) -> Option<(&mut Lane, &mut Arena<Position, Item<T>>)> {
        let index = number as usize;
        if self.lanes.len() <= index {
            self.lanes.resize(index + 1, Lane::default());
        }
        Some((self.lanes.get_mut(index)?, &mut self.items))
    }

    fn give_turn(&mut self, number: u32) {
        if let Some((lane, _)) = self.lane(number)
            && !core::mem::replace(&mut lane.has_turn, true)
        {
            self.new.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all<T>(queue: &mut FairQueue<T>) -> Vec<T> {
        core::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn lanes_are_served_in_turn() {
        let mut queue = FairQueue::new();
        for item in ["a1", "a2", "a3"] {
            queue.push(0, Urgency::Waited, item);
        }
        queue.push(7, Urgency::Waited, "b1");
        queue.push(3, Urgency::Waited, "c1");
        queue.push(7, Urgency::Waited, "b2");
        assert_eq!(queue.len(), 6);
        assert_eq!(all(&mut queue), ["c1", "b1", "a1", "b2", "a2", "a3"]);
        assert_eq!((queue.len(), queue.pop()), (0, None));
    }

    #[test]
    fn new_lane_waits_for_no_other_lane() {
        let mut queue = FairQueue::new();
        for number in 0..3000 {
            queue.push(number % 1000, Urgency::Waited, number);
        }
        queue.push(1000, Urgency::Waited, 5000);
        assert_eq!(queue.pop(), Some(5000));
        (0..500).rev().for_each(|number| assert_eq!(queue.pop(), Some(500 + number)));
        queue.push(1001, Urgency::Waited, 5001);
        // Lane 1000 is not new again before each of the others had its turn.
        queue.push(1000, Urgency::Waited, 5002);
        assert_eq!(queue.pop(), Some(5001));
        (0..500).rev().for_each(|number| assert_eq!(queue.pop(), Some(number)));
        assert_eq!([queue.pop(), queue.pop()], [Some(5002), Some(1999)]);
    }

    #[test]
    fn last_item_of_a_lane_is_found_by_urgency() {
        let mut queue = FairQueue::new();
        for (urgency, item) in [(Urgency::Waited, "w1"), (Urgency::Ticket, "t1"), (Urgency::Waited, "w2")] {
            queue.push(3, urgency, item);
        }
        assert_eq!((queue.last(3, Urgency::Waited), queue.last(3, Urgency::Ticket)), (Some(&"w2"), Some(&"t1")));
        queue.push(4, Urgency::Ticket, "other");
        let lanes_without =
            [queue.last(4, Urgency::Waited), queue.last(2, Urgency::Ticket), queue.last(9, Urgency::Ticket)];
        assert_eq!(lanes_without, [None; 3]);
    }

    #[test]
    fn removed_item_gets_no_turn() {
        let mut queue = FairQueue::new();
        let (a, b) = (queue.push(0, Urgency::Waited, "a"), queue.push(1, Urgency::Waited, "b"));
        queue.push(1, Urgency::Waited, "c");
        assert_eq!((queue.remove(b), queue.remove(b), queue.remove(a)), (Some("b"), None, Some("a")));
        queue.push(2, Urgency::Waited, "d");
        // Lane 0 is empty and keeps its turn for the next item.
        queue.push(0, Urgency::Waited, "e");
        assert_eq!(all(&mut queue), ["d", "c", "e"]);
    }

    #[test]
    fn emptied_lane_comes_after_the_others() {
        let mut queue = FairQueue::new();
        queue.push(0, Urgency::Waited, "a");
        assert_eq!(queue.pop(), Some("a"));
        queue.push(1, Urgency::Waited, "b");
        queue.push(0, Urgency::Waited, "c");
        assert_eq!(all(&mut queue), ["b", "c"]);
    }

    #[test]
    fn requeued_item_is_first_of_its_lane() {
        let mut queue = FairQueue::new();
        queue.push(0, Urgency::Waited, "b");
        queue.push_first(0, "a");
        assert_eq!(all(&mut queue), ["a", "b"]);
    }

    #[test]
    fn tickets_come_after_fifteen_items_that_a_request_waits_for() {
        let mut queue = FairQueue::new();
        for (urgency, item, count) in [(Urgency::Ticket, "ticket", 4), (Urgency::Waited, "waited", 32)] {
            (0..count).for_each(|_| {
                queue.push(0, urgency, item);
            });
        }
        let items = all(&mut queue);
        let tickets: Vec<usize> = (0..items.len()).filter(|index| items[*index] == "ticket").collect();
        assert_eq!(tickets, [15, 31, 34, 35]);
    }

    #[test]
    fn tickets_of_a_lane_do_not_change_its_turns() {
        let mut queue = FairQueue::new();
        queue.push(0, Urgency::Ticket, "a2");
        queue.push(0, Urgency::Waited, "a1");
        queue.push(1, Urgency::Waited, "b1");
        queue.push(1, Urgency::Waited, "b2");
        let removed = queue.push(0, Urgency::Ticket, "removed");
        assert_eq!(queue.remove(removed), Some("removed"));
        assert_eq!(all(&mut queue), ["b1", "a1", "b2", "a2"]);
    }

    proptest! {
        /// No item is lost or duplicated; a lane's items keep their order; between two items of one lane, every other
        /// lane with items yields exactly one.
        #[test]
        fn fair_queue_behaves_like_its_model(ops in proptest::collection::vec((0..4_u32, any::<prop::sample::Index>()), 0..200)) {
            let mut queue = FairQueue::new();
            let mut lanes: [Vec<(usize, Position)>; 3] = Default::default();
            for (number, (op, which)) in ops.into_iter().enumerate() {
                let lane = which.index(3);
                match op {
                    0 | 1 => {
                        let position = queue.push(u32::try_from(lane).unwrap(), Urgency::Waited, (lane, number));
                        lanes[lane].push((number, position));
                    }
                    2 => if let Some((lane, number)) = queue.pop() {
                        prop_assert_eq!(lanes[lane].remove(0).0, number);
                    },
                    _ => if !lanes[lane].is_empty() {
                        let index = which.index(lanes[lane].len());
                        let (number, position) = lanes[lane].remove(index);
                        prop_assert_eq!(queue.remove(position), Some((lane, number)));
                    }
                }
                prop_assert_eq!(queue.len(), lanes.iter().map(Vec::len).sum::<usize>());
            }
            let rest = all(&mut queue);
            for (lane, items) in lanes.iter().enumerate() {
                let seen: Vec<usize> = rest.iter().filter(|(other, _)| *other == lane).map(|(_, number)| *number).collect();
                prop_assert_eq!(&seen, &items.iter().map(|(number, _)| *number).collect::<Vec<_>>());
            }
            // Between two turns of a lane, each other lane with items left yields exactly one.
            for (at, (lane, _)) in rest.iter().enumerate() {
                let Some(length) = rest[at + 1..].iter().position(|(other, _)| other == lane) else { continue };
                for other in (0..3).filter(|other| other != lane) {
                    let is_other = |item: &&(usize, usize)| item.0 == other;
                    let between = rest[at + 1..at + 1 + length].iter().filter(is_other).count();
                    let left = rest[at + 1..].iter().filter(is_other).count();
                    prop_assert_eq!(between, left.min(1));
                }
            }
        }
    }
}
