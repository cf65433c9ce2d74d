//! The next deadline of the core and its reason.
use crate::api::Time;
use core::fmt;

/// The instant at which [`Acm::handle_timeout`](crate::Acm::handle_timeout) must run next, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The instant. If it has passed, a timer is due now.
    pub at: Time,
    /// The kind of timer that is due.
    pub reason: Reason,
}

/// The kind of timer that is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A query to the subnet administrator: it waited too long for its turn, its pause after BUSY is over, or it was in
    /// flight for longer than its sender can take.
    SaRequest,
    /// The deadline of a kernel request.
    KernelRequest,
    /// The next attempt to open a queue pair.
    OpenEndpoint,
    /// A subscription to notices, for the first time or again.
    Notices,
    /// A timer of the provider. With `ibacmp`: a multicast request, a credit, a join, or the sweep of its cache.
    Provider(&'static str),
    /// The summary of failed requests for the administrator.
    Failures,
    /// The time-out for leaving groups at shutdown.
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
    fn reason_has_a_readable_text() {
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
