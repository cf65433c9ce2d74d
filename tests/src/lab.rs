//! Daemons of both kinds on one fabric, through device files: C `ibacm` and `acm-mio --fabric devices`.
use crate::{Acme, Binary, Fabric, Finished, Process, acme::number, binary, ib_acme, poll::until, preload, program};
use ib_mad::{Gid, Lid, Pkey, Rate, ServiceLevel};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Path of a node's address file below its directory.
const ADDRESSES: &str = "etc-rdma/ibacm_addr.cfg";

/// Text in the logs of both daemons after a successful join.
const JOINED: &str = "join successful";

/// Implementation of a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// rdma-core's `ibacm`, from Debian.
    C,
    /// `acm-mio`.
    Rust,
}

/// A fabric and the directories of its nodes. Needs root: both daemons have fixed paths, so each node has its own mount
/// and network namespaces.
#[derive(Debug)]
pub struct Lab {
    /// The fabric.
    pub fabric: Fabric,
    folder: TempDir,
}

/// A packet that a node sent: its headers and its payload.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Source as `NODE/PORT`, with the node's number.
    pub port: String,
    /// `mad` (to subnet administration) or `datagram`.
    pub kind: String,
    /// Payload.
    pub bytes: Vec<u8>,
    /// Source LID with its path bits.
    pub slid: Lid,
    /// Destination LID.
    pub dlid: Lid,
    /// Service level.
    pub sl: ServiceLevel,
    /// Partition key.
    pub pkey: Pkey,
    /// Static rate; [`Rate::default`] stands for the port's rate.
    pub rate: Rate,
    /// Source GID; zero without a global route header.
    pub sgid: Gid,
}

/// A daemon in a lab.
#[derive(Debug)]
pub struct LabNode {
    /// The daemon's process.
    pub process: Process,
    /// Number N of the node, from 1. Its addresses are nodeN, 10.77.0.N and fd00::N.
    pub number: u32,
    /// The implementation.
    pub kind: Kind,
    home: PathBuf,
}

impl Lab {
    /// Starts a fabric with `nodes` nodes and further options of `ib-sim serve`.
    #[must_use]
    pub fn new(nodes: u32, options: &[&str]) -> Self {
        Self::start_fabric(&[&["--nodes", &nodes.to_string()], options].concat())
    }

    /// Starts a fabric of these nodes with further options of `ib-sim serve`. `node1:1` is a second device of node1.
    #[must_use]
    pub fn with_nodes(names: &[&str], options: &[&str]) -> Self {
        let names: Vec<&str> = names.iter().flat_map(|name| ["--node", name]).collect();
        Self::start_fabric(&[&names, options].concat())
    }

