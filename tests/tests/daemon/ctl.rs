//! All commands of `acmctl` with `--json`: their objects and exit codes with a daemon, without one, with one that hangs,
//! and with one of a previous version.
use acm_tests::{Binary, Fabric, Finished, Node, NodeBuilder, Process, binary, program, run};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    process::Command,
    thread,
};

/// The command line of each command, in an order that works, and a member of its object. `DIR` is the run directory.
const COMMANDS: [(&str, &str); 19] = [
    ("wait-ready --timeout 0s", "ready"),
    ("status", "verdict"),
    ("status --all --delta 0s", "delta"),
    ("check", "findings"),
    ("config", "options"),
    ("explain node1", "entries"),
    ("cache list", "entries"),
    ("cache flush node2", "flushed"),
    ("reload", "remarks"),
    ("log-level 2 --for 1h --dest node2", "temporary"),
    ("log-level", "temporary"),
    ("log-level default", "temporary"),
    ("record start DIR/trace.pcapng", "done"),
    ("record status", "recording"),
    ("record stop", "done"),
    ("bundle DIR/bundle.tgz --time 1s", "missing"),
    ("fleet DIR/node1.json", "differences"),
    ("metrics", "metrics"),
    ("metrics DIR/numbers.prom", "file"),
];

/// True for a command that needs no daemon.
fn is_local(words: &str) -> bool {
    ["check", "fleet"].contains(&words.split(' ').next().unwrap())
}

