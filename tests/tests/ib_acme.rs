//! Our `ib_acme` beside Debian's: the same arguments to the same daemon give the same bytes and the same exit status.
use acm_tests::{Binary, Fabric, Finished, Kind, Lab, Node, Process, binary, program, run};
use std::{
    fs,
    io::Read,
    os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    thread,
};
use tempfile::TempDir;

/// Both programs, each time in a folder of its own.
struct Both([PathBuf; 2]);

impl Both {
    fn new() -> Self {
        Self([program("ib_acme", "ibacm"), binary(Binary::IbAcme)])
    }

    /// What Debian's and ours say.
    fn run(&self, arguments: &[&str]) -> [Finished; 2] {
        self.0.each_ref().map(|program| {
            let mut command = Command::new(program);
            Process::start(command.arg0("ib_acme").args(arguments)).wait()
        })
    }

    /// What both say.
    fn same(&self, arguments: &[&str]) -> Finished {
        let [theirs, ours] = self.run(arguments);
        assert_eq!(ours, theirs, "{arguments:?}\nours: {ours}\nDebian's: {theirs}");
        ours
    }

    /// The same of words with blanks between them, to a service.
    fn ask(&self, service: &str, words: &str) -> Finished {
        self.same(&[&["-S", service], words.split(' ').collect::<Vec<_>>().as_slice()].concat())
    }

    /// They succeed with this text.
    fn succeeds(&self, service: &str, words: &str, text: &str) {
        let finished = self.ask(service, words);
        assert!(finished.code == Some(0) && finished.stdout.contains(text), "{words}: {finished}");
    }

    /// They fail with this text.
    fn fails(&self, service: &str, words: &str, text: &str) {
        let finished = self.ask(service, words);
        assert!(finished.code == Some(255) && finished.stdout.contains(text), "{words}: {finished}");
    }
}

/// Two nodes; node1 has two ports in two partitions each, and addresses that this machine has routes to.
struct Two {
    fabric: Fabric,
    _nodes: [Node; 2],
    folder: TempDir,
}

impl Two {
    fn start() -> Self {
        let fabric = Fabric::serve(2, &["--ports", "2", "--pkeys", "ffff,8001", "--subnet-timeout", "8"]);
        let loopback = ["127.0.0.1", "::1"].map(|ip| format!("{ip} sim0 1 default\n")).concat();
        let more = "node1b sim0 2 default\nnode1c sim0 1 8001\n";
        let of = |number| {
            let names = ["node", "10.77.0.", "fd00::"].map(|name| format!("{name}{number} sim0 1 default\n")).concat();
            let names = if number == 1 { names + &loopback + more } else { names };
            // Both are to wait for nobody, and neither hears of the other's failure.
            Node::at(&fabric, number).addresses(&names).option("timeout 200").option("negative_timeout 0").join()
        };
        let nodes = [of(1), of(2)];
        let folder = tempfile::tempdir().unwrap();
        for (number, node) in (1..).zip(&nodes) {
            symlink(node.socket(), folder.path().join(format!("node{number}"))).unwrap();
        }
        Self { fabric, _nodes: nodes, folder }
    }

