//! Failed requests for the log.
use super::names::{DisplayWith, Names};
use crate::api::{
    account::Account,
    failure::{Attempt, Failure},
    id::{ClientId, EndpointId, KernelRequestId},
};
use acm_wire::Address;
use alloc::vec::Vec;
use core::fmt;

/// The requester of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestedBy {
    /// A client connection and its account.
    Client(ClientId, Account),
    /// The kernel, with the number of its request.
    Kernel(KernelRequestId),
}

impl DisplayWith for RequestedBy {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(client, account) => write!(f, "{} of {account}", client.named(names)),
            Self::Kernel(_) => f.write_str("the kernel"),
        }
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FailedRequest {
    /// The requester.
    pub by: RequestedBy,
    /// The requested destination; `None` if the request names none.
    pub dest: Option<Address>,
    /// The requested source, if the request names one and failed because of it.
    pub source: Option<Address>,
    /// The endpoint that was used; `None` if the request failed before an endpoint was chosen.
    pub endpoint: Option<EndpointId>,
    /// The failure, and what was tried.
    pub attempt: Attempt,
    /// The local addresses that would have been accepted, if the request failed because of its source.
    pub served: ServedAddresses,
}

/// The first local addresses that would have been accepted as a source, and the number of further ones.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ServedAddresses {
    first: Vec<Address>,
    more: usize,
}

impl ServedAddresses {
    /// The number of addresses that are listed.
    const MAX_LISTED: usize = 8;
}

impl FromIterator<Address> for ServedAddresses {
    fn from_iter<I: IntoIterator<Item = Address>>(all: I) -> Self {
        let mut all = all.into_iter();
        let first = all.by_ref().take(Self::MAX_LISTED).collect();
        Self { first, more: all.count() }
    }
}

impl fmt::Display for ServedAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "served are ";
        for address in &self.first {
            write!(f, "{before}{address}")?;
            before = ", ";
        }
        match (self.first.len(), self.more) {
            (0, _) => f.write_str("nothing is served: is a port active (ibstat)?"),
            (_, 0) => Ok(()),
            (_, more) => write!(f, " and {more} more"),
        }
    }
}

impl DisplayWith for FailedRequest {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("notice - ")?;
        if let Some(endpoint) = &self.endpoint {
            write!(f, "{}: ", endpoint.named(names))?;
        }
        write!(f, "failing request of {}", self.by.named(names))?;
        if let Some(dest) = &self.dest {
            write!(f, " for {dest}")?;
        }
        let Attempt { failure, details } = &self.attempt;
        match (failure, &self.source) {
            (Failure::NoSource, Some(source)) => write!(f, ": source address {source} is not ours; {}", self.served)?,
            (Failure::NoSource, None) => {
                write!(f, ": no active port begins a path to that subnet; {}", self.served)?;
            }
            _ => write!(f, ": {failure}{details}")?,
        }
        write!(f, "; status \"{}\"; {}", failure.status(), failure.advice())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::names::Ids, *};
    use crate::api::{
        SaError,
        failure::{AttemptDetails, MulticastAttempt},
    };
    use alloc::string::{String, ToString};
    use core::time::Duration;

    fn text(failed: &FailedRequest) -> String {
        failed.named(&Ids).to_string()
    }

    fn failed(attempt: impl Into<Attempt>) -> FailedRequest {
        FailedRequest {
            by: RequestedBy::Client(ClientId::new(3, 0), Account::User(7)),
            dest: Some(Address::from_text("nobody")),
            source: None,
            endpoint: None,
            attempt: attempt.into(),
            served: ServedAddresses::default(),
        }
    }

    #[test]
    fn failure_text_has_requester_attempts_status_and_advice() {
        let mgid = "ff12::1".parse().unwrap();
        let group = Some(MulticastAttempt { mgid, times: 3, time: Duration::from_secs(6) });
        let details = AttemptDetails { group, ..AttemptDetails::default() };
        let attempt = Attempt { failure: Failure::NoResponse, details };
        let here = FailedRequest { endpoint: Some(EndpointId::new(4, 2)), ..failed(attempt) };
        assert_eq!(
            text(&here),
            "notice - endpoint4.2: failing request of client3.0 of user 7 for nobody: no response from the group; \
             asked group ff12::1 3 times in 6.0 s; status \"timed out\"; is its node up, and does a daemon in the same \
             partition serve it (ib_acme -e)?"
        );
        let kernel = RequestedBy::Kernel(KernelRequestId(5));
        let late = FailedRequest { by: kernel, dest: None, ..failed(Failure::Sa(SaError::TimedOut)) };
        assert_eq!(
            text(&late),
            "notice - failing request of the kernel: path query: no answer from the SA; status \"timed out\"; does the subnet \
             manager run and answer (sminfo, saquery)?"
        );
    }

    #[test]
    fn failure_for_unknown_source_lists_local_addresses() {
        let source = Some(Address::from_text("elsewhere"));
        let not_ours = FailedRequest { source, ..failed(Failure::NoSource) };
        let text_of_sources = |count: usize| {
            let served = (0..count).map(|number| Address::from_text(&alloc::format!("n{number}"))).collect();
            text(&FailedRequest { served, ..not_ours.clone() })
        };
        assert!(
            text_of_sources(2)
                .contains(": source address elsewhere is not ours; served are n0, n1; status \"source address\"")
        );
        assert!(
            text_of_sources(10).contains("; served are n0, n1, n2, n3, n4, n5, n6, n7 and 2 more; status "),
            "{}",
            text_of_sources(10)
        );
        assert!(text_of_sources(0).contains(" is not ours; nothing is served: is a port active (ibstat)?; status "));
        assert!(text(&failed(Failure::NoSource)).contains(": no active port begins a path to that subnet;"));
    }
}