    fn start_fabric(options: &[&str]) -> Self {
        assert!(nix::unistd::geteuid().is_root(), "this test needs root, for namespaces");
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let trace = folder.path().join("trace");
        let files = ["--tree", tree.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
        let fabric = Fabric::start(&[&files, options].concat());
        Self { fabric, folder }
    }

    /// Returns all packets so far in order: (node, `mad` or `datagram`, payload).
    #[must_use]
    pub fn sent(&self) -> Vec<(u32, String, Vec<u8>)> {
        let packet = |packet: Packet| {
            let node = packet.port.split('/').next().unwrap().parse().unwrap();
            (node, packet.kind, packet.bytes)
        };
        self.packets().into_iter().map(packet).collect()
    }

    /// Returns all packets so far in order.
    #[must_use]
    pub fn packets(&self) -> Vec<Packet> {
        let text = fs::read_to_string(self.folder.path().join("trace")).unwrap();
        // The last line may be incomplete.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| Packet::parse(line.trim_end()))
            .collect()
    }

    /// Returns the real path of a node's file, given by its path below `/`.
    #[must_use]
    pub fn file(&self, number: u32, path: &str) -> PathBuf {
        self.folder.path().join("tree").join(format!("node{number}")).join(path)
    }

    /// Writes a file into a node's `/etc/rdma`, before its daemon starts.
    pub fn write(&self, number: u32, name: &str, text: &str) {
        let folder = self.home(number).join("etc-rdma");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    fn home(&self, number: u32) -> PathBuf {
        self.folder.path().join("nodes").join(format!("node{number}"))
    }

    /// Starts a daemon and waits until it has joined the base group. `options` are further lines of its option file.
    /// Its addresses are those of [`LabNode::number`], unless an address file exists.
    #[must_use]
    pub fn start(&self, number: u32, kind: Kind, options: &[&str]) -> LabNode {
        self.start_with(number, kind, options, "")
    }

    /// Does the same as [`start`](Self::start), with further lines of the address file.
    #[must_use]
    pub fn start_with(&self, number: u32, kind: Kind, options: &[&str], addresses: &str) -> LabNode {
        self.start_as(number, kind, options, addresses, &[], JOINED)
    }

    /// Starts a daemon whose provider joins no group, and waits until its log has `sign`.
    #[must_use]
    pub fn start_until(&self, number: u32, kind: Kind, options: &[&str], sign: &str) -> LabNode {
        self.start_as(number, kind, options, "", &[], sign)
    }

    /// Does the same as [`start`](Self::start), with another build of `acm-mio`.
    #[must_use]
    pub fn start_build(&self, number: u32, daemon: &Path, options: &[&str]) -> LabNode {
        self.prepare(number, options, "");
        self.start_daemon(number, Kind::Rust, daemon, &[], JOINED)
    }

    /// Starts `acm-mio` with a recording into a file.
    #[must_use]
    pub fn start_recording(&self, number: u32, options: &[&str], file: &Path) -> LabNode {
        self.start_as(number, Kind::Rust, options, "", &["--record", file.to_str().unwrap()], JOINED)
    }

    fn start_as(
        &self,
        number: u32,
        kind: Kind,
        options: &[&str],
        addresses: &str,
        arguments: &[&str],
        sign: &str,
    ) -> LabNode {
        self.prepare(number, options, addresses);
        let daemon = match kind {
            Kind::C => program("ibacm", "ibacm"),
            Kind::Rust => binary(Binary::AcmMio),
        };
        self.start_daemon(number, kind, &daemon, arguments, sign)
    }

    /// Writes the files of a node.
    fn prepare(&self, number: u32, options: &[&str], addresses: &str) {
        let home = self.home(number);
        fs::create_dir_all(home.join("etc-rdma")).unwrap();
        fs::create_dir_all(home.join("run")).unwrap();
        write_files(&home, number, options, addresses);
        // C ibacm leaves its socket behind.
        let _ = fs::remove_file(home.join("run/ibacm-unix.sock"));
    }

    fn start_daemon(&self, number: u32, kind: Kind, daemon: &Path, arguments: &[&str], sign: &str) -> LabNode {
        let mut command = self.command_at(number, daemon);
        command.arg("-P").args(arguments);
        let node = LabNode { process: Process::start(&mut command), number, kind, home: self.home(number) };
        until(&format!("node{number} serves and logs {sign:?}"), || {
            (node.log().contains(sign) && std::os::unix::net::UnixStream::connect(node.socket()).is_ok()).then_some(())
        });
        node
    }
}

impl Lab {
    /// Returns a command that runs a program with the node's devices, `/run` and `/etc/rdma`.
    fn command_at(&self, number: u32, program: &Path) -> Command {
        let (name, home) = (format!("node{number}"), self.home(number));
        fs::create_dir_all(home.join("etc-rdma")).unwrap();
        fs::create_dir_all(home.join("run")).unwrap();
        let tree = self.folder.path().join("tree").join(&name);
        let mut command = Command::new(binary(Binary::IbSim));
        command.arg("enter").arg("--preload").arg(preload()).arg("--namespaces").arg(home).arg("--").arg(program);
        command.env("IB_SIM_SOCKET", self.fabric.socket()).env("IB_SIM_NODE", name).env("IB_SIM_TREE", tree);
        command
    }

    /// Runs a program at a node to its end, with the files of [`write`](Self::write) in `/etc/rdma`.
    pub fn run(&self, number: u32, program: &Path, arguments: &[&str]) -> Finished {
        Process::start(self.command_at(number, program).args(arguments)).wait_for_all_steps()
    }

    /// Runs `acmctl check` at a node.
    pub fn check(&self, number: u32, arguments: &[&str]) -> Finished {
        self.run(number, &binary(Binary::AcmCtl), &[&["check"], arguments].concat())
    }
}

impl Packet {
    /// Parses a line of the trace.
    fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let hex = words[3].as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
        let field = |name: &str| {
            let fields = words[4].split(',').filter_map(|field| field.split_once('='));
            let mut found = fields.filter(|(other, _)| *other == name).map(|(_, value)| value);
            found.next().unwrap_or_else(|| panic!("no {name} in {line}"))
        };
        Self {
            port: words[1].to_owned(),
            kind: words[2].to_owned(),
            bytes: hex.map(byte).collect(),
            slid: field("slid").parse().unwrap(),
            dlid: field("dlid").parse().unwrap(),
            sl: field("sl").parse().unwrap(),
            pkey: Pkey::new(number(field("pkey")).try_into().unwrap()),
            rate: Rate::new(field("rate").parse().unwrap()),
            sgid: field("sgid").parse().unwrap(),
        }
    }
}

fn write_files(home: &Path, number: u32, options: &[&str], further: &str) {
    let mut text = format!("log_file {}\n", home.join("ibacm.log").display());
    text += "log_level 2\nlock_file /run/ibacm.pid\nserver_mode unix\nsupport_ips_in_addr_cfg 1\ntimeout 500\n";
    for option in options {
        text += option;
        text += "\n";
    }
    fs::write(home.join("etc-rdma/ibacm_opts.cfg"), text).unwrap();
    if home.join(ADDRESSES).exists() {
        assert!(further.is_empty(), "node {number} has an address file already");
        return;
    }
    let line = |address: String| format!("{address} ibsim0 1 default\n");
    let addresses = [format!("node{number}"), format!("10.77.0.{number}"), format!("fd00::{number}")];
    fs::write(home.join(ADDRESSES), addresses.map(line).concat() + further).unwrap();
}

impl LabNode {
    /// Returns the path of the socket for clients outside of the namespace.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.home.join("run/ibacm-unix.sock")
    }

