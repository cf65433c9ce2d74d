//! Commands of the event loop: queue pairs, groups, datagrams, requests.
use super::{
    endpoint::{Endpoint, OutgoingDatagram},
    messages::{Command, Report},
    requests::{OpenRequest, request_key},
    table::port_number,
    worker::{Work, Worker},
};
use crate::log::limited;
use acm_sansio::{
    EndpointId, PortId,
    api::{SaAddress, SaSend, SendFailure},
};
use ib_device::{
    Error,
    verbs::{UdConfig, UdQueuePair},
};
use ib_mad::{Gid, Lid, Qpn, sa::SaMad};

/// Number of entries of the send queue for requests, in addition to the entries for responses.
const REQUESTS: u32 = 64;

impl Worker {
    /// Carries out a command.
    pub(super) fn carry_out(&mut self, command: Command) {
        match command {
            Command::Read => self.read(),
            Command::Open { endpoint, port, pkey_index, name } => {
                self.lines.name_endpoint(endpoint, name);
                let report = match self.open(endpoint, port, pkey_index) {
                    Ok(qpn) => Report::EndpointOpened(endpoint, qpn),
                    Err(error) => {
                        let name = self.lines.endpoint(endpoint);
                        limited!(
                            self.lines,
                            ERROR,
                            "devices",
                            of endpoint.index(),
                            "{name}: {error}; try acmctl check"
                        );
                        Report::EndpointFailed(endpoint)
                    }
                };
                self.reports.push_back(report);
            }
            Command::Close(endpoint) => self.drop_endpoint(endpoint),
            Command::Attach(endpoint, mgid, mlid) => self.attach(endpoint, mgid, mlid),
            Command::Detach(endpoint, mgid) => self.detach(endpoint, mgid),
            Command::Send(endpoint, datagram) => self.send(endpoint, datagram),
            Command::SaSend(send) => self.sa_send(send),
            Command::SaReply(port, to, mad) => self.sa_reply(port, to, &mad),
        }
    }

    fn open(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, Error> {
        let depths = self.depths;
        let device = self.device.as_ref().ok_or(Error::Gone)?;
        let number = device.number_of(port).ok_or(Error::Gone)?;
        let config = UdConfig {
            recv_depth: depths.receive.get(),
            send_depth: depths.send.get().saturating_add(REQUESTS),
            ..UdConfig::new(number, pkey_index)
        };
        let pair = UdQueuePair::new(&device.context, config)?;
        let qpn = pair.qpn();
        self.drop_endpoint(endpoint);
        self.queues.insert(pair.key(), endpoint);
        self.endpoints.insert(endpoint, Endpoint::new(endpoint, port, pair));
        Ok(qpn)
    }

    fn detach(&mut self, endpoint: EndpointId, mgid: Gid) {
        self.retries.retain(|work| !matches!(work, Work::Attach(of, group, _) if (*of, *group) == (endpoint, mgid)));
        if let Some(open) = self.endpoints.get_mut(&endpoint)
            && let Err(error) = open.pair.detach(mgid)
        {
            limited!(self.lines, DEBUG, "devices", "{}: {error}", self.lines.endpoint(endpoint));
        }
    }

    fn send(&mut self, endpoint: EndpointId, datagram: OutgoingDatagram) {
        if let Some(open) = self.endpoints.get_mut(&endpoint) {
            open.send(datagram, &self.counters, &self.lines);
        }
    }

    fn sa_send(&mut self, send: SaSend) {
        let sent = match &mut self.device {
            Some(device) => device.sa_send(&send),
            None => Err(Error::Gone),
        };
        match sent {
            Ok(()) => {
                let key = request_key(send.port, send.mad.header.transaction_id);
                self.requests.insert(key, OpenRequest::new(send));
            }
            Err(error) => {
                let number = port_number(send.port);
                limited!(self.lines, WARN, "devices", "{} port {number}: SA request not sent: {error}", self.name);
                self.reports.push_back(Report::SaFailed(send.id, SendFailure::NotSent));
            }
        }
    }

    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad) {
        let Some(device) = &mut self.device else { return };
        if let Err(error) = device.sa_reply(port, to, mad) {
            let number = port_number(port);
            limited!(self.lines, DEBUG, "devices", "{} port {number}: report not answered: {error}", self.name);
        }
    }

    /// Attaches an endpoint to a multicast group. If that fails, it is repeated. Until it succeeds, the endpoint sends
    /// requests, but receives none.
    pub(super) fn attach(&mut self, id: EndpointId, mgid: Gid, mlid: Lid) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        let work = Work::Attach(id, mgid, mlid);
        match endpoint.pair.attach(mgid, mlid) {
            Ok(()) => {
                self.retries.clear(&work);
                self.reports.push_back(Report::Attached(id, mgid, mlid));
            }
            Err(error) => {
                self.counters.attach_failures.increment();
                if self.retries.failed(self.now, work) {
                    limited!(
                        self.lines,
                        ERROR,
                        "devices",
                        of id.index(),
                        "{}: unable to attach to multicast group {mgid}: {error}; tried again until it works",
                        self.lines.endpoint(id)
                    );
                }
            }
        }
    }
}
