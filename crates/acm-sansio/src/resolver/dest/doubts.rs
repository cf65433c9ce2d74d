//! Doubts about a cached fact, and the proofs that end them. A proof shows what was true when its request was sent, so a
//! request notes the number of doubts at that time, and its response ends those and no later ones.

/// The doubts of a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts {
    /// The number of all doubts. It may wrap around.
    raised: u32,
    /// The number of those that a proof ended.
    ended: u32,
}

/// The authority that proves a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The host itself: an address is there. Its silence after all repetitions leads to a query for the path.
    Host,
    /// A path of the subnet administrator: a GID or LID is there.
    Path,
}

impl Doubts {
    /// Raises a doubt.
    pub(crate) const fn raise(&mut self) {
        self.raised = self.raised.wrapping_add(1);
    }

    /// Raises a doubt if there is a reason.
    pub(crate) const fn raise_if(&mut self, has_reason: bool) {
        if has_reason {
            self.raise();
        }
    }

    /// Returns the number that a request notes when it is sent.
    pub(crate) const fn number(self) -> u32 {
        self.raised
    }

    /// Ends the doubts before the request that noted this number.
    pub(crate) const fn end(&mut self, number: u32) {
        if self.raised.wrapping_sub(number) < self.raised.wrapping_sub(self.ended) {
            self.ended = number;
        }
    }

    /// Reports whether a doubt is open.
    pub(crate) const fn are_open(self) -> bool {
        self.raised != self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proof_ends_the_doubts_before_its_request_and_no_later_ones() {
        for start in [0, u32::MAX, u32::MAX - 1] {
            let mut doubts = Doubts { raised: start, ended: start };
            let before = doubts.number();
            doubts.raise();
            let first = doubts.number();
            doubts.raise();
            doubts.end(before);
            assert!(doubts.are_open());
            doubts.end(first);
            assert!(doubts.are_open(), "the second one is later");
            doubts.end(doubts.number());
            assert!(!doubts.are_open());
            doubts.end(first);
            assert!(!doubts.are_open(), "an older proof changes nothing");
        }
    }
}
