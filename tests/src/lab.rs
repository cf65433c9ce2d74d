//! Daemons of both kinds on one fabric, through device files: C `ibacm` and `acm-mio --fabric devices`.
use crate::{Acme, Binary, Fabric, Finished, Process, acme::number, binary, ib_acme, poll::until, preload, program};
use ib_mad::{Gid, Lid, Pkey, Rate, ServiceLevel};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// The file of a node's addresses, below its directory.
const ADDRESSES: &str = "etc-rdma/ibacm_addr.cfg";

/// What both daemons say when they are in their group.
const JOINED: &str = "join successful";

/// Which implementation of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// rdma-core's, from Debian.
    C,
    /// Ours.
    Rust,
}

/// A fabric and the directories of its nodes. Needs root: both daemons have fixed paths, so each node has mount and
/// network namespaces of its own.
#[derive(Debug)]
pub struct Lab {
    /// The fabric.
    pub fabric: Fabric,
    folder: TempDir,
}

/// What a node sent: the packet's headers, and its bytes.
#[derive(Clone, Debug)]
pub struct Packet {
    /// From where, as `NODE/PORT`; nodes are numbers.
    pub port: String,
    /// `mad` (to subnet administration) or `datagram`.
    pub kind: String,
    /// What is behind the headers.
    pub bytes: Vec<u8>,
    /// Source LID, path bits and all.
    pub slid: Lid,
    /// Destination LID.
    pub dlid: Lid,
    /// Service level.
    pub sl: ServiceLevel,
    /// Partition key.
    pub pkey: Pkey,
    /// Static rate; [`Rate::default`] is the port's own.
    pub rate: Rate,
    /// Source GID; zero without a global route header.
    pub sgid: Gid,
}

/// A daemon in a lab.
#[derive(Debug)]
pub struct LabNode {
    /// Its process.
    pub process: Process,
    /// Its number, from 1: it is nodeN, 10.77.0.N and fd00::N.
    pub number: u32,
    /// Whose daemon it is.
    pub kind: Kind,
    home: PathBuf,
}

impl Lab {
    /// A fabric with so many nodes, and further options of `ib-sim serve`.
    #[must_use]
    pub fn new(nodes: u32, options: &[&str]) -> Self {
        Self::start_fabric(&[&["--nodes", &nodes.to_string()], options].concat())
    }

    /// A fabric of these nodes (`node1:1` is a second device of node1), and further options of `ib-sim serve`.
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
        let own = ["--tree", tree.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
        let fabric = Fabric::start(&[&own, options].concat());
        Self { fabric, folder }
    }

    /// What the nodes sent so far, in order: (node, `mad` or `datagram`, bytes).
    #[must_use]
    pub fn sent(&self) -> Vec<(u32, String, Vec<u8>)> {
        let packet = |packet: Packet| {
            let node = packet.port.split('/').next().unwrap().parse().unwrap();
            (node, packet.kind, packet.bytes)
        };
        self.packets().into_iter().map(packet).collect()
    }

    /// What the nodes sent so far, in order.
    #[must_use]
    pub fn packets(&self) -> Vec<Packet> {
        let text = fs::read_to_string(self.folder.path().join("trace")).unwrap();
        // The last line may be half there.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| Packet::parse(line.trim_end()))
            .collect()
    }

    /// A file that a node's programs see, by its path below `/`.
    #[must_use]
    pub fn file(&self, number: u32, path: &str) -> PathBuf {
        self.folder.path().join("tree").join(format!("node{number}")).join(path)
    }

