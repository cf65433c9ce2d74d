//! Subscriptions to notices, and reports to subscribers (IBTA 13.4.11, 15.4.3).
use super::state::Report;
use crate::{
    event::Event,
    id::PortId,
    subnet::{Subnet, Timer},
};
use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;
use ib_mad::{
    AttributeId, Gid, Lid, Method, PortState, Qpn, Status, TransactionId,
    notice::{GenericType, GidTrap, InformInfo, InformType, Notice, NoticeType, Producer, SaNotice, TrapNumber},
    sa::SaMad,
    wire::{InBytes, Octets},
};

/// Time after which a report without a response is sent again.
const REPORT_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of transmissions of a report.
const TRANSMISSIONS: u32 = 4;

impl Subnet {
    /// Subscribes a port to a trap, or ends the subscription.
    pub(super) fn subscribe(&mut self, port: PortId, request: &InformInfo) -> Result<InformInfo, Status> {
        if !self.settings().sa.notices {
            return Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
        }
        // Only subscriptions to the administrator's traps about all ports are supported.
        let all_ports = request.gid.is_zero() && request.lid_range_begin == Lid::PERMISSIVE;
        let supported = request.is_generic == 1 && (64..=67).contains(&request.trap_number.get());
        if !all_ports || !supported || !matches!(request.notice_type, InformType::ALL | InformType::SUBNET_MANAGEMENT) {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let subscription = (request.trap_number, port);
        match request.subscribe {
            0 if self.sa_mut().subscribed.remove(&subscription) => Ok(*request),
            1 => {
                self.sa_mut().subscribed.insert(subscription);
                Ok(*request)
            }
            _ => Err(Status::SA_REQUEST_INVALID),
        }
    }

    /// Returns the ports that are subscribed to a trap.
    pub fn subscribers(&self, trap: TrapNumber) -> impl Iterator<Item = PortId> {
        self.sa()
            .subscribed
            .range((trap, PortId::new(0, 0))..)
            .take_while(move |(of, _)| *of == trap)
            .map(|(_, id)| *id)
    }

    /// Reports to all subscribers that a port or group was added or removed.
    pub(crate) fn report_trap(&mut self, trap: TrapNumber, gid: Gid) {
        let to: Vec<PortId> = self.subscribers(trap).collect();
        for port in to {
            let Some(subscriber) = self.port(port).filter(|port| port.state == PortState::ACTIVE) else { continue };
            let issuer = subscriber.sm_lid;
            let sa = self.sa_mut();
            sa.reports_made += 1;
            let tid = sa.reports_made;
            let data = Octets::of(&report(trap, gid, issuer));
            let mad = SaMad { data, ..SaMad::request(Method::REPORT, AttributeId::NOTICE, TransactionId::new(tid)) };
            sa.reports.insert(tid, Report { port, mad: Box::new(mad), left: TRANSMISSIONS });
            self.send_report(tid);
        }
    }

    /// Sends a report. Drops it if it was sent [`TRANSMISSIONS`] times.
    pub(crate) fn send_report(&mut self, tid: u64) {
        let Some(report) = self.sa_mut().reports.get_mut(&tid) else { return };
        let (port, mad) = (report.port, report.mad.clone());
        if report.left == 0 {
            self.sa_mut().reports.remove(&tid);
            return;
        }
        report.left -= 1;
        self.counters_mut().sa_reports += 1;
        self.set_timer(REPORT_TIMEOUT, Timer::ReportTimeout(tid));
        let delay = self.settings().sa.delay;
        match self.settings().sa.mute {
            true => {}
            false if delay.is_zero() => self.deliver_report(port, mad),
            false => self.set_timer(delay, Timer::Report(port, mad)),
        }
    }

    pub(crate) fn deliver_report(&mut self, port: PortId, mad: Box<SaMad>) {
        let Some(subscriber) = self.port(port).filter(|port| port.state == PortState::ACTIVE) else { return };
        let slid = subscriber.sm_lid;
        if self.loses_mad() {
            return;
        }
        self.watch_report(port, slid, &mad);
        self.push_event(Event::Report { port, slid, qpn: Qpn::GSI, mad });
    }

    /// Ends a report when its port responds.
    pub(crate) fn end_report(&mut self, port: PortId, response: &SaMad) {
        let tid = response.header.transaction_id.get();
        if self.sa().reports.get(&tid).is_some_and(|report| report.port == port) {
            self.sa_mut().reports.remove(&tid);
            self.counters_mut().sa_reports_answered += 1;
        }
    }
}

fn report(trap: TrapNumber, gid: Gid, issuer_lid: Lid) -> SaNotice {
    let data_details = Octets::of(&GidTrap { gid_addr: gid, ..GidTrap::default() });
    let generic_type = GenericType::default().with_is_generic(true).with_notice_type(NoticeType::SUBNET_MANAGEMENT);
    let producer = InBytes::new(Producer::CLASS_MANAGER);
    let notice = Notice { generic_type, producer, trap_number: trap, issuer_lid, data_details, ..Notice::default() };
    SaNotice { notice, ..SaNotice::default() }
}
