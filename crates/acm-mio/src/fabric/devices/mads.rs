//! Responses and reports of subnet administration.
use super::{
    messages::Report,
    requests::{RequestKey, request_key},
    sources::Source,
    table::port_number,
    worker::{Work, Worker},
};
use crate::log::limited;
use acm_sansio::{PortId, api::SendFailure};
use ib_device::Error;
use ib_mad::{Method, Qpn};

impl Worker {
    /// Receives a port's next MAD.
    pub(super) fn next_mad(&mut self, id: PortId) -> Option<Report> {
        let source = Source::Mads(id);
        let Some((device, port)) = self.device.as_ref().and_then(|device| Some((device, device.port_of(id)?))) else {
            self.turns.dry(source);
            return None;
        };
        let received = match port.umad.receive(&mut self.buffer) {
            Ok(Some(received)) => received,
            Ok(None) => {
                self.turns.dry(source);
                self.retries.clear(&Work::Mads(id));
                return None;
            }
            Err(Error::Gone) => {
                self.close_port(id, "has no umad any more");
                return None;
            }
            Err(error) => {
                self.turns.dry(source);
                if self.retries.failed(self.now, Work::Mads(id)) {
                    limited!(self.lines, WARN, "devices", "{} port {}: {error}", self.name, port_number(id));
                }
                return None;
            }
        };
        let header = received.mad_header().ok()?;
        if header.method == Method::REPORT && received.failure().is_none() {
            let (lid, qpn) = (received.header.lid, Qpn::masked(received.header.qpn.get()));
            return Some(Report::Notice { port: id, lid, qpn, mad: received.mad.to_vec() });
        }
        let key = request_key(id, header.transaction_id);
        let open = self.requests.get(&key)?;
        if received.failure().is_some() {
            return self.requests.remove(&key).map(|open| Report::SaFailed(open.sent.id, SendFailure::TimedOut));
        }
        let (lid, qpn) = (received.header.lid, Qpn::masked(received.header.qpn.get()));
        let lmc = device.info.port(port.number).map(|port| port.lmc);
        if !open.is_answered_by(lid, qpn, lmc.unwrap_or_default()) {
            self.counters.sa_responses_forged.increment();
            let manager = open.sent.to.lid;
            limited!(
                self.lines,
                WARN,
                "devices",
                "{} port {}: dropped a response of LID {lid} QP {qpn}: the SA is LID {manager} QP 1",
                self.name,
                port_number(id)
            );
            return self.send_again(key);
        }
        let mad = received.mad.to_vec();
        let request = self.requests.remove(&key)?.sent.id;
        Some(Report::SaResponse(request, mad))
    }

    /// Sends a request again after a response from a wrong sender, because the kernel has completed the request with
    /// this response.
    fn send_again(&mut self, key: RequestKey) -> Option<Report> {
        let open = self.requests.get_mut(&key)?;
        let (sent, may_send) = (open.sent, open.may_be_sent_again());
        let is_sent = may_send && self.device.as_mut().is_some_and(|device| device.sa_send(&sent).is_ok());
        if is_sent {
            return None;
        }
        self.requests.remove(&key);
        Some(Report::SaFailed(sent.id, SendFailure::TimedOut))
    }
}
