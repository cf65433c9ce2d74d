//! Answers and reports of subnet administration.
use super::{
    table::{Devices, Work},
    wakes::Source,
};
use crate::log::limited;
use acm_sansio::{Input, PortId, SaRequestId, api::SendFailure};
use ib_device::Error;
use ib_mad::{Lid, Method, Qpn, Wire, as_bytes, sa::SaMad};

/// What a MAD is; its bytes are in the table's `mad`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mad {
    Answer(SaRequestId),
    NoAnswer(SaRequestId, SendFailure),
    Report { port: PortId, lid: Lid, qpn: Qpn },
}

impl Mad {
    /// As the core hears it.
    pub(super) fn input(self, mad: &SaMad) -> Input<'_> {
        match self {
            Self::Answer(id) => Input::SaResponse { id, mad: as_bytes(mad) },
            Self::NoAnswer(id, failure) => Input::SaFailed { id, failure },
            Self::Report { port, lid, qpn } => Input::SaReport { port, lid, qpn, mad: as_bytes(mad) },
        }
    }
}

impl Devices {
    /// A port's next MAD, put into `self.mad`.
    pub(super) fn next_mad(&mut self, id: PortId) -> Option<Mad> {
        let source = Source::Mads(id);
        let place = self.place_of(id);
        let port = place.and_then(|(key, number)| self.devices.get(&key)?.port(number));
        let Some(port) = port else {
            self.turns.dry(source);
            return None;
        };
        let received = match port.umad.receive(&mut self.buffer) {
            Ok(Some(received)) => received,
            Ok(None) => {
                self.turns.dry(source);
                self.retries.settled(&Work::Mads(id));
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
        // The upper half is the kernel's.
        let [.., a, b, c, d] = header.transaction_id.get().to_be_bytes();
        let request = self.requests.remove(&(id, u32::from_be_bytes([a, b, c, d])))?;
        if received.failure().is_some() {
            return Some(Mad::NoAnswer(request, SendFailure::TimedOut));
        }
        let Ok(mad) = SaMad::parse(received.mad) else {
            return Some(Mad::NoAnswer(request, SendFailure::NotSent));
        };
        self.mad = *mad;
        Some(Mad::Answer(request))
    }
}