/// Starts a command with `--json`. `check` gets the files and arguments of the daemon.
fn start(builder: &NodeBuilder, dir: &Path, words: &str) -> Process {
    if words == "check" {
        return Process::start(&mut builder.clone().argument("--json").check_command(dir));
    }
    let path = dir.to_str().unwrap();
    // Other commands run meanwhile: one writes it, and reads it.
    if words.contains("DIR/node1.json") {
        fs::write(dir.join("node1.json"), r#"{"verdict":"ok","version":"1","ports":[]}"#).unwrap();
    }
    let words = words.replace("DIR", path);
    let mut command = Command::new(binary(Binary::AcmCtl));
    Process::start(command.args(["--run-dir", path, "--json"]).args(words.split(' ')))
}

/// Returns the one object on standard output; `None` if there is nothing.
fn object(words: &str, finished: &Finished) -> Option<Value> {
    if finished.stdout.is_empty() {
        return None;
    }
    let object: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{words}: {error}"));
    assert_eq!(object["schema"], 1, "{words}: {finished}");
    Some(object)
}

/// Checks the exit code of a command, and its object, which is there if the exit code is that of a result.
fn expect(words: &str, member: &str, finished: &Finished, code: i32) {
    assert_eq!(finished.code, Some(code), "{words}: {finished}");
    let object = object(words, finished);
    let member = object.as_ref().and_then(|object| object.get(member));
    assert_eq!(member.is_some(), [0, 4].contains(&code), "{words}: {finished}");
}

#[test]
fn list_of_this_test_has_each_command_of_the_manual() {
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../dist/acmctl.8")).unwrap();
    let titles = manual.lines().filter_map(|line| line.strip_prefix(".SH COMMAND "));
    let titles: BTreeSet<String> = titles.map(|title| title.replace('\\', "").to_lowercase()).collect();
    let is_tested = |title: &String| COMMANDS.iter().any(|(words, _)| words.starts_with(title.as_str()));
    let missing: Vec<&String> = titles.iter().filter(|title| !is_tested(title)).collect();
    assert!(titles.len() > 10 && missing.is_empty(), "{missing:?}");
}

#[test]
fn each_command_prints_its_object_with_a_daemon() {
    let fabric = Fabric::serve(2, &[]);
    let builder = Node::at(&fabric, 1);
    let node = builder.clone().join();
    for (words, member) in COMMANDS {
        expect(words, member, &start(&builder, node.dir(), words).wait(), 0);
    }
}

#[test]
fn each_command_reports_that_no_daemon_answers() {
    let fabric = Fabric::serve(2, &[]);
    let builder = Node::at(&fabric, 1);
    let folder = tempfile::tempdir().unwrap();
    let started = COMMANDS.map(|(words, member)| (words, member, start(&builder, folder.path(), words)));
    for (words, member, mut process) in started {
        let finished = process.wait();
        expect(words, member, &finished, if is_local(words) { 0 } else { 3 });
        assert!(is_local(words) || finished.stderr.contains("acmctl: no daemon answers: "), "{words}: {finished}");
    }
}

/// All commands wait for their limits at the same time.
#[test]
fn each_command_ends_beside_a_daemon_that_hangs() {
    let fabric = Fabric::serve(2, &[]);
    let builder = Node::at(&fabric, 1);
    let node = builder.clone().join();
    node.process.stop();
    let started = COMMANDS.map(|(words, member)| (words, member, start(&builder, node.dir(), words)));
    for (words, member, mut process) in started {
        let finished = process.wait();
        expect(words, member, &finished, if is_local(words) { 0 } else { 3 });
        assert!(is_local(words) || finished.stderr.contains("the daemon hangs, or is busy"), "{words}: {finished}");
    }
}

/// Responses of acm-mio before commands had been added to it, by method and path.
const PREVIOUS: [(&str, &str); 10] = [
    ("GET /status", "acm-mio 0.0.9\n"),
    (
        "GET /status.json",
        r#"{"kind":"gauge","labels":{"version":"0.0.9"},"name":"build","value":1}
{"kind":"gauge","labels":{"pkey":"0xffff","port":"sim0/1"},"name":"groups_joined","value":1}
{"kind":"gauge","labels":{"pkey":"0xffff","port":"sim0/1"},"name":"groups_wanted","value":1}
{"kind":"gauge","labels":{"port":"sim0/1"},"name":"port_active","value":1}
{"count":0,"kind":"histogram","labels":{"phase":"sa_round_trip"},"name":"phase_seconds","sum":0.0}
"#,
    ),
    (
        "GET /config",
        r#"{"option_file":"/o","address_file":"/a","options":[{"name":"timeout","value":"2000","origin":"default",
"line":null,"after_restart":null,"unused":null}],"remarks":[]}"#,
    ),
    (
        "GET /cache",
        r#"{"entries":[{"id":"0.0","endpoint":"sim0/1 pkey 0xffff","dest":"node1","state":"ready","cause":"user",
"gid":"fe80::1","address_source":"group","address_expires_in":60.0,"path":{"source":"sa","found_ago":1.5,
"confirmed_ago":0.5,"expires_in":null,"stale":false,"uses":3,"last_user":"user 0","last_used_ago":0.5,
"summary":"LID 1 to LID 2","record":{}},"failure":null}],"next":null,"host":null}"#,
    ),
    ("DELETE /cache", r#"{"flushed":0,"next":null}"#),
    ("POST /reload", r#"{"number":1}"#),
    ("GET /reload", r#"{"complete":[]}"#),
    ("POST /recording", "\"recording\""),
    ("DELETE /recording", "\"the recording has ended\""),
    ("GET /recording", r#"{"file":"/t","files":1,"bytes":1172,"ends_in":89}"#),
];

/// Responds to one request as the previous version; with 404 to a request that it did not have.
fn respond(stream: UnixStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    let request = lines.next().unwrap();
    assert!(lines.any(|line| line.is_empty()));
    let target = request.split(['?', ' ']).take(2).collect::<Vec<_>>().join(" ");
    let known = PREVIOUS.into_iter().find(|(known, _)| *known == target).map(|(_, body)| body);
    let body = if target == "GET /metrics" { Some("# HELP acm_a a\n# EOF\n") } else { known };
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    // The client may have ended: it tells what it misses.
    let _ = write!(&stream, "HTTP/1.1 {status}\r\n\r\n{}", body.unwrap_or("GET /metrics\n"));
}

/// A member that a later version adds to a response is optional for the commands. A command whose request is new fails.
#[test]
fn each_command_works_with_the_previous_daemon() {
    let fabric = Fabric::serve(2, &[]);
    let builder = Node::at(&fabric, 1);
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join("acm-mio.status")).unwrap();
    thread::spawn(move || listener.incoming().for_each(|stream| respond(stream.unwrap())));
    for (words, member) in COMMANDS {
        let finished = start(&builder, folder.path(), words).wait();
        let is_new = words.starts_with("log-level");
        expect(words, member, &finished, i32::from(is_new));
        assert_eq!(finished.stderr.contains(": the daemon is of a previous version, "), is_new, "{words}: {finished}");
    }
}

/// Returns the text of a file of an archive.
fn text_in(archive: &Path, name: &str) -> String {
    let words = ["--extract", "--gzip", "--to-stdout", "--file", archive.to_str().unwrap(), name];
    run(program("tar", "tar"), &words).success()
}

#[test]
fn bundle_has_all_parts_without_names_and_addresses() {
    let fabric = Fabric::serve(2, &[]);
    let builder = Node::at(&fabric, 1).option("log_file DIR/log");
    let node = builder.clone().serve();
    let _peer = Node::at(&fabric, 2).join();
    let _ = node.ctl(&["wait-ready"]).success();
    let _ = node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    let finished = start(&builder, node.dir(), "bundle DIR/bundle.tgz --time 1s").wait();
    assert_eq!(object("bundle", &finished).unwrap()["missing"], serde_json::json!([]), "{finished}");
    let archive = node.dir().join("bundle.tgz");
    let of = |name: &str| text_in(&archive, &format!("./{name}"));
    let texts = ["cache.json", "ibacm_addr.cfg", "log.txt", "status.txt", "config.json", "ibacm_opts.cfg"].map(of);
    for (number, text) in texts.iter().enumerate() {
        assert!(
            !text.is_empty() && !["node1", "node2", "10.77.0.1"].iter().any(|name| text.contains(name)),
            "{number}: {text}"
        );
    }
    let [cache, addresses, log, ..] = &texts;
    let first = addresses.split(' ').next().unwrap();
    assert!(
        cache.contains(&format!("\"dest\":\"{first}\"")) && log.contains(&format!("dest=\"{first}\"")),
        "one word for a name"
    );
    let listed = run(program("tar", "tar"), &["--list", "--gzip", "--file", archive.to_str().unwrap()]).success();
    assert!(listed.contains("./recording.pcapng"), "{listed}");
    assert!(!node.dir().join("acm-mio-bundle.pcapng").exists());
    let again = start(&builder, node.dir(), "bundle DIR/bundle.tgz --time 1s").wait();
    assert!(again.code == Some(1) && again.stderr.contains("File exists"), "{again}");
}

#[test]
fn outputs_of_two_nodes_are_compared() {
    let fabric = Fabric::serve(2, &[]);
    let dir = tempfile::tempdir().unwrap();
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).join());
    let _ = nodes[0].acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    let outputs = nodes.each_ref().map(|node| {
        let words = [&["status", "--json"][..], &["config", "--json"], &["cache", "list", "--json"]];
        words.map(|words| node.ctl(words).success()).concat()
    });
    let files = ["node1.json", "node2.json"].map(|name| dir.path().join(name));
    let compared = |outputs: &[String; 2]| {
        files.iter().zip(outputs).for_each(|(file, output)| fs::write(file, output).unwrap());
        run(binary(Binary::AcmCtl), &["fleet", files[0].to_str().unwrap(), files[1].to_str().unwrap()])
    };
    let equal = compared(&outputs);
    // Each daemon has a lock file of its own.
    let lines: Vec<&str> = equal.stdout.lines().filter(|line| !line.contains("_file ")).collect();
    assert!(lines.len() == 1 && equal.stderr.contains("2 nodes with "), "{equal}");
    let lid = format!("\"dlid\":{}", fabric.port(2).lid);
    let wrong = compared(&[outputs[0].replace(&lid, "\"dlid\":99"), outputs[1].clone()]);
    let line = wrong.stdout.lines().find(|line| line.contains(" path ")).unwrap_or_else(|| panic!("{wrong}"));
    assert!(
        wrong.code == Some(1) && line.starts_with("node1 ") && line.contains("LID:99") && line.ends_with("yes"),
        "{wrong}"
    );
}
