//! Credits: the right to have one datagram or request outstanding, and the queue of those who wait for one.
use crate::{
    account::{AccountId, DAEMON, STRANGERS},
    fair::{FairQueue, Place},
};
use alloc::vec::Vec;

/// What strangers may have of the credits, and what goes on in the background: one part in so many each, but always one
/// when nobody else wants it.
const PART: u32 = 4;
/// Accounts that have places of their own for one item; those beyond wait with them.
const MOST_PLACES: usize = 16;

/// What strangers may have of `depth` credits, and what goes on in the background.
fn part(depth: u32) -> u32 {
    (depth / PART).max(1)
}

/// A credit that is held. To be given back to the queue that it came from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Credit {
    by: By,
}

/// Who has a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Accounts,
    Strangers,
    Background,
}

#[derive(Clone, Copy, Debug)]
struct AccountPlace {
    account: AccountId,
    place: Place,
}

/// The places of one item in a [`CreditQueue`]: one for each account that waits for it.
#[derive(Debug, Default)]
pub(crate) struct Places(Vec<AccountPlace>);

/// Items that wait for a credit: accounts by turn, then strangers, then what the daemon does in the background.
#[derive(Debug)]
pub(crate) struct CreditQueue<T> {
    local: FairQueue<T>,
    strangers: FairQueue<T>,
    background: FairQueue<T>,
    held: u32,
    held_by_strangers: u32,
    held_by_background: u32,
}

impl<T> Default for CreditQueue<T> {
    fn default() -> Self {
        let (local, strangers, background) = (FairQueue::new(), FairQueue::new(), FairQueue::new());
        Self { local, strangers, background, held: 0, held_by_strangers: 0, held_by_background: 0 }
    }
}

impl<T: Copy> CreditQueue<T> {
    fn side(&mut self, account: AccountId) -> &mut FairQueue<T> {
        match account {
            STRANGERS => &mut self.strangers,
            DAEMON => &mut self.background,
            _ => &mut self.local,
        }
    }

    /// Lets an account wait for the item, if it does not yet.
    pub(crate) fn join(&mut self, places: &mut Places, account: AccountId, item: T) {
        if places.0.len() < MOST_PLACES && !places.has(account) {
            let place = self.side(account).push(account.index(), item);
            places.0.push(AccountPlace { account, place });
        }
    }

    /// Puts an item that had its turn back to the front, for all accounts that wait for it.
    pub(crate) fn join_again(&mut self, places: &mut Places, accounts: impl Iterator<Item = AccountId>, item: T) {
        self.leave_all(places);
        for account in accounts.take(MOST_PLACES) {
            let place = self.side(account).push_first(account.index(), item);
            places.0.push(AccountPlace { account, place });
        }
    }

    /// An account does not wait for the item any more.
    pub(crate) fn leave(&mut self, places: &mut Places, account: AccountId) {
        if let Some(index) = places.0.iter().position(|place| place.account == account) {
            let place = places.0.swap_remove(index).place;
            self.side(account).remove(place);
        }
    }

    /// Nobody waits for the item any more.
    pub(crate) fn leave_all(&mut self, places: &mut Places) {
        for AccountPlace { account, place } in core::mem::take(&mut places.0) {
            self.side(account).remove(place);
        }
    }

    /// The next item, with the credit that it may use, if one of `depth` is left. Its other places are the caller's to
    /// take back.
    pub(crate) fn next(&mut self, depth: u32) -> Option<(T, Credit)> {
        let depth = depth.max(1);
        if self.held >= depth {
            return None;
        }
        let part = part(depth);
        let mut next = self.local.pop().map(|item| (item, By::Accounts));
        if next.is_none() && self.held_by_strangers < part {
            next = self.strangers.pop().map(|item| (item, By::Strangers));
        }
        if next.is_none() && self.held_by_background < part {
            next = self.background.pop().map(|item| (item, By::Background));
        }
        let (item, by) = next?;
        self.held += 1;
        self.held_by_strangers += u32::from(by == By::Strangers);
        self.held_by_background += u32::from(by == By::Background);
        Some((item, Credit { by }))
    }

    /// A credit for what does not wait here and goes before everything that does.
    pub(crate) fn take_credit(&mut self, depth: u32) -> Option<Credit> {
        let free = self.held < depth.max(1);
        self.held += u32::from(free);
        free.then_some(Credit { by: By::Accounts })
    }

    #[expect(clippy::needless_pass_by_value, reason = "who gives it back has it no more")]
    pub(crate) fn give_back(&mut self, credit: Credit) {
        self.held -= 1;
        self.held_by_strangers -= u32::from(credit.by == By::Strangers);
        self.held_by_background -= u32::from(credit.by == By::Background);
    }

    /// Credits that are held.
    pub(crate) const fn held(&self) -> u32 {
        self.held
    }

    /// Whether nobody holds more than `depth` allows: for checks.
    pub(crate) fn is_within(&self, depth: u32) -> bool {
        let parts = [self.held_by_strangers, self.held_by_background];
        self.held <= depth.max(1) && parts.iter().all(|held| *held <= part(depth))
    }

    /// Places that are taken: of accounts here, of strangers.
    pub(crate) const fn waiting(&self) -> (usize, usize) {
        (self.local.len(), self.strangers.len())
    }
}

