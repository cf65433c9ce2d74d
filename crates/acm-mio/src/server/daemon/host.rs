//! Carries out the core's outputs.
use super::{super::connection::Connection, connections::Connections, wait::FIRST_CLIENT};
use crate::{
    addresses::{Interfaces, select_source},
    closing::Closing,
    fabric::Fabric,
    kernel::Kernel,
    log::{Lines, LogNames, limited},
    providers::Providers,
    shared::SharedCache,
    stream::Stream,
};
use acm_sansio::{ClientId, Event, Input, Output, PortId, api::SendFailure};
use mio::{Interest, Poll, Token};
use std::io;

/// The objects on which the core's outputs act.
pub(crate) struct Host {
    pub(crate) fabric: Option<Box<dyn Fabric>>,
    pub(crate) kernel: Option<Kernel>,
    pub(crate) interfaces: Option<Interfaces>,
    pub(crate) providers: Providers,
    pub(crate) poll: Poll,
    pub(crate) clients: Connections,
    pub(crate) closing: Closing,
    /// The paths that clients read without a request; `None` without the option.
    pub(crate) shared: Option<SharedCache>,
    pub(crate) lines: Lines,
    /// True if the core has left all groups, so that the loop may end.
    pub(crate) done: bool,
}

impl Host {
    /// Carries out one output. Returns the result as an input, if the core needs the result.
    pub(super) fn carry_out(&mut self, output: Output) -> Option<Input<'static>> {
        match output {
            Output::Reply { client, reply } => self.clients.reply(client, &reply),
            Output::LongReply { client, bytes } => self.clients.reply(client, &bytes),
            Output::KernelReply { id, path } => {
                if let Some(kernel) = &mut self.kernel {
                    kernel.respond(id, path);
                }
            }
            Output::CloseClient(client) => {
                let index = self.clients.index_of(client)?;
                return self.end(index);
            }
            Output::SelectSource { request, dest } => {
                let source = select_source(dest, self.interfaces.iter().flat_map(Interfaces::link_local));
                return Some(Input::SourceSelected { request, source });
            }
            Output::Provider { provider, call, what } => self.providers.call(provider, call, what),
            Output::Publish(publication) => {
                if let Some(shared) = &mut self.shared {
                    shared.publish(&publication);
                }
            }
            Output::Log(event) => self.log_event(&event),
            Output::ShutdownDone => self.done = true,
            other => return self.carry_out_on_fabric(other),
        }
        None
    }

    /// Sends the descriptor of the shared cache to a client, if there is such a cache, and if not too many of `most`
    /// descriptors are unread: they count against the descriptors that the daemon passes to systemd.
    pub(super) fn share(&mut self, index: usize, most: usize) {
        let Some(shared) = &mut self.shared else { return };
        if !self.clients.may_send_descriptor(index, most) {
            shared.refuse();
        } else if self.clients.open.get(index).is_some_and(|connection| shared.send_to(&connection.stream)) {
            self.clients.note_descriptor(index);
        }
    }

    /// Counts lookups in the shared cache that a client reports.
    pub(super) fn count_lookups(&mut self, lookups: u64) {
        if let Some(shared) = &mut self.shared {
            shared.count_lookups(lookups);
        }
    }

    /// Writes an event of the core into the log, with names in place of ids.
    pub(super) fn log_event(&self, event: &Event) {
        self.with_names(|names| self.lines.event(event, names));
    }

    /// Calls `act` with the current names of ports, endpoints and clients.
    pub(super) fn with_names<R>(&self, act: impl FnOnce(&LogNames<'_>) -> R) -> R {
        let client = |id| self.clients.name_of(id);
        act(&LogNames::new(self.fabric.as_deref(), &self.lines, &client))
    }

    /// Logs a warning about a port of the fabric.
    pub(super) fn warn_of_port(&self, port: PortId, warning: &str) {
        let mut ports = self.fabric.iter().flat_map(|fabric| fabric.ports());
        let Some(named) = ports.find(|named| named.id == port) else { return };
        limited!(self.lines, WARN, "config", of port, "{} port {}: {warning}", named.device, named.number);
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
                return match fabric.open_endpoint(endpoint, port, pkey_index) {
                    Ok(opened) => opened.map(|qpn| Input::EndpointOpened { endpoint, qpn }),
                    Err(error) => {
                        limited!(self.lines, ERROR, "fabric", of endpoint.index(), "{}: {error}", self.lines.endpoint(endpoint));
                        Some(Input::EndpointFailed(endpoint))
                    }
                };
            }
            Output::CloseEndpoint(endpoint) => fabric.close_endpoint(endpoint),
            Output::Attach { endpoint, mgid, mlid } => {
                let is_attached = fabric.attach(endpoint, mgid, mlid);
                return is_attached.then_some(Input::Attached { endpoint, mgid, mlid });
            }
            Output::Detach { endpoint, mgid, mlid } => fabric.detach(endpoint, mgid, mlid),
            Output::Send { endpoint, to, mad } => fabric.send(endpoint, &to, &mad),
            _ => {}
        }
        None
    }

    /// Closes the connection at `index`, and returns the input for the core.
    ///
    /// A connection with unread responses is kept, and stays charged to its account: without it, their memory would
    /// still be the daemon's. So is a connection that a thread must close, while too many wait.
    pub(super) fn end(&mut self, index: usize) -> Option<Input<'static>> {
        let connection = self.clients.open.get(index)?;
        let (owner, is_read) = (connection.owner, connection.stream.unread() == 0);
        let is_slow = is_read && connection.stream.ends_with_descriptors();
        let closing = self.closing.clone();
        let room = if is_slow { closing.room(owner) } else { None };
        if !is_read || is_slow && room.is_none() {
            self.clients.keep(index);
            self.watch_room(index).ok()?;
            return None;
        }
        let (client, stream) = self.take_out(index)?;
        if let Some(room) = room {
            // The client is notified now.
            stream.shutdown();
            room.close(stream);
        }
        Some(Input::ClientClosed(client))
    }

    /// Removes the connection at `index` from the table, and returns it with its client.
    pub(super) fn take_out(&mut self, index: usize) -> Option<(ClientId, Stream)> {
        let Connection { id, mut stream, .. } = self.clients.remove(index)?;
        let _ = self.poll.registry().deregister(stream.source());
        Some((id, stream))
    }

    /// Requests an event for room in a client's socket only while responses wait. Otherwise each response that a client
    /// reads would cause an event.
    pub(super) fn watch_room(&mut self, index: usize) -> io::Result<()> {
        let Some(connection) = self.clients.open.get_mut(index) else { return Ok(()) };
        // An ending connection is closed as soon as its client has read all.
        let waits = connection.unsent() > 0 || connection.ending;
        if core::mem::replace(&mut connection.waits_for_room, waits) == waits {
            return Ok(());
        }
        let interest = if waits { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.poll.registry().reregister(connection.stream.source(), Token(FIRST_CLIENT + index), interest)
    }
}
