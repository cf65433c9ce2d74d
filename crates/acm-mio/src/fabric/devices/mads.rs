//! Responses and reports of subnet administration.
use super::{
    requests::{RequestKey, request_key},
    sources::Source,
    table::{Devices, Work},
};
use crate::log::limited;
use acm_sansio::{Input, PortId, SaRequestId, api::SendFailure};
use ib_device::Error;
use ib_mad::{Lid, Method, Qpn};

/// Kind of a received MAD; its bytes are in `Devices::mad`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mad {
    Response(SaRequestId),
    Failed(SaRequestId, SendFailure),
    Report { port: PortId, lid: Lid, qpn: Qpn },
}

impl Mad {
    /// Returns the input of the core.
    pub(super) fn input(self, mad: &[u8]) -> Input<'_> {
        match self {
            Self::Response(id) => Input::SaResponse { id, mad },
            Self::Failed(id, failure) => Input::SaFailed { id, failure },
            Self::Report { port, lid, qpn } => Input::SaReport { port, lid, qpn, mad },
        }
    }
}

impl Devices {
    /// Receives a port's next MAD into `self.mad`.
    pub(super) fn next_mad(&mut self, id: PortId) -> Option<Mad> {
        let source = Source::Mads(id);
        let location = self.location_of(id);
        let port = location.and_then(|(key, number)| self.devices.get(&key)?.port(number));
        let Some(port) = port else {
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
                    limited!(self.lines, WARN, "devices", "port {}: {error}", id.0);
                }
                return None;
            }
        };
        let header = received.mad_header().ok()?;
        if header.method == Method::REPORT && received.failure().is_none() {
            let (lid, qpn) = (received.header.lid, Qpn::masked(received.header.qpn.get()));
            received.mad.clone_into(&mut self.mad);
            return Some(Mad::Report { port: id, lid, qpn });
        }
        let key = request_key(id, header.transaction_id);
        let open = self.requests.get(&key)?;
        if received.failure().is_some() {
            return self.requests.remove(&key).map(|open| Mad::Failed(open.sent.id, SendFailure::TimedOut));
        }
        let (lid, qpn) = (received.header.lid, Qpn::masked(received.header.qpn.get()));
        let lmc = location.and_then(|(key, number)| Some(self.devices.get(&key)?.info.port(number)?.lmc));
        if !open.is_answered_by(lid, qpn, lmc.unwrap_or_default()) {
            self.counters.sa_responses_forged += 1;
            let manager = open.sent.to.lid;
            limited!(
                self.lines,
                WARN,
                "devices",
                "port {}: dropped a response of LID {lid} QP {qpn}: the SA is LID {manager} QP 1",
                id.0
            );
            return self.send_again(key);
        }
        received.mad.clone_into(&mut self.mad);
        let request = self.requests.remove(&key)?.sent.id;
        Some(Mad::Response(request))
    }

    /// Sends a request again after a response from a wrong sender, because the kernel has completed the request with
    /// this response.
    fn send_again(&mut self, key: RequestKey) -> Option<Mad> {
        let location = self.location_of(key.0);
        let open = self.requests.get_mut(&key)?;
        let (sent, may_send) = (open.sent, open.may_be_sent_again());
        let device = location.and_then(|(device, number)| Some((self.devices.get_mut(&device)?, number)));
        let is_sent = may_send && device.is_some_and(|(device, number)| device.sa_send(number, &sent).is_ok());
        if is_sent {
            return None;
        }
        self.requests.remove(&key);
        Some(Mad::Failed(sent.id, SendFailure::TimedOut))
    }
}
