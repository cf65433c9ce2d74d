//! What carries out the core's wishes.
use super::{super::tokens::FIRST_CLIENT, connections::Connections};
use crate::{
    addresses::Interfaces,
    fabric::Fabric,
    kernel::Kernel,
    log::{Known, Lines, limited},
    providers::Providers,
    source,
};
use acm_sansio::{ClientId, Event, Input, Output, api::SendFailure};
use mio::{Interest, Poll, Token};
use std::io;

/// What carries out the core's wishes.
pub(crate) struct Host {
    pub(crate) fabric: Option<Box<dyn Fabric>>,
    pub(crate) kernel: Option<Kernel>,
    pub(crate) interfaces: Option<Interfaces>,
    pub(crate) providers: Providers,
    pub(crate) poll: Poll,
    pub(crate) clients: Connections,
    pub(crate) lines: Lines,
    /// All groups are left: the loop may end.
    pub(crate) done: bool,
}

impl Host {
    /// Carries out one wish; what the core must be told about it.
    pub(super) fn carry_out(&mut self, output: Output) -> Option<Input<'static>> {
        match output {
            Output::Reply { client, reply } => self.clients.reply(client, &reply),
            Output::LongReply { client, bytes } => self.clients.reply(client, &bytes),
            Output::KernelReply { id, path } => {
                if let Some(kernel) = &mut self.kernel {
                    kernel.answer(id, path);
                }
            }
            Output::CloseClient(client) => self.close(client),
            Output::SelectSource { request, dest } => {
                let source = source::select(dest, self.interfaces.iter().flat_map(Interfaces::link_local));
                return Some(Input::SourceSelected { request, source });
            }
            Output::Provider { provider, call, what } => self.providers.call(provider, call, what),
            Output::Log(event) => self.say(&event),
            Output::ShutdownDone => self.done = true,
            other => return self.carry_out_on_fabric(other),
        }
        None
    }

    /// Writes what the core has to say, with names.
    pub(super) fn say(&self, event: &Event) {
        self.with_names(|names| self.lines.event(event, names));
    }

    /// What ids are called now.
    pub(super) fn with_names<R>(&self, what: impl FnOnce(&Known<'_>) -> R) -> R {
        let client = |id| self.clients.name_of(id);
        what(&Known::new(self.fabric.as_deref(), &self.lines, &client))
    }

    fn carry_out_on_fabric(&mut self, output: Output) -> Option<Input<'static>> {
        let fabric = self.fabric.as_mut()?;
        match output {
            Output::SaSend(send) => {
                let sent = fabric.sa_send(&send);
                return (!sent).then_some(Input::SaFailed { id: send.id, failure: SendFailure::NotSent });
            }
            Output::SaReply { port, to, mad } => fabric.sa_reply(port, to, &mad),
            Output::OpenEndpoint { endpoint, port, pkey_index, pkey } => {
                if let Some(port) = fabric.ports().into_iter().find(|named| named.id == port) {
                    self.lines.name_endpoint(endpoint, format!("{port} pkey {pkey}"));
                }
                return Some(match fabric.open_endpoint(endpoint, port, pkey_index) {
                    Ok(qpn) => Input::EndpointOpened { endpoint, qpn },
                    Err(error) => {
                        limited!(self.lines, ERROR, "fabric", of endpoint.index(), "{}: {error}", self.lines.endpoint(endpoint));
                        Input::EndpointFailed(endpoint)
                    }
                });
            }
            Output::CloseEndpoint(endpoint) => fabric.close_endpoint(endpoint),
            Output::Attach { endpoint, mgid, mlid } => fabric.attach(endpoint, mgid, mlid),
            Output::Detach { endpoint, mgid, mlid } => fabric.detach(endpoint, mgid, mlid),
            Output::Send { endpoint, to, mad } => fabric.send(endpoint, &to, &mad),
            _ => {}
        }
        None
    }

    /// The core wants a connection closed.
    fn close(&mut self, client: ClientId) {
        if let Some(index) = self.clients.index_of(client) {
            self.remove(index);
        }
    }

    /// Closes the connection at this place; whose it was.
    pub(super) fn remove(&mut self, index: usize) -> Option<ClientId> {
        let mut connection = self.clients.remove(index)?;
        let _ = self.poll.registry().deregister(connection.stream.source());
        Some(connection.id)
    }

    /// Has the system tell when a client takes more, if it did not take all, and only then.
    pub(super) fn watch_room(&mut self, index: usize) -> io::Result<()> {
        let Some(connection) = self.clients.open.get_mut(index) else { return Ok(()) };
        let waits = connection.untaken() > 0;
        if core::mem::replace(&mut connection.waits_for_room, waits) == waits {
            return Ok(());
        }
        let interest = if waits { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.poll.registry().reregister(connection.stream.source(), Token(FIRST_CLIENT + index), interest)
    }
}
