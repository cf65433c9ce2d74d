//! Paths that the subnet administrator (SA) assigns to well-known services, compared with the path of no service.
use super::{addresses::Ports, report::Report};
use crate::{clock::Clock, fabric::Fabric};
use acm_sansio::{
    Config, Input, PortId, SaRequestId, Time,
    api::SaSend,
    config::{RouteProt, ServiceIds},
    port::PortAttributes,
};
use acm_wire::multicast::group_mgid;
use core::time::Duration;
use ib_mad::{
    AttributeId, Method, Pkey, ServiceId, TransactionId, Wire,
    notice::ClassPortInfo,
    sa::{McMemberRecord, PathRecord, Query, SaCapability2, SaMad},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

/// Time limit for all responses.
const LIMIT: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_millis(900);
const RETRIES: u32 = 2;
const PAUSE: Duration = Duration::from_millis(20);

/// The responses of the SA to the requests from each active port, or the reason why there are none.
#[derive(Debug)]
pub(super) struct Services(BTreeMap<PortId, Result<Answers, (String, &'static str)>>);

impl Services {
    /// Requests the paths of services from each active port. The destination is the port of the subnet manager, which
    /// every subnet has. The SA chooses the partition.
    pub(super) fn ask(fabric: &mut dyn Fabric, ports: &Ports, config: &Config) -> Self {
        let answers = |(id, port): (&PortId, &PortAttributes)| match ask(fabric, &requests(*id, port, config)) {
            Ok(responses) => (*id, Answers::read(&responses).ok_or_else(|| why_none(&responses))),
            Err(error) => (*id, Err((error.to_string(), "is the fabric up?"))),
        };
        Self(ports.active.iter().map(answers).collect())
    }

    /// Compares the paths with what the daemon serves with its options, at ports with addresses in these partitions.
    pub(super) fn report(
        &self,
        ports: &Ports,
        served: &BTreeSet<(PortId, Pkey)>,
        config: &Config,
        report: &mut Report,
    ) {
        for (id, answers) in &self.0 {
            let name = ports.name(*id);
            match answers {
                Ok(answers) => {
                    let here: Vec<Pkey> = served.iter().filter(|(port, _)| port == id).map(|(_, pkey)| *pkey).collect();
                    let choice = ports.active.get(id).map_or(Choice::Only, |port| Choice::of(port, &here));
                    answers.report(&name, choice, &config.path_service_ids, report);
                    if config.route_prot == RouteProt::Acm {
                        answers.report_group(&name, report);
                    }
                }
                Err((reason, advice)) => {
                    report.warn(format!("{name}: paths of services are unknown: {reason}"), *advice);
                }
            }
        }
    }
}

/// The partition of the daemon's path to a GID or LID without a P_Key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The port has only one partition, or no address.
    Only,
    /// The SA chooses it.
    Sa,
    /// The partition of an endpoint, because the port has a partition without an address.
    Endpoint(Pkey),
}

impl Choice {
    /// Returns the choice for a port with addresses in the partitions `served`.
    fn of(port: &PortAttributes, served: &[Pkey]) -> Self {
        let is_served = |pkey: &Pkey| served.iter().any(|served| served.same_partition(*pkey));
        let mut valid = port.pkeys.iter().filter(|pkey| pkey.is_valid());
        let of_endpoint = Some(Pkey::DEFAULT_FULL).filter(is_served).or_else(|| valid.clone().copied().find(is_served));
        match of_endpoint {
            Some(_) if port.lets_sa_choose(served) => Self::Sa,
            Some(pkey) if valid.any(|other| !other.same_partition(pkey)) => Self::Endpoint(pkey),
            _ => Self::Only,
        }
    }
}

/// Returns the requests: for the capabilities of the SA, for the path of no service, for those of all programs, and for the
/// base group.
fn requests(port: PortId, attributes: &PortAttributes, config: &Config) -> Vec<SaSend> {
    let path = Query::<PathRecord>::new().sgid(attributes.gid()).dlid(attributes.sm_lid);
    let path = path.reversible(true).num_path(1);
    let tid = |number: u32| TransactionId::new(number.into());
    let capabilities = SaMad::request(Method::GET, AttributeId::CLASS_PORT_INFO, tid(0));
    let with_ids = ServiceId::programs().map(|(_, id)| path.service_id(id));
    let paths =
        (1..).zip([path].into_iter().chain(with_ids)).map(|(number, query)| query.request(Method::GET, tid(number)));
    let pkey = attributes.pkeys.iter().find(|pkey| pkey.same_partition(Pkey::DEFAULT_FULL));
    let pkey = pkey.or(attributes.pkeys.first()).copied().unwrap_or(Pkey::DEFAULT_FULL);
    let group = Query::<McMemberRecord>::new().mgid(group_mgid(pkey, 0, config.min_rate, config.min_mtu));
    let group = group.request(Method::GET, tid(group_number()));
    let mads = [capabilities].into_iter().chain(paths).chain([group]);
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

/// Returns the number of the request for the base group, which follows those for paths.
fn group_number() -> u32 {
    (2..).zip(ServiceId::programs()).map(|(number, _)| number + 1).last().unwrap_or(2)
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
fn why_none(responses: &BTreeMap<u32, SaMad>) -> (String, &'static str) {
    let (reason, advice) = if responses.is_empty() {
        ("the SA does not respond", "is it up (sminfo)?")
    } else {
        ("the SA has no path to the subnet manager's port", "expected on a simulated fabric; otherwise see sminfo")
    };
    (reason.to_owned(), advice)
}

/// The answers of the SA.
#[derive(Clone, Debug)]
struct Answers {
    has_qos: bool,
    /// The path of no service.
    plain: PathRecord,
    /// The paths of programs; `None` if there is none.
    programs: Vec<(&'static str, ServiceId, Option<PathRecord>)>,
    /// The base group; `None` if it does not exist yet.
    group: Option<McMemberRecord>,
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
            group: valid(group_number()).and_then(|mad| mad.record::<McMemberRecord>().ok()).copied(),
        })
    }

    /// Reports a path of the SA with another service level than the base group's, from which `route_prot acm` takes paths.
    fn report_group(&self, port: &str, report: &mut Report) {
        let of_group = self.group.map(|group| group.sl_flow_hop.sl());
        if let Some(of_group) = of_group.filter(|sl| *sl != self.plain.qos_sl.sl()) {
            report.warn(
                format!(
                    "{port}: route_prot acm: SL {of_group} of the group, but the SA gives SL {}",
                    self.plain.qos_sl.sl()
                ),
                "route_prot sa, unless all paths of the subnet may have the group's level",
            );
        }
    }

    /// Reports the services whose path differs from that of no service, and what the daemon serves with this option.
    fn report(&self, port: &str, choice: Choice, option: &ServiceIds, report: &mut Report) {
        let properties = |path: &PathRecord| (path.qos_sl.sl(), path.pkey, path.mtu, path.rate);
        let (mut all, mut served, mut lost, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
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
            let is_elsewhere =
                matches!((choice, path), (Choice::Endpoint(pkey), Some(path)) if !pkey.same_partition(path.pkey));
            let list = match (is_left_out, is_elsewhere) {
                (true, _) => &mut lost,
                (false, true) => &mut elsewhere,
                (false, false) => &mut served,
            };
            list.push(text);
        }
        let others = format!("other services SL {}", self.plain.qos_sl.sl());
        if !served.is_empty() {
            let to = if choice == Choice::Sa { " to a GID or LID" } else { "" };
            report.ok(format!("{port}: the SA gives {}, {others}; so does the daemon{to}", served.join(", ")));
        }
        if let Choice::Endpoint(pkey) = choice
            && !elsewhere.is_empty()
        {
            report.warn(
                format!("{port}: the SA gives {}, but the daemon a path in P_Key {pkey}", elsewhere.join(", ")),
                "give this node an address in each partition of the port, or let programs name the P_Key",
            );
        }
        if !lost.is_empty() {
            let what =
                format!("{port}: the SA gives {}, but the daemon SL {}", lost.join(", "), self.plain.qos_sl.sl());
            let advice = if self.has_qos { "path_service_ids auto" } else { "list them in path_service_ids" };
            report.warn(what, advice);
        }
        if served.is_empty() && lost.is_empty() && elsewhere.is_empty() {
            report.ok(format!("{port}: the SA gives {} the path of no service", all.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{
        ServiceLevel,
        sa::{QosSl, SlFlowHop},
    };

    fn path(sl: u8) -> PathRecord {
        PathRecord { qos_sl: QosSl::default().with_sl(ServiceLevel::checked(sl).unwrap()), ..PathRecord::default() }
    }

    fn lines(has_qos: bool, lustre: Option<PathRecord>, option: &ServiceIds) -> Vec<String> {
        lines_with(Choice::Only, has_qos, lustre, option)
    }

    fn lines_with(choice: Choice, has_qos: bool, lustre: Option<PathRecord>, option: &ServiceIds) -> Vec<String> {
        let [a, b] = ServiceId::programs().map(|(name, id)| (name, id, Some(path(0)))).take(2).collect::<Vec<_>>()[..]
        else {
            panic!("two programs")
        };
        let answers = Answers { has_qos, plain: path(0), programs: vec![(a.0, a.1, lustre), b], group: None };
        Report::of(|report| answers.report("a port 1", choice, option, report)).lines()
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

    #[test]
    fn sa_chooses_only_if_each_of_several_partitions_has_an_address() {
        let [default, storage, limited] = [0xffff, 0x8001, 0x0001].map(Pkey::new);
        let of = |table: &[Pkey], served: &[Pkey]| {
            Choice::of(&PortAttributes { pkeys: table.to_vec(), ..PortAttributes::default() }, served)
        };
        assert_eq!(of(&[default], &[default]), Choice::Only);
        assert_eq!(of(&[storage, default], &[default, storage]), Choice::Sa);
        assert_eq!(of(&[limited, storage], &[storage]), Choice::Only, "one partition");
        assert_eq!(of(&[storage, default], &[default]), Choice::Endpoint(Pkey::DEFAULT_FULL));
        assert_eq!(of(&[default, storage], &[storage]), Choice::Endpoint(storage));
        assert_eq!(of(&[default, storage], &[]), Choice::Only, "no address is a finding of its own");
    }

    #[test]
    fn partition_in_which_the_daemon_gives_no_path_is_reported() {
        let pkey = Pkey::new(0x8001);
        let lustre = Some(PathRecord { pkey, ..path(1) });
        let line = |choice| lines_with(choice, true, lustre, &ServiceIds::Auto).remove(0);
        assert!(line(Choice::Sa).ends_with("; so does the daemon to a GID or LID"));
        assert!(line(Choice::Endpoint(pkey)).ends_with("; so does the daemon"));
        let line = line(Choice::Endpoint(Pkey::DEFAULT_FULL));
        assert!(line.starts_with("warn a port 1: the SA gives lustre SL 1 P_Key 0x8001 "), "{line}");
        assert!(line.contains(", but the daemon a path in P_Key 0xffff: give this node an address "), "{line}");
    }

    #[test]
    fn group_with_another_level_than_the_sas_path_is_reported() {
        let lines = |sl| {
            let sl_flow_hop = SlFlowHop::default().with_sl(ServiceLevel::checked(sl).unwrap());
            let group = Some(McMemberRecord { sl_flow_hop, ..McMemberRecord::default() });
            let answers = Answers { has_qos: false, plain: path(3), programs: Vec::new(), group };
            Report::of(|report| answers.report_group("a port 1", report)).lines()
        };
        assert!(lines(3).is_empty());
        let found = lines(0);
        assert!(
            found[0].starts_with("warn a port 1: route_prot acm: SL 0 of the group, but the SA gives SL 3: "),
            "{found:?}"
        );
    }
}
