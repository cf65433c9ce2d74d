//! Slurm's health checks and prolog of docs/rollout.md, with a daemon and a stand-in for `scontrol`.
use acm_tests::{Binary, Fabric, Finished, Node, Process, binary, program, run, until, write_script};
use nix::sys::signal::Signal;
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Time in seconds that a script may wait for a daemon that serves the node.
const PATIENCE: &str = "60";

/// The programs that the scripts call.
struct Slurm {
    programs: TempDir,
}

impl Slurm {
    /// Programs that use this daemon, and a `scontrol` that keeps its changes. The node is idle.
    fn new(node: &Node) -> Self {
        let slurm = Self { programs: tempfile::tempdir().unwrap() };
        let folder = slurm.programs.path().display();
        slurm.set(
            "acmctl",
            &format!("exec {} --run-dir {} \"$@\"", binary(Binary::AcmCtl).display(), node.dir().display()),
        );
        let acme = format!("exec {} -S {} \"$@\"", program("ib_acme", "ibacm").display(), node.socket().display());
        for name in ["acm-ib_acme", "ib_acme"] {
            slurm.set(name, &acme);
        }
        slurm.set(
            "scontrol",
            &format!(
                "case \"$*\" in\n\
                 '--oneliner show node node1') echo NodeName=node1 CPUTot=2 State=$(cat {folder}/state) Reason=x;;\n\
                 '--oneliner show node') cat {folder}/nodes;;\n\
                 'show hostnames '*) echo \"$3\" | tr + '\\n';;\n\
                 *) echo \"$@\" >> {folder}/calls;;\n\
                 esac"
            ),
        );
        slurm.state("IDLE");
        slurm.drained_nodes(0);
        slurm
    }

    /// Writes a program in the scripts' PATH.
    fn set(&self, name: &str, text: &str) {
        write_script(&self.programs.path().join(name), text);
    }

    fn state(&self, state: &str) {
        fs::write(self.programs.path().join("state"), state).unwrap();
    }

    /// Writes the list of all nodes, of which `count` are drained because of acm-mio.
    fn drained_nodes(&self, count: usize) {
        let drained = "NodeName=a CPUTot=2 State=IDLE+DRAIN ThreadsPerCore=1 Reason=acm-mio: no active port [root]\n";
        let others = "NodeName=b State=IDLE+DRAIN Reason=disk [root]\nNodeName=c State=IDLE Reason=acm-mio: old\n";
        fs::write(self.programs.path().join("nodes"), drained.repeat(count) + others).unwrap();
    }

    /// Returns the changes of the node so far.
    fn calls(&self) -> String {
        fs::read_to_string(self.programs.path().join("calls")).unwrap_or_default()
    }

    /// Runs a script of `dist/slurm` as Slurm does, but with an argument.
    fn run(&self, script: &str, argument: &str, variables: &[(&str, &str)]) -> Finished {
        self.run_file(&script_file(script), argument, variables)
    }

    fn run_file(&self, script: &Path, argument: &str, variables: &[(&str, &str)]) -> Finished {
        let mut command = Command::new(script);
        command.arg(argument).env_clear().env("PATH", format!("{}:/usr/bin:/bin", self.programs.path().display()));
        Process::start(command.env("SLURMD_NODENAME", "node1").envs(variables.iter().copied())).wait()
    }

    /// Waits until the status has this text. It may be a tenth of a second old.
    fn wait_for_status(&self, text: &str) {
        let status = || run(self.programs.path().join("acmctl"), &["status", "--all"]).stdout;
        until(text, || status().contains(text).then_some(()));
    }

    /// Runs the script that drains, which waits until the daemon serves the node.
    fn is_healthy(&self) {
        assert_eq!(self.run("drain", PATIENCE, &[]).success(), "");
    }

    /// Runs the script that drains, which finds a fault.
    fn is_faulty(&self) {
        let finished = self.run("drain", "0", &[]);
        assert_eq!(finished, Finished { code: Some(1), stdout: String::new(), stderr: String::new() });
    }

    /// Waits until the script drains the node for this reason. On a busy machine, the daemon's response may be too
    /// late for a check without patience.
    fn drains(&self, reason: &str) {
        until(reason, || {
            let before = self.calls().len();
            self.is_faulty();
            (self.calls()[before..] == drained(reason)).then_some(())
        });
    }
}

fn script_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("dist/slurm").join(name)
}

fn drained(reason: &str) -> String {
    format!("update NodeName=node1 State=DRAIN Reason=acm-mio: {reason}\n")
}

#[test]
fn health_check_and_prolog_drain_a_node_without_a_daemon() {
    let mut node = Node::embedded().spawn();
    node.process.wait_for("join successful", 1);
    let slurm = Slurm::new(&node);
    slurm.is_healthy();
    assert_eq!(slurm.run("prolog", PATIENCE, &[]).success(), "");
    assert_eq!(slurm.calls(), "");
    slurm.set("acm-ib_acme", "exit 1");
    slurm.drains("does not answer clients");
    node.process.signal(Signal::SIGKILL);
    node.process.wait();
    assert_eq!(slurm.run("prolog", "0", &[]).code, Some(1));
    assert!(slurm.calls().ends_with(&drained("does not respond")), "{}", slurm.calls());
}

