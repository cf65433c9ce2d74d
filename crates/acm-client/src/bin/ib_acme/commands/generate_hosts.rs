//! `ib_acme generate-hosts`: the host file of ibacm and acm-mio, from the subnet administrator and the system's names.
use super::{arguments::Local, failure::Failure};
use crate::{output::Output, ranges::Names};
use acm_client::{
    Address,
    fabric::{FabricError, node_name},
    ib_mad::{
        Gid, NodeType,
        sa::{NodeRecord, Query},
    },
};
use acm_wire::files::hosts::{self, HostLine};
use core::net::IpAddr;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::ToSocketAddrs,
};

/// Write a host file for the daemon's option addr_data_file to standard output: names, and the port of each.
///
/// The names are the first words of the node descriptions at the subnet administrator, which is queried through
/// /dev/infiniband/umad. A host with several ports has its name at the first port of its first device. The exit status
/// is 0 if the file is complete, 3 if it lacks a host or an IP address, with a line on standard error for each, and 1
/// if there is no file, because no host is left for it or for another error.
#[derive(Debug, clap::Args)]
pub(crate) struct GenerateHosts {
    /// Hosts: names, or lists such as node[1-3]. The default is all hosts of the fabric.
    #[arg(value_name = "HOST")]
    only: Vec<String>,
    /// Write also the IP addresses that the system (DNS, /etc/hosts) has for this name; % stands for the name of the
    /// host: `%-ib`. Use it for names of IP over InfiniBand. May be repeated.
    #[arg(long, value_name = "NAME")]
    ip: Vec<String>,
    #[command(flatten)]
    local: Local,
}

/// A port of a host. Ports are in the order of their devices: `mlx5_2` before `mlx5_10`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HostPort {
    length: usize,
    description: String,
    number: u8,
    gid: Gid,
}

impl HostPort {
    fn new(description: String, number: u8, gid: Gid) -> Self {
        Self { length: description.len(), description, number, gid }
    }

    fn host(&self) -> &str {
        self.description.split(' ').next().unwrap_or_default()
    }
}

/// A host file, and the reasons why hosts or their IP addresses are left out.
#[derive(Debug, Default)]
struct HostFile {
    lines: Vec<HostLine>,
    ips: BTreeSet<IpAddr>,
    left_out: Vec<String>,
}

impl GenerateHosts {
    pub(crate) fn run(&self, out: &mut Output) -> Result<(), Failure> {
        let mut administration = self.local.administration()?;
        let nodes = administration
            .table("nodes", &Query::<NodeRecord>::new().node_type(NodeType::CHANNEL_ADAPTER))
            .and_then(|table| {
                let cut = FabricError::Cut { what: "the list of nodes".to_owned() };
                if table.is_cut { Err(cut) } else { Ok(table.records) }
            })?;
        let prefix = administration.port().gid().prefix();
        let port = |node: &NodeRecord| {
            let (info, gid) = (&node.node_info, Gid::from_parts(prefix, node.node_info.port_guid));
            Some(HostPort::new(node_name(node)?, info.port_vendor.local_port_num(), gid))
        };
        let file = self.file(nodes.iter().filter_map(port), |name| {
            // The port is part of the interface of the standard library only.
            (name, 0).to_socket_addrs().map_or_else(|_| Vec::new(), |all| all.map(|address| address.ip()).collect())
        });
        if !file.lines.is_empty() {
            out.line(format_args!("# {} addresses, by ib_acme generate-hosts", file.lines.len()))?;
            for line in &file.lines {
                out.line(format_args!("{line}"))?;
            }
            out.flush()?;
        }
        for reason in &file.left_out {
            eprintln!("ib_acme: {reason}");
        }
        match file {
            HostFile { lines, .. } if lines.is_empty() => Err(Failure::Text("no host is left for the file".to_owned())),
            HostFile { left_out, .. } if left_out.is_empty() => Ok(()),
            _ => Err(Failure::Partial),
        }
    }

    /// Returns the file for the hosts of these ports. `resolve` returns the IP addresses that the system has for a
    /// name.
    fn file(&self, ports: impl Iterator<Item = HostPort>, resolve: impl Fn(&str) -> Vec<IpAddr>) -> HostFile {
        let mut all: BTreeMap<String, BTreeSet<HostPort>> = BTreeMap::new();
        for port in ports {
            all.entry(port.host().to_owned()).or_default().insert(port);
        }
        let only: Vec<String> = self.only.iter().filter_map(|list| Names::parse(list)).flatten().collect();
        let hosts = if only.is_empty() { all.keys().cloned().collect() } else { only };
        let mut file = HostFile::default();
        for host in hosts {
            let Some(ports) = all.get(&host) else {
                file.left_out.push(format!("{host} is left out: the subnet administrator has no such host"));
                continue;
            };
            if let Some(gid) = file.add_host(&host, ports) {
                for template in &self.ip {
                    let name = template.replace('%', &host);
                    file.add_ips(&host, &name, resolve(&name), gid);
                }
            }
        }
        file
    }
}

