//! The interface of every fabric.
use super::error::FabricError;
use acm_sansio::{
    EndpointId, Input, PortId, Time,
    api::{SaAddress, SaSend, SendTo},
};
use core::fmt;
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad, sa::SaMad};
use std::io;

/// A port of a fabric, identified as in address files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPort {
    pub(crate) id: PortId,
    pub(crate) device: String,
    pub(crate) number: u8,
}

impl fmt::Display for NamedPort {
    /// Writes the short form: `mlx5_0/1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.device, self.number)
    }
}

/// A carrier of the core's datagrams and requests. No function blocks.
pub(crate) trait Fabric {
    /// Registers the fabric's descriptors in the poll set, with tokens from `first` on.
    fn register(&mut self, registry: &mio::Registry, first: mio::Token) -> io::Result<()>;
    /// Handles an event of this token. Tokens of removed descriptors are ignored.
    fn ready(&mut self, _token: mio::Token) {}
    /// Returns the time at which [`Self::handle_timeout`] must be called, if there is a deadline.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
    /// Sets the current time and does the work that is due. Call this function before [`Self::next_event`].
    fn handle_timeout(&mut self, _now: Time) {}
    /// Returns the counters with their names.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Returns the number of devices that do not respond.
    fn stalled_devices(&self) -> usize {
        0
    }
    /// Returns the name of this node in a simulated fabric; `None` for real devices.
    fn node_name(&self) -> Option<&str> {
        None
    }
    /// Returns the current ports, with the names of address files.
    fn ports(&self) -> Vec<NamedPort>;
    /// Returns the current ports, those that cannot be opened, and those of removed devices, because ports keep their
    /// ids.
    fn known_ports(&self) -> Vec<NamedPort> {
        self.ports()
    }
    /// Returns the port of this device and number, if it is one of [`Self::known_ports`].
    fn known_port(&self, device: &str, number: u8) -> Option<PortId> {
        let mut ports = self.known_ports().into_iter();
        ports.find(|port| port.device == device && port.number == number).map(|port| port.id)
    }
    /// Returns the port of this device and number, if it currently exists.
    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId>;
    /// Reports whether ports were added since the last call.
    fn has_new_ports(&mut self) -> bool;
    /// Returns the next input for the core; `None` if no input is available. An error means that the fabric has ended.
    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError>;
    /// Opens an endpoint's queue pair. Returns its number; `None` if [`Input::EndpointOpened`] or
    /// [`Input::EndpointFailed`] follows.
    fn open_endpoint(
        &mut self,
        endpoint: EndpointId,
        port: PortId,
        pkey_index: u16,
    ) -> Result<Option<Qpn>, FabricError>;
    /// Closes the endpoint's queue pair.
    fn close_endpoint(&mut self, endpoint: EndpointId);
    /// Attaches the endpoint to a multicast group. Returns `true` if it is attached now; otherwise
    /// [`Input::Attached`] follows when it is.
    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) -> bool;
    /// Detaches the endpoint from a multicast group.
    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid);
    /// Sends a datagram. If the datagram cannot be sent, it is dropped.
    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad);
    /// Sends a request to subnet administration. Returns `false` if it was not sent; otherwise its result follows.
    fn sa_send(&mut self, send: &SaSend) -> bool;
    /// Sends the response to a report of subnet administration. If the response cannot be sent, subnet administration
    /// repeats the report.
    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fabric with the required functions only.
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
        fn open_endpoint(&mut self, _: EndpointId, port: PortId, _: u16) -> Result<Option<Qpn>, FabricError> {
            Err(FabricError::Embedded(port.0.to_string().into(), io::ErrorKind::Other.into()))
        }
        fn close_endpoint(&mut self, _endpoint: EndpointId) {}
        fn attach(&mut self, _endpoint: EndpointId, _mgid: Gid, _mlid: Lid) -> bool {
            true
        }
        fn detach(&mut self, _endpoint: EndpointId, _mgid: Gid, _mlid: Lid) {}
        fn send(&mut self, _endpoint: EndpointId, _to: &SendTo, _mad: &AcmMad) {}
        fn sa_send(&mut self, _send: &SaSend) -> bool {
            false
        }
        fn sa_reply(&mut self, _port: PortId, _to: SaAddress, _mad: &SaMad) {}
    }

    #[test]
    fn functions_with_defaults_need_no_implementation() {
        assert_eq!((Least.counters(), Least.node_name(), Least.poll_timeout()), (vec![], None, None));
        assert_eq!(Least.stalled_devices(), 0);
        let known = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)].map(|(name, port)| Least.known_port(name, port));
        assert_eq!(known, [Some(4), Some(5), Some(6), None, None].map(|id| id.map(PortId)));
        assert_eq!(Least.ports()[1].to_string(), "a/2");
    }
}
