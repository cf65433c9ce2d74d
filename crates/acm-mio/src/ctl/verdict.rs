//! Verdict on a running daemon, by its numbers.
use super::ask::lines_of;
use crate::output::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One line of the daemon's numbers.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    name: String,
    /// `counter`, `gauge` or `histogram`.
    #[serde(default)]
    kind: String,
    labels: BTreeMap<String, String>,
    /// Absent for a histogram.
    value: Option<u64>,
    /// The number of values of a histogram.
    count: Option<u64>,
}

/// The numbers of the daemon at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(Vec<Line>);

/// A port, as `acmctl status` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Port {
    /// Its name, such as `mlx5_0/1`.
    pub(super) port: String,
    pub(super) active: bool,
    /// True if the address file names it, or it was active since the start.
    pub(super) wanted: bool,
    pub(super) partitions: Vec<Partition>,
}

/// A partition of a port: an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Partition {
    pub(super) pkey: String,
    pub(super) groups_joined: u64,
    pub(super) groups_wanted: u64,
}

impl Partition {
    fn is_joined(&self) -> bool {
        self.groups_wanted > 0 && self.groups_joined >= self.groups_wanted
    }
}

impl Numbers {
    /// Parses the daemon's JSON, a number in each line.
    ///
    /// # Errors
    /// A line is no number of this version.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        lines_of(text).map(Self)
    }

    /// Returns the sum of a number with these labels.
    pub(super) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let has = |line: &Line| labels.iter().all(|(key, value)| line.labels.get(*key).is_some_and(|of| of == value));
        let lines = self.0.iter().filter(|line| line.name == name && has(line));
        lines.filter_map(|line| line.value.or(line.count)).sum()
    }

    /// Returns the counters, and the numbers of values of histograms, by name and labels.
    pub(super) fn counters(&self) -> BTreeMap<(String, String), u64> {
        let labels = |line: &Line| {
            let labels: Vec<String> = line.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            labels.join(",")
        };
        let counters = self.0.iter().filter(|line| line.kind != "gauge");
        counters.filter_map(|line| Some(((line.name.clone(), labels(line)), line.value.or(line.count)?))).collect()
    }

    /// Returns the version of the daemon.
    pub(super) fn version(&self) -> &str {
        let build = self.0.iter().find(|line| line.name == "build");
        build.and_then(|line| line.labels.get("version")).map_or("of an unknown version", String::as_str)
    }

    /// Returns the ports, by name.
    pub(super) fn ports(&self) -> Vec<Port> {
        let label = |line: &Line, key: &str| line.labels.get(key).cloned();
        let names: BTreeSet<String> = self.0.iter().filter_map(|line| label(line, "port")).collect();
        let pkeys = |port: &String| -> BTreeSet<String> {
            let of_port = self.0.iter().filter(|line| label(line, "port").as_ref() == Some(port));
            of_port.filter_map(|line| label(line, "pkey")).collect()
        };
        let partition = |port: &str, pkey: String| {
            let number = |name| self.sum(name, &[("port", port), ("pkey", &pkey)]);
            let (groups_joined, groups_wanted) = (number("groups_joined"), number("groups_wanted"));
            Partition { groups_joined, groups_wanted, pkey }
        };
        let of_name = |port: String| Port {
            active: self.sum("port_active", &[("port", &port)]) > 0,
            wanted: self.sum("port_wanted", &[("port", &port)]) > 0,
            partitions: pkeys(&port).into_iter().map(|pkey| partition(&port, pkey)).collect(),
            port,
        };
        names.into_iter().map(of_name).collect()
    }

    /// Returns why peers cannot reach this node yet; `None` as soon as a partition of an active port has joined its
    /// groups.
    pub(super) fn not_ready(&self) -> Option<&'static str> {
        let ports = self.ports();
        let mut active = ports.iter().filter(|port| port.active).peekable();
        if active.peek().is_none() {
            return Some("no port is active");
        }
        let is_joined = active.any(|port| port.partitions.iter().any(Partition::is_joined));
        (!is_joined).then_some("no partition of an active port has joined its multicast groups")
    }

    /// Returns everything that is wrong, the worst first.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        let ports = self.ports();
        if !ports.iter().any(|port| port.active) {
            problems.push("no port is active".to_owned());
        }
        for Port { port, active, wanted, partitions } in &ports {
            if *wanted && !active {
                problems.push(format!("port {port} is not active"));
            }
            for Partition { pkey, groups_joined, groups_wanted } in partitions {
                if *active && groups_joined < groups_wanted {
                    problems.push(format!(
                        "port {port} partition {pkey}: {groups_joined} of {groups_wanted} groups joined"
                    ));
                }
            }
            if *active && partitions.is_empty() {
                problems.push(format!("port {port} has no endpoint"));
            }
        }
        // A previous version does not have this number.
        let is_known = self.0.iter().any(|line| line.name == "addresses_served");
        if is_known && self.sum("addresses_served", &[]) == 0 && ports.iter().any(|port| port.active) {
            problems.push("no address is served: other nodes cannot resolve this one; see acmctl check".to_owned());
        }
        let silent = self.sum("sa_timed_out", &[]);
        if silent > 2 && self.sum("phase_seconds", &[("phase", "sa_round_trip")]) == 0 {
            problems.push(format!("subnet administration has not answered any of {silent} requests"));
        }
        let mut count = |name, text: &str| {
            let number = self.sum(name, &[]);
            if number > 0 {
                problems.push(format!("{text}: {number}; see acmctl check"));
            }
        };
        count("config_problems", "problems of the option and the address file");
        count("addresses_not_served", "lines of the address file that no port serves");
        count("devices_not_responding", "devices that do not respond");
        count("preload_problems", "preload files with problems");
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns numbers: of ports with `active`, `wanted`, groups joined and wanted, and others.
    fn numbers(ports: &[(&str, [u64; 4])], others: &[(&str, u64)]) -> Numbers {
        let mut text = String::new();
        for (port, values) in ports {
            for (name, value) in ["port_active", "port_wanted"].iter().zip(values) {
                text += &format!(
                    "{}\n",
                    json!({ "name": name, "kind": "gauge", "labels": { "port": port }, "value": value })
                );
            }
            for (name, value) in ["groups_joined", "groups_wanted"].iter().zip(&values[2..]) {
                let labels = json!({ "port": port, "pkey": "0xffff" });
                text += &format!("{}\n", json!({ "name": name, "kind": "gauge", "labels": labels, "value": value }));
            }
        }
        for (name, value) in others {
            text += &format!("{}\n", json!({ "name": name, "kind": "counter", "labels": {}, "value": value }));
        }
        Numbers::parse(&text).unwrap()
    }

    #[test]
    fn each_fault_is_a_problem() {
        let good = [1, 1, 2, 2];
        assert_eq!(numbers(&[("a/1", good)], &[("sa_timed_out", 2)]).problems(), [""; 0]);
        assert_eq!(
            numbers(&[("a/1", good), ("a/2", [0, 0, 0, 0])], &[]).problems(),
            [""; 0],
            "no cable, and not named"
        );
        let faults = [
            (numbers(&[], &[]), "no port is active"),
            (numbers(&[("a/1", good), ("a/2", [0, 1, 0, 0])], &[]), "port a/2 is not active"),
            (numbers(&[("a/1", [1, 1, 1, 2])], &[]), "port a/1 partition 0xffff: 1 of 2 groups joined"),
            (
                numbers(&[("a/1", good)], &[("sa_timed_out", 3)]),
                "subnet administration has not answered any of 3 requests",
            ),
            (
                numbers(&[("a/1", good)], &[("addresses_served", 0)]),
                "no address is served: other nodes cannot resolve this one; see acmctl check",
            ),
            (
                numbers(&[("a/1", good)], &[("config_problems", 1)]),
                "problems of the option and the address file: 1; see acmctl check",
            ),
            (
                numbers(&[("a/1", good)], &[("addresses_not_served", 2)]),
                "lines of the address file that no port serves: 2; see acmctl check",
            ),
            (
                numbers(&[("a/1", good)], &[("devices_not_responding", 1)]),
                "devices that do not respond: 1; see acmctl check",
            ),
            (numbers(&[("a/1", good)], &[("preload_problems", 1)]), "preload files with problems: 1; see acmctl check"),
        ];
        for (numbers, problem) in faults {
            assert_eq!(numbers.problems(), [problem]);
        }
    }

    #[test]
    fn node_is_ready_when_a_partition_of_an_active_port_has_joined() {
        assert_eq!(numbers(&[], &[]).not_ready(), Some("no port is active"));
        let of = |ports: &[(&str, [u64; 4])]| numbers(ports, &[]).not_ready();
        let not_joined = Some("no partition of an active port has joined its multicast groups");
        assert_eq!(of(&[("a/1", [1, 1, 1, 2])]), not_joined);
        assert_eq!(of(&[("a/1", [1, 1, 0, 0])]), not_joined);
        assert_eq!(of(&[("a/1", [1, 1, 1, 2]), ("a/2", [1, 1, 1, 1])]), None);
        assert_eq!(of(&[("a/1", [1, 1, 1, 2]), ("a/2", [0, 1, 1, 1])]), not_joined);
    }
}
