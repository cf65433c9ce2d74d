//! What every fabric does.
use super::error::FabricError;
use acm_sansio::{
    EndpointId, Input, PortId, Time,
    api::{SaAddress, SaSend, SendTo},
};
use core::fmt;
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad, sa::SaMad};
use std::io;

/// A port that a fabric has, as address files name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPort {
    pub(crate) id: PortId,
    pub(crate) device: String,
    pub(crate) number: u8,
}

impl fmt::Display for NamedPort {
    /// In short: `mlx5_0/1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.device, self.number)
    }
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
    /// What a simulated fabric calls this node; `None` for real devices.
    fn node_name(&self) -> Option<&str> {
        None
    }
    /// The ports that address files may name.
    fn ports(&self) -> Vec<NamedPort>;
    /// The port that a device with this name has or had under this number: one that is away keeps its id.
    fn known_port(&self, device: &str, number: u8) -> Option<PortId> {
        let mut ports = self.ports().into_iter();
        ports.find(|port| port.device == device && port.number == number).map(|port| port.id)
    }
    /// The port with this number of the device with this name.
    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId>;
    /// Whether there are ports that were not there when this was asked last.
    fn has_new_ports(&mut self) -> bool;
    /// The next thing to tell the core; `None` when there is none now. An error: the fabric is gone.
    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError>;
    /// Opens an endpoint's queue pair.
    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, FabricError>;
    /// Closes the endpoint's queue pair.
    fn close_endpoint(&mut self, endpoint: EndpointId);
    /// Receives what is sent to a group.
    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid);
    /// Receives it no more.
    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid);
    /// Sends a datagram; one that cannot be sent is lost, as datagrams may be.
    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad);
    /// Sends a request to subnet administration; whether it went out.
    fn sa_send(&mut self, send: &SaSend) -> bool;
    /// Sends the answer to a report of subnet administration; one that cannot be sent is asked for again.
    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fabric that says of itself only what it must.
    struct Least;

    impl Fabric for Least {
        fn register(&mut self, _registry: &mio::Registry, _first: mio::Token) -> io::Result<()> {
            Ok(())
        }
        fn ports(&self) -> Vec<NamedPort> {
            let port = |id, device: &str, number| NamedPort { id: PortId(id), device: device.into(), number };
            vec![port(4, "a", 1), port(5, "a", 2), port(6, "b", 1)]
        }
        fn port_named(&self, _device: &[u8], _number: u8) -> Option<PortId> {
            None
        }
        fn has_new_ports(&mut self) -> bool {
            false
        }
        fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
            Ok(None)
        }
        fn open_endpoint(&mut self, _: EndpointId, port: PortId, _: u16) -> Result<Qpn, FabricError> {
            Err(FabricError::Embedded(port.0.to_string().into(), io::ErrorKind::Other.into()))
        }
        fn close_endpoint(&mut self, _endpoint: EndpointId) {}
        fn attach(&mut self, _endpoint: EndpointId, _mgid: Gid, _mlid: Lid) {}
        fn detach(&mut self, _endpoint: EndpointId, _mgid: Gid, _mlid: Lid) {}
        fn send(&mut self, _endpoint: EndpointId, _to: &SendTo, _mad: &AcmMad) {}
        fn sa_send(&mut self, _send: &SaSend) -> bool {
            false
        }
        fn sa_reply(&mut self, _port: PortId, _to: SaAddress, _mad: &SaMad) {}
    }

    #[test]
    fn what_a_fabric_need_not_say() {
        assert_eq!((Least.counters(), Least.node_name(), Least.poll_timeout()), (vec![], None, None));
        let known = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)].map(|(name, port)| Least.known_port(name, port));
        assert_eq!(known, [Some(4), Some(5), Some(6), None, None].map(|id| id.map(PortId)));
        assert_eq!(Least.ports()[1].to_string(), "a/2");
    }
}
