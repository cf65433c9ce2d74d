//! PERF: the seven counters, of the daemon or of an endpoint.
use crate::{acm::Acm, id::ClientId};
use acm_wire::client::{ClientStatus, Opcode, PerfTarget, Reply};

impl Acm {
    pub(crate) fn perf(&mut self, client: ClientId, tid: [u8; 8], target: PerfTarget) {
        let ports = &self.context.ports;
        let counters = match target {
            PerfTarget::Total => Some(self.context.counters),
            PerfTarget::Endpoint(index) => ports
                .active(0)
                .nth(usize::from(index).saturating_sub(1))
                .and_then(|id| ports.endpoint(id))
                .map(|endpoint| endpoint.counters),
            PerfTarget::Address(address) => address
                .and_then(|address| ports.by_address(&address))
                .and_then(|id| ports.endpoint(id))
                .map(|endpoint| endpoint.counters),
        };
        let reply = counters.map_or_else(
            || Reply::refused(Opcode::PERF, tid, ClientStatus::ESRCADDR),
            |counters| Reply::counters(tid, &counters),
        );
        self.context.reply(client, reply);
    }
}
