//! Why the demonstration failed.
use acm_client::{ClientError, ClientStatus};
use std::{io, path::PathBuf};

/// Why the demonstration failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error("building acm-mio: {0}")]
    Build(io::Error),
    #[error("building acm-mio failed")]
    NotBuilt,
    #[error("stopped by a signal")]
    Interrupted,
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{node} does not serve after {seconds} s; its log:\n{log}")]
    NotServing { node: String, seconds: u64, log: String },
    #[error("{node} ended by itself; its log:\n{log}")]
    Ended { node: String, log: String },
    #[error("{node} did not end when asked to and was killed; its log:\n{log}")]
    Killed { node: String, log: String },
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("talking to the daemon: {0}")]
    Client(#[from] ClientError),
    #[error("there are fewer than two nodes")]
    TooFew,
    #[error("no answer in {0} s")]
    NoAnswer(u64),
    #[error("the answer is to another request")]
    OtherAnswer,
    #[error("the daemon refuses: {0}")]
    Refused(ClientStatus),
    #[error("{from} did not resolve {what}: {problem}")]
    Unresolved { from: String, what: String, problem: Box<Self> },
    #[error("{from} was led to another port by {what} than by the name")]
    OtherPort { from: String, what: String },
    #[error("{from} asked others {queries} times for what it had asked for before")]
    NotCached { from: String, queries: u64 },
}

impl DemoError {
    /// Puts a place to an [`io::Error`].
    pub(super) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.into(), source }
    }
}
