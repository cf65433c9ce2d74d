//! The checks of what is cached while its path is served: the owner is asked before a renewal, or in doubt; the check of
//! another host's claim to the address, and the renewal of the path by the subnet administrator (SA).
//!
//! The check of a claim begins with a random pause, in which the owner may defend its address before the group. Then
//! the owner is asked by unicast, and after it the claimant. A claim that every node of a large fabric receives causes
//! no multicast request.
use super::{Lookup, MulticastRequest, Remote};
use crate::api::id::SaQueryId;
use ib_mad::{Gid, id::Lmc};

/// A query for the path, while the old one is served.
#[derive(Debug)]
pub(crate) struct Renewal {
    pub(crate) query: SaQueryId,
    pub(crate) lookup: Lookup,
    /// The endpoint's epoch when the query began.
    pub(crate) epoch: u32,
    /// The number of doubts when the query began.
    pub(crate) asked: u32,
}

/// The check of an address: hosts are asked if they have it, while its path is served.
#[derive(Debug)]
pub(crate) struct HostCheck {
    pub(crate) request: MulticastRequest,
    pub(crate) reason: CheckReason,
}

/// The reason for a [`HostCheck`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckReason {
    /// The path is renewed. Its owner is asked before the subnet administrator.
    Renewal,
    /// The owner may have lost the address since the last proof.
    Doubt,
    /// Another location claims the address.
    Claim(Claim),
}

impl CheckReason {
    /// Handles a response of the owner.
    pub(crate) const fn owner_responds(&mut self) -> Next {
        match self {
            Self::Renewal | Self::Doubt => Next::End(Outcome::Present),
            Self::Claim(claim) => claim.owner_responds(),
        }
    }

    /// Handles a response of another host, which may have the LID that was asked. Returns `None` if the check does not
    /// concern that host.
    pub(crate) fn other_responds(&mut self, host: &Remote, has_lid: bool, lmc: Lmc) -> Option<Next> {
        match self {
            Self::Claim(claim) if claim.claimant.is_same_port(host, lmc) => Some(claim.claimant_responds()),
            // The owner's port has another GID now, or the LID belongs to another port.
            Self::Renewal | Self::Doubt if has_lid => Some(Next::End(Outcome::Gone)),
            Self::Renewal | Self::Doubt | Self::Claim(_) => None,
        }
    }

    /// Handles the silence of the host that was asked.
    pub(crate) const fn silence(&mut self) -> Next {
        match self {
            Self::Renewal | Self::Doubt => Next::End(Outcome::Unanswered),
            Self::Claim(claim) => claim.silence(),
        }
    }

    /// Handles a refusal by the host that was asked, or by another host at its LID. `owner` is at the end of the path in
    /// use.
    pub(crate) fn refusal(&mut self, owner: Option<Gid>) -> Next {
        match self {
            Self::Renewal | Self::Doubt => Next::End(Outcome::Gone),
            Self::Claim(claim) => claim.refusal(owner),
        }
    }

    /// Returns the host that claims the address.
    pub(crate) const fn claimant(&self) -> Option<Remote> {
        match self {
            Self::Renewal | Self::Doubt => None,
            Self::Claim(claim) => Some(claim.claimant),
        }
    }
}

/// The check of a claim to an address in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The location that claims the address.
    pub(crate) claimant: Remote,
    /// `true` if the claimant is asked, after the owner.
    asks_claimant: bool,
    owner_responded: bool,
    owner_refused: bool,
    claimant_responded: bool,
}

/// The next step of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another response may come.
    Wait,
    /// Ask the host that claims the address.
    Ask(Remote),
    End(Outcome),
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Only the owner responded.
    Refuted,
    /// Only the claimant responded: it is the new owner.
    Confirmed,
    /// Both responded. The path in use stays.
    Conflict,
    /// Nobody responded. The path in use stays.
    Unanswered,
    /// The owner does not have the address any more, and the claimant does not have it either.
    Gone,
    /// The owner responded, and no other host claims the address.
    Present,
}

impl Claim {
    pub(crate) const fn new(claimant: Remote) -> Self {
        Self { claimant, asks_claimant: false, owner_responded: false, owner_refused: false, claimant_responded: false }
    }

    /// Handles a response of the owner.
    const fn owner_responds(&mut self) -> Next {
        self.owner_responded = true;
        if self.asks_claimant { Next::Wait } else { self.after_owner() }
    }

