//! Error messages of likely mistakes: one line each, with the error and the remedy.
use acm_tests::{Binary, Fabric, Finished, Node, Process, binary, run, until};
use std::{fs, process::Command};

/// Returns the only error line of a daemon that did not start.
fn refusal(finished: &Finished) -> String {
    assert_eq!(finished.code, Some(255), "{finished}");
    let lines: Vec<&str> = finished.stderr.lines().filter_map(|line| line.strip_prefix("acm-mio: ")).collect();
    assert_eq!(lines.len(), 1, "{finished}");
    lines[0].to_owned()
}

fn on_fabric(fabric: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::alone().argument(&format!("--fabric=sim:{fabric}")).command(dir.path());
    refusal(&Process::start(&mut command).wait())
}

#[test]
fn unknown_node_of_the_fabric_lists_its_nodes() {
    let fabric = Fabric::serve(3, &[]);
    let path = fabric.socket().display();
    assert_eq!(
        on_fabric(&format!("{path}?node=node7")),
        format!("simulated fabric at {path}: it has no node node7; its nodes are node1, node2, node3")
    );
    let fabric = Fabric::serve(10, &[]);
    let message = on_fabric(&format!("{}?node=node", fabric.socket().display()));
    assert!(
        message.ends_with("its nodes are node1, node2, node3, node4, node5, node6, node7, node8 and 2 more"),
        "{message}"
    );
}

#[test]
fn fabric_without_a_free_node_is_reported() {
    let fabric = Fabric::serve(1, &[]);
    let path = fabric.socket().display();
    let _node = Node::at(&fabric, 1).join();
    assert_eq!(
        on_fabric(&path.to_string()),
        format!("simulated fabric at {path}: a program runs at each of its nodes; give one of them, ?node=NAME: node1")
    );
}

/// A diagnostic tool at the node is no error, a second daemon is one.
#[test]
fn second_program_at_a_node_is_a_warning() {
    let fabric = Fabric::serve(2, &[]);
    let one = Node::at(&fabric, 1).join();
    let line = "fabric: another program is at node1 already; if it is a daemon, both answer for the same addresses: ";
    let mut second = Node::at(&fabric, 1).join();
    second.process.wait_for(line, 1);
    let other = Node::at(&fabric, 2).join();
    assert!(!one.log().contains("another program is at") && !other.log().contains("another program is at"));
}

/// The message is on standard error once, also if standard error is the log, and in a log file, too.
#[test]
fn failed_start_is_reported_once_per_stream() {
    let occurrences = |log_file: &str, streams: &str| {
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
    assert_eq!(occurrences("stdout", "2>&1"), [1, 0, 0]);
    assert_eq!(occurrences("stdout", "2>&1 | cat; exit 255"), [1, 0, 0]);
    assert_eq!(occurrences("stderr", ""), [0, 1, 0]);
    assert_eq!(occurrences("stdout", ""), [1, 1, 0]);
    assert_eq!(occurrences("DIR/log", ""), [0, 1, 1]);
}

#[test]
fn missing_fabric_names_the_command_that_serves_it() {
    let message = on_fabric("/none/fabric.sock?node=node1");
    assert!(message.starts_with("simulated fabric at /none/fabric.sock: No such file or directory"), "{message}");
    let advice = "run `ib-sim serve --socket /none/fabric.sock`, or a daemon with --fabric embedded, first";
    assert!(message.ends_with(advice), "{message}");
}

// docs/deviations.md: missing-file
#[test]
fn missing_named_file_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = dir.path().to_str().unwrap();
    for (option, advice) in [
        ("-O", "option file /none/it: there is none; make it, correct -O, or leave it out: every option has a default"),
        (
            "-A",
            "address file /none/it: there is none; make it, correct -A, or leave it out: the node then has its own name",
        ),
    ] {
        let words = ["-P", "--fabric", "embedded", "--run-dir", run_dir, option, "/none/it"];
        assert_eq!(refusal(&run(binary(Binary::AcmMio), &words)), advice);
    }
}

#[test]
fn unusable_run_directory_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let in_dir = |name: &str| {
        let run_dir = dir.path().join(name).display().to_string();
        let message = refusal(&run(binary(Binary::AcmMio), &["-P", "--fabric", "embedded", "--run-dir", &run_dir]));
        message.replace(&run_dir, "DIR")
    };
    let long = in_dir(&"x".repeat(100));
    assert!(
        long.starts_with("run directory DIR: its path has ") && long.ends_with("give a shorter one, --run-dir"),
        "{long}"
    );
    let deep = in_dir("a/b");
    assert!(deep.ends_with("; make the directory above it first"), "{deep}");
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "no files are left");
}

#[test]
fn unwritable_lock_file_is_reported() {
    // Files cannot be created there.
    let message = refusal(&run(binary(Binary::AcmMio), &["-P", "--fabric", "embedded", "--run-dir", "/proc"]));
    assert!(message.starts_with("lock file /proc/ibacm.pid: "), "{message}");
    assert!(message.ends_with("; run as root, or give a --run-dir or a lock_file that you may write to"), "{message}");
}

#[test]
fn misspelled_option_suggests_a_name() {
    let node = Node::embedded().option("retrys 3\nnothing_like_it 3").serve();
    for line in [
        "opts:4:1: no such option: \"retrys\", perhaps retries; the line is skipped\n",
        "opts:5:1: no such option: \"nothing_like_it\"; the line is skipped\n",
    ] {
        until(line, || node.log().contains(line).then_some(()));
    }
}

/// The daemon starts with the default, as C ibacm does.
#[test]
fn wrong_value_of_an_option_is_on_the_terminal_and_in_the_log() {
    let node = Node::embedded().option("server_mode bogus").option("log_file DIR/log").serve();
    let line = "opts:4:13: expected unix, loop or open: \"bogus\"; the line is skipped\n";
    until("the line at the terminal", || node.log().contains(line).then_some(()));
    assert!(fs::read_to_string(node.dir().join("log")).unwrap().contains(line));
}

#[test]
fn group_parameters_above_the_ports_are_reported() {
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
