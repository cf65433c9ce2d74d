//! Open requests to subnet administration: who may answer them, and how often they are sent again.
use acm_sansio::{PortId, api::SaSend};
use ib_mad::{Lid, Qpn, TransactionId, id::Lmc};

/// Maximum number of times that a request is sent again after a response from a wrong sender.
const MAX_RESENDS: u8 = 3;

/// The port of a request, and the lower half of its transaction id. The kernel sets the upper half.
pub(super) type RequestKey = (PortId, u32);

/// Returns the key of a request or of its response.
pub(super) fn request_key(port: PortId, tid: TransactionId) -> RequestKey {
    let [.., a, b, c, d] = tid.get().to_be_bytes();
    (port, u32::from_be_bytes([a, b, c, d]))
}

/// An open request to subnet administration.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRequest {
    pub(super) sent: SaSend,
    pub(super) resends: u8,
}

impl OpenRequest {
    pub(super) const fn new(sent: SaSend) -> Self {
        Self { sent, resends: 0 }
    }

    /// Reports whether the sender of a response is QP 1 of the port to which the request was sent. Assumes that all
    /// ports of a subnet have the same LMC.
    pub(super) fn is_answered_by(&self, lid: Lid, qpn: Qpn, lmc: Lmc) -> bool {
        qpn == Qpn::GSI && lid.base(lmc) == self.sent.to.lid.base(lmc)
    }

    /// Counts a response from a wrong sender. Returns `false` if the request was sent again too often.
    pub(super) const fn may_be_sent_again(&mut self) -> bool {
        self.resends += 1;
        self.resends <= MAX_RESENDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::{SaRequestId, api::SaAddress};
    use core::time::Duration;
    use ib_mad::{ServiceLevel, Wire, sa::SaMad};

    // docs/deviations.md: sa-source
    // docs/deadlines.md: sa-forged
    #[test]
    fn response_of_another_port_or_queue_pair_is_not_the_sas() {
        let to = SaAddress { lid: Lid::new(0x15), sl: ServiceLevel::ZERO, pkey_index: 0 };
        let mad = *<SaMad as Wire>::parse(&[0; 256]).unwrap();
        let sent = SaSend { port: PortId(0), id: SaRequestId::new(1, 1), to, mad, timeout: Duration::ZERO, retries: 0 };
        let mut open = OpenRequest::new(sent);
        assert_eq!([(); 4].map(|()| open.may_be_sent_again()), [true, true, true, false]);
        let of = |lid, qpn, lmc| open.is_answered_by(Lid::new(lid), qpn, Lmc::checked(lmc).unwrap());
        assert!(of(0x15, Qpn::GSI, 0) && of(0x14, Qpn::GSI, 2) && of(0x17, Qpn::GSI, 2));
        assert!(!of(0x14, Qpn::GSI, 0) && !of(0x18, Qpn::GSI, 2) && !of(0x13, Qpn::GSI, 2));
        assert!(!of(0x15, Qpn::masked(2), 0) && !of(0x15, Qpn::masked(0), 0));
    }
}