    /// Replaces the address file. The daemon reads it at SIGHUP.
    pub fn write_addresses(&self, text: &str) {
        fs::write(self.home.join(ADDRESSES), text).unwrap();
    }

    /// Removes the address file. The daemon notices it at SIGHUP.
    pub fn remove_addresses(&self) {
        fs::remove_file(self.home.join(ADDRESSES)).unwrap();
    }

    /// Returns the log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.join("ibacm.log")).unwrap_or_default()
    }

    /// Runs `ib_acme` with the daemon.
    #[must_use]
    pub fn acme(&self, arguments: &[&str]) -> Acme {
        ib_acme(self.socket().to_str().unwrap(), arguments)
    }

    /// Resolves another node of the lab by each kind of address, and verifies each path with subnet administration. It
    /// must be the path between the two ports.
    pub fn resolves_every_way(&self, lab: &Lab, to: &Self) {
        let (a, b) = (self.number, to.number);
        let (source, dest) = (lab.fabric.port(a), lab.fabric.port(b));
        for arguments in [
            format!("-f n -s node{a} -d node{b} -v"),
            format!("-f i -s 10.77.0.{a} -d 10.77.0.{b} -v"),
            format!("-f i -s fd00::{a} -d fd00::{b} -v"),
            format!("-f l -s {} -d {} -v", source.lid, dest.lid),
            format!("-f g -s {} -d {} -v", source.gid, dest.gid),
        ] {
            let path = self.acme(&arguments.split(' ').collect::<Vec<_>>()).verified();
            let what = format!("{:?} node{a} to {:?} node{b}: {arguments}", self.kind, to.kind);
            assert_eq!((path.slid, path.dlid), (source.lid, dest.lid), "{what}");
            assert_eq!((path.sgid, path.dgid), (source.gid, dest.gid), "{what}");
        }
    }

    /// Waits until the log has `text` at least `times` times.
    pub fn wait_for(&self, text: &str, times: usize) {
        until(&format!("{times} x {text:?} in the log of node{}:\n{}", self.number, self.log()), || {
            (self.log().matches(text).count() >= times).then_some(())
        });
    }
}
