//! A simulated fabric in this process. A thread serves it on a socket, so that other daemons can join.
use super::{error::FabricError, sim::Sim};
use crate::log::Lines;
use core::num::NonZeroU32;
use ib_sim::{
    Node, NodeId, Subnet, SubnetConfig,
    server::{Server, Stopper},
};
use std::{
    io,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

/// Number of nodes of the fabric: the maximum of `cargo xtask demo --nodes`. This daemon is the first node.
const NODES: usize = 64;

/// The thread that serves the fabric until the value is dropped.
#[derive(Debug)]
struct ServerThread {
    stopper: Stopper,
    handle: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Starts the fabric with its socket at `path`, and attaches to it as node1. `seed` determines the random faults that a
/// test may set later.
pub(crate) fn embedded(path: &Path, seed: u64, receive_depth: NonZeroU32, lines: Lines) -> Result<Sim, FabricError> {
    let failed = |error| FabricError::Embedded(path.to_owned(), error);
    let subnet = subnet(seed).map_err(|error| failed(io::Error::other(error)))?;
    let mut server = Server::bind(path, subnet).map_err(failed)?;
    let stopper = server.stopper();
    let run = move || {
        if let Err(error) = server.run() {
            tracing::error!(target: "fabric", "embedded fabric stopped: {error}");
        }
    };
    let handle = Some(std::thread::Builder::new().name("fabric".into()).spawn(run).map_err(failed)?);
    let server = ServerThread { stopper, handle, path: path.to_owned() };
    Ok(Sim::attach(path, Some("node1"), receive_depth, lines)?.with_server(server))
}

/// Returns the fabric before any program is attached.
fn subnet(seed: u64) -> Result<Subnet, ib_sim::Error> {
    let mut subnet = Subnet::new(SubnetConfig::default(), seed);
    for _ in 0..NODES {
        subnet.add_node()?;
    }
    Ok(subnet)
}

/// Returns the first node, which is the daemon's.
pub(crate) fn first_node() -> Option<Node> {
    subnet(0).ok()?.node(NodeId::new(1)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fabric::{Fabric, NamedPort},
        testing::LIMIT,
    };
    use acm_sansio::{
        EndpointId, Input, PortId, Time,
        api::{SaAddress, SaSend, SendFailure, SendTo},
    };
    use core::time::Duration;
    use ib_mad::{AddressVector, Gid, GlobalRoute, Lid, Qkey, Qpn, ServiceLevel, acm::AcmMad, sa::SaMad};
    use mio::{Events, Poll, Token};

    const HERE: EndpointId = EndpointId::new(3, 0);
    const PORT: PortId = PortId(0);

    /// An input of the core that does not borrow.
    #[derive(Debug, PartialEq, Eq)]
    enum OwnedInput {
        Up(Lid, Gid),
        Datagram { at: EndpointId, from: (Lid, Qpn, Option<Gid>), payload: Vec<u8> },
        Failed(acm_sansio::SaRequestId, SendFailure),
        Other(String),
    }

    impl OwnedInput {
        fn new(input: Input<'_>) -> Self {
            match input {
                Input::PortUp { port: PORT, attributes } => Self::Up(attributes.lid, attributes.gids[0]),
                Input::Datagram { endpoint, source, payload } => {
                    let from = (source.lid, source.qpn, source.gid);
                    Self::Datagram { at: endpoint, from, payload: payload.to_vec() }
                }
                Input::SaFailed { id, failure } => Self::Failed(id, failure),
                other => Self::Other(format!("{other:?}")),
            }
        }
    }

    /// Waits for the next input of a fabric.
    #[track_caller]
    fn next(fabric: &mut dyn Fabric, poll: &mut Poll) -> OwnedInput {
        let mut events = Events::with_capacity(4);
        loop {
            if let Some(input) = fabric.next_event().unwrap() {
                return OwnedInput::new(input);
            }
            poll.poll(&mut events, Some(LIMIT)).unwrap();
            assert!(!events.is_empty(), "nothing comes");
            events.iter().for_each(|event| fabric.ready(event.token()));
        }
    }

    fn registered(fabric: &mut dyn Fabric) -> Poll {
        let poll = Poll::new().unwrap();
        fabric.register(poll.registry(), Token(5)).unwrap();
        poll
    }

    #[test]
    fn joined_node_receives_datagrams() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let mut inside = embedded(&path, 1, NonZeroU32::MIN, Lines::default()).unwrap();
        let mut joined = Sim::attach(&path, Some("node2"), NonZeroU32::MIN, Lines::default()).unwrap();
        let mut polls = (registered(&mut inside), registered(&mut joined));
        let [OwnedInput::Up(lid, gid), OwnedInput::Up(dlid, dgid)] =
            [next(&mut inside, &mut polls.0), next(&mut joined, &mut polls.1)]
        else {
            panic!("ports are not up")
        };
        let from = inside.open_endpoint(HERE, PORT, 0).unwrap().unwrap();
        let qpn = joined.open_endpoint(HERE, PORT, 0).unwrap().unwrap();
        // No node has this LID. When the failure arrives, the queue pair exists, because the socket keeps the order of
        // requests.
        let (id, timeout) = (acm_sansio::SaRequestId::new(1, 2), Duration::from_millis(1));
        let to = SaAddress { lid: dlid, sl: ServiceLevel::default(), pkey_index: 0 };
        for (fabric, poll) in [(&mut inside as &mut dyn Fabric, &mut polls.0), (&mut joined, &mut polls.1)] {
            assert!(fabric.sa_send(&SaSend { port: PORT, id, to, mad: SaMad::default(), timeout, retries: 0 }));
            assert_eq!(next(fabric, poll), OwnedInput::Failed(id, SendFailure::TimedOut));
        }
        let way = AddressVector::local(dlid, ServiceLevel::default()).with_grh(GlobalRoute {
            dgid,
            hop_limit: 1,
            ..GlobalRoute::default()
        });
        let mad = AcmMad { transaction_id: ib_mad::TransactionId::new(7), ..AcmMad::default() };
        let payload = ib_mad::as_bytes(&mad).to_vec();
        for _ in 0..2 {
            inside.send(HERE, &SendTo { way, qpn, qkey: Qkey::GSI }, &mad);
            let input = next(&mut joined, &mut polls.1);
            let from = (lid, from, Some(gid));
            assert_eq!(input, OwnedInput::Datagram { at: HERE, from, payload: payload.clone() });
        }
        drop(inside);
        assert!(!path.exists());
        let error = loop {
            match joined.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let mut events = Events::with_capacity(4);
                    polls.1.poll(&mut events, Some(LIMIT)).unwrap();
                    assert!(!events.is_empty(), "no event although the fabric has ended");
                    joined.ready(Token(5));
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(error, FabricError::Sim(at, _) if at == path));
    }

    #[test]
    fn simulated_node_has_one_named_port() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let mut inside = embedded(&path, 1, NonZeroU32::MIN, Lines::default()).unwrap();
        let mut joined = Sim::attach(&path, None, NonZeroU32::MIN, Lines::default()).unwrap();
        for fabric in [&mut inside as &mut dyn Fabric, &mut joined] {
            assert_eq!(fabric.ports(), [NamedPort { id: PORT, device: "sim0".to_owned(), number: 1 }]);
            let named = [fabric.port_named(b"sim0", 1), fabric.port_named(b"sim0", 2), fabric.port_named(b"sim1", 1)];
            assert_eq!(named, [Some(PORT), None, None]);
            assert_eq!([fabric.has_new_ports(), fabric.has_new_ports()], [true, false]);
            assert_eq!(fabric.counters(), [("datagrams_lost", 0)]);
            assert_eq!(fabric.poll_timeout(), None::<Time>);
        }
    }
}
