//! A simulated fabric in a separate process.
use crate::{Binary, Process, binary, poll::until, process::run};
use ib_mad::{Gid, Lid, Mtu, Pkey, Rate, id::Lmc};
use nix::sys::signal::Signal;
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// A fabric (`ib-sim serve`).
#[derive(Debug)]
pub struct Fabric {
    process: Option<Process>,
    socket: PathBuf,
    _folder: Option<TempDir>,
}

/// A port of the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// State: `active`, `init`, `down`.
    pub state: String,
    /// LID.
    pub lid: Lid,
    /// LMC: the port has 2^LMC LIDs.
    pub lmc: Lmc,
    /// First GID that is not zero.
    pub gid: Gid,
    /// `P_Key` table.
    pub pkeys: Vec<Pkey>,
    /// MTU.
    pub mtu: Mtu,
    /// Rate.
    pub rate: Rate,
}

/// A multicast group of the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// GID.
    pub mgid: Gid,
    /// LID.
    pub mlid: Lid,
    /// MTU.
    pub mtu: Mtu,
    /// Rate.
    pub rate: Rate,
    /// Ports that are full members, as `NODE/PORT`.
    pub members: Vec<String>,
}

impl Fabric {
    /// Starts a fabric with nodes node1, node2, ... and further options of `ib-sim serve`.
    #[must_use]
    pub fn serve(nodes: u32, options: &[&str]) -> Self {
        Self::start(&[&["--nodes", &nodes.to_string()], options].concat())
    }

    /// Starts a fabric with options of `ib-sim serve`.
    #[must_use]
    pub fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("fabric.sock");
        let process = Some(Self::process(&socket, options));
        Self { process, socket, _folder: Some(folder) }
    }

    /// Returns the fabric at `socket`, which another process serves.
    #[must_use]
    pub fn at(socket: &Path) -> Self {
        Self { process: None, socket: socket.to_owned(), _folder: None }
    }

    fn process(socket: &Path, options: &[&str]) -> Process {
        let mut command = Command::new(binary(Binary::IbSim));
        let mut process = Process::start(command.args(["serve", "--socket"]).arg(socket).args(options));
        process.wait_for(" nodes on ", 1);
        process
    }

    /// Sends the server a signal.
    pub fn signal(&self, signal: Signal) {
        self.process.as_ref().unwrap().signal(signal);
    }

    /// Ends the server and waits for it.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::SIGTERM);
            assert_eq!(process.wait().code, Some(0));
        }
    }

    /// Restarts the server on the same socket.
    pub fn restart(&mut self, options: &[&str]) {
        self.stop();
        self.process = Some(Self::process(&self.socket, options));
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Sends a command (`ib-sim ctl`) and returns the response.
    pub fn control(&self, command: &str) -> String {
        let socket = self.socket.to_str().unwrap();
        let words: Vec<&str> = ["ctl", "--socket", socket].into_iter().chain(command.split(' ')).collect();
        run(binary(Binary::IbSim), &words).success()
    }

    /// Waits until a line of `ib-sim ctl held` is `line`: so many messages of a node and kind wait.
    pub fn wait_for_held(&self, line: &str) {
        until(&format!("held: {line}"), || self.control("held").lines().any(|other| other == line).then_some(()));
    }

    /// Returns a counter of the fabric.
    #[must_use]
    pub fn statistic(&self, name: &str) -> u64 {
        let stats = self.control("stats");
        let mut values = stats.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        values.next().unwrap_or_else(|| panic!("no counter {name}")).parse().unwrap()
    }

    /// Returns port 1 of a node, numbered from 1.
    #[must_use]
    pub fn port(&self, node: u32) -> Port {
        self.port_at(node, 1)
    }

    /// Returns a port of the node with this name.
    #[must_use]
    pub fn port_of(&self, name: &str, number: u8) -> Port {
        let nodes = self.control("nodes");
        let line = nodes.lines().find(|line| line.split(' ').nth(1) == Some(name));
        let line = line.unwrap_or_else(|| panic!("no node {name} in {nodes}"));
        self.port_at(line.split(' ').next().unwrap().parse().unwrap(), number)
    }

    fn port_at(&self, node: u32, number: u8) -> Port {
        let ports = self.control("ports");
        let start = format!("{node}/{number} ");
        let line = ports.lines().find_map(|line| line.strip_prefix(&start)).expect("no such port");
        Port {
            state: line.split(' ').next().unwrap().to_owned(),
            lid: value(line, "lid").parse().unwrap(),
            lmc: Lmc::checked(value(line, "lmc").parse().unwrap()).unwrap(),
            gid: value(line, "gid").parse().unwrap(),
            pkeys: value(line, "pkeys").split(',').map(pkey).collect(),
            mtu: mtu(line),
            rate: rate(line),
        }
    }

    /// Returns all multicast groups.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let group = |line: &str| {
            let (head, members) = line.split_once(" members").unwrap();
            Group {
                mgid: head.split(' ').next().unwrap().parse().unwrap(),
                mlid: Lid::new(hex(value(head, "mlid"))),
                mtu: mtu(head),
                rate: rate(head),
                members: members
                    .split_whitespace()
                    .filter_map(|word| Some(word.strip_suffix(":0x1")?.to_owned()))
                    .collect(),
            }
        };
        self.control("groups").lines().map(group).collect()
    }
}

/// Returns the word after the word `name`.
fn value<'a>(line: &'a str, name: &str) -> &'a str {
    let mut words = line.split(' ').skip_while(|word| *word != name);
    words.nth(1).unwrap_or_else(|| panic!("no {name} in {line:?}"))
}

fn hex(text: &str) -> u16 {
    u16::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn pkey(text: &str) -> Pkey {
    Pkey::new(hex(text))
}

fn mtu(line: &str) -> Mtu {
    Mtu::from_bytes(value(line, "mtu").parse().unwrap()).unwrap()
}

fn rate(line: &str) -> Rate {
    Rate::from_gbps(value(line, "rate").parse().unwrap()).unwrap()
}
