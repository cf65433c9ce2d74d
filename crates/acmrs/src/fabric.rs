//! Interface of the engine to its devices. Tests of the engine have no devices.
use acm_provider::plugin::Port;
use acm_sansio::{
    EndpointId,
    api::{DatagramSource, SendTo},
    port::PortAttributes,
};
use ib_device::Error;
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad};
use mio::Token;

/// A fact for the core.
#[derive(Debug)]
pub(crate) enum Fact {
    /// A datagram with its length in bytes. Its payload is in [`Fabric::payload`].
    Datagram(EndpointId, DatagramSource, usize),
    /// The queue pair of an endpoint failed.
    Lost(EndpointId, Error),
}

/// The devices of the engine's ports.
pub(crate) trait Fabric {
    /// Returns the device name of a port, by which libibverbs opens the device.
    fn name(&self, port: &Port) -> Result<String, Error>;

    /// Returns the attributes of a port; `None` while it is not active.
    fn attributes(&mut self, name: &str, number: u8) -> Result<Option<PortAttributes>, Error>;

    /// Handles readiness of a device. Completions are then read by [`Fabric::next`]. Each event of a port calls
    /// `changed` with the device and the number of the port.
    fn wake(&mut self, token: Token, changed: &mut dyn FnMut(&str, u8));

    /// Opens the queue pair of an endpoint.
    fn open_pair(&mut self, id: EndpointId, device: &str, port: u8, pkey_index: u16) -> Result<Qpn, Error>;

    /// Closes the queue pair of an endpoint.
    fn close_pair(&mut self, id: EndpointId);

    /// Attaches a queue pair to a multicast group.
    fn attach(&mut self, id: EndpointId, mgid: Gid, mlid: Lid) -> Result<(), Error>;

    /// Detaches a queue pair from a multicast group.
    fn detach(&mut self, id: EndpointId, mgid: Gid) -> Result<(), Error>;

    /// Sends a datagram, or queues it until the send queue has room.
    fn send(&mut self, id: EndpointId, to: &SendTo, mad: &AcmMad);

    /// True if [`Fabric::next`] may have a fact.
    fn has_more(&self) -> bool;

    /// Returns this number of bytes of the last datagram.
    fn payload(&self, length: usize) -> &[u8];

    /// Returns the next fact. Queue pairs are served round-robin.
    fn next(&mut self) -> Option<Fact>;
}
