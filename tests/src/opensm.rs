//! A fabric on ibsim with a real `OpenSM`.
use crate::{Fabric, Process, acme::number, library, poll, preload, program};
use core::{
    fmt::Write as _,
    sync::atomic::{AtomicU32, Ordering},
};
use ib_mad::{Guid, Lid, id::Lmc};
use nix::{
    sys::{signal::Signal, stat::Mode},
    unistd::mkfifo,
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::Write,
    path::PathBuf,
    process::{self, Command},
};
use tempfile::TempDir;

/// Four nodes, node1 to node4, at two switches, and the subnet manager's node.
const TOPOLOGY: &str = r#"
switchguid=0x0002c90300a00000
Switch 24 "switch1"
[1] "node1"[1]
[2] "node2"[1]
[20] "manager"[1]
[24] "switch2"[24]

switchguid=0x0002c90300a10000
Switch 24 "switch2"
[1] "node3"[1]
[2] "node4"[1]
[24] "switch1"[24]

caguid=0x0002c90300000010
Hca 1 "node1"
[1] "switch1"[1]

caguid=0x0002c90300000020
Hca 1 "node2"
[1] "switch1"[2]

caguid=0x0002c90300000030
Hca 1 "node3"
[1] "switch2"[1]

caguid=0x0002c90300000040
Hca 1 "node4"
[1] "switch2"[2]

caguid=0x0002c903000f0000
Hca 1 "manager"
[1] "switch1"[20]
"#;

/// Nodes at each further switch of a larger topology.
const NODES_AT_SWITCH: u32 = 30;

/// Returns [`TOPOLOGY`] with further nodes, at switches that hang on `switch1`.
fn larger(nodes: u32) -> String {
    let mut switch1 = String::new();
    let mut text = String::new();
    for switch in 0..nodes.div_ceil(NODES_AT_SWITCH) {
        let uplink = 3 + switch;
        assert!(uplink < 20, "switch1 has no more ports");
        writeln!(switch1, "[{uplink}] \"leaf{switch}\"[36]").unwrap();
        write!(text, "\nswitchguid={:#018x}\nSwitch 36 \"leaf{switch}\"\n", 0x0002_c903_00b0_0000 + u64::from(switch))
            .unwrap();
        writeln!(text, "[36] \"switch1\"[{uplink}]").unwrap();
        let mut all = String::new();
        for (port, node) in (1..).zip((switch * NODES_AT_SWITCH..nodes).take(NODES_AT_SWITCH as usize)) {
            writeln!(text, "[{port}] \"more{node}\"[1]").unwrap();
            let guid = 0x0002_c904_0000_0000 + 16 * u64::from(node);
            write!(all, "\ncaguid={guid:#018x}\nHca 1 \"more{node}\"\n[1] \"leaf{switch}\"[{port}]\n").unwrap();
        }
        text += &all;
    }
    TOPOLOGY.replacen("[20] \"manager\"", &format!("{switch1}[20] \"manager\""), 1) + &text
}

/// A running ibsim with `OpenSM`.
#[derive(Debug)]
pub struct OpenSm {
    // Dropped before ibsim.
    opensm: Option<Process>,
    _ibsim: Process,
    folder: TempDir,
    arguments: Vec<OsString>,
    name: String,
    umad: PathBuf,
    /// True if long tables are sent as segments. saquery on ibsim receives only the first.
    segments: bool,
    console: File,
}

