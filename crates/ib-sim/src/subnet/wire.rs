//! Links with a rate: a port sends and receives one packet at a time.
use super::Subnet;
use crate::{id::PortId, port::Port};
use core::time::Duration;

/// Bytes of a UD packet in addition to its payload: LRH 8, GRH 40, BTH 12, DETH 8, invariant CRC 4, variant CRC 2.
const HEADERS: usize = 74;

/// Times at which the link of a port is free again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wire {
    sending_until: Duration,
    receiving_until: Duration,
}

/// Returns the time that a port's link needs for a packet with a payload of `bytes`.
fn time_on_wire(port: &Port, bytes: usize) -> Duration {
    let bits = u64::try_from(bytes + HEADERS).unwrap_or(u64::MAX).saturating_mul(8);
    Duration::from_nanos(bits.saturating_mul(1000) / port.rate.mbps().map_or(1, u64::from).max(1))
}

impl Subnet {
    /// Returns the time at which a packet that is sent now has left its port.
    pub(super) fn send_time(&mut self, from: PortId, bytes: usize) -> Duration {
        self.wire_time(from, self.now, bytes, |wire| &mut wire.sending_until)
    }

    /// Returns the time at which a packet that reaches a port at `at` is received.
    pub(super) fn receive_time(&mut self, to: PortId, at: Duration, bytes: usize) -> Duration {
        self.wire_time(to, at, bytes, |wire| &mut wire.receiving_until)
    }

    fn wire_time(
        &mut self,
        id: PortId,
        at: Duration,
        bytes: usize,
        direction: impl Fn(&mut Wire) -> &mut Duration,
    ) -> Duration {
        if !self.settings.link_rates {
            return at;
        }
        let Some(needed) = self.port(id).map(|port| time_on_wire(port, bytes)) else { return at };
        let free = direction(self.wires.entry(id).or_default());
        *free = at.max(*free) + needed;
        *free
    }
}