impl Places {
    pub(crate) fn has(&self, account: AccountId) -> bool {
        self.0.iter().any(|place| place.account == account)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: AccountId = AccountId::new(5, 0);
    const B: AccountId = AccountId::new(6, 0);

    fn wait(queue: &mut CreditQueue<u32>, account: AccountId, items: core::ops::Range<u32>) -> Vec<Places> {
        items
            .map(|item| {
                let mut places = Places::default();
                queue.join(&mut places, account, item);
                places
            })
            .collect()
    }

    #[test]
    fn strangers_and_the_background_have_their_part_of_a_depth() {
        for account in [STRANGERS, DAEMON] {
            let mut queue = CreditQueue::default();
            let _places = wait(&mut queue, account, 0..9);
            let _held: Vec<_> = core::iter::from_fn(|| queue.next(8)).collect();
            assert_eq!((queue.held(), queue.is_within(8), queue.is_within(7)), (2, true, false));
        }
        let mut queue = CreditQueue::default();
        let _places = wait(&mut queue, A, 0..9);
        let _held: Vec<_> = core::iter::from_fn(|| queue.next(8)).collect();
        assert_eq!((queue.held(), queue.is_within(8), queue.is_within(7)), (8, true, false));
    }

    #[test]
    fn strangers_are_last_and_have_a_quarter() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, STRANGERS, 0..100);
        wait(&mut queue, A, 100..102);
        wait(&mut queue, B, 200..201);
        let mut items = Vec::new();
        let mut credits = Vec::new();
        while let Some((item, credit)) = queue.next(12) {
            items.push(item);
            credits.push(credit);
        }
        assert_eq!(items, [100, 200, 101, 0, 1, 2], "three of twelve are theirs, the other six are left for us");
        assert_eq!(queue.held(), 6);
        queue.give_back(credits.remove(0));
        assert_eq!(queue.next(12), None);
        queue.give_back(credits.pop().unwrap());
        assert_eq!(queue.next(12).unwrap().0, 3);
    }

    #[test]
    fn the_background_comes_after_strangers_and_has_a_quarter() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, DAEMON, 0..100);
        wait(&mut queue, STRANGERS, 100..103);
        wait(&mut queue, A, 200..201);
        let mut next = || queue.next(8).map(|(item, _)| item);
        assert_eq!([(); 6].map(|()| next()), [Some(200), Some(100), Some(101), Some(0), Some(1), None]);
    }

    #[test]
    fn a_single_credit_is_theirs_when_nobody_else_wants_it() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, STRANGERS, 0..2);
        let (item, credit) = queue.next(1).unwrap();
        wait(&mut queue, A, 9..10);
        assert_eq!((item, queue.next(1)), (0, None));
        queue.give_back(credit);
        assert_eq!(queue.next(0).map(|(item, _)| item), Some(9), "a depth of none is one");
    }

    #[test]
    fn an_item_has_a_place_for_each_account() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, A, 0..50);
        let mut places = wait(&mut queue, A, 50..51).remove(0);
        queue.join(&mut places, B, 50);
        queue.join(&mut places, B, 50);
        assert_eq!((places.len(), queue.waiting()), (2, (52, 0)));
        assert_eq!(queue.next(9).unwrap().0, 0);
        assert_eq!(queue.next(9).unwrap().0, 50, "at B's turn, not after all of A's");
        queue.leave_all(&mut places);
        assert_eq!((places.len(), queue.waiting()), (0, (49, 0)));
    }

    #[test]
    fn who_leaves_has_no_turn() {
        let mut queue = CreditQueue::default();
        let mut places = wait(&mut queue, A, 1..2).remove(0);
        queue.join(&mut places, B, 1);
        queue.leave(&mut places, A);
        assert!(!places.has(A) && places.has(B));
        queue.leave(&mut places, B);
        assert_eq!(queue.next(9), None);
    }

    #[test]
    fn what_comes_back_is_first() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, A, 1..3);
        let mut places = Places::default();
        queue.join_again(&mut places, [A].into_iter(), 0);
        let mut items = Vec::new();
        while let Some((item, _)) = queue.next(9) {
            items.push(item);
        }
        assert_eq!(items, [0, 1, 2]);
    }

    #[test]
    fn no_more_are_held_than_the_depth() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, A, 0..9);
        let held = (0..9).map_while(|_| queue.next(3)).count();
        assert_eq!((held, queue.held()), (3, 3));
    }

    #[test]
    fn what_does_not_wait_takes_a_credit_if_one_is_left() {
        let mut queue = CreditQueue::<u32>::default();
        let credit = queue.take_credit(1).unwrap();
        assert_eq!((queue.take_credit(1), queue.held()), (None, 1));
        queue.give_back(credit);
        assert_eq!(queue.held(), 0);
        assert!(queue.take_credit(0).is_some(), "a depth of none is one");
    }

    #[test]
    fn an_item_has_so_many_places_and_no_more() {
        let (mut queue, mut places) = (CreditQueue::default(), Places::default());
        for account in 3..40 {
            queue.join(&mut places, AccountId::new(account, 0), 1);
        }
        assert_eq!((places.len(), queue.waiting()), (16, (16, 0)));
        queue.join_again(&mut places, (3..40).map(|account| AccountId::new(account, 0)), 1);
        assert_eq!((places.len(), queue.waiting()), (16, (16, 0)));
    }
}
