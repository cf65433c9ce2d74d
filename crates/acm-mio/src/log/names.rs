//! Names of ports, endpoints and clients in the log. No other file converts ids to names.
use super::limit::Lines;
use crate::fabric::{Fabric, NamedPort};
use acm_sansio::{ClientId, EndpointId, PortId, api};
use core::fmt;

/// The current names.
#[derive(Clone, Copy)]
pub(crate) struct LogNames<'a> {
    fabric: Option<&'a dyn Fabric>,
    lines: &'a Lines,
    client: &'a dyn Fn(ClientId) -> Option<String>,
}

impl<'a> LogNames<'a> {
    /// Returns the names of the fabric's ports, of endpoints (see [`Lines::name_endpoint`]), and of clients.
    pub(crate) fn new(
        fabric: Option<&'a dyn Fabric>,
        lines: &'a Lines,
        client: &'a dyn Fn(ClientId) -> Option<String>,
    ) -> Self {
        Self { fabric, lines, client }
    }

    fn named(&self, port: PortId) -> Option<NamedPort> {
        self.fabric?.known_ports().into_iter().find(|named| named.id == port)
    }

    /// Returns the short name of a port: `mlx5_0/1`.
    pub(super) fn short(&self, port: PortId) -> String {
        self.named(port).map_or_else(|| port.0.to_string(), |named| named.to_string())
    }
}

impl api::Names for LogNames<'_> {
    fn port(&self, port: PortId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.named(port) {
            Some(NamedPort { device, number, .. }) => write!(f, "{device} port {number}"),
            None => api::Ids.port(port, f),
        }
    }

    fn endpoint(&self, endpoint: EndpointId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.endpoint(endpoint))
    }

    fn client(&self, client: ClientId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.client)(client) {
            Some(name) => f.write_str(&name),
            None => api::Ids.client(client, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::api::DisplayWith;

    #[test]
    fn endpoint_does_not_have_the_name_of_its_successor() {
        let lines = Lines::default();
        let [old, new] = [0, 1].map(|generation| EndpointId::new(2, generation));
        assert_eq!(lines.endpoint(old), "endpoint2.0");
        lines.clone().name_endpoint(old, "sim0/1 pkey 0xffff".into());
        assert_eq!((lines.endpoint(old).as_str(), lines.endpoint(new).as_str()), ("sim0/1 pkey 0xffff", "endpoint2.1"));
        lines.name_endpoint(new, "sim0/1 pkey 0x8001".into());
        assert_eq!((lines.endpoint(old).as_str(), lines.endpoint(new).as_str()), ("endpoint2.0", "sim0/1 pkey 0x8001"));
    }

    #[test]
    fn id_is_used_if_there_is_no_name() {
        let (lines, nobody) = (Lines::default(), |_| None);
        let names = LogNames::new(None, &lines, &nobody);
        assert_eq!(PortId(3).named(&names).to_string(), "port 3");
        assert_eq!(ClientId::new(1, 2).named(&names).to_string(), "client1.2");
        assert_eq!(names.short(PortId(3)), "3");
        let mpirun = |_| Some("mpirun[42]".to_owned());
        assert_eq!(ClientId::new(1, 2).named(&LogNames::new(None, &lines, &mpirun)).to_string(), "mpirun[42]");
    }
}
