//! Carries out the core's outputs.
use crate::{
    clients::Clients,
    command::{Command, Commands},
    fabric::Fabric,
    log::Log,
    ports::Ports,
};
use acm_provider::daemon::{self, Level};
use acm_sansio::{
    Acm, EndpointId, Input, Output, PortId, Time,
    api::{SaSend, SendFailure},
};
use ib_mad::Pkey;

#[derive(Debug)]
pub(crate) struct Host<F> {
    pub(crate) ports: Ports,
    pub(crate) devices: F,
    pub(crate) clients: Clients,
    pub(crate) commands: Commands,
    pub(crate) log: Log,
}

impl<F: Fabric> Host<F> {
    /// Passes an input to the core and carries out its outputs.
    pub(crate) fn input(&mut self, acm: &mut Acm, now: Time, input: Input<'_>) {
        acm.drive(now, input, |output| self.carry_out(now, output));
    }

    /// Carries out one output. Returns the input that results from the output, if there is one.
    pub(crate) fn carry_out(&mut self, now: Time, output: Output) -> Option<Input<'static>> {
        match output {
            Output::Reply { reply, .. } => self.clients.reply(&reply),
            Output::LongReply { bytes, .. } => self.clients.reply(&bytes),
            Output::CloseClient(client) => {
                self.clients.close(client);
                return Some(Input::ClientClosed(client));
            }
            Output::SelectSource { request, .. } => {
                return Some(Input::SourceSelected { request, source: self.clients.chosen_source() });
            }
            Output::SaSend(send) => return self.send_to_sa(&send),
            Output::OpenEndpoint { endpoint, port, pkey_index, pkey } => {
                return Some(self.open_endpoint(endpoint, port, pkey_index, pkey));
            }
            Output::CloseEndpoint(endpoint) => {
                self.ports.close_core_endpoint(endpoint);
                self.devices.close_pair(endpoint);
            }
            Output::Attach { endpoint, mgid, mlid } => match self.devices.attach(endpoint, mgid, mlid) {
                Ok(()) => return Some(Input::Attached { endpoint, mgid, mlid }),
                Err(error) => daemon::log(Level::Always, format_args!("ERROR - group {mgid}: {error}")),
            },
            Output::Detach { endpoint, mgid, .. } => {
                // The device may be closed already.
                let _ = self.devices.detach(endpoint, mgid);
            }
            Output::Send { endpoint, to, mad } => self.devices.send(endpoint, &to, &mad),
            Output::Log(event) => self.log.write(now, &event, &self.ports),
            // All other outputs do not occur: ibacm receives SA reports, serves the kernel as a client and never shuts
            // down the core, and there are no other providers.
            _ => {}
        }
        None
    }

    fn send_to_sa(&self, send: &SaSend) -> Option<Input<'static>> {
        let (id, commands) = (send.id, self.commands.clone());
        let responded = move |response| commands.send(Command::SaResponded(id, response));
        let endpoint = self.ports.any_endpoint(send.port);
        let sent = endpoint.is_some_and(|endpoint| endpoint.ask_sa(&send.mad, responded).is_ok());
        (!sent).then_some(Input::SaFailed { id, failure: SendFailure::NotSent })
    }

    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, index: u16, pkey: Pkey) -> Input<'static> {
        let Some((device, number)) = self.ports.name(port) else { return Input::EndpointFailed(endpoint) };
        match self.devices.open_pair(endpoint, device, number, index) {
            Ok(qpn) => {
                self.ports.open_core_endpoint(endpoint, port, pkey);
                Input::EndpointOpened { endpoint, qpn }
            }
            Err(error) => {
                daemon::log(Level::Always, format_args!("ERROR - {device} port {number} pkey {pkey}: {error}"));
                Input::EndpointFailed(endpoint)
            }
        }
    }
}
