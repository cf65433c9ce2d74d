//! A fabric on which `ib_acme` queries subnet administration directly, through device files.
use acm_tests::{Binary, Fabric, Finished, OpenSm, Process, binary, preload};
use std::process::Command;
use tempfile::TempDir;

/// TCP port 987 belongs to Lustre, 1191 to Storage Scale, 18515 to 18520 to an example program.
const PARTITIONS: &str = "Default=0x7fff,ipoib:ALL=full;\nOther=0x1:ALL=full;\n";
const POLICY: &str = "
qos-ulps
    default : 0
    any, service-id 0x00000000010603DB : 1
    any, service-id 0x00000000010604A7 : 3
    any, service-id 0x0000000001064853-0x0000000001064858 : 2
end-qos-ulps
";

/// A fabric with the files of its nodes' devices.
pub(crate) struct Site {
    pub(crate) fabric: Fabric,
    pub(crate) opensm: Option<OpenSm>,
    _folder: TempDir,
}

impl Site {
    /// Starts four nodes under an `OpenSM` with two partitions and a QoS policy.
    pub(crate) fn with_policy() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let opensm = OpenSm::start_with_policy(PARTITIONS, POLICY);
        let fabric = opensm.fabric_with(&["--tree", tree.to_str().unwrap()]);
        Self { fabric, opensm: Some(opensm), _folder: folder }
    }

    /// Starts `nodes` nodes under the simulated subnet manager, which sends responses of any length.
    pub(crate) fn simulated(nodes: u32) -> Self {
        Self::simulated_with(nodes, &[])
    }

    /// The same with options of `ib-sim serve`.
    pub(crate) fn simulated_with(nodes: u32, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let fabric = Fabric::serve(nodes, &[&["--tree", tree.to_str().unwrap()], options].concat());
        Self { fabric, opensm: None, _folder: folder }
    }

    /// Starts this project's `ib_acme` at a node.
    pub(crate) fn start(&self, node: &str, words: &str) -> Process {
        self.run(&["--only", node], words)
    }

    /// Runs `ib_acme` at all nodes and waits for the end of all.
    pub(crate) fn everywhere(&self, words: &str) -> Finished {
        self.run(&[], words).wait()
    }

    fn run(&self, selection: &[&str], words: &str) -> Process {
        let mut command = Command::new(binary(Binary::IbSim));
        command.args(["run", "--no-namespaces"]).args(selection).arg("--preload").arg(preload());
        command.arg("--socket").arg(self.fabric.socket()).arg("--").arg(binary(Binary::IbAcme));
        Process::start(command.args(words.split(' ')))
    }

    /// Runs `ib_acme` at a node to its end.
    pub(crate) fn at(&self, node: &str, words: &str) -> Finished {
        self.start(node, words).wait()
    }
}
