//! Outputs of the core become commands to the threads of devices, and their reports inputs of the core.
use super::{
    endpoint::OutgoingDatagram,
    messages::{Command, Report},
    table::{DeviceKey, Devices, EndpointState},
};
use crate::{
    fabric::{
        error::FabricError,
        interface::{Fabric, NamedPort},
    },
    log::limited,
};
use acm_sansio::{
    EndpointId, Input, PortId, Time,
    api::{SaAddress, SaSend, SendTo},
};
use ib_device::verbs::Outcome;
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad, sa::SaMad};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    io::{self, Read},
    os::fd::{AsFd, AsRawFd},
};

impl Devices {
    /// Returns the token of the pipe of the threads.
    const fn wake_token(&self) -> Token {
        Token(self.first.0 + 1)
    }

    /// Receives the kernel's messages about devices. All devices are read once for any number of messages.
    fn hotplug(&mut self) {
        let mut changed = false;
        while let Some(uevents) = &self.uevents {
            match uevents.next_event() {
                Ok(Some(_)) => changed = true,
                Ok(None) => break,
                Err(error) => {
                    if self.retries.failed(self.now, ()) {
                        limited!(self.lines, WARN, "devices", "{error}");
                    }
                    break;
                }
            }
        }
        if changed {
            self.scan();
        }
    }

    /// Sends a command about an endpoint to its device. Nothing happens if the endpoint was closed.
    fn command_endpoint(&mut self, endpoint: EndpointId, command: Command) {
        if let Some(state) = self.endpoints.get(&endpoint) {
            self.command(DeviceKey::of(state.port), command);
        }
    }
}

impl Fabric for Devices {
    fn register(&mut self, registry: &Registry, first: Token) -> io::Result<()> {
        self.first = first;
        if let Some(uevents) = &self.uevents {
            registry.register(&mut SourceFd(&uevents.as_fd().as_raw_fd()), first, Interest::READABLE)?;
        }
        let token = self.wake_token();
        registry.register(&mut self.wake.1, token, Interest::READABLE)
    }

    fn ready(&mut self, token: Token) {
        if token == self.first {
            self.is_hotplug = true;
        } else if token == self.wake_token() {
            // Reports are read until there is none.
            while matches!(self.wake.1.read(&mut [0; 64]), Ok(1..)) {}
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        if !self.reports.is_empty() {
            return Some(self.now);
        }
        let has_device = !self.threads.is_empty() || !self.stalled.is_empty();
        self.retries.next().into_iter().chain(has_device.then_some(self.check_at)).min()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        while self.retries.take_due(now).is_some() {
            self.is_hotplug = true;
            self.scan();
        }
        self.check(now);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.counters.iter().collect()
    }

    fn stalled_devices(&self) -> usize {
        self.stalled.len()
    }

    fn ports(&self) -> Vec<NamedPort> {
        self.ports.values().cloned().collect()
    }

    fn known_ports(&self) -> Vec<NamedPort> {
        self.known.values().cloned().collect()
    }

    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        let mut ports = self.ports.values();
        ports.find(|port| port.device.as_bytes() == device && port.number == number).map(|port| port.id)
    }

    fn has_new_ports(&mut self) -> bool {
        core::mem::take(&mut self.new_ports)
    }

    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
        if core::mem::take(&mut self.is_hotplug) {
            self.hotplug();
        }
        self.current = self.next_report();
        Ok(self.current.as_ref().and_then(Report::input))
    }

    fn open_endpoint(
        &mut self,
        endpoint: EndpointId,
        port: PortId,
        pkey_index: u16,
    ) -> Result<Option<Qpn>, FabricError> {
        if !self.ports.contains_key(&port) {
            return Err(FabricError::NoPort(port));
        }
        self.endpoints.insert(endpoint, EndpointState { port, is_open: false });
        let name = self.lines.endpoint(endpoint);
        self.command_endpoint(endpoint, Command::Open { endpoint, port, pkey_index, name });
        Ok(None)
    }

    fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.command_endpoint(endpoint, Command::Close(endpoint));
        self.endpoints.remove(&endpoint);
    }

    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) -> bool {
        self.command_endpoint(endpoint, Command::Attach(endpoint, mgid, mlid));
        false
    }

    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, _mlid: Lid) {
        self.command_endpoint(endpoint, Command::Detach(endpoint, mgid));
    }

    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad) {
        let Some(state) = self.endpoints.get(&endpoint) else { return };
        let datagram = OutgoingDatagram { way: to.way, qpn: to.qpn, qkey: to.qkey, mad: *mad };
        if !self.try_command(state.port, Command::Send(endpoint, datagram)) {
            self.counters.count(Outcome::Refused);
        }
    }

    fn sa_send(&mut self, send: &SaSend) -> bool {
        let sent = self.ports.contains_key(&send.port) && self.try_command(send.port, Command::SaSend(*send));
        if sent {
            self.requests.insert(send.id, send.port);
        }
        sent
    }

    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad) {
        // If it is not sent, subnet administration repeats the report.
        self.try_command(port, Command::SaReply(port, to, *mad));
    }
}
