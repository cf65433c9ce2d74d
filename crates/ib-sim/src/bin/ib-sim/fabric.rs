//! The subnet that the command line describes.
use crate::record::Record;
use clap::Args;
use core::error::Error;
use ib_mad::{
    Lid, Mtu, Pkey, Rate,
    id::Lmc,
    opa::{OpaBaseSl, OpaVirtualFabric},
    wire::{Be16, Text},
};
use ib_sim::{SaMode, Settings, Subnet, SubnetConfig, server::Server, uplink::Uplink};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Fabric {
    /// Number of nodes, named node1, node2, ...
    #[arg(short, long, default_value_t = 2)]
    nodes: u32,
    /// Name of a node, in place of --nodes; may be given several times. NAME:1 is another device at the host NAME.
    #[arg(long = "node", value_name = "NAME")]
    names: Vec<String>,
    /// Seed of chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ports of each node.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..16))]
    ports: u8,
    /// LID mask control of each port.
    #[arg(long, default_value = "0")]
    lmc: Lmc,
    /// `P_Key` table of each port, in hex.
    #[arg(long, value_delimiter = ',', default_value = "ffff", value_parser = pkey)]
    pkeys: Vec<Pkey>,
    /// MTU of each port.
    #[arg(long, default_value = "4096", value_parser = mtu)]
    mtu: Mtu,
    /// Rate of each port in Gb/s.
    #[arg(long, default_value = "100", value_parser = rate)]
    rate: Rate,
    /// LID of the subnet manager.
    #[arg(long, default_value = "1")]
    sm_lid: Lid,
    /// PortInfo.SubnetTimeOut: a packet crosses the subnet in 4.096 us x 2^N.
    #[arg(long, value_name = "N", default_value_t = 18, value_parser = clap::value_parser!(u8).range(0..32))]
    subnet_timeout: u8,
    /// A virtual fabric, which the subnet administrator lists as that of Omni-Path does. May be repeated.
    #[arg(long, value_name = "NAME:PKEY:SL", value_parser = virtual_fabric)]
    virtual_fabric: Vec<OpaVirtualFabric>,
    /// Loss of datagrams (0.3 or 30%).
    #[arg(long, value_name = "PROBABILITY")]
    loss: Option<String>,
    /// Duplication of datagrams.
    #[arg(long, value_name = "PROBABILITY")]
    duplicate: Option<String>,
    /// Reordering of datagrams.
    #[arg(long, value_name = "PROBABILITY")]
    reorder: Option<String>,
    /// Time from sender to receiver, in ms.
    #[arg(long, value_name = "MS")]
    delay_ms: Option<u32>,
    /// At most how much is added to it by chance, in ms.
    #[arg(long, value_name = "MS")]
    jitter_ms: Option<u32>,
    /// Any setting (`ib-sim ctl ... settings` lists them); may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// Let the subnet manager of a running ibsim administer the subnet (at most 9 nodes, with ibsim's names). NAME is
    /// the first part of the names of ibsim's sockets [default: $IBSIM_SOCKNAME, else sim].
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    ibsim: Option<String>,
    /// Keep files of each host's devices, as Linux's sysfs has them, in DIR/HOST.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// Write what programs send to this file, a line each: `MICROSECONDS NODE/PORT mad|datagram HEX HEADERS`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write every packet that crosses the fabric to this file, as Wireshark and `acm-replay --print` read it (pcapng).
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

fn pkey(text: &str) -> Result<Pkey, String> {
    u16::from_str_radix(text.trim_start_matches("0x"), 16).map(Pkey::new).map_err(|error| error.to_string())
}

fn virtual_fabric(text: &str) -> Result<OpaVirtualFabric, String> {
    let [sl, of_partition, name] = text.rsplitn(3, ':').collect::<Vec<_>>()[..] else {
        return Err("not NAME:PKEY:SL".to_owned());
    };
    let sl = sl.parse().ok().filter(|sl| *sl < 32).ok_or("the SL is a number below 32")?;
    let base_sl = OpaBaseSl::default().with_sl(sl);
    Ok(OpaVirtualFabric {
        pkey: pkey(of_partition)?,
        name: Text::new(name.as_bytes()),
        base_sl,
        ..OpaVirtualFabric::default()
    })
}

fn mtu(text: &str) -> Result<Mtu, String> {
    text.parse().ok().and_then(Mtu::from_bytes).ok_or_else(|| "one of 256, 512, 1024, 2048, 4096".to_owned())
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse().ok().and_then(Rate::from_gbps).ok_or_else(|| "a rate of InfiniBand, in whole Gb/s".to_owned())
}

impl Fabric {
    fn settings(&self) -> Result<Settings, Box<dyn Error>> {
        let mut settings = Settings::default();
        let ms = |value: Option<u32>| value.map(|value| format!("{value}ms"));
        for (name, value) in [
            ("ud_loss", self.loss.clone()),
            ("ud_duplicate", self.duplicate.clone()),
            ("ud_reorder", self.reorder.clone()),
            ("ud_delay", ms(self.delay_ms)),
            ("ud_jitter", ms(self.jitter_ms)),
        ] {
            if let Some(value) = value {
                settings.set(name, &value).map_err(|error| format!("{name} {value}: {error}"))?;
            }
        }
        for setting in &self.settings {
            let (name, value) = setting.split_once('=').ok_or_else(|| format!("{setting}: not NAME=VALUE"))?;
            settings.set(name, value).map_err(|error| format!("{setting}: {error}"))?;
        }
        Ok(settings)
    }

    pub(crate) fn node_names(&self) -> Vec<String> {
        if self.names.is_empty() { (1..=self.nodes).map(|k| format!("node{k}")).collect() } else { self.names.clone() }
    }

    /// Creates the server of the subnet.
    pub(crate) fn bind(&self, socket: &Path) -> Result<Server, Box<dyn Error>> {
        let config = SubnetConfig {
            ports_per_node: self.ports,
            lmc: self.lmc,
            pkeys: self.pkeys.clone(),
            mtu: self.mtu,
            rate: self.rate,
            sm_lid: self.sm_lid,
            subnet_timeout: self.subnet_timeout,
            sa: if self.ibsim.is_some() { SaMode::External } else { SaMode::Internal },
            virtual_fabrics: (0..)
                .zip(&self.virtual_fabric)
                .map(|(index, fabric)| OpaVirtualFabric { index: Be16::new(index), ..*fabric })
                .collect(),
            ..SubnetConfig::default()
        };
        let mut subnet = Subnet::new(config.clone(), self.seed);
        *subnet.settings_mut() = self.settings()?;
        let names = self.node_names();
        let mut uplink = None;
        if let Some(name) = &self.ibsim {
            let base = match name.as_str() {
                "" => std::env::var("IBSIM_SOCKNAME").unwrap_or_else(|_| "sim".to_owned()),
                name => name.to_owned(),
            };
            let (attached, nodes) = Uplink::attach(&base, &names)?;
            for node in nodes {
                subnet.add_node_with(node)?;
            }
            uplink = Some(attached);
        } else {
            for (number, name) in (1..).zip(names) {
                subnet.add_node_with(ib_sim::Node { name, ..config.node(number)? })?;
            }
        }
        let mut server = Server::bind(socket, subnet).map_err(|error| format!("{}: {error}", socket.display()))?;
        if let Some(uplink) = uplink {
            server.set_uplink(uplink)?;
        }
        if let Some(trace) = &self.trace {
            server.set_trace(trace).map_err(|error| format!("{}: {error}", trace.display()))?;
        }
        if let Some(path) = &self.record {
            let record = Record::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
            server.set_watcher(Box::new(record));
        }
        if let Some(tree) = &self.tree {
            server.set_tree(tree).map_err(|error| format!("{}: {error}", tree.display()))?;
        }
        Ok(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ib_sim::client::control;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        fabric: Fabric,
    }

    /// Returns the outputs of these commands for the fabric of a command line.
    fn outputs(options: &[&str], commands: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let line = Line::try_parse_from([&["serve"], options].concat()).unwrap();
        let mut server = line.fabric.bind(&socket).unwrap();
        let stopper = server.stopper();
        let serving = std::thread::spawn(move || server.run());
        let outputs = commands.iter().map(|command| control(&socket, command).unwrap()).collect();
        stopper.stop();
        serving.join().unwrap().unwrap();
        outputs
    }

    #[test]
    fn options_set_the_attributes_of_ports_and_settings() {
        let options = [
            "--nodes=1",
            "--ports=2",
            "--lmc=2",
            "--pkeys=ffff,8001",
            "--mtu=1024",
            "--rate=40",
            "--sm-lid=7",
            "--loss=30%",
            "--duplicate=0.5",
            "--reorder=1",
            "--delay-ms=3",
            "--jitter-ms=4",
            "--set",
            "sa_delay=9ms",
        ];
        let [nodes, ports, settings] = &outputs(&options, &["nodes", "ports", "settings"])[..] else { panic!() };
        assert!(nodes.starts_with("1 node1 guid ") && nodes.contains(" ports 2 "), "{nodes}");
        let attributes = "active lid 68 lmc 2 sm_lid 7 gid fe80::2:c903:0:11 pkeys 0xffff,0x8001 mtu 1024 rate 40 Gb/s";
        assert_eq!(ports.lines().next(), Some(format!("1/1 {attributes}").as_str()));
        for line in [
            "ud_loss 30.0000%",
            "ud_duplicate 50.0000%",
            "ud_reorder 100.0000%",
            "ud_delay 3ms",
            "ud_jitter 4ms",
            "sa_delay 9ms",
        ] {
            assert!(settings.lines().any(|other| other == line), "{line}: {settings}");
        }
    }

    #[test]
    fn node_options_name_the_nodes() {
        let [nodes] = &outputs(&["--node=a", "--node=a:1", "--nodes=5"], &["nodes"])[..] else { panic!() };
        let names: Vec<&str> = nodes.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
        assert_eq!(names, ["a", "a:1"]);
    }

    #[test]
    fn invalid_options_are_refused() {
        for wrong in ["--pkeys=x", "--mtu=100", "--rate=7", "--lmc=8", "--ports=16", "--ports=0"] {
            assert!(Line::try_parse_from(["serve", wrong]).is_err(), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        for (wrong, start) in [("sa_delay", "sa_delay: not NAME=VALUE"), ("sa_delay=x", "sa_delay=x: ")] {
            let line = Line::try_parse_from(["serve", "--set", wrong]).unwrap();
            let error = line.fabric.bind(&folder.path().join("socket")).err().unwrap().to_string();
            assert!(error.starts_with(start), "{error}");
        }
    }
}
