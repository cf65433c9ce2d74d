//! The likely mistakes: each is one line that says what is wrong and what to do.
use acm_tests::{Binary, Fabric, Finished, Node, Process, binary, run, until};
use std::{fs, process::Command};

/// The daemon's last words: it does not start.
fn refused(finished: &Finished) -> String {
    assert_eq!(finished.code, Some(255), "{finished}");
    let lines: Vec<&str> = finished.stderr.lines().filter_map(|line| line.strip_prefix("acm-mio: ")).collect();
    assert_eq!(lines.len(), 1, "{finished}");
    lines[0].to_owned()
}

fn on_fabric(fabric: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::alone().argument(&format!("--fabric=sim:{fabric}")).command(dir.path());
    refused(&Process::start(&mut command).wait())
}

#[test]
fn a_fabric_has_no_such_node() {
    let fabric = Fabric::serve(3, &[]);
    let path = fabric.socket().display();
    assert_eq!(
        on_fabric(&format!("{path}?node=node7")),
        format!("simulated fabric at {path}: it has no node node7; its nodes are node1, node2, node3")
    );
    let fabric = Fabric::serve(10, &[]);
    let said = on_fabric(&format!("{}?node=node", fabric.socket().display()));
    assert!(
        said.ends_with("its nodes are node1, node2, node3, node4, node5, node6, node7, node8 and 2 more"),
        "{said}"
    );
}

#[test]
fn a_fabric_has_no_free_node() {
    let fabric = Fabric::serve(1, &[]);
    let path = fabric.socket().display();
    let _node = Node::at(&fabric, 1).join();
    assert_eq!(
        on_fabric(&path.to_string()),
        format!("simulated fabric at {path}: a program runs at each of its nodes; give one of them, ?node=NAME: node1")
    );
}

/// It may be a tool that looks at it; two daemons at one node are a mistake.
#[test]
fn a_node_has_another_program() {
    let fabric = Fabric::serve(2, &[]);
    let one = Node::at(&fabric, 1).join();
    let line = "fabric: another program is at node1 already; if it is a daemon, both answer for the same addresses: ";
    let mut again = Node::at(&fabric, 1).join();
    again.process.wait_for(line, 1);
    let other = Node::at(&fabric, 2).join();
    assert!(!one.log().contains("another program is at") && !other.log().contains("another program is at"));
}

/// Who reads standard error reads it once, also where the log goes there; a log elsewhere has it, too.
#[test]
fn a_start_that_fails_is_said_once_to_each_reader() {
    let said = |log_file: &str, streams: &str| {
        let dir = tempfile::tempdir().unwrap();
        let node = Node::alone().argument("--fabric=sim:/none/fabric.sock").option(&format!("log_file {log_file}"));
        let made = node.command(dir.path());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("exec \"$0\" \"$@\" {streams}")]).arg(made.get_program()).args(made.get_args());
        let finished = Process::start(&mut command).wait();
        assert_eq!(finished.code, Some(255), "{finished}");
        let file = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
        [finished.stdout, finished.stderr, file].map(|text| text.matches("nobody serves it").count())
    };
    assert_eq!(said("stdout", "2>&1"), [1, 0, 0]);
    assert_eq!(said("stdout", "2>&1 | cat; exit 255"), [1, 0, 0]);
    assert_eq!(said("stderr", ""), [0, 1, 0]);
    assert_eq!(said("stdout", ""), [1, 1, 0]);
    assert_eq!(said("DIR/log", ""), [0, 1, 1]);
}

#[test]
fn nobody_serves_a_fabric() {
    let said = on_fabric("/none/fabric.sock?node=node1");
    assert!(said.starts_with("simulated fabric at /none/fabric.sock: No such file or directory"), "{said}");
    let advice = "run `ib-sim serve --socket /none/fabric.sock`, or a daemon with --fabric embedded, first";
    assert!(said.ends_with(advice), "{said}");
}

#[test]
fn a_file_that_is_named_and_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().to_str().unwrap();
    for (option, advice) in [
        ("-O", "option file /none/it: there is none; make it, correct -O, or leave it out: every option has a default"),
        (
            "-A",
            "address file /none/it: there is none; make it, correct -A, or leave it out: the node then has its own name",
        ),
    ] {
        let words = ["-P", "--fabric", "embedded", "--run-dir", own, option, "/none/it"];
        assert_eq!(refused(&run(binary(Binary::AcmMio), &words)), advice);
    }
}

#[test]
fn a_run_directory_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let in_dir = |name: &str| {
        let own = dir.path().join(name).display().to_string();
        let said = refused(&run(binary(Binary::AcmMio), &["-P", "--fabric", "embedded", "--run-dir", &own]));
        said.replace(&own, "DIR")
    };
    let long = in_dir(&"x".repeat(100));
    assert!(
        long.starts_with("run directory DIR: its path has ") && long.ends_with("give a shorter one, --run-dir"),
        "{long}"
    );
    let deep = in_dir("a/b");
    assert!(deep.ends_with("; make the directory above it first"), "{deep}");
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "nothing is left behind");
}

#[test]
fn a_lock_that_cannot_be_had() {
    // Nobody can make a file there.
    let said = refused(&run(binary(Binary::AcmMio), &["-P", "--fabric", "embedded", "--run-dir", "/proc"]));
    assert!(said.starts_with("lock file /proc/ibacm.pid: "), "{said}");
    assert!(said.ends_with("; run as root, or give a --run-dir or a lock_file that you may write to"), "{said}");
}

#[test]
fn an_option_with_nearly_the_right_name() {
    let node = Node::embedded().option("retrys 3\nnothing_like_it 3").serve();
    for line in [
        "opts:4:1: no such option: \"retrys\", perhaps retries; the line is skipped\n",
        "opts:5:1: no such option: \"nothing_like_it\"; the line is skipped\n",
    ] {
        until(line, || node.log().contains(line).then_some(()));
    }
}

#[test]
fn a_group_that_is_too_much_for_the_port() {
    let fabric = Fabric::serve(2, &["--mtu", "2048"]);
    for (number, option, line) in [
        (1, "min_rate 200", "config: sim0 port 1: min_rate 200 is above its 100 Gb/s: it cannot be in the group"),
        (2, "min_mtu 4096", "config: sim0 port 1: min_mtu 4096 is above its 2048: it cannot be in the group"),
    ] {
        let mut node = Node::at(&fabric, number).option(option).spawn();
        node.process.wait_for(line, 1);
        node.process.wait_for("; lower it on all nodes", 1);
    }
}
