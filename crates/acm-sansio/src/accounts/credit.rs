//! Credits (the right to have one datagram or query outstanding) and the queue for them.
use crate::{
    accounts::fair::{FairQueue, Position, Urgency},
    api::account::{AccountId, DAEMON, REMOTE},
};
use alloc::vec::Vec;

/// Remote hosts may hold one credit in this many, and background work another one. Each may hold at least one if no
/// other item waits.
const SHARE_DIVISOR: u32 = 4;

/// Returns how many of `depth` credits remote hosts may hold, and how many background work may hold.
fn part(depth: u32) -> u32 {
    (depth / SHARE_DIVISOR).max(1)
}

/// A held credit. Return it to the queue that it came from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Credit {
    class: CreditClass,
}

/// The kind of work that holds a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CreditClass {
    Accounts,
    Remote,
    Background,
}

#[derive(Clone, Copy, Debug)]
struct AccountPosition {
    account: AccountId,
    urgency: Urgency,
    position: Position,
}

/// The positions of one item in a [`CreditQueue`]: one for each account that needs it.
#[derive(Debug, Default)]
pub(crate) struct QueuePositions(Vec<AccountPosition>);

/// Items that wait for a credit: local accounts in turn, then remote hosts, then the daemon's background work.
#[derive(Debug)]
pub(crate) struct CreditQueue<T> {
    local: FairQueue<T>,
    remote: FairQueue<T>,
    background: FairQueue<T>,
    held: u32,
    held_by_remote: u32,
    held_by_background: u32,
}

impl<T> Default for CreditQueue<T> {
    fn default() -> Self {
        let (local, remote, background) = (FairQueue::new(), FairQueue::new(), FairQueue::new());
        Self { local, remote, background, held: 0, held_by_remote: 0, held_by_background: 0 }
    }
}

impl<T: Copy> CreditQueue<T> {
    fn queue_of(&mut self, account: AccountId) -> &mut FairQueue<T> {
        match account {
            REMOTE => &mut self.remote,
            DAEMON => &mut self.background,
            _ => &mut self.local,
        }
    }

    /// Adds a position for an account, if the item has none for it yet. A position of another urgency moves.
    pub(crate) fn join(&mut self, positions: &mut QueuePositions, account: AccountId, urgency: Urgency, item: T) {
        match positions.0.iter().find(|position| position.account == account) {
            Some(position) if position.urgency == urgency => return,
            Some(_) => self.leave(positions, account),
            None => {}
        }
        let position = self.queue_of(account).push(account.index(), urgency, item);
        positions.0.push(AccountPosition { account, urgency, position });
    }

    /// Puts an item that had its turn back to the front, also before items that requests wait for, for all accounts
    /// that need it.
    pub(crate) fn rejoin(
        &mut self,
        positions: &mut QueuePositions,
        accounts: impl Iterator<Item = AccountId>,
        item: T,
    ) {
        self.leave_all(positions);
        for account in accounts {
            let position = self.queue_of(account).push_first(account.index(), item);
            positions.0.push(AccountPosition { account, urgency: Urgency::Waited, position });
        }
    }

    /// Returns the item that is last in the queue of an account.
    pub(crate) fn last(&self, account: AccountId, urgency: Urgency) -> Option<T> {
        self.local.last(account.index(), urgency).copied()
    }

    /// Removes the position of an account.
    pub(crate) fn leave(&mut self, positions: &mut QueuePositions, account: AccountId) {
        if let Some(index) = positions.0.iter().position(|position| position.account == account) {
            let position = positions.0.swap_remove(index).position;
            self.queue_of(account).remove(position);
        }
    }

    /// Removes all positions of an item.
    pub(crate) fn leave_all(&mut self, positions: &mut QueuePositions) {
        for AccountPosition { account, position, .. } in core::mem::take(&mut positions.0) {
            self.queue_of(account).remove(position);
        }
    }

    /// Returns the next item with its credit, if fewer than `depth` credits are held. The caller removes the item's
    /// other positions.
    pub(crate) fn next(&mut self, depth: u32) -> Option<(T, Credit)> {
        let depth = depth.max(1);
        if self.held >= depth {
            return None;
        }
        let part = part(depth);
        let mut next = self.local.pop().map(|item| (item, CreditClass::Accounts));
        if next.is_none() && self.held_by_remote < part {
            next = self.remote.pop().map(|item| (item, CreditClass::Remote));
        }
        if next.is_none() && self.held_by_background < part {
            next = self.background.pop().map(|item| (item, CreditClass::Background));
        }
        let (item, class) = next?;
        self.held += 1;
        self.held_by_remote += u32::from(class == CreditClass::Remote);
        self.held_by_background += u32::from(class == CreditClass::Background);
        Some((item, Credit { class }))
    }

    #[expect(clippy::needless_pass_by_value, reason = "a returned credit must not be used again")]
    pub(crate) fn give_back(&mut self, credit: Credit) {
        self.held -= 1;
        self.held_by_remote -= u32::from(credit.class == CreditClass::Remote);
        self.held_by_background -= u32::from(credit.class == CreditClass::Background);
    }

    /// Reports whether an item waits.
    pub(crate) const fn has_waiting(&self) -> bool {
        self.local.len() + self.remote.len() + self.background.len() > 0
    }

    /// Returns the number of held credits.
    pub(crate) const fn held(&self) -> u32 {
        self.held
    }

    /// Reports whether the held credits are within `depth`, for invariant checks.
    pub(crate) fn is_within(&self, depth: u32) -> bool {
        let parts = [self.held_by_remote, self.held_by_background];
        self.held <= depth.max(1) && parts.iter().all(|held| *held <= part(depth))
    }