#[test]
fn drain_keeps_an_administrators_reason() {
    let mut node = Node::embedded().spawn();
    let slurm = Slurm::new(&node);
    node.process.signal(Signal::SIGKILL);
    node.process.wait();
    for state in ["IDLE+DRAIN", "MIXED+DRAIN", "DOWN*", "FAIL"] {
        slurm.state(state);
        slurm.is_faulty();
        assert_eq!(slurm.calls(), "", "{state}");
    }
    slurm.state("IDLE*+CLOUD");
    slurm.is_faulty();
    assert_eq!(slurm.calls(), drained("does not respond"));
}

/// A silent SA makes all nodes faulty.
#[test]
fn tenth_node_is_drained_and_the_eleventh_is_reported() {
    let mut node = Node::embedded().spawn();
    let slurm = Slurm::new(&node);
    node.process.signal(Signal::SIGKILL);
    node.process.wait();
    slurm.drained_nodes(10);
    let finished = slurm.run("drain", "0", &[]);
    let line = "acm-mio: does not respond; not drained, because 10 nodes are\n";
    assert_eq!((finished.code, finished.stdout.as_str(), slurm.calls()), (Some(1), line, String::new()));
    // Without this script, Slurm reports the fault and the node stays.
    assert_eq!(slurm.run("ready", "0", &[]).stdout, "acm-mio: does not respond\n");
    assert_eq!(slurm.calls(), "");
    slurm.drained_nodes(9);
    slurm.is_faulty();
    assert_eq!(slurm.calls(), drained("does not respond"));
}

#[test]
fn node_is_drained_without_an_active_port_or_a_group() {
    let fabric = Fabric::serve(1, &[]);
    let mut node = Node::at(&fabric, 1).spawn();
    node.process.wait_for("join successful", 1);
    let slurm = Slurm::new(&node);
    slurm.is_healthy();
    fabric.control("down node1 1");
    slurm.wait_for_status("port 1: down");
    slurm.drains("no active port");
    fabric.control("set sa_mute on");
    fabric.control("up node1 1");
    node.process.wait_for("join failed", 1);
    slurm.wait_for_status("port 1: active");
    slurm.drains("no multicast group joined");
    fabric.control("set sa_mute off");
    // It waits for the next join.
    assert_eq!(slurm.run("prolog", PATIENCE, &[]).success(), "");
}

#[test]
fn ready_ends_by_the_clock_if_the_daemon_hangs() {
    let node = Node::embedded().spawn();
    let slurm = Slurm::new(&node);
    let calls = slurm.programs.path().join("asked");
    slurm.set("acmctl", &format!("echo >> {}; exec sleep 1000", calls.display()));
    let finished = slurm.run("ready", "2", &[]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), "acm-mio: does not respond\n"));
    // The first wait for the daemon takes all the time; checks that are counted would be three.
    assert_eq!(fs::read_to_string(calls).unwrap().lines().count(), 1);
}

#[test]
fn slurm_may_call_links_to_the_scripts() {
    let mut node = Node::embedded().spawn();
    node.process.wait_for("join successful", 1);
    let slurm = Slurm::new(&node);
    let links = tempfile::tempdir().unwrap();
    for (script, link) in [("prolog", "10-acm"), ("drain", "acm")] {
        let link = links.path().join(link);
        symlink(script_file(script), &link).unwrap();
        assert_eq!(slurm.run_file(&link, PATIENCE, &[]).success(), "", "{script}");
    }
    assert_eq!(slurm.calls(), "");
}

#[test]
fn warm_starts_lookups_of_the_jobs_other_nodes_and_never_fails() {
    let mut node = Node::embedded().option("log_level 2").spawn();
    node.process.wait_for("join successful", 1);
    let slurm = Slurm::new(&node);
    // The stand-in of scontrol has + between the names of a list.
    for (variable, names) in [("SLURM_JOB_NODELIST", "rack1node2+x-ib+node1"), ("SLURM_NODELIST", "old3+old4+node1")] {
        assert_eq!(slurm.run("warm", "3", &[(variable, names)]).success(), "");
        for name in names.split('+').filter(|name| *name != "node1") {
            node.process.wait_for(&format!("requesting the location of {name},"), 1);
        }
    }
    assert_eq!(slurm.run("warm", "3", &[("SLURM_JOB_NODELIST", "many1+many2+many3+many4")]).success(), "");
    assert_eq!(slurm.run("warm", "3", &[]).success(), "");
    assert!(!node.log().contains("requesting the location of many"));
    assert!(!node.log().contains("requesting the location of node1"));
    node.process.signal(Signal::SIGKILL);
    node.process.wait();
    assert_eq!(slurm.run("warm", "3", &[("SLURM_JOB_NODELIST", "x")]).success(), "");
}