    fn service(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[test]
fn every_mode_and_every_failure() {
    let (both, two) = (Both::new(), Two::start());
    let node1 = two.service("node1");
    paths(&both, &two, &node1);
    what_is_no_address(&both, &node1);
    tables(&both, &two, &node1);
    services(&both, &two);
    // Nobody answers the second question of -v.
    two.fabric.control("set sa_mute on");
    both.fails(&node1, "-f n -s node1 -d node2 -v", "SA verification: failed Connection timed out");
}

fn paths(both: &Both, two: &Two, node1: &str) {
    let dest = two.fabric.port(2);
    let (lid, gid) = (dest.lid, dest.gid);
    both.fails(node1, "-f n -s node1 -d nobody -c", "failed: No data available");
    for words in [
        "-f n -s node1 -d node2",
        "-fname -snode1 -dnode2 -v stray",
        "-f i -s 10.77.0.1 -d 10.77.0.2 -v",
        "-f i -s fd00::1 -d fd00::2",
        "-s 10.77.0.1 -d 10.77.0.2 -c",
        "-f n -s node[1-1] -d node[1-2] -vc",
        "-f n -s node1 -d node2 -C 5",
        "-f n -s node1 -d node2 -C x -V",
        "-f n -s node1c -d node1c",
        "-f n -s node1 -d node2 -e 2",
    ] {
        both.succeeds(node1, words, "dlid: ");
    }
    for words in [
        format!("-f l -d {lid}"),
        format!("-f l -s {} -d {lid}x -v", two.fabric.port(1).lid),
        format!("-f g -d {gid}"),
        format!("-f g -s {} -d {gid} -v", two.fabric.port(1).gid),
    ] {
        both.succeeds(node1, &words, &format!("dlid: {lid}\n"));
    }
    for (words, source) in [
        ("-f i -d 127.0.0.1", "Source: 127.0.0.1\n"),
        ("-d ::1 -v", "Source: ::1\n"),
        ("-d 127.0.0.1 -C 2", "Destination: 127.0.0.1\nPath"),
    ] {
        both.succeeds(node1, words, source);
    }
    both.fails(node1, "-f n -s node[1,8] -d node2 -C 2", "ib_acm_resolve_name failed: Cannot assign");
    both.fails(node1, "-f n -d node2", "ib_acm_resolve_name failed: Invalid argument");
    both.fails(node1, "-f i -s 10.77.0.9 -d 10.77.0.2", "ib_acm_resolve_ip failed: Cannot assign");
    both.fails(node1, "-f l -d 4711", "ib_acm_resolve_path failed: No data available");
    both.fails(node1, "-f l -d 65536", "ib_acm_resolve_path failed: Cannot assign");
    both.fails(node1, "-f g -d fe80::1234", "ib_acm_resolve_path failed: No data available");
    both.fails(node1, "-d no-such-host.invalid", "ib_acm_resolve_path failed: Cannot assign");
    both.fails(node1, "-f n -s node1 -d node2 -C -1", "Destination: node2\nSource: node1\n\n");
    // The last one counts.
    both.succeeds(node1, "-f n -s node1 -d node[9,2]", "timed out");
    both.fails(node1, "-f n -s node1 -d node[2,9]", "ib_acm_resolve_name failed: Connection timed out");
}

fn what_is_no_address(both: &Both, node1: &str) {
    both.fails(node1, "-f i -s node1 -d 10.77.0.2", "inet_pton error on source address (node1): 0x0");
    both.fails(node1, "-f i -s 10.77.0.1 -d node2 -C 2", "inet_pton error on destination address (node2): 0x0");
    both.fails(node1, "-f i -s 10.77.0.1 -d fd00::2", "address families don't match");
    both.fails(node1, "-f g -s x -d fe80::1", "inet_pton error on source address (x): 0x0");
    both.fails(node1, "-f g -d 10.0.0.1", "inet_pton error on dest address (10.0.0.1): 0x0");
    let long = "x".repeat(64);
    both.fails(node1, &format!("-f n -s node1 -d {long}"), "ib_acm_resolve_name failed: No such file");
    both.fails(node1, &format!("-f n -s node[9,{long}] -d node2"), "ib_acm_resolve_name failed: Cannot assign");
    both.fails(node1, &format!("-f n -s node1 -d {}", &long[1..]), "ib_acm_resolve_name failed: Connection timed out");
}

fn tables(both: &Both, two: &Two, node1: &str) {
    for words in ["-P", "-P0", "-P col", "-P COLUMN", "-P x", "-P all", "-Pall", "-P 1", "-P3", "-P -e"] {
        both.succeeds(node1, words, "Resolve Count");
    }
    for words in ["-P s -f n -s node1", "-P s -s 10.77.0.1 -V", "-Ps -f n -s node1b -V", "-P s -f i -s fd00::1"] {
        both.succeeds(node1, words, "svc,Error Count,Resolve Count");
    }
    let refused = "Failed to query perf data: Cannot assign requested address";
    for words in ["-P 9", "-P s -f n -s node9", "-P s -f i -s 10.77.0.9 -V"] {
        both.succeeds(node1, words, refused);
    }
    both.succeeds(node1, "-P s -f i -s node1", "inet_pton error on src address (node1): 0x0");
    both.succeeds(node1, "-P s -f l -s 1", "Unsupported src_type 108");
    both.succeeds(node1, "-P s -f g -s fe80::1", "Unsupported src_type 103");
    both.succeeds(node1, "-P s -s no-such-host.invalid", "Unsupported src_type 108");
    both.succeeds(node1, &format!("-P s -f n -s {}", "x".repeat(64)), "Failed to query perf data");
    for words in ["-e", "-e0", "-e x", "-e 1"] {
        both.succeeds(node1, words, ",1,ibacmp,node1,10.77.0.1,fd00::1,127.0.0.1,::1\n");
    }
    both.succeeds(node1, "-e 3", "");
    both.succeeds(node1, "-e 9", " Endpoint 9 is not available\n");
    both.succeeds(&two.service("node[1-2]"), "-e -P all", "node2,");
    // Debian's has one number for both.
    let [theirs, ours] = both.run(&["-S", node1, "-e", "-P", "2"]);
    let rows = |finished: &Finished| finished.stdout.matches(",ibacmp,").count();
    assert_eq!((rows(&theirs), rows(&ours)), (1, 3), "{ours}");
}

fn services(both: &Both, two: &Two) {
    let all = two.service("node[1-3]");
    let finished = both.ask(&all, "-f n -s node2 -d node2");
    assert_eq!(finished.code, Some(2), "the last one is not there: {finished}");
    let finished = both.ask(&two.service("node[3,2]"), "-f n -s node2 -d node2");
    assert_eq!(finished.code, Some(0), "{finished}");
    for (service, code) in [
        (two.service(&"n".repeat(120)), 36),
        (two.folder.path().display().to_string(), 111),
        ("no-such-host.invalid".into(), 254),
        ("127.0.0.[8-9]".into(), 255),
        ("::1".into(), 255),
    ] {
        for words in ["-P", "-d localhost -V"] {
            let finished = both.ask(&service, words);
            assert_eq!(finished.code, Some(code), "{service} {words}: {finished}");
        }
    }
}

/// What Debian's says about how it is called is rdma-core's text; ours has words of its own.
#[test]
fn a_wrong_command_line_is_refused_alike() {
    let both = Both::new();
    for words in [
        &[][..],
        &["-x"],
        &["-vx"],
        &["-h"],
        &["-d"],
        &["-f"],
        &["-d", "a", "-f", "u"],
        &["-d", "a", "-f", ""],
        &["-s", "a"],
        &["-s", "a", "-e"],
        &["-P", "s"],
        &["-v", "-c", "-V"],
        &["-P", "-5"],
    ] {
        let [theirs, ours] = both.run(words);
        assert_eq!((ours.code, &ours.stderr), (Some(1), &theirs.stderr), "{words:?}: {ours}\nDebian's: {theirs}");
        for text in [theirs.stdout, ours.stdout] {
            assert!(text.starts_with("usage 1: ib_acme") && text.contains("\nusage 2: ib_acme"), "{text}");
        }
    }
    for (word, text) in [("--help", "Usage: ib_acme"), ("--version", "ib_acme ")] {
        let [theirs, ours] = both.run(&[word]);
        assert_eq!((theirs.code, theirs.stderr.as_str()), (Some(1), "ib_acme: invalid option -- '-'\n"));
        assert!(ours.code == Some(0) && ours.stdout.contains(text) && ours.stderr.is_empty(), "{ours}");
    }
}

/// The same of C ibacm, and what is written for it.
#[test]
fn beside_c_ibacm() {
    let (both, lab) = (Both::new(), Lab::new(2, &["--ports", "2"]));
    let nodes = [1, 2].map(|number| lab.start(number, Kind::C, &["retries 0", "timeout 100"]));
    let socket = nodes[0].socket().display().to_string();
    for words in [
        "-f n -s node1 -d node2 -v",
        "-f i -s 10.77.0.1 -d 10.77.0.2",
        "-f n -s node1 -d node2 -c",
        "-f l -d 1 -v",
        "-P",
        "-P col",
        "-P all",
        "-P s -f n -s node1",
        "-P s -f n -s node9",
        "-P 7",
        "-e",
        "-e 7",
        "-f n -s node9 -d node2",
        "-f n -s node1 -d node9",
        "-f n -d node2",
        "-f l -d 4711",
        "-f g -d ::",
    ] {
        both.ask(&socket, words);
    }
}

/// What is written, of one kind, by Debian's and by ours, and that both say the same of it.
fn generated(lab: &Lab, both: &Both, option: &str, file: &str) -> [String; 2] {
    let dir = tempfile::tempdir().unwrap();
    let words = ["-D", dir.path().to_str().unwrap(), option, "-V"];
    let [(theirs, their_text), (ours, our_text)] = both.0.each_ref().map(|program| {
        let said = lab.run(1, program, &words);
        (said, fs::read_to_string(dir.path().join(file)).unwrap())
    });
    assert_eq!((ours.code, &ours), (Some(0), &theirs));
    [their_text, our_text]
}

#[test]
fn generated_files_mean_the_same() {
    let (both, lab) = (Both::new(), Lab::new(1, &["--ports", "2"]));
    let addresses = generated(&lab, &both, "-A", "ibacm_addr.cfg");
    let lines = addresses.each_ref().map(|text| {
        let read = acm_wire::files::addr::parse(text.as_bytes());
        read.map(|line| format!("{:?}", line.unwrap().1)).collect::<Vec<_>>()
    });
    assert!(lines[0] == lines[1] && lines[0].len() == 3, "{lines:?}");

    let options = generated(&lab, &both, "-O", "ibacm_opts.cfg");
    // This machine's log is not for a test.
    let is_log = |line: &&str| line.starts_with("log_file ") || line.starts_with("log_level ");
    let options = options.map(|text| text.lines().filter(|line| !is_log(line)).collect::<Vec<_>>().join("\n"));
    let started = |text: &str, addresses: &str| {
        lab.write(1, "ibacm_addr.cfg", addresses);
        let mut node = lab.start(1, Kind::C, &[text]);
        let endpoints = node.acme(&["-e"]).endpoints();
        node.process.signal(nix::sys::signal::Signal::SIGTERM);
        node.process.wait();
        let of_options = |line: &str| Some(line.split_once("_log_options: ")?.1.to_owned());
        (node.log().lines().filter_map(of_options).collect::<Vec<_>>(), endpoints)
    };
    let theirs = started(&options[0], &addresses[0]);
    assert!(theirs.0.len() > 20 && !theirs.1.is_empty(), "{theirs:?}");
    assert_eq!(started(&options[1], &addresses[1]), theirs);
}

#[test]
fn what_cannot_be_generated() {
    let (both, dir) = (Both::new(), tempfile::tempdir().unwrap());
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (dir, file) = (dir.path().to_str().unwrap(), file.to_str().unwrap());
    for words in [
        &["-D", "/proc/none", "-O"][..],
        &["-D", "/proc/none", "-A", "-V"],
        &["-D", file, "-O"],
        &["-D", dir, "-O", "/proc/none/x", "-V"],
        &["-D", dir, "-A", "none/x", "-O"],
        &["-S", "/none", "-P", "-O", "-D", dir],
    ] {
        assert_ne!(both.same(words).code, Some(0), "{words:?}");
    }
    assert!(!Path::new(dir).join("ibacm_opts.cfg").exists());
    for words in [["-D", dir, "-O", "-V"], ["-D", dir, "-Oname", "-V"], ["-D", dir, "-O", file]] {
        assert_eq!(both.same(&words).code, Some(0), "{words:?}");
    }
}

/// By TCP, where the port file says the port; and what Debian's does not reach.
#[test]
fn a_daemon_that_serves_tcp() {
    let node = Node::embedded().option("server_mode loop\nserver_port 7351").own_namespace().join();
    let both = Both::new();
    let inside = |words: &str| {
        let script = format!("exec \"$0\" -f n -s node1 -d node1 {words}");
        both.0
            .each_ref()
            .map(|program| node.run_inside(Path::new("/bin/sh"), &["-c", &script, program.to_str().unwrap()]))
    };
    for (words, code) in [("-S 127.0.0.1", 0), ("-S 127.0.0.2", 255), ("", 2)] {
        let [theirs, ours] = inside(words);
        assert_eq!((ours.code, &ours), (Some(code), &theirs), "{words}");
    }
    fs::write(node.dir().join("ibacm-tcp.port"), "none\n").unwrap();
    let [theirs, ours] = inside("-S 127.0.0.1");
    assert_eq!((ours.code, &ours), (Some(255), &theirs));
    assert!(ours.stdout.starts_with("Failed to read server port\n"), "{ours}");

    fs::write(node.dir().join("ibacm-tcp.port"), "7351\n").unwrap();
    fs::write(node.dir().join("hosts"), "::1 two\n127.0.0.1 two\n").unwrap();
    let mounted = node.run_inside(Path::new("/bin/mount"), &["--bind", "/run/hosts", "/etc/hosts"]);
    assert_eq!(mounted.code, Some(0), "{mounted}");
    let [theirs, ours] = inside("-S two");
    assert_eq!((theirs.code, ours.code), (Some(255), Some(0)), "{theirs}{ours}");
}

/// A daemon that ends while it is asked: Debian's takes it for an answer.
#[test]
fn a_daemon_that_closes_the_connection() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let closing = thread::spawn(move || {
        for _ in 0..3 {
            let (mut client, _) = listener.accept().unwrap();
            // What is asked is read, so that the end is an end and no reset.
            let _ = client.read(&mut [0; 200]).unwrap();
        }
    });
    let ask = |words: &[&str]| run(binary(Binary::IbAcme), &[&["-S", socket.to_str().unwrap()], words].concat());
    let lost = "Connection reset by peer";
    let path = ask(&["-f", "l", "-d", "1", "-v"]);
    assert!(path.code == Some(255) && path.stdout.contains(&format!("ib_acm_resolve_path failed: {lost}")), "{path}");
    let counters = ask(&["-P"]);
    assert!(counters.stdout.contains(&format!("Failed to query perf data: {lost}")), "{counters}");
    let endpoints = ask(&["-e", "1"]);
    assert!(endpoints.stdout.contains(" Endpoint 1 is not available"), "{endpoints}");
    closing.join().unwrap();
}

/// Debian's crashes, or asks for what nobody named.
#[test]
fn lists_without_a_name_in_them() {
    let node = Node::embedded().join();
    let socket = node.socket().display().to_string();
    for (words, what) in [
        (["-d", "", "-S", &socket], "destination argument"),
        (["-d", "node[3-1]", "-S", &socket], "destination argument"),
        (["-d", "node[,]", "-S", &socket], "destination argument"),
        (["-d", "node1", "-S", ""], "service list argument"),
        (["-s", "", "-dnode1", &format!("-S{socket}")], "source argument"),
    ] {
        let finished = run(binary(Binary::IbAcme), &words);
        assert!(finished.code == Some(255), "{words:?}: {finished}");
        assert!(finished.stdout.starts_with(&format!("Unable to parse {what}\n")), "{words:?}: {finished}");
    }
    // No endpoint has a number that a request has no room for; the lowest byte of this one is 1.
    let ours = |words: &[&str]| run(binary(Binary::IbAcme), &[&["-S", &socket], words].concat()).success();
    assert!(ours(&["-e", "257"]).starts_with(" Endpoint 257 is not available\n"));
    assert!(ours(&["-P", "257"]).contains("Failed to query perf data: Cannot assign requested address\n"));
}

/// Where Debian's leaves less, or in another place.
#[test]
fn generated_files_are_where_they_should_be() {
    let (dir, acme) = (tempfile::tempdir().unwrap(), binary(Binary::IbAcme));
    let file = dir.path().join("ibacm_addr.cfg");
    fs::write(&file, "login1 mlx5_0 1 default\n").unwrap();
    let none = Node::alone().without_devices().serve();
    let finished = none.run_inside(&acme, &["-A", "-D", dir.path().to_str().unwrap()]);
    let said = "ibv_get_device_list - no devices present?\nreturn status 0xffffffff\n";
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(255), said));
    assert_eq!(fs::read_to_string(&file).unwrap(), "login1 mlx5_0 1 default\n", "it stays as it was");
    none.process.signal(nix::sys::signal::Signal::SIGTERM);

    let lab = Lab::new(1, &["--ports", "2"]);
    lab.fabric.control("ethernet node1 2");
    let script = format!("cd {} && umask 022 && exec {} -D sub -A -O", dir.path().display(), acme.display());
    let finished = lab.run(1, Path::new("/bin/sh"), &["-c", &script]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""));
    let sub = dir.path().join("sub");
    assert_eq!(fs::metadata(&sub).unwrap().permissions().mode() & 0o777, 0o755, "one may go there");
    assert!(sub.join("ibacm_opts.cfg").exists(), "beside the other one");
    let text = fs::read_to_string(sub.join("ibacm_addr.cfg")).unwrap();
    assert!(text.contains(" ibsim0 1 default") && !text.contains(" ibsim0 2 default"), "no Ethernet port: {text}");
}

