//! Notices: who subscribed to what, and the reports that go out (IBTA 13.4.11, 15.4.3).
use super::reports::Report;
use crate::{Event, PortId, Subnet, subnet::Due};
use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;
use ib_mad::{
    AttributeId, Gid, Lid, Method, PortState, Qpn, Status, TransactionId,
    notice::{GenericType, GidTrap, InformInfo, InformType, Notice, NoticeType, Producer, SaNotice, TrapNumber},
    sa::SaMad,
    wire::{InBytes, Octets},
};

/// How long a report waits for its answer before it is sent again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is sent in all.
const TIMES: u32 = 4;

impl Subnet {
    /// Subscribes a port to a trap, or ends that.
    pub(super) fn inform(&mut self, port: PortId, asked: &InformInfo) -> Result<InformInfo, Status> {
        if !self.settings().sa.notices {
            return Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
        }
        // Others than the traps of administration, about all ports, are not needed here.
        let whole = asked.gid.is_zero() && asked.lid_range_begin == Lid::PERMISSIVE;
        let known = asked.is_generic == 1 && (64..=67).contains(&asked.trap_number.get());
        if !whole || !known || !matches!(asked.notice_type, InformType::ALL | InformType::SUBNET_MANAGEMENT) {
            return Err(Status::SA_REQUEST_INVALID);
        }
        let subscription = (asked.trap_number, port);
        match asked.subscribe {
            0 if self.sa_mut().subscribed.remove(&subscription) => Ok(*asked),
            1 => {
                self.sa_mut().subscribed.insert(subscription);
                Ok(*asked)
            }
            _ => Err(Status::SA_REQUEST_INVALID),
        }
    }

    /// Who is subscribed to a trap.
    pub fn subscribers(&self, trap: TrapNumber) -> impl Iterator<Item = PortId> {
        self.sa()
            .subscribed
            .range((trap, PortId::new(0, 0))..)
            .take_while(move |(of, _)| *of == trap)
            .map(|(_, id)| *id)
    }

    /// Tells everybody who wants to know that a port or group came or went.
    pub(crate) fn notice(&mut self, trap: TrapNumber, gid: Gid) {
        let to: Vec<PortId> = self.subscribers(trap).collect();
        for port in to {
            let Some(own) = self.port(port).filter(|own| own.state == PortState::ACTIVE) else { continue };
            let issuer = own.sm_lid;
            let sa = self.sa_mut();
            sa.reports_made += 1;
            let tid = sa.reports_made;
            let data = Octets::of(&report(trap, gid, issuer));
            let mad = SaMad { data, ..SaMad::request(Method::REPORT, AttributeId::NOTICE, TransactionId::new(tid)) };
            sa.reports.insert(tid, Report { port, mad: Box::new(mad), left: TIMES });
            self.send_report(tid);
        }
    }

    /// Sends a report, again if it was before; after the last time it is forgotten.
    pub(crate) fn send_report(&mut self, tid: u64) {
        let Some(report) = self.sa_mut().reports.get_mut(&tid) else { return };
        let (port, mad) = (report.port, report.mad.clone());
        if report.left == 0 {
            self.sa_mut().reports.remove(&tid);
            return;
        }
        report.left -= 1;
        self.counters_mut().sa_reports += 1;
        self.schedule_due(AGAIN, Due::ReportAgain(tid));
        let delay = self.settings().sa.delay;
        match self.settings().sa.mute {
            true => {}
            false if delay.is_zero() => self.report_arrives(port, mad),
            false => self.schedule_due(delay, Due::Report(port, mad)),
        }
    }

    pub(crate) fn report_arrives(&mut self, port: PortId, mad: Box<SaMad>) {
        let Some(own) = self.port(port).filter(|own| own.state == PortState::ACTIVE) else { return };
        let slid = own.sm_lid;
        if self.loses_mad() {
            return;
        }
        self.report_delivered(port, slid, &mad);
        self.tell_event(Event::Report { port, slid, qpn: Qpn::GSI, mad });
    }

    /// A port answers a report.
    pub(crate) fn report_answered(&mut self, port: PortId, answer: &SaMad) {
        let tid = answer.header.transaction_id.get();
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
