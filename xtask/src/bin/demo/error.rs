//! Errors of the demonstration.
use acm_client::ClientError;
use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error("stopped by a signal")]
    Stopped,
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("the daemon of {node} {problem}; its log:\n{log}")]
    Daemon { node: String, problem: &'static str, log: String },
    #[error("{node}: {error}")]
    Client { node: String, error: ClientError },
    #[error("{node} has not resolved {dest}: {error}")]
    Unresolved { node: String, dest: String, error: ClientError },
    #[error("{node}: the path to {dest} leads to another port than the path by name")]
    OtherPort { node: String, dest: String },
    #[error("{node} has sent {queries} queries for paths that it had resolved before")]
    NotCached { node: String, queries: u64 },
}