/// What ours has besides, asked of the same fabric.
#[test]
fn options_of_our_own() {
    let two = Two::start();
    let node1 = two.service("node1");
    let ours = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        run(binary(Binary::IbAcme), &[&["-S", node1.as_str()], words.as_slice()].concat())
    };
    let said = |words: &str, code: i32, texts: &[&str]| {
        let finished = ours(words);
        assert_eq!(finished.code, Some(code), "{words}: {finished}");
        texts.iter().for_each(|text| assert!(finished.stdout.contains(text), "{words}: no {text:?}: {finished}"));
    };
    let (lid, gid) = (two.fabric.port(2).lid, two.fabric.port(2).gid);

    let json =
        ["\"dlid\": ", "\"destination\": \"node2\"", "\"verified\": true", "\"pkey\": \"0xffff\"", &gid.to_string()];
    said("--json -f n -s node1 -d node2 -v", 0, &json);
    said("--json -e -P", 0, &["\"resolve_count\": ", "\"node1b\"", "\"provider\": \"ibacmp\""]);
    said("--json -P 9", 255, &["\"counters\": []"]);
    said("--json -f n -s node9 -d node2", 255, &["\"error\": \"Cannot assign requested address\""]);

    // What is wanted is part of the question.
    said("-f n -s node1 -d node2 --sl 3", 0, &["  sl: 3\n"]);
    said(&format!("-f l -d {lid} --sl 2 --qos-class 7"), 0, &["  sl: 2\n"]);
    said(&format!("-f g -d {gid} --pkey 0x8001"), 0, &["  pkey: 0x8001\n"]);
    said(&format!("-f g -d {gid} --service-id lustre"), 0, &["dlid"]);
    for words in
        ["--sl 3", "-d a --sl 16", "-d a --service-id x", "-d a --qos-class 4096", "--json", "-d a --diff --json"]
    {
        assert_eq!(ours(words).code, Some(1), "{words}");
    }

    said("--diff -f n -s node1 -d node[1,2]", 0, &["ok   node1 to node1: as", "ok   node1 to node2: as"]);
    two.fabric.control("set pr_sl 5");
    said("--diff -f n -s node1 -d node2", 1, &["FAIL node1 to node2", "     sl: daemon 0, subnet administration 5\n"]);
    said("--trace node2 -f n", 1, &["note subnet administration has", "     sl: daemon 0"]);
    two.fabric.control("set pr_sl 0");
    said("--diff -f n -s node1 -d node9", 255, &["FAIL node1 to node9: no path: Connection timed out"]);

    said("--trace node2 -f n", 0, &["ok   a daemon answers", "ok   it serves node1 ", "as the daemon knew already"]);
    said(
        "--trace node9 -f n",
        1,
        &["FAIL no path to node9", "the multicast group was asked", "there: does a daemon run"],
    );
    said("--trace node2 -f n -s node9", 1, &["FAIL node9 is not among them"]);
    said("--trace 4711 -f l", 1, &["subnet administration was asked", "it has no such path"]);
    let nowhere = run(binary(Binary::IbAcme), &["--trace", "node2", "-S", "/none"]);
    assert!(nowhere.code == Some(1) && nowhere.stdout.contains("FAIL no daemon answers at /none"), "{nowhere}");

    let bash = run(binary(Binary::IbAcme), &["--completions", "bash"]).success();
    assert!(bash.contains("--service-id") && bash.contains("complete "), "{bash}");

    // A path that changes is shown anew.
    let mut command = Command::new(binary(Binary::IbAcme));
    let mut watch = Process::start(command.args(["-S", &node1, "-f", "l", "-d", &lid.to_string(), "-v", "--watch"]));
    watch.wait_for("SA verification: success", 1);
    two.fabric.control("set sa_mute on");
    watch.wait_for("SA verification: failed", 1);
}
