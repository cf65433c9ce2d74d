//! What ports, endpoints and clients are called in the log: the one place where ids become names.
use super::lines::Lines;
use crate::fabric::{Fabric, NamedPort};
use acm_sansio::{ClientId, EndpointId, PortId, api};
use core::fmt;

/// All names that are known now.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    fabric: Option<&'a dyn Fabric>,
    lines: &'a Lines,
    client: &'a dyn Fn(ClientId) -> Option<String>,
}

impl<'a> Known<'a> {
    /// The names of a fabric's ports, of the endpoints that [`Lines::name_endpoint`] was told of, and of clients.
    pub(crate) fn new(
        fabric: Option<&'a dyn Fabric>,
        lines: &'a Lines,
        client: &'a dyn Fn(ClientId) -> Option<String>,
    ) -> Self {
        Self { fabric, lines, client }
    }

    fn named(&self, port: PortId) -> Option<NamedPort> {
        self.fabric?.ports().into_iter().find(|named| named.id == port)
    }

    /// A port in short, `mlx5_0/1`.
    pub(super) fn short(&self, port: PortId) -> String {
        self.named(port).map_or_else(|| port.0.to_string(), |named| named.to_string())
    }
}

impl api::Names for Known<'_> {
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
    fn an_endpoint_has_its_own_name_and_no_successors() {
        let lines = Lines::default();
        let [old, new] = [0, 1].map(|generation| EndpointId::new(2, generation));
        assert_eq!(lines.endpoint(old), "endpoint2.0");
        lines.clone().name_endpoint(old, "sim0/1 pkey 0xffff".into());
        assert_eq!((lines.endpoint(old).as_str(), lines.endpoint(new).as_str()), ("sim0/1 pkey 0xffff", "endpoint2.1"));
        lines.name_endpoint(new, "sim0/1 pkey 0x8001".into());
        assert_eq!((lines.endpoint(old).as_str(), lines.endpoint(new).as_str()), ("endpoint2.0", "sim0/1 pkey 0x8001"));
    }

    #[test]
    fn what_has_no_name_has_its_id() {
        let (lines, nobody) = (Lines::default(), |_| None);
        let known = Known::new(None, &lines, &nobody);
        assert_eq!(PortId(3).named(&known).to_string(), "port 3");
        assert_eq!(ClientId::new(1, 2).named(&known).to_string(), "client1.2");
        assert_eq!(known.short(PortId(3)), "3");
        let mpirun = |_| Some("mpirun[42]".to_owned());
        assert_eq!(ClientId::new(1, 2).named(&Known::new(None, &lines, &mpirun)).to_string(), "mpirun[42]");
    }
}
