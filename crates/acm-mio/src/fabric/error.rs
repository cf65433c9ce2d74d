//! What a fabric cannot do.
#[cfg(feature = "verbs")]
use acm_sansio::PortId;
use std::{io, path::PathBuf};

/// What a fabric cannot do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FabricError {
    /// The simulated fabric cannot be reached or is gone.
    #[error("simulated fabric at {0}: {1}")]
    Sim(PathBuf, ib_sim::client::ClientError),
    /// Nobody serves one there.
    #[error(
        "simulated fabric at {0}: {1}; nobody serves it: run `ib-sim serve --socket {0}`, or a daemon with --fabric embedded, first"
    )]
    NotServed(PathBuf, io::Error),
    /// It has no node of this name.
    #[error("simulated fabric at {0}: it has no node {1}; its nodes are {2}")]
    NoSuchNode(PathBuf, String, String),
    /// Each of its nodes has a program already.
    #[error("simulated fabric at {0}: a program runs at each of its nodes; give one of them, ?node=NAME: {1}")]
    NoFreeNode(PathBuf, String),
    /// The embedded fabric cannot be started.
    #[error("embedded fabric at {0}: {1}; give a --run-dir that you may write to")]
    Embedded(PathBuf, io::Error),
    /// This daemon was built without real devices.
    #[cfg(not(feature = "verbs"))]
    #[error(
        "this acm-mio was built without the feature `verbs`: no real devices; build it with the feature, or give --fabric sim:PATH"
    )]
    NoVerbs,
    /// A device does not do what was asked.
    #[cfg(feature = "verbs")]
    #[error("{0}: {1}; try --check")]
    Device(String, ib_device::Error),
    /// A port is gone.
    #[cfg(feature = "verbs")]
    #[error("port {n} is gone", n = .0.0)]
    NoPort(PortId),
    /// There is nothing to serve, and `--require-device` was given.
    #[error("no InfiniBand device; load its driver, or leave out --require-device to wait for one")]
    NoDevice,
}
