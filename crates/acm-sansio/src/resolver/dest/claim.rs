//! The steps of the check of a claim: which host to ask next, and the outcome.
//!
//! A random pause comes first, in which the owner may defend its address before the group. Then the owner is asked by
//! unicast, and after it the claimant. A claim that every node of a large fabric receives causes no multicast request.
use super::Remote;

/// The check of a claim to an address in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The location that claims the address.
    pub(crate) claimant: Remote,
    /// `true` if the claimant is asked, after the owner.
    asks_claimant: bool,
    owner_responded: bool,
    claimant_responded: bool,
}

/// The next step of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another response may come.
    Wait,
    AskClaimant,
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
}

impl Claim {
    pub(crate) const fn new(claimant: Remote) -> Self {
        Self { claimant, asks_claimant: false, owner_responded: false, claimant_responded: false }
    }

    /// Handles a response of the owner.
    pub(crate) const fn owner_responds(&mut self) -> Next {
        self.owner_responded = true;
        if self.asks_claimant { Next::Wait } else { self.after_owner() }
    }

    /// Handles a response of the claimant. It comes unasked if the group is asked for the owner.
    pub(crate) const fn claimant_responds(&mut self) -> Next {
        self.claimant_responded = true;
        if self.asks_claimant { self.end() } else { Next::Wait }
    }

    /// Handles the silence of the host that was asked.
    pub(crate) const fn silence(&mut self) -> Next {
        if self.asks_claimant { self.end() } else { self.after_owner() }
    }

    const fn after_owner(&mut self) -> Next {
        if self.claimant_responded {
            return self.end();
        }
        self.asks_claimant = true;
        Next::AskClaimant
    }

    const fn end(self) -> Next {
        Next::End(match (self.owner_responded, self.claimant_responded) {
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

    /// Plays a check: `o` and `c` are responses of owner and claimant, `-` is silence. Returns the last step.
    fn play(events: &str) -> Next {
        let mut claim = Claim::new(Remote::default());
        let steps = events.chars().map(|event| match event {
            'o' => claim.owner_responds(),
            'c' => claim.claimant_responds(),
            _ => claim.silence(),
        });
        steps.last().unwrap_or(Next::Wait)
    }

    #[test]
    fn claimant_is_asked_after_the_owner() {
        assert_eq!([play("o"), play("-")], [Next::AskClaimant; 2]);
    }

    #[test]
    fn outcome_depends_on_which_hosts_respond() {
        for (events, outcome) in [
            ("o-", Outcome::Refuted),
            ("-c", Outcome::Confirmed),
            ("oc", Outcome::Conflict),
            ("--", Outcome::Unanswered),
        ] {
            assert_eq!(play(events), Next::End(outcome), "{events}");
        }
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
}
