//! Responses and reports of subnet administration.
use super::{
    sources::Source,
    table::{Devices, Work},
};
use crate::log::limited;
use acm_sansio::{Input, PortId, SaRequestId, api::SendFailure};
use ib_device::Error;
use ib_mad::{Lid, Method, Qpn, Wire, as_bytes, sa::SaMad};

/// Kind of a received MAD; its bytes are in `Devices::mad`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mad {
    Response(SaRequestId),
    Failed(SaRequestId, SendFailure),
    Report { port: PortId, lid: Lid, qpn: Qpn },
}

impl Mad {
    /// Returns the input of the core.
    pub(super) fn input(self, mad: &SaMad) -> Input<'_> {
        match self {
            Self::Response(id) => Input::SaResponse { id, mad: as_bytes(mad) },
            Self::Failed(id, failure) => Input::SaFailed { id, failure },
            Self::Report { port, lid, qpn } => Input::SaReport { port, lid, qpn, mad: as_bytes(mad) },
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
            self.mad = *SaMad::parse(received.mad).ok()?;
            let (lid, qpn) = (received.header.lid, Qpn::masked(received.header.qpn.get()));
            return Some(Mad::Report { port: id, lid, qpn });
        }
        // The kernel sets the upper half of the transaction id.
        let [.., a, b, c, d] = header.transaction_id.get().to_be_bytes();
        let request = self.requests.remove(&(id, u32::from_be_bytes([a, b, c, d])))?;
        if received.failure().is_some() {
            return Some(Mad::Failed(request, SendFailure::TimedOut));
        }
        let Ok(mad) = SaMad::parse(received.mad) else {
            return Some(Mad::Failed(request, SendFailure::NotSent));
        };
        self.mad = *mad;
        Some(Mad::Response(request))
    }
}
