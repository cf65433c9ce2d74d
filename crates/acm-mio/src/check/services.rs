//! Paths that the subnet administrator (SA) assigns to well-known services, compared with the path of no service.
use super::{addresses::Ports, report::Report};
use crate::{clock::Clock, fabric::Fabric};
use acm_sansio::{Input, PortId, SaRequestId, Time, api::SaSend, config::ServiceIds, port::PortAttributes};
use core::time::Duration;
use ib_mad::{
    AttributeId, Method, Pkey, ServiceId, TransactionId, Wire,
    notice::ClassPortInfo,
    sa::{PathRecord, Query, SaCapability2, SaMad},
};
use std::{collections::BTreeMap, io};

/// Time limit for all responses.
const LIMIT: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_millis(900);
const RETRIES: u32 = 2;
const PAUSE: Duration = Duration::from_millis(20);

/// Compares the paths of services from each active port. The destination is the port of the subnet manager, which
/// every subnet has.
pub(super) fn services(fabric: &mut dyn Fabric, ports: &Ports, option: &ServiceIds, report: &mut Report) {
    for (id, port) in &ports.active {
        let name = ports.name(*id);
        let unknown = |reason: String| format!("{name}: paths of services are unknown: {reason}");
        match ask(fabric, &requests(*id, port)) {
            Ok(responses) => match Answers::read(&responses) {
                Some(answers) => answers.report(&name, option, report),
                None => {
                    let (reason, advice) = why_none(&responses);
                    report.warn(unknown(reason.to_owned()), advice);
                }
            },
            Err(error) => report.warn(unknown(error.to_string()), "is the fabric up?"),
        }
    }
}

/// Returns the requests: for the capabilities of the SA, for the path of no service, and for those of all programs.
fn requests(port: PortId, attributes: &PortAttributes) -> Vec<SaSend> {
    let pkey = attributes.pkeys.iter().find(|pkey| pkey.same_partition(Pkey::DEFAULT_FULL));
    let pkey = pkey.or(attributes.pkeys.first()).copied().unwrap_or(Pkey::DEFAULT_FULL);
    let path = Query::<PathRecord>::new().sgid(attributes.gid()).dlid(attributes.sm_lid).pkey(pkey);
    let path = path.reversible(true).num_path(1);
    let tid = |number: u32| TransactionId::new(number.into());
    let capabilities = SaMad::request(Method::GET, AttributeId::CLASS_PORT_INFO, tid(0));
    let with_ids = ServiceId::programs().map(|(_, id)| path.service_id(id));
    let paths =
        (1..).zip([path].into_iter().chain(with_ids)).map(|(number, query)| query.request(Method::GET, tid(number)));
    let mads = [capabilities].into_iter().chain(paths);
    (0..)
        .zip(mads)
        .map(|(number, mad)| SaSend {
            port,
            id: SaRequestId::new(number, 0),
            to: attributes.sa_address(),
            mad,
            timeout: TIMEOUT,
            retries: RETRIES,
        })
        .collect()
}

/// Sends requests, and returns the responses by the index of the request.
fn ask(fabric: &mut dyn Fabric, requests: &[SaSend]) -> io::Result<BTreeMap<u32, SaMad>> {
    let (clock, mut poll, mut events) = (Clock::start(), mio::Poll::new()?, mio::Events::with_capacity(16));
    fabric.register(poll.registry(), mio::Token(0))?;
    requests.iter().for_each(|request| {
        fabric.sa_send(request);
    });
    let (mut responses, mut ended) = (BTreeMap::new(), 0);
    while ended < requests.len() && clock.now() < Time::ZERO + LIMIT {
        match poll.poll(&mut events, Some(PAUSE)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => events.iter().for_each(|event| fabric.ready(event.token())),
        }
        fabric.handle_timeout(clock.now());
        while let Some(input) = fabric.next_event().map_err(io::Error::other)? {
            match input {
                Input::SaResponse { id, mad } => {
                    ended += 1;
                    if let Ok((mad, _)) = SaMad::parse_prefix(mad) {
                        responses.insert(id.index(), *mad);
                    }
                }
                Input::SaFailed { .. } => ended += 1,
                _ => {}
            }
        }
    }
    Ok(responses)
}

/// Returns why there is no path to the subnet manager, and what to look at.
fn why_none(responses: &BTreeMap<u32, SaMad>) -> (&'static str, &'static str) {
    if responses.is_empty() {
        ("the SA does not respond", "is it up (sminfo)?")
    } else {
        ("the SA has no path to the subnet manager's port", "expected on a simulated fabric; otherwise see sminfo")
    }
}