impl OpenSm {
    /// Starts both and waits until the subnet manager is master.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[], &[])
    }

    /// Starts both with this partition file, which has all partitions.
    #[must_use]
    pub fn start_with_partitions(partitions: &str) -> Self {
        Self::start_with(&[("partitions", "-P", partitions)], &[])
    }

    /// Starts both with this partition file and a QoS policy file.
    #[must_use]
    pub fn start_with_policy(partitions: &str, qos_policy: &str) -> Self {
        Self::start_with(&[("partitions", "-P", partitions), ("qos", "-Y", qos_policy)], &[])
    }

    /// Starts both with 2^`lmc` LIDs per port.
    #[must_use]
    pub fn start_with_lmc(lmc: Lmc) -> Self {
        Self::start_with(&[], &["-l", &lmc.get().to_string()])
    }

    /// Starts both with `ports` more nodes than the default topology has. OpenSM's long tables arrive whole.
    #[must_use]
    pub fn start_with_ports(ports: u32) -> Self {
        Self::start_in(&larger(ports), &[], &[])
    }

    fn start_with(files: &[(&str, &str, &str)], further: &[&str]) -> Self {
        Self::start_in(TOPOLOGY, files, further)
    }

    /// Starts both with a topology, files (name, option of OpenSM, text) and further arguments.
    fn start_in(topology_text: &str, files: &[(&str, &str, &str)], further: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // ibsim's sockets are abstract, so their names must be unique on the machine.
        let name = format!("acm-test-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let umad = library("umad2sim/libumad2sim.so", "libumad2sim0");
        let folder = tempfile::tempdir().unwrap();
        let topology = folder.path().join("topology");
        fs::write(&topology, topology_text).unwrap();
        let fifo = folder.path().join("console");
        mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        // Opened for reading and writing, so that neither end blocks and ibsim never reads an end of file.
        let console = File::options().read(true).write(true).open(&fifo).unwrap();
        let mut ibsim = Command::new("sh");
        ibsim.args(["-c", "exec \"$1\" -s \"$2\" < \"$3\"", "sh"]).arg(program("ibsim", "ibsim-utils"));
        let ibsim = Process::start(ibsim.arg(topology).arg(&fifo).env("IBSIM_SOCKNAME", &name));
        let control = format!("@{name}:ctl");
        poll::until("ibsim's sockets", || {
            fs::read_to_string("/proc/net/unix").unwrap().contains(&control).then_some(())
        });
        // OpenSM flushes each line of its log.
        let mut arguments: Vec<OsString> = vec!["-d2".into(), "-f".into(), folder.path().join("log").into()];
        // A missing file, so that OpenSM does not use this machine's partition file.
        let none = [("partitions", "-P", "")];
        for (name, argument, text) in if files.is_empty() { &none[..] } else { files } {
            let file = folder.path().join(name);
            if !text.is_empty() {
                fs::write(&file, text).unwrap();
            }
            arguments.extend([argument.into(), file.into()]);
        }
        arguments.extend(further.iter().map(OsString::from));
        if files.iter().any(|(name, ..)| *name == "qos") {
            arguments.push("-Q".into());
        }
        let segments = topology_text != TOPOLOGY;
        let mut started = Self { opensm: None, _ibsim: ibsim, folder, arguments, name, umad, segments, console };
        started.restart();
        started
    }

    /// Starts the subnet manager after [`stop`](Self::stop), and waits until the subnet is up.
    pub fn restart(&mut self) {
        let folder = self.folder.path();
        let sweeps = self.sweeps();
        let mut command = Command::new(program("opensm", "opensm"));
        command.args(&self.arguments).envs([("OSM_TMP_DIR", folder), ("OSM_CACHE_DIR", folder)]);
        // Without SIM_SET_ISSM, OpenSM receives requests only once it is ready. umad2sim crashes on earlier requests.
        command.envs([("SIM_HOST", "manager"), ("IBSIM_SOCKNAME", &self.name)]);
        let mut libraries = self.umad.clone().into_os_string();
        if self.segments {
            // ibsim's library sends the first 256 bytes of a response. This project's makes segments of it before.
            libraries = format!("{}:{}", preload().display(), self.umad.display()).into();
            command.env("IB_SIM_SEGMENTS", "1");
        }
        command.env("LD_PRELOAD", libraries);
        let opensm = self.opensm.insert(Process::start(&mut command));
        opensm.wait_for("Entering MASTER state", 1);
        self.wait_for_sweep(sweeps);
    }

    /// Ends the subnet manager by a signal and waits for it.
    pub fn stop(&mut self, signal: Signal) {
        if let Some(mut opensm) = self.opensm.take() {
            opensm.signal(signal);
            let _ = opensm.wait();
        }
    }

    /// Makes the subnet manager reload its files and sweep the subnet, and waits for the end of the sweep.
    pub fn sweep(&self) {
        let sweeps = self.sweeps();
        self.opensm.as_ref().expect("OpenSM runs").signal(Signal::SIGHUP);
        self.wait_for_sweep(sweeps);
    }

    /// Returns the number of completed sweeps.
    #[must_use]
    pub fn sweeps(&self) -> usize {
        let log = fs::read(self.folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log).matches("SUBNET UP").count()
    }

    /// Waits until there are more than `before` completed sweeps.
    pub fn wait_for_sweep(&self, before: usize) {
        poll::until("OpenSM brings up the subnet", || (self.sweeps() > before).then_some(()));
    }

    /// Replaces the partition file, which the next [`sweep`](Self::sweep) applies.
    pub fn set_partitions(&self, text: &str) {
        fs::write(self.folder.path().join("partitions"), text).unwrap();
    }

    /// Removes the subnet manager's persistent state while it is stopped.
    pub fn remove_state(&self) {
        for name in ["guid2lid", "guid2mkey", "neighbors"] {
            fs::remove_file(self.folder.path().join(name)).unwrap();
        }
    }

    /// Sets the LIDs by port GUID that the subnet manager assigns at its next start, while it is stopped.
    pub fn set_lids(&self, lids: &[(Guid, Lid)]) {
        let line =
            |(guid, lid): &(Guid, Lid)| format!("{:#018x} {:#06x} {:#06x}\n\n", guid.get(), lid.get(), lid.get());
        fs::write(self.folder.path().join("guid2lid"), lids.iter().map(line).collect::<String>()).unwrap();
    }

    /// Returns the LIDs that the subnet manager has assigned.
    #[must_use]
    pub fn lids(&self) -> Vec<Lid> {
        let text = fs::read_to_string(self.folder.path().join("guid2lid")).unwrap();
        let lid = |line: &str| number(line.split_whitespace().nth(1).unwrap());
        text.lines().filter(|line| !line.is_empty()).map(|line| Lid::new(lid(line).try_into().unwrap())).collect()
    }

    /// Sends a command to ibsim, for example `Unlink "node2"` or `ReLink "node2"`.
    pub fn console(&self, command: &str) {
        writeln!(&self.console, "{command}").unwrap();
    }

    /// Returns the name of ibsim's sockets.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a fabric of the four nodes, whose LIDs and groups `OpenSM` administers, and waits until all ports are active.
    #[must_use]
    pub fn fabric(&self) -> Fabric {
        self.fabric_with(&[])
    }

    /// Does the same as [`fabric`](Self::fabric), with further options of `ib-sim serve`.
    #[must_use]
    pub fn fabric_with(&self, options: &[&str]) -> Fabric {
        let nodes = ["--node", "node1", "--node", "node2", "--node", "node3", "--node", "node4"];
        let fabric = Fabric::start(&[&nodes[..], &[&format!("--ibsim={}", self.name)], options].concat());
        // A sweep may have missed a port whose response was lost; the next one brings it up.
        let is_active = |node| fabric.port(node).state == "active";
        poll::until("active ports of all nodes", || (1..=4).all(is_active).then_some(()));
        fabric
    }

    /// Queries the subnet administration by saquery with the `SM_Key`, and returns the records.
    #[must_use]
    pub fn saquery(&self, arguments: &[&str]) -> Vec<Record> {
        let saquery = program("saquery", "infiniband-diags");
        let mut command = Command::new(saquery);
        // OpenSM's default SM_Key is 1. Without the key, OpenSM does not list members.
        command.args(["--smkey", "1"]).args(arguments);
        command.envs([("SIM_HOST", "manager"), ("IBSIM_SOCKNAME", &self.name)]).env("LD_PRELOAD", &self.umad);
        let text = Process::start(&mut command).wait().success();
        text.split(" dump:\n").skip(1).map(Record::parse).collect()
    }
}

/// A record as printed by saquery: names and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record(BTreeMap<String, String>);

impl Record {
    fn parse(text: &str) -> Self {
        let field = |line: &str| {
            let (name, value) = line.trim().split_once("..")?;
            Some((name.to_owned(), value.trim_start_matches('.').to_owned()))
        };
        Self(text.lines().map_while(field).collect())
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    /// Returns the value of a numeric field.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        number(self.get(name))
    }
}
