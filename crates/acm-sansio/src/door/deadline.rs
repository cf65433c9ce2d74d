//! When the core wants to be woken, and why.
use crate::Time;
use core::fmt;

/// When [`Acm::handle_timeout`](crate::Acm::handle_timeout) must run next, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The instant. It may have passed: then there is something to do now.
    pub at: Time,
    /// What is due then.
    pub reason: Reason,
}

/// Why the core wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A request to subnet administration waited too long for its turn, was busy and may be sent again, or was in
    /// flight for longer than its sender could take.
    SaRequest,
    /// The kernel must have an answer, whatever it is.
    KernelRequest,
    /// A queue pair that could not be opened is tried again.
    OpenEndpoint,
    /// Notices are subscribed to, for the first time or again.
    Notices,
    /// The provider's own: with `ibacmp` a multicast request, a credit, a join, or the sweep of its cache.
    Provider(&'static str),
    /// The administrator is to be told how many requests failed.
    Failures,
    /// Groups that are being left at shutdown have had their time.
    Shutdown,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SaRequest => "a request to the SA",
            Self::KernelRequest => "a request of the kernel",
            Self::OpenEndpoint => "a queue pair to open",
            Self::Notices => "subscribing to notices",
            Self::Failures => "failed requests to be told of",
            Self::Provider(what) => what,
            Self::Shutdown => "shutdown",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn reasons_in_words() {
        let reasons =
            [Reason::SaRequest, Reason::KernelRequest, Reason::OpenEndpoint, Reason::Failures, Reason::Provider("x")];
        let words = [
            "a request to the SA",
            "a request of the kernel",
            "a queue pair to open",
            "failed requests to be told of",
            "x",
        ];
        assert_eq!(reasons.map(|reason| reason.to_string()), words);
    }
}
