//! Operations of the fabric, of ports, and of what the daemon tells the core beside clients.
use super::{
    state::{Harness, PORTS},
    values::{address, attributes, gid, good_answer, hosts, lid, pick, reconfigured, routes, source, take},
};
use crate::operation::{Operation, Peer, ReportOf, Response, SaAnswer};
use acm_sansio::{
    Input, PortId, SaRequestId,
    door::{DatagramSource, SendFailure},
    port::InterfaceAddress,
};
use acm_wire::multicast;
use core::time::Duration;
use ib_mad::{AttributeId, Gid, Method, Mtu, Pkey, Qpn, Rate, Status, sa::SaMad, wire::Octets};

impl Harness {
    pub(super) fn operate_fabric(&mut self, operation: &Operation) {
        match operation {
            Operation::Sa(which, answer) => self.sa(*which, answer),
            Operation::SaBytes(which, known, bytes) => {
                let id = pick(&self.sent, *which).filter(|_| *known).map(|send| send.id);
                let id = id.unwrap_or_else(|| SaRequestId::new(u32::from(*which % 8), u32::from(*which / 8 % 4)));
                self.tell(Input::SaAnswer { id, mad: bytes });
            }
            Operation::Report(number, what) => self.report(*number, what),
            Operation::Respond(which, peer, response) => self.respond(*which, peer, response),
            Operation::Ask(endpoint, peer, dest, own) => self.ask_group(*endpoint, peer, *dest, *own),
            Operation::Datagram(endpoint, peer, payload) => {
                let endpoint = self.endpoint(*endpoint);
                let source = peer.as_ref().map_or_else(
                    || DatagramSource { lid: lid(0), path_bits: 0, qpn: Qpn::of::<2>(), gid: None },
                    source,
                );
                self.tell(Input::Datagram { endpoint, source, payload });
            }
            Operation::Open(which, qpn) => {
                if let Some(endpoint) = take(&mut self.opening, *which) {
                    self.tell(match qpn {
                        Some(qpn) => Input::EndpointOpened { endpoint, qpn: Qpn::masked(u32::from(*qpn % 4) + 2) },
                        None => Input::EndpointFailed(endpoint),
                    });
                }
            }
            Operation::Lose(which) => {
                let endpoint = self.endpoint(*which);
                // A wish that waits gets its own answer.
                if !self.opening.contains(&endpoint) {
                    self.tell(Input::EndpointLost(endpoint));
                }
            }
            _ => self.operate_port(operation),
        }
    }

    fn operate_port(&mut self, operation: &Operation) {
        let port = |number: &u8| PortId(u32::from(*number) % PORTS);
        let pkey = |given: &bool| given.then_some(Pkey::DEFAULT_FULL);
        match operation {
            Operation::PortUp(number, link) => {
                let attributes = attributes(port(number), link);
                if let Some(place) = self.sm_lids.get_mut(port(number).0 as usize) {
                    *place = attributes.sm_lid;
                }
                self.tell(Input::PortUp { port: port(number), attributes: &attributes });
            }
            Operation::PortDown(number) => self.tell(Input::PortDown(port(number))),
            Operation::Reregister(number) => self.tell(Input::ClientReregister(port(number))),
            Operation::AddressAdded(number, which, given) => {
                self.tell(Input::AddressAdded { port: port(number), pkey: pkey(given), address: address(*which) });
            }
            Operation::AddressRemoved(number, which, given) => {
                self.tell(Input::AddressRemoved { port: port(number), pkey: pkey(given), address: address(*which) });
            }
            Operation::Preload(true, number) => self.tell(Input::Preloaded(routes(*number))),
            Operation::Preload(false, number) => self.tell(Input::Preloaded(hosts(*number))),
            Operation::Interfaces(all) => {
                let all: Vec<InterfaceAddress> = all
                    .iter()
                    .filter_map(|(port, which, given)| {
                        let address = address(*which).ip()?;
                        Some(InterfaceAddress { gid: gid(*port), pkey: pkey(given), address })
                    })
                    .collect();
                self.tell(Input::Interfaces(&all));
            }
            Operation::Wait(millis) => self.wait(Duration::from_millis((*millis).into())),
            Operation::Sleep(seconds) => self.wait(Duration::from_secs((*seconds).into())),
            Operation::Configure(number) => self.tell(Input::Configure(&reconfigured(*number))),
            Operation::Shutdown if !self.shut_down => {
                self.shut_down = true;
                self.tell(Input::Shutdown);
            }
            _ => {}
        }
    }

