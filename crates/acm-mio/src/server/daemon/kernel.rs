//! What the kernel asks.
use super::turn::{Daemon, OTHERS_TURN};
use crate::{
    addresses::Interfaces,
    kernel::{AddressRequest, Kernel},
    log::limited,
    source,
};
use acm_sansio::{Failure, Input, Time};

impl Daemon {
    /// Hands over what the kernel asks, a turn's worth of it.
    pub(super) fn kernel_requests(&mut self, now: Time) {
        for _ in 0..OTHERS_TURN {
            let Some(asked) = self.host.kernel.as_mut().and_then(Kernel::receive) else {
                self.ready.kernel = false;
                return;
            };
            if let Some(timeout) = asked.timeout {
                limited!(
                    self.host.lines,
                    INFO,
                    "kernel",
                    "the kernel waits {} ms for answers now",
                    timeout.as_millis()
                );
                self.input(now, Input::KernelTimeout(timeout));
            }
            for asked in asked.paths {
                let port = asked.place.map(|place| self.port_at(&place));
                self.input(now, Input::KernelRequest { id: asked.id, port, path: asked.wanted });
            }
            for asked in asked.addresses {
                self.address_request(now, &asked);
            }
        }
    }

    /// A path to the address begins at the interface that the kernel names; if nothing is known of that, where the
    /// routing table says.
    fn address_request(&mut self, now: Time, asked: &AddressRequest) {
        let (id, dest) = (asked.id, asked.address);
        let interfaces = self.host.interfaces.as_ref();
        let source = interfaces
            .and_then(|interfaces| interfaces.source_on(asked.interface, dest))
            .or_else(|| source::select(dest, interfaces.into_iter().flat_map(Interfaces::link_local)));
        match (source, &mut self.host.kernel) {
            (Some(source), _) => self.input(now, Input::KernelAddressRequest { id, source, dest }),
            (None, Some(kernel)) => {
                let (failure, lines) = (Failure::NoRoute, &self.host.lines);
                let advice = failure.advice();
                limited!(lines, DEBUG, "kernel", "failing request of the kernel for {dest}: {failure}; {advice}");
                kernel.answer(id, Err(failure));
            }
            (None, None) => {}
        }
    }
}
