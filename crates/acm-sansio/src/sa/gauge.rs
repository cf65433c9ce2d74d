//! Current amounts of queries, for dashboards and reports.
use super::client::SaClient;
use crate::api::{GaugeScope, GaugeSink, Waiting, id::PortId};
use core::fmt;

impl SaClient {
    /// Calls `emit` for each gauge of each port.
    pub(crate) fn each_gauge(&self, emit: GaugeSink<'_>) {
        for (port, port_queue) in &self.queues.ports {
            let (local, remote) = port_queue.queue.waiting();
            emit("sa_waiting", GaugeScope::PortQueue(*port, Waiting::Local), local);
            emit("sa_waiting", GaugeScope::PortQueue(*port, Waiting::Remote), remote);
            emit("sa_in_flight", GaugeScope::Port(*port), port_queue.in_flight() as usize);
            emit("sa_depth", GaugeScope::Port(*port), self.queues.depth.or(port_queue.window.depth()) as usize);
            emit("joins_waiting", GaugeScope::Port(*port), port_queue.memberships());
        }
    }

    /// Writes the queries of a port, if it ever had one.
    pub(crate) fn report(&self, port: PortId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(port_queue) = self.queues.ports.get(&port) else { return Ok(()) };
        let (local, remote) = port_queue.queue.waiting();
        let (held, depth) = (port_queue.in_flight(), self.queues.depth.or(port_queue.window.depth()));
        let joins = port_queue.memberships();
        write!(f, " sa_depth {depth} in_flight {held} waiting {local} strangers {remote} joins {joins}")
    }
}
