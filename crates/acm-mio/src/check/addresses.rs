//! Addresses that the daemon would serve, and their ports. The check passes the daemon's ports and addresses to a core,
//! which assigns the addresses to ports.
use super::report::Report;
use crate::{
    addresses::Interfaces,
    cli::Args,
    fabric::{Fabric, NamedPort, attributes, named_ports},
    host_name::NO_NAME,
    names::DefaultNames,
    settings::{ConfiguredAddress, Settings},
};
use acm_sansio::{
    Acm, Config, EndpointId, Event, Input, Output, PortId, Seed, Time,
    api::Level,
    port::{InterfaceAddress, PortAttributes},
};
use acm_wire::Address;
use ib_mad::Pkey;
use ib_sim::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of events to process; a fabric has fewer events at the start.
const MOST_EVENTS: usize = 10_000;

/// The ports of a fabric, and the attributes of those that are active.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) named: Vec<NamedPort>,
    pub(super) active: BTreeMap<PortId, PortAttributes>,
}

impl Ports {
    /// Returns the ports of a fabric, from its first events.
    pub(super) fn of(fabric: &mut dyn Fabric) -> Self {
        let mut active = BTreeMap::new();
        for _ in 0..MOST_EVENTS {
            match fabric.next_event() {
                Ok(Some(Input::PortUp { port, attributes })) => {
                    active.insert(port, attributes);
                }
                Ok(Some(Input::PortDown(port))) => {
                    active.remove(&port);
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        Self { named: fabric.ports(), active }
    }

    /// Returns the ports of a simulated node.
    pub(super) fn of_node(node: &Node) -> Self {
        let named = named_ports(node);
        let active = named.iter().filter_map(|port| Some((port.id, attributes(node, port.number)?)));
        Self { active: active.collect(), named }
    }

    fn find(&self, entry: &ConfiguredAddress) -> Option<PortId> {
        let same = |port: &&NamedPort| port.device == entry.device && port.number == entry.port;
        self.named.iter().find(same).map(|port| port.id)
    }

    pub(super) fn name(&self, id: PortId) -> String {
        let found = self.named.iter().find(|port| port.id == id);
        found.map_or_else(|| format!("port {}", id.0), |port| format!("{} port {}", port.device, port.number))
    }

    fn all_names(&self) -> String {
        let names: Vec<String> = self.named.iter().map(|port| self.name(port.id)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// A core with the daemon's ports and addresses, and the events that the core logs.
struct TrialCore {
    acm: Acm,
    events: Vec<Event>,
}

impl TrialCore {
    fn new(settings: &Settings) -> Self {
        let config = Config { log_level: Level::Debug, ..settings.core(u64::from(u16::MAX)) };
        Self { acm: Acm::new(config, Seed::new([0; 16])), events: Vec::new() }
    }

    fn input(&mut self, input: Input<'_>) {
        let Self { acm, events } = self;
        acm.drive(Time::ZERO, input, |output| {
            if let Output::Log(event) = output {
                events.push(event);
            }
            None
        });
    }

    /// Returns each address that is served, with its port and P_Key.
    fn served(&self) -> Vec<(Address, PortId, Pkey)> {
        let mut endpoints: BTreeMap<EndpointId, (PortId, Pkey)> = BTreeMap::new();
        let mut served = Vec::new();
        for event in &self.events {
            match event {
                Event::EndpointAdded(id, port, pkey) => {
                    endpoints.insert(*id, (*port, *pkey));
                }
                Event::AddressAdded(id, address) => {
                    if let Some((port, pkey)) = endpoints.get(id) {
                        served.push((*address, *port, *pkey));
                    }
                }
                _ => {}
            }
        }
        served
    }
}

/// Reports for each address the port that serves it, or the reason why no port serves it. Returns the partitions of
/// ports that have addresses.
pub(super) fn addresses(
    settings: &Settings,
    mut names: DefaultNames,
    ports: &Ports,
    interfaces: &[InterfaceAddress],
    report: &mut Report,
) -> BTreeSet<(PortId, Pkey)> {
    let mut core = TrialCore::new(settings);
    for (port, attributes) in &ports.active {
        core.input(Input::PortUp { port: *port, attributes: attributes.clone() });
    }
    let (mut away, mut total, mut waits) = (Vec::new(), 0, ports.active.is_empty());
    for entry in settings.addresses.iter().flatten() {
        total += 1;
        match ports.find(entry) {
            Some(port) => {
                let ConfiguredAddress { address, pkey, .. } = *entry;
                core.input(Input::AddressAdded { port, pkey, address });
                if !ports.active.contains_key(&port) {
                    waits = true;
                    away.push((entry, format!("{} is not active", ports.name(port)), WAITS.to_owned()));
                }
            }
            None => away.push((
                entry,
                format!("no port {} of a device {:?}", entry.port, entry.device),
                format!("correct the line; ports here: {}", ports.all_names()),
            )),
        }
    }
    if settings.addresses.is_none() {
        if names.node().is_none() {
            report.warn(NO_NAME, "set its name (hostnamectl set-hostname), or write an address file");
        }
        for (port, address) in names.choose(ports.named.clone(), |port| ports.active.contains_key(&port)).added {
            total += 1;
            core.input(Input::AddressAdded { port, pkey: None, address });
        }
    }
    total += interfaces.len();
    core.input(Input::Interfaces(interfaces.to_vec()));
    let served = core.served();
    for (address, port, pkey) in &served {
        report.ok(format!("{address}: served at {}, partition {pkey}", ports.name(*port)));
    }
    let partitions: BTreeSet<_> = served.iter().map(|(_, port, pkey)| (*port, *pkey)).collect();
    limited_members(&partitions, ports, report);
    for (entry, problem, advice) in away {
        report.warn(format!("{}: {} is not served: {problem}", entry.place, entry.address), advice);
    }
    for event in &core.events {
        refusal(event, ports, report);
        // A provider in a library, which the check does not load, may serve the subnet.
        waits |= matches!(event, Event::NotServed(..));
    }
    summary(served.len(), total, waits, report);
    partitions
}

/// Reports partitions in which this node is a limited member: all others of them must be full members.
fn limited_members(partitions: &BTreeSet<(PortId, Pkey)>, ports: &Ports, report: &mut Report) {
    for (port, pkey) in partitions.iter().filter(|(_, pkey)| !pkey.is_full_member()) {
        report.warn(
            format!(
                "{}: a limited member of partition {pkey}: no other limited member reaches its names",
                ports.name(*port)
            ),
            "let the subnet manager make nodes that resolve each other full members",
        );
    }
}

const WAITS: &str = "it is served when the port is active: look at the link and the subnet manager";

fn refusal(event: &Event, ports: &Ports, report: &mut Report) {
    match event {
        Event::NoPartition(port, address, pkey) => {
            let partition = pkey.map_or_else(|| "the first partition".to_owned(), |pkey| format!("partition {pkey}"));
            report.warn(
                format!("{address} is not served: {partition} is not in the table of {}", ports.name(*port)),
                "correct the address file, or the subnet manager's partitions",
            );
        }
        Event::NotServed(port, prefix) => report.warn(
            format!("{} is not served: subnet prefix 0x{prefix:016x} is another provider's", ports.name(*port)),
            "see `provider` in the option file",
        ),
        Event::DuplicateAddress(address) => report.warn(
            format!("{address} is there twice"),
            "two ports or partitions have it, and both serve it: correct the address file",
        ),
        _ => {}
    }
}

/// Reports the number of addresses that are served. `waits`: some may be, when a port is active or a library is loaded.
fn summary(served: usize, total: usize, waits: bool, report: &mut Report) {
    let what = format!("addresses: {served} of {total} are served");
    match (served, total) {
        (0, 1..) if !waits => report.fail(what, "nobody can ask from this node, nor for it: see the lines above"),
        (0, _) => report.warn(what, "nobody can ask from this node, nor for it: see the lines above"),
        (served, total) if served < total => report.warn(what, "see the lines above"),
        _ => report.ok(what),
    }
}

/// Reports the interfaces and their addresses, and returns the addresses.
pub(super) fn interfaces(args: &Args, settings: &Settings, report: &mut Report) -> Vec<InterfaceAddress> {
    let Some(mut interfaces) = Interfaces::snapshot(args.interfaces(), settings.interface_addresses()) else {
        report.ok("addresses of interfaces are not taken");
        return Vec::new();
    };
    let (count, addresses) = interfaces.count();
    if addresses == 0 {
        report.warn(
            "no address on an IPoIB interface",
            "librdmacm and others ask by IP address: load ib_ipoib and give its interfaces addresses, or write addresses \
             into the address file, with support_ips_in_addr_cfg 1",
        );
    } else {
        report.ok(format!("interfaces: {count} with {addresses} addresses"));
    }
    for name in interfaces.without_port() {
        report.warn(
            format!("interface {name}: no port or no P_Key to be found"),
            "its addresses are not served; see `ip link show` and /sys/class/net/NAME/pkey",
        );
    }
    interfaces.changed_addresses().unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check::report::Verdict, settings::tests::read_in};
    use ib_mad::Lid;

    /// Returns two ports of a device, the first of them active.
    fn ports() -> Ports {
        let named = [1, 2].map(|number: u8| NamedPort { id: PortId(number.into()), device: "mlx5_0".into(), number });
        let pkeys = vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)];
        let gids = vec!["fe80::2:c903:0:11".parse().unwrap()];
        let attributes = PortAttributes { lid: Lid::new(1), pkeys, gids, ..PortAttributes::default() };
        Ports { named: named.into(), active: [(PortId(1), attributes)].into() }
    }

    fn found(options: &str, lines: Option<&str>, interfaces: &[InterfaceAddress]) -> Vec<(Verdict, String)> {
        found_at(&ports(), options, lines, interfaces)
    }

    fn found_at(
        ports: &Ports,
        options: &str,
        lines: Option<&str>,
        interfaces: &[InterfaceAddress],
    ) -> Vec<(Verdict, String)> {
        let dir = tempfile::tempdir().unwrap();
        let (_, settings) = read_in(dir.path(), options, lines, &[]);
        let mut report = Report::default();
        addresses(&settings, DefaultNames::called("host"), ports, interfaces, &mut report);
        assert!(report.findings.iter().all(|finding| finding.verdict == Verdict::Ok || !finding.advice.is_empty()));
        report.findings_in(dir.path())
    }

    fn warns(found: &[(Verdict, String)], what: &str) -> bool {
        found.iter().any(|(verdict, text)| *verdict == Verdict::Warn && text == what)
    }

    fn oks(found: &[(Verdict, String)], what: &str) -> bool {
        found.iter().any(|(verdict, text)| *verdict == Verdict::Ok && text == what)
    }

    #[test]
    fn each_address_of_the_file_is_served_or_has_a_reason() {
        let lines = "a mlx5_0 1 default\nb mlx5_0 1 8001\nc mlx5_0 1 8002\nd mlx5_0 2 default\ne mlx4_0 1 default\n\
                     a mlx5_0 1 8001\n";
        let found = found("", Some(lines), &[]);
        assert!(oks(&found, "a: served at mlx5_0 port 1, partition 0xffff"), "{found:?}");
        assert!(oks(&found, "b: served at mlx5_0 port 1, partition 0x8001"), "{found:?}");
        assert!(warns(&found, "c is not served: partition 0x8002 is not in the table of mlx5_0 port 1"), "{found:?}");
        assert!(warns(&found, "/addr:4: d is not served: mlx5_0 port 2 is not active"), "{found:?}");
        assert!(warns(&found, "/addr:5: e is not served: no port 1 of a device \"mlx4_0\""), "{found:?}");
        assert!(warns(&found, "a is there twice"), "{found:?}");
        assert!(warns(&found, "addresses: 3 of 6 are served"), "{found:?}");
    }

    #[test]
    fn default_names_and_interface_addresses_are_served() {
        let at = |gid: &str, address: &str| InterfaceAddress {
            gid: gid.parse().unwrap(),
            pkey: Some(Pkey::DEFAULT_FULL),
            address: address.parse().unwrap(),
        };
        let ours = at("fe80::2:c903:0:11", "10.0.0.1");
        let all = found("", None, &[ours]);
        for what in
            ["host: served at mlx5_0 port 1, partition 0xffff", "10.0.0.1: served at mlx5_0 port 1, partition 0xffff"]
        {
            assert!(oks(&all, what), "{what}: {all:?}");
        }
        let all = found("", Some("a mlx5_0 1 default\n"), &[at("fe80::2:c903:0:99", "10.0.0.2")]);
        assert!(warns(&all, "addresses: 1 of 2 are served"), "{all:?}");
        let all = found("", Some("a mlx5_0 1 default\n"), &[]);
        assert!(oks(&all, "addresses: 1 of 1 are served"), "{all:?}");
    }

    #[test]
    fn limited_membership_is_a_warning() {
        let mut limited = ports();
        for attributes in limited.active.values_mut() {
            attributes.pkeys = vec![Pkey::DEFAULT_LIMITED];
        }
        let what = "mlx5_0 port 1: a limited member of partition 0x7fff: no other limited member reaches its names";
        let all = found_at(&limited, "", None, &[]);
        assert!(warns(&all, what) && oks(&all, "host: served at mlx5_0 port 1, partition 0x7fff"), "{all:?}");
        assert!(!warns(&found("", None, &[]), what));
    }

    #[test]
    fn subnet_of_another_provider_is_not_served() {
        let found = found("provider other default\n", Some("a mlx5_0 1 default\n"), &[]);
        assert!(
            warns(&found, "mlx5_0 port 1 is not served: subnet prefix 0xfe80000000000000 is another provider's"),
            "{found:?}"
        );
        assert!(warns(&found, "addresses: 0 of 1 are served"), "{found:?}");
    }
}