/// The answers of the SA.
#[derive(Clone, Debug)]
struct Answers {
    has_qos: bool,
    /// The path of no service.
    plain: PathRecord,
    /// The paths of programs; `None` if there is none.
    programs: Vec<(&'static str, ServiceId, Option<PathRecord>)>,
}

impl Answers {
    fn read(responses: &BTreeMap<u32, SaMad>) -> Option<Self> {
        let valid = |number: u32| responses.get(&number).filter(|mad| mad.header.status.is_ok());
        let info = valid(0).and_then(|mad| ClassPortInfo::parse_prefix(&mad.data.0).ok());
        let second = info.map_or(0, |(info, _)| info.capability_response.capability_mask2());
        let path = |number| valid(number).and_then(|mad| mad.record::<PathRecord>().ok()).copied();
        let programs = (2..).zip(ServiceId::programs()).map(|(number, (name, id))| (name, id, path(number)));
        Some(Self {
            has_qos: SaCapability2::from_bits_retain(second).contains(SaCapability2::QOS),
            plain: path(1)?,
            programs: programs.collect(),
        })
    }

    /// Reports the services whose path differs from that of no service, and what the daemon serves with this option.
    fn report(&self, port: &str, option: &ServiceIds, report: &mut Report) {
        let properties = |path: &PathRecord| (path.qos_sl.sl(), path.pkey, path.mtu, path.rate);
        let (mut all, mut served, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for (name, id, path) in &self.programs {
            all.push(*name);
            let text = match path {
                Some(path) if properties(path) == properties(&self.plain) => continue,
                Some(path) => {
                    format!("{name} SL {} P_Key {} MTU {}", path.qos_sl.sl(), path.pkey, path.mtu.value())
                }
                None => format!("{name} no path"),
            };
            let is_left_out = match option {
                ServiceIds::Auto => !self.has_qos,
                other => other.canonical(*id).is_zero(),
            };
            if is_left_out { &mut lost } else { &mut served }.push(text);
        }
        let others = format!("other services SL {}", self.plain.qos_sl.sl());
        if !served.is_empty() {
            report.ok(format!("{port}: the SA gives {}, {others}; so does the daemon", served.join(", ")));
        }
        if !lost.is_empty() {
            let what =
                format!("{port}: the SA gives {}, but the daemon SL {}", lost.join(", "), self.plain.qos_sl.sl());
            let advice = if self.has_qos { "path_service_ids auto" } else { "list them in path_service_ids" };
            report.warn(what, advice);
        }
        if served.is_empty() && lost.is_empty() {
            report.ok(format!("{port}: the SA gives {} the path of no service", all.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{ServiceLevel, sa::QosSl};

    fn path(sl: u8) -> PathRecord {
        PathRecord { qos_sl: QosSl::default().with_sl(ServiceLevel::checked(sl).unwrap()), ..PathRecord::default() }
    }

    fn lines(has_qos: bool, lustre: Option<PathRecord>, option: &ServiceIds) -> Vec<String> {
        let [a, b] = ServiceId::programs().map(|(name, id)| (name, id, Some(path(0)))).take(2).collect::<Vec<_>>()[..]
        else {
            panic!("two programs")
        };
        let answers = Answers { has_qos, plain: path(0), programs: vec![(a.0, a.1, lustre), b] };
        let mut report = Report::default();
        answers.report("a port 1", option, &mut report);
        report.findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn silent_sa_is_told_from_one_without_a_path() {
        assert_eq!(why_none(&BTreeMap::new()).0, "the SA does not respond");
        let query = Query::<PathRecord>::new().request(Method::GET, TransactionId::new(1));
        let responses = BTreeMap::from([(1, query)]);
        assert!(
            Answers::read(&responses).is_some_and(|answers| answers.programs.iter().all(|(.., path)| path.is_none()))
        );
        let responses = BTreeMap::from([(0, query)]);
        assert!(Answers::read(&responses).is_none() && why_none(&responses).0.contains("has no path"));
    }

    #[test]
    fn differences_are_reported_with_what_the_daemon_serves() {
        let lustre = ServiceIds::ranges([ServiceId::new(0x0106_03db)..=ServiceId::new(0x0106_03db)]);
        let same = "ok a port 1: the SA gives lustre, storage-scale the path of no service";
        assert_eq!(lines(true, Some(path(0)), &ServiceIds::Auto), [same]);
        for (has_qos, option) in [(true, ServiceIds::Auto), (false, ServiceIds::All), (false, lustre)] {
            let found = lines(has_qos, Some(path(1)), &option);
            assert!(found[0].starts_with("ok a port 1: the SA gives lustre SL 1 P_Key "), "{found:?}");
            assert!(found[0].ends_with(", other services SL 0; so does the daemon") && found.len() == 1, "{found:?}");
        }
        for (has_qos, option, advice) in [
            (true, ServiceIds::None, "path_service_ids auto"),
            (false, ServiceIds::Auto, "list them in path_service_ids"),
        ] {
            let found = lines(has_qos, None, &option);
            let line = format!("warn a port 1: the SA gives lustre no path, but the daemon SL 0: {advice}");
            assert_eq!(found, [line]);
        }
    }
}
