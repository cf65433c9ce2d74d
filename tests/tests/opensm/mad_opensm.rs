//! smpquery and saquery on a simulated fabric under OpenSM: the frames that they send and receive, dissected by us,
//! against what they print. Needs the Debian packages ibsim-utils, libumad2sim0, opensm and
//! infiniband-diags, but neither root nor a network.
//!
//! With `-ddd` the tools write each frame in hex as the umad library handed it over: smpquery what it sends with the
//! header of 64 bytes, and what comes without it, as saquery does. The simulator's sockets have names of their own, so
//! that several may run.
#[path = "../../../crates/ib-mad/tests/formats/text.rs"]
mod text;

use acm_tests::{library, program};
use core::time::Duration;
use ib_mad::{
    MadRef, Method,
    umad::{Frame, Layout},
};
use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    thread,
};

const FABRIC: &str =
    "Switch 4 \"sw1\"\n[1] \"h1\"[1]\n[2] \"h2\"[1]\n\nHca 1 \"h1\"\n[1] \"sw1\"[1]\n\nHca 1 \"h2\"\n[1] \"sw1\"[2]\n";

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

/// Looks until it is so, a minute at most.
fn wait_for(what: &str, mut look: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if look() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("in vain: {what}");
}

impl Fabric {
    fn start() -> Self {
        let socket = format!("ib-mad-{}", std::process::id());
        let directory = std::env::temp_dir().join(&socket);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("net"), FABRIC).unwrap();
        let mut own = Self { children: Vec::new(), socket, directory };
        let mut simulator = Command::new(program("ibsim", "ibsim-utils"));
        // The simulator reads commands; an open pipe keeps it waiting for one.
        simulator.arg("-s").arg("-n").arg(own.directory.join("net")).stdin(Stdio::piped());
        own.spawn(simulator);
        // The last of the sockets that it listens on.
        let last = format!("@{}:out9", own.socket);
        wait_for("ibsim listens", || fs::read_to_string("/proc/net/unix").unwrap().contains(&last));
        let mut manager = own.on_fabric("h1", Command::new(program("opensm", "opensm")));
        manager.env("LD_PRELOAD", umad2sim()).arg("-e").arg("-f").arg(own.directory.join("log"));
        own.spawn(manager);
        wait_for("OpenSM answers about paths", || {
            let answer = own.tool("saquery").arg("PR").output().unwrap();
            String::from_utf8_lossy(&answer.stdout).matches("PathRecord dump:").count() >= 2
        });
        own
    }

    /// A program of infiniband-diags. It has a minute: without its fabric it waits for ever.
    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["60", "env"]).arg(format!("LD_PRELOAD={}", umad2sim().display()));
        command.arg(program(name, "infiniband-diags"));
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

/// The bytes of each hex dump with this title.
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
fn tools_print_what_we_read() {
    let fabric = Fabric::start();
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
        let sent = Frame::parse(sent.last().expect("smpquery shows what it sends"), Layout::WithPkeyIndex).unwrap();
        let asked = sent.view().unwrap().attribute().unwrap();
        assert_eq!(asked.structure().map(|asked| asked.name), Some(structure.name));
        if let [lid, ..] = route
            && *lid != "-D"
        {
            assert_eq!(sent.header.lid, lid.parse().unwrap());
        }
        let frames = dumps(&dumped, "rcv buf");
        // ibsim-umad leaves bytes 224 to 255 undefined; attributes end before them.
        let answer = frames.iter().rev().find_map(|bytes| {
            let mad = MadRef::new(bytes).unwrap();
            let attribute = mad.attribute().ok()?;
            let wanted = mad.method() == Method::GET_RESP && attribute.structure()?.name == structure.name;
            wanted.then(|| attribute.as_bytes().to_vec())
        });
        let answer = answer.unwrap_or_else(|| panic!("no answer in {} frames: {dumped}", frames.len()));
        let compared = text::compare_smpquery(structure, &answer, &printed);
        assert!(compared >= least, "{arguments:?}: {compared} fields");
    }

    let output = fabric.run("saquery", &["PR"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = dumps(&printed, "SA Response:").pop().expect("saquery shows its answer");
    let mad = MadRef::new(&message).unwrap();
    assert_eq!(mad.method(), Method::GET_TABLE_RESP);
    let first: Vec<&str> = printed.split("PathRecord dump:").collect();
    // The simulator's library has no RMPP: the message is one datagram, and records past its end are not there.
    let whole = mad.data().len() / 64;
    let kept = first.iter().take(whole + 1).copied().collect::<Vec<_>>().join("PathRecord dump:");
    let records = mad.records().unwrap().take(whole);
    assert!(text::compare_paths(records, &kept) >= 2);
}
