//! Failures of a fabric.
#[cfg(feature = "verbs")]
use acm_sansio::PortId;
use std::{io, path::PathBuf};

/// A failure of a fabric.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FabricError {
    /// The simulated fabric is unreachable, or has ended.
    #[error("simulated fabric at {0}: {1}")]
    Sim(PathBuf, ib_sim::client::ClientError),
    /// No process serves a fabric at this socket.
    #[error(
        "simulated fabric at {0}: {1}; nobody serves it: run `ib-sim serve --socket {0}`, or a daemon with --fabric embedded, first"
    )]
    NotServed(PathBuf, io::Error),
    /// The fabric has no node of this name.
    #[error("simulated fabric at {0}: it has no node {1}; its nodes are {2}")]
    NoSuchNode(PathBuf, String, String),
    /// Each node of the fabric is in use.
    #[error("simulated fabric at {0}: a program runs at each of its nodes; give one of them, ?node=NAME: {1}")]
    NoFreeNode(PathBuf, String),
    /// The embedded fabric cannot be started.
    #[error("embedded fabric at {0}: {1}; give a --run-dir that you may write to")]
    Embedded(PathBuf, io::Error),
    /// This daemon was built without support for devices.
    #[cfg(not(feature = "verbs"))]
    #[error(
        "this acm-mio was built without the feature `verbs`: no real devices; build it with the feature, or give --fabric sim:PATH"
    )]
    NoVerbs,
    /// The threads of devices cannot wake up the event loop.
    #[cfg(feature = "verbs")]
    #[error("no pipe for the threads of devices: {0}")]
    Threads(io::Error),
    /// A port was closed.
    #[cfg(feature = "verbs")]
    #[error("port {n} is gone", n = .0.0)]
    NoPort(PortId),
    /// There is no device, and `--require-device` was given.
    #[error("no InfiniBand device; load its driver, or leave out --require-device to wait for one")]
    NoDevice,
}
