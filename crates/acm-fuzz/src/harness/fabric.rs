//! Operations of the fabric, of ports, of interfaces and of the daemon's own events.
use super::{
    state::{Harness, PORTS},
    values::{address, attributes, gid, good_response, hosts, lid, pick, reconfigured, routes, source, take},
};
use crate::operation::{Operation, Peer, Report, Response, SaOutcome};
use acm_sansio::{
    Input, PortId, SaRequestId,
    api::{DatagramSource, SendFailure},
    port::InterfaceAddress,
};
use acm_wire::multicast;
use core::time::Duration;
use ib_mad::{AttributeId, Gid, Method, Mtu, Pkey, Qpn, Rate, Status, sa::SaMad, wire::Octets};

impl Harness {
    pub(super) fn operate_fabric(&mut self, operation: &Operation) {
        match operation {
            Operation::Sa(which, outcome) => self.sa(*which, outcome),
            Operation::SaBytes(which, pending, bytes) => {
                let id = pick(&self.sent, *which).filter(|_| *pending).map(|send| send.id);
                let id = id.unwrap_or_else(|| SaRequestId::new(u32::from(*which % 8), u32::from(*which / 8 % 4)));
                self.input(Input::SaResponse { id, mad: bytes });
            }
            Operation::Report(number, report) => self.report(*number, report),
            Operation::Respond(which, peer, response) => self.respond(*which, peer, response),
            Operation::MulticastRequest(endpoint, peer, dest, source) => {
                self.multicast_request(*endpoint, peer, *dest, *source);
            }
            Operation::Datagram(endpoint, peer, payload) => {
                let endpoint = self.endpoint(*endpoint);
                let source = peer.as_ref().map_or_else(
                    || DatagramSource { lid: lid(0), path_bits: 0, qpn: Qpn::of::<2>(), gid: None, group: None },
                    source,
                );
                self.input(Input::Datagram { endpoint, source, payload });
            }
            Operation::Open(which, qpn) => {
                if let Some(endpoint) = take(&mut self.opening, *which) {
                    self.input(match qpn {
                        Some(qpn) => Input::EndpointOpened { endpoint, qpn: Qpn::masked(u32::from(*qpn % 4) + 2) },
                        None => Input::EndpointFailed(endpoint),
                    });
                }
            }
            Operation::Attached(which) => {
                if let Some((endpoint, mgid, mlid)) = take(&mut self.attaching, *which) {
                    self.input(Input::Attached { endpoint, mgid, mlid });
                }
            }
            Operation::EndpointLost(which) => {
                let endpoint = self.endpoint(*which);
                // A queue pair that is being opened ends with `Operation::Open`.
                if !self.opening.contains(&endpoint) {
                    self.attaching.retain(|(of, ..)| *of != endpoint);
                    self.input(Input::EndpointLost(endpoint));
                }
            }
            _ => self.operate_port(operation),
        }
    }

    fn operate_port(&mut self, operation: &Operation) {
        let port = |number: &u8| PortId(u32::from(*number) % PORTS);
        let pkey = |with_pkey: &bool| with_pkey.then_some(Pkey::DEFAULT_FULL);
        match operation {
            Operation::PortUp(number, link) => {
                let attributes = attributes(port(number), link);
                if let Some(sm_lid) = self.sm_lids.get_mut(port(number).0 as usize) {
                    *sm_lid = attributes.sm_lid;
                }
                self.input(Input::PortUp { port: port(number), attributes });
            }
            Operation::PortDown(number) => self.input(Input::PortDown(port(number))),
            Operation::Reregister(number) => self.input(Input::ClientReregister(port(number))),
            Operation::AddressAdded(number, which, given) => {
                self.input(Input::AddressAdded { port: port(number), pkey: pkey(given), address: address(*which) });
            }
            Operation::AddressRemoved(number, which, given) => {
                self.input(Input::AddressRemoved { port: port(number), pkey: pkey(given), address: address(*which) });
            }
            Operation::Preload(true, number) => self.input(Input::Preloaded(routes(*number))),
            Operation::Preload(false, number) => self.input(Input::Preloaded(hosts(*number))),
            Operation::Interfaces(all) => {
                let all: Vec<InterfaceAddress> = all
                    .iter()
                    .filter_map(|(port, which, given)| {
                        let address = address(*which).ip()?;
                        Some(InterfaceAddress { gid: gid(*port), pkey: pkey(given), address })
                    })
                    .collect();
                self.input(Input::Interfaces(all));
            }
            Operation::Wait(millis) => self.wait(Duration::from_millis((*millis).into())),
            Operation::Sleep(seconds) => self.wait(Duration::from_secs((*seconds).into())),
            Operation::Configure(number) => self.input(Input::Configure(reconfigured(*number).into())),
            Operation::Flush(from) => {
                let mut ids = Vec::new();
                self.acm.cache_entries(usize::from(*from), &mut |entry| ids.push(entry.id));
                self.input(Input::Flush(ids));
            }
            Operation::Shutdown if !self.shut_down => {
                self.shut_down = true;
                self.input(Input::Shutdown);
            }
            _ => {}
        }
    }