    /// Writes a file of a node's `/etc/rdma`, before its daemon is started.
    pub fn write(&self, number: u32, name: &str, text: &str) {
        let folder = self.home(number).join("etc-rdma");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    fn home(&self, number: u32) -> PathBuf {
        self.folder.path().join("nodes").join(format!("node{number}"))
    }

    /// Starts a daemon and waits until it has joined the base group. `options` are further lines of its option file. Its
    /// addresses are those of [`LabNode::number`], if no file of others was written.
    #[must_use]
    pub fn start(&self, number: u32, kind: Kind, options: &[&str]) -> LabNode {
        self.start_with(number, kind, options, "")
    }

    /// The same with further lines of its address file.
    #[must_use]
    pub fn start_with(&self, number: u32, kind: Kind, options: &[&str], addresses: &str) -> LabNode {
        self.start_as(number, kind, options, addresses, &[], JOINED)
    }

    /// Starts a daemon whose provider joins no group, and waits until its log has `sign`.
    #[must_use]
    pub fn start_until(&self, number: u32, kind: Kind, options: &[&str], sign: &str) -> LabNode {
        self.start_as(number, kind, options, "", &[], sign)
    }

    /// Starts another build of our daemon, as [`start`](Self::start) starts this one.
    #[must_use]
    pub fn start_build(&self, number: u32, daemon: &Path, options: &[&str]) -> LabNode {
        self.prepare(number, options, "");
        self.start_daemon(number, Kind::Rust, daemon, &[], JOINED)
    }

    /// Starts a daemon of ours that records itself into a file.
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

    /// Writes a node's files.
    fn prepare(&self, number: u32, options: &[&str], addresses: &str) {
        let home = self.home(number);
        fs::create_dir_all(home.join("etc-rdma")).unwrap();
        fs::create_dir_all(home.join("run")).unwrap();
        write_files(&home, number, options, addresses);
        // What an earlier daemon of this node left: C ibacm does not remove its socket.
        let _ = fs::remove_file(home.join("run/ibacm-unix.sock"));
    }

    fn start_daemon(&self, number: u32, kind: Kind, daemon: &Path, arguments: &[&str], sign: &str) -> LabNode {
        let mut command = self.command_at(number, daemon);
        command.arg("-P").args(arguments);
        let node = LabNode { process: Process::start(&mut command), number, kind, home: self.home(number) };
        until(&format!("node{number} serves and says {sign:?}"), || {
            (node.log().contains(sign) && std::os::unix::net::UnixStream::connect(node.socket()).is_ok()).then_some(())
        });
        node
    }
}

impl Lab {
    /// What runs a program where the node's daemon would be: it has the node's devices, `/run` and `/etc/rdma`.
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

    /// Runs a program at a node to its end, with what [`write`](Self::write) has put into its `/etc/rdma`.
    pub fn run(&self, number: u32, program: &Path, arguments: &[&str]) -> Finished {
        Process::start(self.command_at(number, program).args(arguments)).wait()
    }

    /// What `acm-mio --check` says at a node.
    pub fn check(&self, number: u32, arguments: &[&str]) -> Finished {
        self.run(number, &binary(Binary::AcmMio), &[&["--check"], arguments].concat())
    }
}

impl Packet {
    /// From a line of the trace.
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
        assert!(further.is_empty(), "the file of node {number} is written already");
        return;
    }
    let line = |address: String| format!("{address} ibsim0 1 default\n");
    let addresses = [format!("node{number}"), format!("10.77.0.{number}"), format!("fd00::{number}")];
    fs::write(home.join(ADDRESSES), addresses.map(line).concat() + further).unwrap();
}

impl LabNode {
    /// The socket for clients, seen from outside of its namespace.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.home.join("run/ibacm-unix.sock")
    }

    /// Gives it another address file, for when it reads it next.
    pub fn write_addresses(&self, text: &str) {
        fs::write(self.home.join(ADDRESSES), text).unwrap();
    }

    /// Takes its address file away, for when it reads it next.
    pub fn remove_addresses(&self) {
        fs::remove_file(self.home.join(ADDRESSES)).unwrap();
    }

    /// Its log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.join("ibacm.log")).unwrap_or_default()
    }

    /// Asks it with `ib_acme`.
    #[must_use]
    pub fn acme(&self, arguments: &[&str]) -> Acme {
        ib_acme(self.socket().to_str().unwrap(), arguments)
    }

    /// Asks in each way for another node of the lab, and has the answer compared with subnet administration's: it must be
    /// the path between the two ports.
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
            let what = format!("{:?} node{a} asks {:?} node{b}: {arguments}", self.kind, to.kind);
            assert_eq!((path.slid, path.dlid), (source.lid, dest.lid), "{what}");
            assert_eq!((path.sgid, path.dgid), (source.gid, dest.gid), "{what}");
        }
    }

    /// Waits until its log has `text` so many times.
    pub fn wait_for(&self, text: &str, times: usize) {
        until(&format!("{times} x {text:?} in the log of node{}:\n{}", self.number, self.log()), || {
            (self.log().matches(text).count() >= times).then_some(())
        });
    }
}