    /// Returns the number of items of background work that wait or hold a credit.
    pub(crate) const fn background(&self) -> usize {
        self.background.len() + self.held_by_background as usize
    }

    /// Returns the number of positions: of local accounts, and of remote hosts.
    pub(crate) const fn waiting(&self) -> (usize, usize) {
        (self.local.len(), self.remote.len())
    }
}

impl QueuePositions {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: AccountId = AccountId::new(5, 0);
    const B: AccountId = AccountId::new(6, 0);

    fn wait(queue: &mut CreditQueue<u32>, account: AccountId, items: core::ops::Range<u32>) -> Vec<QueuePositions> {
        items
            .map(|item| {
                let mut positions = QueuePositions::default();
                queue.join(&mut positions, account, Urgency::Waited, item);
                positions
            })
            .collect()
    }

    #[test]
    fn remote_hosts_and_background_get_a_part_of_the_depth() {
        for account in [REMOTE, DAEMON] {
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

    // docs/deviations.md: order
    // docs/deadlines.md: multicast-credits, sa-credits
    #[test]
    fn remote_hosts_come_after_local_accounts_with_a_quarter() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, REMOTE, 0..100);
        wait(&mut queue, A, 100..102);
        wait(&mut queue, B, 200..201);
        let mut items = Vec::new();
        let mut credits = Vec::new();
        while let Some((item, credit)) = queue.next(12) {
            items.push(item);
            credits.push(credit);
        }
        assert_eq!(items, [200, 100, 101, 0, 1, 2], "remote hosts hold three of twelve; the other six stay free");
        assert_eq!(queue.held(), 6);
        queue.give_back(credits.remove(0));
        assert_eq!(queue.next(12), None);
        queue.give_back(credits.pop().unwrap());
        assert_eq!(queue.next(12).unwrap().0, 3);
    }

    #[test]
    fn background_comes_after_remote_hosts_with_a_quarter() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, DAEMON, 0..100);
        wait(&mut queue, REMOTE, 100..103);
        wait(&mut queue, A, 200..201);
        let mut next = || queue.next(8).map(|(item, _)| item);
        assert_eq!([(); 6].map(|()| next()), [Some(200), Some(100), Some(101), Some(0), Some(1), None]);
    }

    #[test]
    fn single_credit_serves_remote_hosts_when_no_other_item_waits() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, REMOTE, 0..2);
        let (item, credit) = queue.next(1).unwrap();
        wait(&mut queue, A, 9..10);
        assert_eq!((item, queue.next(1)), (0, None));
        queue.give_back(credit);
        assert_eq!(queue.next(0).map(|(item, _)| item), Some(9), "a depth of zero counts as one");
    }

    #[test]
    fn item_has_one_position_per_account() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, A, 0..50);
        let mut positions = wait(&mut queue, A, 50..51).remove(0);
        queue.join(&mut positions, B, Urgency::Waited, 50);
        queue.join(&mut positions, B, Urgency::Waited, 50);
        assert_eq!((positions.len(), queue.waiting()), (2, (52, 0)));
        assert_eq!(queue.next(9).unwrap().0, 50, "at B's turn, not after all of A's");
        queue.leave_all(&mut positions);
        assert_eq!((positions.len(), queue.waiting()), (0, (50, 0)));
    }

    #[test]
    fn position_moves_with_the_urgency_of_its_account() {
        let mut queue = CreditQueue::default();
        let mut positions = wait(&mut queue, A, 0..3);
        let mut set = |item: u32, urgency| queue.join(&mut positions[item as usize], A, urgency, item);
        set(0, Urgency::Ticket);
        set(1, Urgency::Ticket);
        set(0, Urgency::Waited);
        assert_eq!(queue.waiting(), (3, 0));
        let order: Vec<_> = core::iter::from_fn(|| queue.next(9)).map(|(item, _)| item).collect();
        assert_eq!(order, [2, 0, 1]);
    }

    #[test]
    fn account_that_leaves_gets_no_turn() {
        let mut queue = CreditQueue::default();
        let mut positions = wait(&mut queue, A, 1..2).remove(0);
        queue.join(&mut positions, B, Urgency::Waited, 1);
        queue.leave(&mut positions, A);
        assert_eq!(positions.len(), 1);
        queue.leave(&mut positions, B);
        assert_eq!(queue.next(9), None);
    }

    #[test]
    fn requeued_item_comes_first() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, A, 1..3);
        let mut positions = QueuePositions::default();
        queue.rejoin(&mut positions, [A].into_iter(), 0);
        let mut items = Vec::new();
        while let Some((item, _)) = queue.next(9) {
            items.push(item);
        }
        assert_eq!(items, [0, 1, 2]);
    }

    // docs/deadlines.md: multicast-credits
    #[test]
    fn held_credits_do_not_exceed_the_depth() {
        let mut queue = CreditQueue::default();
        wait(&mut queue, A, 0..9);
        let held = (0..9).map_while(|_| queue.next(3)).count();
        assert_eq!((held, queue.held()), (3, 3));
    }

    #[test]
    fn each_of_many_accounts_has_a_position_for_one_item() {
        let (mut queue, mut positions) = (CreditQueue::default(), QueuePositions::default());
        let accounts = || (3..40).map(|account| AccountId::new(account, 0));
        accounts().for_each(|account| queue.join(&mut positions, account, Urgency::Ticket, 1));
        assert_eq!((positions.len(), queue.waiting()), (37, (37, 0)));
        assert!(accounts().all(|account| queue.last(account, Urgency::Ticket) == Some(1)));
        queue.rejoin(&mut positions, accounts(), 1);
        assert_eq!((positions.len(), queue.waiting()), (37, (37, 0)));
        assert!(accounts().all(|account| queue.last(account, Urgency::Waited) == Some(1)));
    }
}
