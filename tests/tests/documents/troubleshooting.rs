//! docs/troubleshooting.md has commands, their output and log lines for each symptom. These tests produce the symptoms
//! with the page's commands and compare output and log.
use acm_tests::{Connection, Entry, Fabric, Node, NodeBuilder, until};
use nix::sys::signal::Signal;
use std::{fs, path::Path};

/// Options of an administrator who looks for the reason.
const OPTIONS: &str = "support_ips_in_addr_cfg 1\nlog_file stderr\nlog_level 1\ntimeout 200\n";

/// The tested symptoms.
const SYMPTOMS: [&str; 9] = [
    "Connection timed out, after seconds",
    "Connection timed out, at once",
    "Cannot assign requested address",
    "Cannot assign requested address, and nothing is served",
    "No data available, just after the start",
    "No data available, for a GID or LID",
    "Connection timed out, for a GID or LID",
    "No data available, with -c",
    "Cannot allocate memory",
];

/// The blocks of the page under a heading: commands with their output, and log lines.
#[derive(Debug, Default)]
struct Symptom {
    commands: Vec<(String, Vec<String>)>,
    log: Vec<String>,
}

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/troubleshooting.md");
    fs::read_to_string(page).unwrap()
}

/// Returns the headings of the page that have log lines, with their blocks.
fn symptoms() -> Vec<(String, Symptom)> {
    let mut all: Vec<(String, Symptom)> = Vec::new();
    let mut block = None;
    for line in page().lines() {
        match (line.strip_prefix("```"), &block) {
            (Some(kind), None) => block = kind.split(' ').next().map(str::to_owned),
            (Some(_), Some(_)) => block = None,
            (None, None) => {
                if let Some(heading) = line.strip_prefix("### ") {
                    all.push((heading.to_owned(), Symptom::default()));
                }
            }
            (None, Some(kind)) => {
                let Some((_, symptom)) = all.last_mut() else { continue };
                match (kind.as_str(), line.strip_prefix("$ ")) {
                    ("text", _) => symptom.log.push(line.to_owned()),
                    (_, Some(command)) => symptom.commands.push((command.to_owned(), Vec::new())),
                    (_, None) => symptom.commands.last_mut().expect("a command").1.push(line.to_owned()),
                }
            }
        }
    }
    all.retain(|(_, symptom)| !symptom.log.is_empty());
    all
}

/// Returns text with masked times and process ids, which differ between runs.
fn plain(text: &str) -> String {
    const AFTER: [char; 4] = [' ', '\n', ';', ':'];
    let mut plain = String::new();
    for word in text.split_inclusive([' ', '\n', ';']) {
        let is_number = |word: &str| word.trim_end().parse::<f64>().is_ok();
        let end = word.trim_end_matches(AFTER);
        match end.split_once('[') {
            Some((program, process)) if process.trim_end_matches(']').parse::<u32>().is_ok() => {
                plain += &word.replace(end, &format!("{program}[N]"));
            }
            _ => plain += word,
        }
        // "606 ms", "3.7 s".
        if matches!(end, "s" | "ms") {
            let unit = plain.split_off(plain.trim_end_matches(AFTER).len() - end.len());
            let before = plain.trim_end().rsplit(' ').next().unwrap_or_default().to_owned();
            if is_number(&before) {
                plain.truncate(plain.trim_end().len() - before.len());
                plain += "TIME";
                plain += unit.trim_start_matches(end);
            } else {
                plain += &unit;
            }
        }
    }
    plain
}