    fn sa(&mut self, which: u8, answer: &SaAnswer) {
        let Some(send) = take(&mut self.sent, which) else { return };
        let mut mad = good_answer(&send.mad);
        match answer {
            SaAnswer::Good => {}
            SaAnswer::Other => mad.header.attribute_id = AttributeId::NODE_RECORD,
            SaAnswer::Busy => mad.header.status = Status::BUSY,
            SaAnswer::Status(status) => mad.header.status = Status::new(u16::from(*status) << 8),
            SaAnswer::OtherTransaction => {
                let tid = mad.header.transaction_id.get() ^ 1;
                mad.header.transaction_id = ib_mad::TransactionId::new(tid);
            }
            SaAnswer::Cut(length) => {
                let bytes = ib_mad::as_bytes(&mad).get(..usize::from(*length)).unwrap_or_default();
                return self.tell(Input::SaAnswer { id: send.id, mad: bytes });
            }
            SaAnswer::TimedOut => return self.tell(Input::SaFailed { id: send.id, failure: SendFailure::TimedOut }),
            SaAnswer::NotSent => return self.tell(Input::SaFailed { id: send.id, failure: SendFailure::NotSent }),
        }
        self.tell(Input::SaAnswer { id: send.id, mad: ib_mad::as_bytes(&mad) });
    }

    fn report(&mut self, number: u8, what: &ReportOf) {
        let port = PortId(u32::from(number) % PORTS);
        let trap = ib_mad::notice::TrapNumber::new(64 + u16::from(what.trap % 5));
        // Groups or ports.
        let base = multicast::group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048);
        let gid_addr = if trap.get() >= 66 { base } else { gid(what.gid) };
        let details = ib_mad::notice::GidTrap { gid_addr, ..Default::default() };
        let mut notice = ib_mad::notice::Notice { trap_number: trap, ..Default::default() };
        notice.generic_type = notice.generic_type.with_is_generic(true);
        notice.data_details = Octets::of(&details);
        let mut mad = SaMad::request(Method::REPORT, AttributeId::NOTICE, ib_mad::TransactionId::new(1));
        mad.data = Octets::of(&notice);
        let sm_lid = self.sm_lids.get(port.0 as usize).copied().unwrap_or_default();
        let (lid, qpn) = if what.forged { (lid(what.gid), Qpn::of::<2>()) } else { (sm_lid, Qpn::GSI) };
        let length = if what.length < 8 { usize::from(what.length) } else { 256 };
        let mad = ib_mad::as_bytes(&mad).get(..length).unwrap_or_default();
        self.tell(Input::SaReport { port, lid, qpn, mad });
    }

    fn respond(&mut self, which: u8, peer: &Peer, response: &Response) {
        // One of the last: earlier ones have their answers, or will have none.
        let last = self.asked.len().saturating_sub(4);
        let Some((endpoint, request)) = pick(self.asked.get(last..).unwrap_or_default(), which).copied() else {
            return;
        };
        let group = request.groups().first().copied().unwrap_or_default();
        let mut mad = multicast::response(request.transaction_id, group);
        match response {
            Response::Mine => {}
            Response::No(status) => mad.status = Status::new(u16::from(*status) << 8),
            Response::NoGroup => mad.gids = [Gid::ZERO; 6],
            Response::Nothing => mad.transaction_id = ib_mad::TransactionId::new(u64::from(which)),
        }
        self.tell(Input::Datagram { endpoint, source: source(peer), payload: ib_mad::as_bytes(&mad) });
    }

    fn ask_group(&mut self, endpoint: u8, peer: &Peer, dest: u8, own: u8) {
        let endpoint = self.endpoint(endpoint);
        let groups: Vec<Gid> = pick(&self.asked, own).map(|(_, mad)| mad.groups().to_vec()).unwrap_or_default();
        let base = multicast::group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048);
        let groups = if groups.is_empty() { vec![base] } else { groups };
        self.next_request += 1;
        let tid = ib_mad::TransactionId::new(u64::from(self.next_request) / 2);
        let mad = multicast::request(tid, &address(dest), &address(own), &groups);
        self.tell(Input::Datagram { endpoint, source: source(peer), payload: ib_mad::as_bytes(&mad) });
    }
}
