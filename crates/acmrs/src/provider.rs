//! The provider that ibacm calls. Each call becomes a command for the engine.
use crate::{
    command::{Command, Commands},
    engine,
    ports::SharedCounters,
};
use acm_provider::plugin::{Address, Endpoint, Port, Provider, Refused, Request};
use acm_sansio::PortId;
use std::sync::{Mutex, PoisonError};

/// The provider. The engine starts when the first port is opened, because ibacm also loads libraries that are not
/// configured.
#[derive(Debug, Default)]
pub(crate) struct Acmrs(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    commands: Option<Commands>,
    /// The ids of ports. A port that is closed and opened again keeps its id.
    ports: Vec<(PortName, PortId)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PortName {
    device: Option<String>,
    node_guid: [u8; 8],
    number: u8,
}

/// An open port.
#[derive(Debug)]
pub(crate) struct OpenPort {
    id: PortId,
    commands: Commands,
}

/// An open endpoint.
#[derive(Debug)]
pub(crate) struct OpenEndpoint {
    port: PortId,
    handle: Endpoint,
    counters: SharedCounters,
    commands: Commands,
}

impl Provider for Acmrs {
    type Port = OpenPort;
    type Endpoint = OpenEndpoint;

    fn load() -> Result<Self, Refused> {
        Ok(Self::default())
    }

    fn open_port(&self, port: &Port) -> Result<OpenPort, Refused> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let commands = match &state.commands {
            Some(commands) => commands.clone(),
            None => state.commands.insert(engine::start().map_err(Refused::new)?).clone(),
        };
        let id = state.id(port);
        commands.send(Command::PortOpened(id, port.clone()));
        Ok(OpenPort { id, commands })
    }

    fn open_endpoint(&self, port: &OpenPort, endpoint: &Endpoint) -> Result<OpenEndpoint, Refused> {
        let (counters, commands) = (SharedCounters::default(), port.commands.clone());
        commands.send(Command::EndpointOpened(port.id, endpoint.clone(), counters.clone()));
        Ok(OpenEndpoint { port: port.id, handle: endpoint.clone(), counters, commands })
    }

    fn add_address(&self, endpoint: &OpenEndpoint, address: &Address) -> Result<(), Refused> {
        let handle = endpoint.handle.clone();
        endpoint.commands.send(Command::AddressAdded(endpoint.port, handle, *address));
        Ok(())
    }

    fn remove_address(&self, endpoint: &OpenEndpoint, address: &Address) {
        let handle = endpoint.handle.clone();
        endpoint.commands.send(Command::AddressRemoved(endpoint.port, handle, *address));
    }

    fn resolve(&self, endpoint: &OpenEndpoint, request: Request) {
        endpoint.commands.send_request(request, Command::Resolve);
    }

    fn query(&self, endpoint: &OpenEndpoint, request: Request) {
        endpoint.commands.send_request(request, Command::Query);
    }

    fn reregister(&self, port: &OpenPort) {
        port.commands.send(Command::Reregister(port.id));
    }

    fn counters(&self, endpoint: &OpenEndpoint) -> Vec<u64> {
        endpoint.counters.read()
    }
}

impl State {
    fn id(&mut self, port: &Port) -> PortId {
        let device = port.device().map(str::to_owned);
        let name = PortName { device, node_guid: port.node_guid(), number: port.number() };
        if let Some((_, id)) = self.ports.iter().find(|(known, _)| *known == name) {
            return *id;
        }
        let id = PortId(u32::try_from(self.ports.len()).unwrap_or(u32::MAX));
        self.ports.push((name, id));
        id
    }
}

impl Drop for OpenPort {
    fn drop(&mut self) {
        self.commands.send(Command::PortClosed(self.id));
    }
}

impl Drop for OpenEndpoint {
    fn drop(&mut self) {
        self.commands.send(Command::EndpointClosed(self.port, self.handle.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{self, Inbox};
    use acm_provider::testing::{endpoint, port, request, responses};
    use acm_wire::client::{Counter, Counters};

    /// A provider whose engine is the test.
    fn provider() -> (Acmrs, Inbox) {
        let (commands, inbox, _poll) = command::new().unwrap();
        (Acmrs(Mutex::new(State { commands: Some(commands), ports: Vec::new() })), inbox)
    }

    fn commands(inbox: &Inbox) -> Vec<Command> {
        core::iter::from_fn(|| inbox.take()).collect()
    }

    #[test]
    fn port_that_is_opened_again_keeps_its_id() {
        let (provider, inbox) = provider();
        let id = |guid, number| provider.open_port(&port(guid, number)).unwrap().id;
        let ids = [id(1, 1), id(1, 2), id(2, 1), id(1, 1), id(2, 1)];
        assert_eq!(ids, [0, 1, 2, 0, 2].map(PortId));
        let [Command::PortOpened(PortId(0), opened), Command::PortClosed(PortId(0)), ..] = &commands(&inbox)[..] else {
            panic!("each port was opened and closed")
        };
        assert_eq!(opened.number(), 1);
    }

    #[test]
    fn each_call_becomes_one_command() {
        let (provider, inbox) = provider();
        let (port, address) = (provider.open_port(&port(1, 1)).unwrap(), Address::from_text("a"));
        let opened = provider.open_endpoint(&port, &endpoint(1, 1, 0x8001)).unwrap();
        provider.add_address(&opened, &address).unwrap();
        provider.remove_address(&opened, &address);
        let ids = [0, 1].map(|_| request(1, &[0; 16]));
        let [(resolve, first), (query, second)] = ids;
        provider.resolve(&opened, resolve);
        provider.query(&opened, query);
        provider.reregister(&port);
        let sent = commands(&inbox);
        let [
            Command::PortOpened(..),
            Command::EndpointOpened(PortId(0), _, counters),
            Command::AddressAdded(PortId(0), _, added),
            Command::AddressRemoved(PortId(0), _, removed),
            Command::Resolve(resolve),
            Command::Query(query),
            Command::Reregister(PortId(0)),
        ] = &sent[..]
        else {
            panic!("{sent:#?}")
        };
        assert_eq!((*added, *removed), (address, address));
        assert_eq!((resolve.client(), query.client()), (first, second));
        assert!(responses(first).is_empty());
        // ibacm reads the counters that the engine writes.
        let mut written = Counters::default();
        written.count(Counter::NoData);
        counters.write(&written);
        assert_eq!(provider.counters(&opened), [0, 0, 1, 0, 0, 0, 0]);
        drop(opened);
        assert!(matches!(commands(&inbox)[..], [Command::EndpointClosed(PortId(0), _)]));
    }
}