/// Runs the commands under a heading at this node, ends the daemon, and compares output and log with the page.
#[track_caller]
fn check(heading: &str, mut node: Node) {
    assert!(SYMPTOMS.contains(&heading));
    let all = symptoms();
    let (_, symptom) = all.iter().find(|(other, _)| other == heading).expect("the symptom in the page");
    assert!(!symptom.commands.is_empty() && !symptom.log.is_empty());
    for (command, shown) in &symptom.commands {
        let arguments = command.strip_prefix("ib_acme ").expect("a command of ib_acme");
        let finished = node.acme(&arguments.split(' ').collect::<Vec<_>>()).finished;
        let output = format!("{}{}", finished.stdout, finished.stderr);
        for line in shown {
            assert!(output.contains(line), "not printed: {line}\n{output}\n{}", node.log());
        }
    }
    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    let log = plain(&node.log());
    for line in &symptom.log {
        assert!(log.contains(&plain(line)), "not logged: {}\n{log}", plain(line));
    }
    assert!(!log.contains("requesting the location"), "log_level 1 does not log each step");
}

fn at(fabric: &Fabric, number: u32) -> NodeBuilder {
    Node::at(fabric, number).options(OPTIONS)
}

#[test]
fn page_has_exactly_the_tested_symptoms() {
    let headings: Vec<String> = symptoms().into_iter().map(|(heading, _)| heading).collect();
    assert_eq!(headings, SYMPTOMS);
}

#[test]
fn times_and_process_ids_are_masked() {
    let line = "acm: of ib_acme[4711] of user 0; asked group ff12::1 3 times in 3.7 s; for 400 ms (x); in 1 s: 2\n";
    assert_eq!(
        plain(line),
        "acm: of ib_acme[N] of user 0; asked group ff12::1 3 times in TIME; for TIME (x); in TIME: 2\n"
    );
}

#[test]
fn symptom_of_an_unknown_name() {
    let fabric = Fabric::serve(2, &[]);
    check(SYMPTOMS[0], at(&fabric, 1).join());
}

#[test]
fn symptom_of_a_name_in_the_negative_cache() {
    let fabric = Fabric::serve(2, &[]);
    check(SYMPTOMS[1], at(&fabric, 1).options(&format!("{OPTIONS}negative_timeout 60000\n")).join());
}

#[test]
fn symptom_of_a_source_that_is_not_local() {
    let fabric = Fabric::serve(2, &[]);
    check(SYMPTOMS[2], at(&fabric, 1).join());
}

#[test]
fn symptom_of_a_path_without_a_record() {
    let fabric = Fabric::serve(2, &[]);
    check(SYMPTOMS[5], at(&fabric, 1).join());
}

#[test]
fn symptom_of_a_silent_sa() {
    let fabric = Fabric::serve(2, &[]);
    let node = at(&fabric, 1).join();
    assert_eq!(fabric.control("set sa_mute on"), "ok\n");
    check(SYMPTOMS[6], node);
}

#[test]
fn symptom_of_a_failed_join() {
    let fabric = Fabric::serve(2, &[]);
    assert_eq!(fabric.control("set sa_mute on"), "ok\n");
    let mut node = at(&fabric, 1).serve();
    node.process.wait_for("join failed", 1);
    check(SYMPTOMS[4], node);
}

#[test]
fn symptom_of_a_port_that_is_down() {
    let fabric = Fabric::serve(2, &[]);
    let mut node = at(&fabric, 1).join();
    assert_eq!(fabric.control("down node1 1"), "ok\n");
    node.process.wait_for("port 1 is down", 1);
    check(SYMPTOMS[3], node);
}

#[test]
fn symptom_of_a_nodelay_request() {
    let fabric = Fabric::serve(2, &[]);
    check(SYMPTOMS[7], at(&fabric, 1).join());
}

#[test]
fn symptom_of_the_limit_of_lookups() {
    let fabric = Fabric::serve(2, &[]);
    let node = at(&fabric, 1).options(&format!("{OPTIONS}lookups 1\nretries 15\n")).join();
    let mut other = Connection::open(&node.socket());
    other.send(&acm_tests::request(1, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "nobody")]));
    until("the other's lookup", || node.status().contains(" requests 1 lookups 1").then_some(()));
    check(SYMPTOMS[8], node);
}
