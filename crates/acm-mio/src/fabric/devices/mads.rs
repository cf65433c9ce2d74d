//! Answers of subnet administration.
use super::{
    table::{Devices, Work},
    wakes::Source,
};
use acm_sansio::{PortId, SaRequestId, door::SendFailure};
use ib_device::Error;
use ib_mad::{Wire, sa::SaMad};

impl Devices {
    /// A port's next MAD, put into `self.mad`; whose answer it is, or why there is none.
    pub(super) fn next_mad(&mut self, id: PortId) -> Option<(SaRequestId, Option<SendFailure>)> {
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
                    tracing::warn!(target: "devices", "port {}: {error}", id.0);
                }
                return None;
            }
        };
        let header = received.mad_header().ok()?;
        // The upper half is the kernel's.
        let [.., a, b, c, d] = header.transaction_id.get().to_be_bytes();
        let request = self.requests.remove(&(id, u32::from_be_bytes([a, b, c, d])))?;
        if received.failure().is_some() {
            return Some((request, Some(SendFailure::TimedOut)));
        }
        let Ok(mad) = SaMad::parse(received.mad) else {
            return Some((request, Some(SendFailure::NotSent)));
        };
        self.mad = *mad;
        Some((request, None))
    }
}