    fn sa(&mut self, which: u8, outcome: &SaOutcome) {
        let Some(send) = take(&mut self.sent, which) else { return };
        let mut mad = good_response(&send.mad);
        match outcome {
            SaOutcome::Good => {}
            SaOutcome::Other => mad.header.attribute_id = AttributeId::NODE_RECORD,
            SaOutcome::Busy => mad.header.status = Status::BUSY,
            SaOutcome::Status(status) => mad.header.status = Status::new(u16::from(*status) << 8),
            SaOutcome::OtherTransaction => {
                let tid = mad.header.transaction_id.get() ^ 1;
                mad.header.transaction_id = ib_mad::TransactionId::new(tid);
            }
            SaOutcome::Truncated(length) => {
                let bytes = ib_mad::as_bytes(&mad).get(..usize::from(*length)).unwrap_or_default();
                return self.input(Input::SaResponse { id: send.id, mad: bytes });
            }
            SaOutcome::TimedOut => return self.input(Input::SaFailed { id: send.id, failure: SendFailure::TimedOut }),
            SaOutcome::NotSent => return self.input(Input::SaFailed { id: send.id, failure: SendFailure::NotSent }),
        }
        self.input(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
    }

    fn report(&mut self, number: u8, report: &Report) {
        let port = PortId(u32::from(number) % PORTS);
        let trap = ib_mad::notice::TrapNumber::new(64 + u16::from(report.trap % 5));
        // Traps 66 to 68 are about groups, 64 and 65 about ports.
        let base = multicast::group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048);
        let gid_addr = if trap.get() >= 66 { base } else { gid(report.gid) };
        let details = ib_mad::notice::GidTrap { gid_addr, ..Default::default() };
        let mut notice = ib_mad::notice::Notice { trap_number: trap, ..Default::default() };
        notice.generic_type = notice.generic_type.with_is_generic(true);
        notice.data_details = Octets::of(&details);
        let mut mad = SaMad::request(Method::REPORT, AttributeId::NOTICE, ib_mad::TransactionId::new(1));
        mad.data = Octets::of(&notice);
        let sm_lid = self.sm_lids.get(port.0 as usize).copied().unwrap_or_default();
        let (lid, qpn) = if report.forged { (lid(report.gid), Qpn::of::<2>()) } else { (sm_lid, Qpn::GSI) };
        let length = if report.length < 8 { usize::from(report.length) } else { 256 };
        let mad = ib_mad::as_bytes(&mad).get(..length).unwrap_or_default();
        self.input(Input::SaReport { port, lid, qpn, mad });
    }

    fn respond(&mut self, which: u8, peer: &Peer, response: &Response) {
        // Selects one of the last four requests: older requests have ended.
        let last = self.multicast_requests.len().saturating_sub(4);
        let Some((endpoint, request)) = pick(self.multicast_requests.get(last..).unwrap_or_default(), which).copied()
        else {
            return;
        };
        let group = request.groups().first().copied().unwrap_or_default();
        let mut mad = multicast::response(request.transaction_id, group);
        match response {
            Response::Success => {}
            Response::Status(status) => mad.status = Status::new(u16::from(*status) << 8),
            Response::NoGroup => mad.gids = [Gid::ZERO; 6],
            Response::OtherTransaction => mad.transaction_id = ib_mad::TransactionId::new(u64::from(which)),
        }
        self.input(Input::Datagram { endpoint, source: source(peer), payload: ib_mad::as_bytes(&mad) });
    }

    fn multicast_request(&mut self, endpoint: u8, peer: &Peer, dest: u8, source_address: u8) {
        let endpoint = self.endpoint(endpoint);
        let groups: Vec<Gid> =
            pick(&self.multicast_requests, source_address).map(|(_, mad)| mad.groups().to_vec()).unwrap_or_default();
        let base = multicast::group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048);
        let groups = if groups.is_empty() { vec![base] } else { groups };
        self.next_request += 1;
        let tid = ib_mad::TransactionId::new(u64::from(self.next_request) / 2);
        let mad = multicast::request(tid, &address(dest), &address(source_address), &groups);
        // Some requests are sent to this node alone.
        let group = Some(base).filter(|_| peer.bits < 192);
        let source = DatagramSource { group, ..source(peer) };
        self.input(Input::Datagram { endpoint, source, payload: ib_mad::as_bytes(&mad) });
    }
}
