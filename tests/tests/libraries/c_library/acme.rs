//! A C program that does what `ib_acme` does with the library, compared with Debian's `ib_acme`.
use super::installed::{quiet, shared, start, watch};
use acm_client::{Client, Counter, PerfTarget, Service};
use acm_tests::{Fabric, Finished, Kind, Lab, Node, program, run};
use std::path::Path;

/// Runs Debian's `ib_acme` with equivalent arguments.
fn debians(socket: &str, words: &[&str]) -> Finished {
    let options = match words {
        ["path", format, "-", dest] => vec!["-f", *format, "-d", *dest],
        ["path", format, source, dest] => vec!["-f", *format, "-s", *source, "-d", *dest],
        ["path", format, source, dest, _] => vec!["-f", *format, "-s", *source, "-d", *dest, "-v"],
        ["perf", index] => vec!["-P", *index],
        ["perf-of", format, address] => vec!["-P", "s", "-f", *format, "-s", *address],
        ["ep", index] => vec!["-e", *index],
        other => panic!("{other:?}"),
    };
    run(program("ib_acme", "ibacm"), &[&["-S", socket], options.as_slice()].concat())
}

fn assert_same(acme: &Path, socket: &str, commands: &[&str]) {
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let theirs = debians(socket, &words);
        let ours = start(acme, &[&[socket], words.as_slice()].concat()).wait();
        assert_eq!((ours.stdout.as_str(), ours.code), (theirs.stdout.as_str(), theirs.code), "{command}");
    }
}

#[test]
fn output_equals_debians_ib_acme() {
    let fabric = Fabric::serve(2, &["--subnet-timeout", "8"]);
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).option("timeout 200").join());
    let socket = nodes[0].socket().display().to_string();
    let (lid, gid) = (fabric.port(2).lid, fabric.port(2).gid);
    let acme = shared("acme");
    let (by_lid, by_gid) = (format!("path l - {lid}"), format!("path g {} {gid} verify", fabric.port(1).gid));
    let commands = [
        "path n node1 node2",
        "path n node1 node2 verify",
        "path i 10.77.0.1 10.77.0.2",
        "path i fd00::1 fd00::2",
        "path n node9 node2",
        "path n - node2",
        "path l - 4711",
        &by_lid,
        &by_gid,
        "perf 0",
        "perf 1",
        "perf 9",
        "perf-of n node1",
        "perf-of i 10.77.0.1",
        "perf-of i fd00::1",
        "perf-of n node9",
        "ep 1",
        "ep 9",
    ];
    assert_same(&acme, &socket, &commands);
    let output = watch(&acme, &[&socket, "path", "n", "node1", "node2", "verify"]);
    assert!(output.contains("SA verification: success\n"), "{output}");
}

/// The second lookup is not a request: the library reads the path from the daemon's memory.
#[test]
fn library_reads_the_shared_cache() {
    let fabric = Fabric::serve(2, &[]);
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).option("shared_cache on").join());
    let socket = nodes[0].socket().display().to_string();
    let mut client = Client::connect(Service::Unix(nodes[0].socket())).unwrap();
    let mut requests = || client.counters(PerfTarget::Total).unwrap().get(Counter::Resolve);
    let acme = shared("acme");
    let once = watch(&acme, &[&socket, "path", "n", "node1", "node2"]);
    let before = requests();
    let twice = watch(&acme, &[&socket, "twice", "n", "node1", "node2"]);
    assert_eq!(requests() - before, 1);
    let path = once.split_once("return status").unwrap().0;
    assert_eq!(twice, path.repeat(2) + "return status 0x0\n");
}

/// The library is compatible with C ibacm, too.
#[test]
fn output_equals_debians_ib_acme_with_c_ibacm() {
    let lab = Lab::new(2, &[]);
    let nodes = [1, 2].map(|number| lab.start(number, Kind::C, &["retries 0", "timeout 2000"]));
    let socket = nodes[0].socket().display().to_string();
    let acme = shared("acme");
    let commands = [
        "path n node1 node2 verify",
        "path i 10.77.0.1 10.77.0.2",
        "path n node9 node2",
        "path l - 4711",
        "perf 0",
        "perf-of n node1",
        "perf 7",
        "ep 1",
        "ep 7",
    ];
    assert_same(&acme, &socket, &commands);
    let interfaces = shared("interfaces");
    for mode in ["blocking", "asynchronous"] {
        quiet(start(&interfaces, &[mode, &socket]).wait());
    }
}
