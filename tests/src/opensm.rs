//! A fabric that a real `OpenSM` administers, on ibsim.
use crate::{Fabric, Process, acme::number, library, poll, program};
use core::sync::atomic::{AtomicU32, Ordering};
use nix::{sys::stat::Mode, unistd::mkfifo};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::PathBuf,
    process::{self, Command},
};
use tempfile::TempDir;

/// Four nodes, node1 to node4, at two switches, and the subnet manager's own node.
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

/// A running ibsim with `OpenSM`.
#[derive(Debug)]
pub struct OpenSm {
    // Ends before ibsim.
    _opensm: Process,
    _ibsim: Process,
    _folder: TempDir,
    name: String,
    umad: PathBuf,
    console: File,
}

impl OpenSm {
    /// Starts both and waits until the subnet manager is master.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with partitions, which are all that there is then, and with a policy of the quality of service.
    #[must_use]
    pub fn start_with_policy(partitions: &str, qos_policy: &str) -> Self {
        Self::start_with(&[("partitions", "-P", partitions), ("qos", "-Y", qos_policy)])
    }

    /// With files: name, the argument that names it, text.
    fn start_with(files: &[(&str, &str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // ibsim's sockets are abstract: one set of names for all of the machine.
        let name = format!("acm-test-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let umad = library("umad2sim/libumad2sim.so", "libumad2sim0");
        let folder = tempfile::tempdir().unwrap();
        let topology = folder.path().join("topology");
        fs::write(&topology, TOPOLOGY).unwrap();
        let fifo = folder.path().join("console");
        mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        // Open for both, so that nobody waits for the other end, and ibsim never sees an end.
        let console = File::options().read(true).write(true).open(&fifo).unwrap();
        let mut ibsim = Command::new("sh");
        ibsim.args(["-c", "exec \"$1\" -s \"$2\" < \"$3\"", "sh"]).arg(program("ibsim", "ibsim-utils"));
        let ibsim = Process::start(ibsim.arg(topology).arg(&fifo).env("IBSIM_SOCKNAME", &name));
        let control = format!("@{name}:ctl");
        poll::until("ibsim's sockets", || {
            fs::read_to_string("/proc/net/unix").unwrap().contains(&control).then_some(())
        });
        let mut command = Command::new(program("opensm", "opensm"));
        command.arg("-f").arg(folder.path().join("log"));
        // A file that is not there: this machine's own does not count.
        let none = [("partitions", "-P", "")];
        for (name, argument, text) in if files.is_empty() { &none[..] } else { files } {
            let file = folder.path().join(name);
            if !text.is_empty() {
                fs::write(&file, text).unwrap();
            }
            command.arg(argument).arg(file);
        }
        if files.iter().any(|(name, ..)| *name == "qos") {
            command.arg("-Q");
        }
        command.envs([("OSM_TMP_DIR", folder.path()), ("OSM_CACHE_DIR", folder.path())]);
        command.envs([("SIM_HOST", "manager"), ("SIM_SET_ISSM", "1"), ("IBSIM_SOCKNAME", &name)]);
        let mut opensm = Process::start(command.env("LD_PRELOAD", &umad));
        opensm.wait_for("Entering MASTER state", 1);
        Self { _opensm: opensm, _ibsim: ibsim, _folder: folder, name, umad, console }
    }

    /// Gives ibsim a command: `Unlink "node2"`, `ReLink "node2"`.
    pub fn console(&self, command: &str) {
        writeln!(&self.console, "{command}").unwrap();
    }

    /// The fabric of the four nodes; `OpenSM` gives LIDs and joins groups.
    #[must_use]
    pub fn fabric(&self) -> Fabric {
        let nodes = ["--node", "node1", "--node", "node2", "--node", "node3", "--node", "node4"];
        Fabric::start(&[&nodes[..], &[&format!("--ibsim={}", self.name)]].concat())
    }

    /// Asks the subnet administration with saquery, as one who knows the `SM_Key`; returns the records.
    #[must_use]
    pub fn saquery(&self, arguments: &[&str]) -> Vec<Record> {
        let saquery = program("saquery", "infiniband-diags");
        let mut command = Command::new(saquery);
        // OpenSM's own SM_Key is 1 by default; without it, members are not named.
        command.args(["--smkey", "1"]).args(arguments);
        command.envs([("SIM_HOST", "manager"), ("IBSIM_SOCKNAME", &self.name)]).env("LD_PRELOAD", &self.umad);
        let text = Process::start(&mut command).wait().success();
        text.split(" dump:\n").skip(1).map(Record::parse).collect()
    }
}

/// A record, as saquery prints it: names and values.
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

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    /// The value of a field that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        number(self.get(name))
    }
}
