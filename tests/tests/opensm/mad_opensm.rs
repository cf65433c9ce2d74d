//! smpquery and saquery on a simulated fabric under OpenSM: the frames that they send and receive, dissected by ib-mad,
//! compared with their output. Needs the Debian packages ibsim-utils, libumad2sim0, opensm and infiniband-diags, but
//! neither root nor a network.
//!
//! With `-ddd` the tools print each frame of the umad library in hexadecimal. smpquery prints sent frames with the
//! header of 64 bytes. Both tools print received frames without it. The simulator's sockets have unique names, so that
//! several simulators may run.
#[path = "../../../crates/ib-mad/tests/formats/text.rs"]
mod text;

use acm_tests::{library, program, until};
use ib_mad::{
    MadRef, Method,
    umad::{Frame, Layout},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

const FABRIC: &str = r#"Switch 4 "sw1"
[1] "h1"[1]
[2] "h2"[1]
[3] "sw2"[1]

Switch 8 "sw2"
[1] "sw1"[3]
[2] "h3"[2]

Hca 1 "h1"
[1] "sw1"[1]

Hca 1 "h2"
[1] "sw1"[2]

Hca 2 "h3"
[2] "sw2"[2]
"#;

struct Fabric {
    children: Vec<Child>,
    socket: String,
    directory: PathBuf,
}

impl Drop for Fabric {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn umad2sim() -> PathBuf {
    library("umad2sim/libumad2sim.so", "libumad2sim0")
}

impl Fabric {
    fn start(name: &str) -> Self {
        let socket = format!("ib-mad-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(&socket);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("net"), FABRIC).unwrap();
        let mut fabric = Self { children: Vec::new(), socket, directory };
        let mut simulator = Command::new(program("ibsim", "ibsim-utils"));
        // The simulator reads commands from an open pipe and waits.
        simulator.arg("-s").arg("-n").arg(fabric.directory.join("net")).stdin(Stdio::piped());
        fabric.spawn(simulator);
        // The last socket of the simulator.
        let last = format!("@{}:out9", fabric.socket);
        until("ibsim listens", || fs::read_to_string("/proc/net/unix").unwrap().contains(&last).then_some(()));
        let mut manager = fabric.on_fabric("h1", Command::new(program("opensm", "opensm")));
        manager.env("LD_PRELOAD", umad2sim()).arg("-e").arg("-f").arg(fabric.directory.join("log"));
        fabric.spawn(manager);
        until("OpenSM responds to path queries", || {
            let output = fabric.tool("saquery").arg("PR").output().unwrap();
            (String::from_utf8_lossy(&output.stdout).matches("PathRecord dump:").count() >= 2).then_some(())
        });
        fabric
    }

    fn tool(&self, name: &str) -> Command {
        self.at_h2(&umad2sim().display().to_string(), &program(name, "infiniband-diags"))
    }

    /// Returns a command with libraries before those that it names. It has a time limit of one minute, because the
    /// tools wait without end for a missing fabric.
    fn at_h2(&self, libraries: &str, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["60", "env"]).arg(format!("LD_PRELOAD={libraries}")).arg(program);
        self.on_fabric("h2", command)
    }

    fn on_fabric(&self, host: &str, mut command: Command) -> Command {
        command
            .env("SIM_HOST", host)
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("OSM_TMP_DIR", &self.directory)
            .env("OSM_CACHE_DIR", &self.directory);
        command
    }

    fn spawn(&mut self, mut command: Command) {
        command.env("IBSIM_SOCKNAME", &self.socket).current_dir(&self.directory);
        self.children.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    }

    fn run(&self, name: &str, arguments: &[&str]) -> Output {
        let output = self.tool(name).arg("-ddd").args(arguments).output().unwrap();
        assert!(output.status.success(), "{name} {arguments:?}: {output:?}");
        output
    }
}

/// Returns the bytes of each hex dump with this title.
fn dumps(text: &str, title: &str) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let hex = !words.is_empty()
            && words.iter().all(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if line == title {
            all.push(Vec::new());
            open = true;
        } else if open && hex {
            let bytes = words.iter().flat_map(|word| u16::from_str_radix(word, 16).unwrap().to_be_bytes());
            all.last_mut().unwrap().extend(bytes);
        } else {
            open = false;
        }
    }
    all
}

#[test]
fn output_of_smpquery_and_saquery_equals_the_dissection() {
    let fabric = Fabric::start("query");
    for (what, route, title, least) in [
        ("portinfo", &["1", "1"][..], "Port info", 45),
        ("portinfo", &["2", "1"], "Port info", 45),
        ("nodeinfo", &["1"], "Node info", 12),
        ("switchinfo", &["-D", "0,1"], "Switch info", 18),
        ("portinfo", &["-D", "0,1", "2"], "Port info", 45),
    ] {
        let arguments: Vec<&str> = match route {
            ["-D", rest @ ..] => ["-D", what].iter().chain(rest).copied().collect(),
            _ => [what].iter().chain(route).copied().collect(),
        };
        let output = fabric.run("smpquery", &arguments);
        let (printed, dumped) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let structure = text::smpquery_structure(title).unwrap();
        let sent = dumps(&dumped, "send buf");
        let sent = Frame::parse(sent.last().expect("smpquery prints sent frames"), Layout::WithPkeyIndex).unwrap();
        let attribute = sent.view().unwrap().attribute().unwrap();
        assert_eq!(attribute.structure().map(|found| found.name), Some(structure.name));
        if let [lid, ..] = route
            && *lid != "-D"
        {
            assert_eq!(sent.header.lid, lid.parse().unwrap());
        }
        let frames = dumps(&dumped, "rcv buf");
        // ibsim-umad leaves bytes 224 to 255 undefined; attributes end before them.
        let response = frames.iter().rev().find_map(|bytes| {
            let mad = MadRef::new(bytes).unwrap();
            let attribute = mad.attribute().ok()?;
            let matches = mad.method() == Method::GET_RESP && attribute.structure()?.name == structure.name;
            matches.then(|| attribute.as_bytes().to_vec())
        });
        let response = response.unwrap_or_else(|| panic!("no response in {} frames: {dumped}", frames.len()));
        let compared = text::compare_smpquery(structure, &response, &printed);
        assert!(compared >= least, "{arguments:?}: {compared} fields");
    }

    let output = fabric.run("saquery", &["PR"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = dumps(&printed, "SA Response:").pop().expect("saquery prints its response");
    let mad = MadRef::new(&message).unwrap();
    assert_eq!(mad.method(), Method::GET_TABLE_RESP);
    let first: Vec<&str> = printed.split("PathRecord dump:").collect();
    // The simulator's library has no RMPP, so the message has one datagram and lacks the later records.
    let whole = mad.data().len() / 64;
    let kept = first.iter().take(whole + 1).copied().collect::<Vec<_>>().join("PathRecord dump:");
    let records = mad.records().unwrap().take(whole);
    assert!(text::compare_paths(records, &kept) >= 2);
}

/// The first three lines of ibnetdiscover have the time.
#[test]
fn fabric_of_the_book_equals_ibnetdiscover() {
    let fabric = Fabric::start("fabric");
    let shim = fabric.directory.join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/umad2sim_shim.c");
    let compiled = Command::new(program("cc", "gcc")).args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(source).output();
    assert!(compiled.as_ref().is_ok_and(|compiled| compiled.status.success()), "{compiled:?}");
    let theirs = fabric.tool("ibnetdiscover").output().unwrap();
    let libraries = format!("{}:{}", shim.display(), umad2sim().display());
    let ours = fabric.at_h2(&libraries, Path::new(env!("CARGO_BIN_EXE_book-fabric"))).output().unwrap();
    assert!(theirs.status.success() && ours.status.success(), "{theirs:?} {ours:?}");
    let theirs = String::from_utf8(theirs.stdout).unwrap();
    let expected: Vec<&str> = theirs.lines().skip(3).collect();
    assert_eq!(expected.iter().filter(|line| line.starts_with('[')).count(), 8, "{theirs}");
    assert_eq!(String::from_utf8(ours.stdout).unwrap().lines().collect::<Vec<_>>(), expected);
}