    /// Handles a response of the claimant. It comes unasked if the group is asked for the owner.
    const fn claimant_responds(&mut self) -> Next {
        self.claimant_responded = true;
        if self.asks_claimant { self.end() } else { Next::Wait }
    }

    /// Handles the silence of the host that was asked.
    const fn silence(&mut self) -> Next {
        if self.asks_claimant { self.end() } else { self.after_owner() }
    }

    /// Handles a refusal by the host that was asked. The claimant may be the owner at another LID.
    fn refusal(&mut self, owner: Option<Gid>) -> Next {
        if !self.asks_claimant || owner == Some(self.claimant.gid) {
            self.owner_refused = true;
        }
        self.silence()
    }

    const fn after_owner(&mut self) -> Next {
        if self.claimant_responded {
            return self.end();
        }
        self.asks_claimant = true;
        Next::Ask(self.claimant)
    }

    const fn end(self) -> Next {
        Next::End(match (self.owner_responded, self.claimant_responded) {
            (false, false) if self.owner_refused => Outcome::Gone,
            (true, false) => Outcome::Refuted,
            (false, true) => Outcome::Confirmed,
            (true, true) => Outcome::Conflict,
            (false, false) => Outcome::Unanswered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a check: `o` and `c` are responses of owner and claimant, `x` is a refusal by the host that was asked, `-` is
    /// silence. Returns the last step.
    fn play(events: &str) -> Next {
        let mut claim = Claim::new(Remote::default());
        let steps = events.chars().map(|event| match event {
            'o' => claim.owner_responds(),
            'c' => claim.claimant_responds(),
            'x' => claim.refusal(None),
            _ => claim.silence(),
        });
        steps.last().unwrap_or(Next::Wait)
    }

    #[test]
    fn claimant_is_asked_after_the_owner() {
        assert_eq!([play("o"), play("-"), play("x")], [Next::Ask(Remote::default()); 3]);
    }

    #[test]
    fn outcome_depends_on_which_hosts_respond() {
        for (events, outcome) in [
            ("o-", Outcome::Refuted),
            ("-c", Outcome::Confirmed),
            ("oc", Outcome::Conflict),
            ("--", Outcome::Unanswered),
            ("x-", Outcome::Gone),
            ("xx", Outcome::Gone),
            ("xc", Outcome::Confirmed),
            ("-x", Outcome::Unanswered),
            ("ox", Outcome::Refuted),
        ] {
            assert_eq!(play(events), Next::End(outcome), "{events}");
        }
    }

    #[test]
    fn refusal_by_an_owner_that_moved_ends_the_binding() {
        let mut claim = Claim::new(Remote::default());
        let steps = [claim.silence(), claim.refusal(Some(Gid::default()))];
        assert_eq!(steps, [Next::Ask(Remote::default()), Next::End(Outcome::Gone)]);
    }

    #[test]
    fn late_response_of_the_owner_counts() {
        assert_eq!(
            [play("-o"), play("-o-"), play("-oc")],
            [Next::Wait, Next::End(Outcome::Refuted), Next::End(Outcome::Conflict)]
        );
    }

    /// The queue pair of the owner is unknown, so that the group was asked.
    #[test]
    fn claimant_that_answers_the_group_waits_for_the_owner() {
        assert_eq!(
            [play("c"), play("c-"), play("co")],
            [Next::Wait, Next::End(Outcome::Confirmed), Next::End(Outcome::Conflict)]
        );
    }

    #[test]
    fn check_without_a_claim_ends_with_the_response_of_the_owner_with_its_refusal_or_with_silence() {
        let (mut check, lmc) = (CheckReason::Renewal, Lmc::default());
        assert_eq!(check.owner_responds(), Next::End(Outcome::Present));
        assert_eq!(check.other_responds(&Remote::default(), false, lmc), None);
        assert_eq!(check.other_responds(&Remote::default(), true, lmc), Some(Next::End(Outcome::Gone)));
        assert_eq!(check.silence(), Next::End(Outcome::Unanswered));
        assert_eq!(check.refusal(None), Next::End(Outcome::Gone));
    }

    #[test]
    fn only_owner_and_claimant_are_heard() {
        let at = |lid| Remote { lid: ib_mad::Lid::new(lid), ..Remote::default() };
        let mut check = CheckReason::Claim(Claim::new(at(4)));
        assert_eq!(check.other_responds(&at(5), true, Lmc::default()), None);
        assert_eq!(check.other_responds(&at(4), false, Lmc::default()), Some(Next::Wait));
        assert_eq!(check.silence(), Next::End(Outcome::Confirmed));
    }
}
