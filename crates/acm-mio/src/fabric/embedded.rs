//! A simulated fabric in this process: served from a thread on a socket, so that other daemons can join.
use super::{
    error::FabricError,
    interface::{Fabric, NamedPort},
    sim::Sim,
};
use crate::log::Lines;
use acm_sansio::{
    EndpointId, Input, PortId,
    door::{SaAddress, SaSend, SendTo},
};
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad, sa::SaMad};
use ib_sim::{
    Subnet, SubnetConfig,
    server::{Server, Stopper},
};
use mio::{Registry, Token};
use std::{
    io,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

/// Nodes of the fabric: this daemon is the first one.
const NODES: usize = 8;

/// The fabric's thread, and the way to it.
#[derive(Debug)]
pub(crate) struct Embedded {
    // Dropped before the thread is stopped.
    sim: Sim,
    _thread: Thread,
}

#[derive(Debug)]
struct Thread {
    stopper: Stopper,
    handle: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Embedded {
    /// Starts the fabric, with its socket at `path`, and attaches to it as node1. `seed` feeds its faults, if any are
    /// set later.
    pub(crate) fn start(path: &Path, seed: u64, lines: Lines) -> Result<Self, FabricError> {
        let failed = |error| FabricError::Embedded(path.to_owned(), error);
        let mut subnet = Subnet::new(SubnetConfig::default(), seed);
        for _ in 0..NODES {
            subnet.add_node().map_err(|error| failed(io::Error::other(error)))?;
        }
        let mut server = Server::bind(path, subnet).map_err(failed)?;
        let stopper = server.stopper();
        let handle = std::thread::Builder::new()
            .name("fabric".into())
            .spawn(move || {
                if let Err(error) = server.run() {
                    tracing::error!(target: "fabric", "embedded fabric stopped: {error}");
                }
            })
            .map_err(failed)?;
        let thread = Thread { stopper, handle: Some(handle), path: path.to_owned() };
        Ok(Self { sim: Sim::attach(path, Some("node1"), lines)?, _thread: thread })
    }
}

impl Fabric for Embedded {
    fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.sim.register(registry, token)
    }
    fn ready(&mut self, token: Token) {
        self.sim.ready(token);
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.sim.counters()
    }
    fn node_name(&self) -> Option<&str> {
        self.sim.node_name()
    }
    fn ports(&self) -> Vec<NamedPort> {
        self.sim.ports()
    }
    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        self.sim.port_named(device, number)
    }
    fn has_new_ports(&mut self) -> bool {
        self.sim.has_new_ports()
    }
    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
        self.sim.next_event()
    }
    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, FabricError> {
        self.sim.open_endpoint(endpoint, port, pkey_index)
    }
    fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.sim.close_endpoint(endpoint);
    }
    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.sim.attach(endpoint, mgid, mlid);
    }
    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.sim.detach(endpoint, mgid, mlid);
    }
    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad) {
        self.sim.send(endpoint, to, mad);
    }
    fn sa_send(&mut self, send: &SaSend) -> bool {
        self.sim.sa_send(send)
    }
    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad) {
        self.sim.sa_reply(port, to, mad);
    }
}