impl HostFile {
    /// Adds a host with its first port. Returns the GID of this port.
    fn add_host(&mut self, host: &str, ports: &BTreeSet<HostPort>) -> Option<Gid> {
        let mut ports = ports.iter();
        let first = ports.next()?;
        // An adapter whose driver has not set the description has that of its model.
        if ports.next().is_some_and(|next| (&next.description, next.number) == (&first.description, first.number)) {
            self.left_out.push(format!("{host} is left out: several nodes are called {:?}", first.description));
            return None;
        }
        let line = HostLine { address: Address::from_text(host), gid: first.gid };
        let text = line.to_string();
        let is_read_back =
            hosts::parse(text.as_bytes()).next().is_some_and(|read| read.is_ok_and(|(_, read)| read == line));
        if line.address.ip().is_some() || !is_read_back {
            self.left_out.push(format!("{host:?} is left out: it is no name for this file"));
            return None;
        }
        self.lines.push(line);
        Some(first.gid)
    }

    /// Adds the IP addresses of a host's name.
    fn add_ips(&mut self, host: &str, name: &str, ips: Vec<IpAddr>, gid: Gid) {
        // The system of a host may have a loopback address for the host's own name.
        let ips: BTreeSet<IpAddr> = ips.into_iter().filter(|ip| !ip.is_loopback()).collect();
        if ips.is_empty() {
            self.left_out.push(format!("{host} is without an IP address: {name} has none"));
        }
        for ip in ips {
            if self.ips.insert(ip) {
                self.lines.push(HostLine { address: ip.into(), gid });
            } else {
                self.left_out.push(format!("{host} is without {ip}: another host or name has it, too"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        command: GenerateHosts,
    }

    fn port(description: &str, number: u8, gid: u16) -> HostPort {
        HostPort::new(description.to_owned(), number, format!("fe80::{gid}").parse().unwrap())
    }

    /// Returns the lines and the reasons for a command line.
    fn file(words: &str, ports: &[HostPort]) -> (Vec<String>, Vec<String>) {
        let words = ["x"].into_iter().chain(words.split_whitespace());
        let resolve = |name: &str| match name {
            "n1-ib" => vec!["10.0.0.1".parse().unwrap(), "127.0.1.1".parse().unwrap(), "fd00::1".parse().unwrap()],
            "n2-ib" => vec!["10.0.0.1".parse().unwrap()],
            _ => vec!["127.0.0.1".parse().unwrap()],
        };
        let file = Line::parse_from(words).command.file(ports.iter().cloned(), resolve);
        (file.lines.iter().map(ToString::to_string).collect(), file.left_out)
    }

    #[test]
    fn host_has_its_name_at_the_first_port_of_its_first_device() {
        let ports =
            [port("n1 mlx5_10", 1, 1), port("n1 mlx5_2", 2, 2), port("n1 mlx5_2", 1, 3), port("n2 mlx5_0", 1, 4)];
        let all = ["n1 fe80::3", "n2 fe80::4"].map(str::to_owned).to_vec();
        assert_eq!(file("", &ports), (all, vec![]));
        let missing = "n3 is left out: the subnet administrator has no such host".to_owned();
        assert_eq!(file("n[2-3]", &ports), (vec!["n2 fe80::4".to_owned()], vec![missing]));
    }

    #[test]
    fn ip_addresses_are_those_of_the_system() {
        let ports = [port("n1 mlx5_0", 1, 1), port("n2 mlx5_0", 1, 2), port("n3 mlx5_0", 1, 3)];
        let (lines, left_out) = file("--ip %-ib", &ports);
        assert_eq!(lines, ["n1 fe80::1", "10.0.0.1 fe80::1", "fd00::1 fe80::1", "n2 fe80::2", "n3 fe80::3"]);
        let reasons =
            ["n2 is without 10.0.0.1: another host or name has it, too", "n3 is without an IP address: n3-ib has none"];
        assert_eq!(left_out, reasons);
    }

    #[test]
    fn descriptions_that_name_no_host_are_left_out() {
        let model = "MT4123 ConnectX6";
        let long = "x".repeat(64);
        let ports =
            [port(model, 1, 1), port(model, 1, 2), port("#1 mlx5_0", 1, 3), port("10.0.0.7", 1, 4), port(&long, 1, 5)];
        let (lines, left_out) = file("", &ports);
        assert_eq!((lines.len(), left_out.len()), (0, 4), "{lines:?} {left_out:?}");
        assert!(left_out.contains(&format!("MT4123 is left out: several nodes are called {model:?}")), "{left_out:?}");
    }
}
