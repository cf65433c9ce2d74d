//! The fabric: what carries the core's datagrams.
#[cfg(feature = "verbs")]
mod devices;
mod embedded;
mod inbox;
mod sim;

#[cfg(feature = "verbs")]
pub(crate) use devices::{Depths, Devices};
pub(crate) use embedded::Embedded;
pub(crate) use sim::Sim;

use acm_sansio::{
    EndpointId, Input, PortId, Time,
    output::{SaSend, SendTo},
};
use core::str::FromStr;
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad};
use std::{io, path::PathBuf};

/// What `--fabric` chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FabricChoice {
    /// Real devices.
    Devices,
    /// A simulated fabric in this process.
    Embedded,
    /// A simulated fabric that somebody else serves.
    Sim {
        /// Its socket.
        path: PathBuf,
        /// Which node to be; any free one without.
        node: Option<String>,
    },
}

impl FromStr for FabricChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "devices" => return Ok(Self::Devices),
            "embedded" => return Ok(Self::Embedded),
            _ => {}
        }
        let Some(rest) = text.strip_prefix("sim:") else {
            return Err("expected devices, embedded or sim:PATH?node=NAME".into());
        };
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let node = match query.map(|query| query.strip_prefix("node=")) {
            None => None,
            Some(Some(name)) if !name.is_empty() => Some(name.to_owned()),
            Some(_) => return Err("expected ?node=NAME after the path".into()),
        };
        if path.is_empty() {
            return Err("expected the path of the fabric's socket after sim:".into());
        }
        Ok(Self::Sim { path: PathBuf::from(path), node })
    }
}

/// What a fabric cannot do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FabricError {
    /// The simulated fabric cannot be reached or is gone.
    #[error("simulated fabric at {0}: {1}")]
    Sim(PathBuf, ib_sim::client::ClientError),
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

/// A port that a fabric has, as address files name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPort {
    pub(crate) id: PortId,
    pub(crate) device: String,
    pub(crate) number: u8,
}

/// What carries the core's datagrams. Nothing here blocks.
pub(crate) trait Fabric {
    /// Asks for wake-ups, under `first` and as many tokens after it as it wants.
    fn register(&mut self, registry: &mio::Registry, first: mio::Token) -> io::Result<()>;
    /// What has this token may have something to tell. Tokens of what is gone are passed over.
    fn ready(&mut self, _token: mio::Token) {}
    /// When [`Self::handle_timeout`] must be called; `None`: never.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
    /// What time it is: to be said before events are taken. Does what is due.
    fn handle_timeout(&mut self, _now: Time) {}
    /// What went wrong so far, in numbers, each with its name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// The ports that address files may name.
    fn ports(&self) -> Vec<NamedPort>;
    /// The port with this number of the device with this name.
    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId>;
    /// Whether there are ports that were not there when this was asked last.
    fn has_new_ports(&mut self) -> bool;
    /// The next thing to tell the core; `None` when there is none now. An error: the fabric is gone.
    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError>;
    /// Opens an endpoint's queue pair.
    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, FabricError>;
    /// Closes it.
    fn close_endpoint(&mut self, endpoint: EndpointId);
    /// Receives what is sent to a group.
    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid);
    /// Receives it no more.
    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid);
    /// Sends a datagram; one that cannot be sent is lost, as datagrams may be.
    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad);
    /// Sends a request to subnet administration; whether it went out.
    fn sa_send(&mut self, send: &SaSend) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let sim = |path: &str, node: Option<&str>| FabricChoice::Sim { path: path.into(), node: node.map(Into::into) };
        assert_eq!("devices".parse(), Ok(FabricChoice::Devices));
        assert_eq!("embedded".parse(), Ok(FabricChoice::Embedded));
        assert_eq!("sim:/tmp/x?node=node2".parse(), Ok(sim("/tmp/x", Some("node2"))));
        assert_eq!("sim:/tmp/x".parse(), Ok(sim("/tmp/x", None)));
        for bad in ["", "sim", "sim:", "sim:?node=a", "sim:/x?", "sim:/x?node=", "sim:/x?nude=a", "devices:"] {
            assert!(bad.parse::<FabricChoice>().is_err(), "{bad}");
        }
    }
}
