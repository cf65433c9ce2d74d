//! A daemon under attack: with the limits of its unit, beside an honest user and a scraper.
use super::{calls::Trace, older, service::Service, steps::Step, user::Sockets};
use crate::{ControlGroup, Fabric, LIMIT, Node, NodeBuilder, Process, poll};
use core::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{self, Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::{Path, PathBuf},
    process::Command,
};

/// The honest user.
const HONEST: u32 = 60_001;
/// Number of names of the peer.
const NAMES: u32 = 1024;
/// Number of processes that share the steps. All steps of a user are in one.
const PROCESSES: u32 = 4;
/// Memory of the daemon without sockets of clients, in bytes: some MiB, and 30 MiB for requests. In the unit it is an
/// eighth of all.
const ROOM: u64 = 64 << 20;
/// Memory of the kernel, and shared memory, that may remain in use after the hostile users have left, in bytes.
const REMAINS: u64 = 4 << 20;
/// Memory of the process that may remain. glibc keeps what is free below an allocation in use, and up to twice the
/// largest block that was freed: more after a round with more open requests.
const HEAP_REMAINS: u64 = 32 << 20;
/// Number of lines of the honest user while the hostile ones keep what they have: longer than `client_timeout`.
const LINES: usize = 8;
/// Number of checks between two requests for the metrics.
const SCRAPE: u32 = 20;

/// How a scene is run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program `acm-hostile`.
    pub program: PathBuf,
    /// The part of the unit's descriptors and of its memory for clients that the daemon gets: 1 is all, 8 an eighth.
    pub part: u64,
    /// The longest iteration of the daemon's event loop, up to the next bound of its histogram; `None` on a machine that
    /// is busy with other programs.
    pub turn: Option<Duration>,
}

/// The properties of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The system calls of the event loop are traced.
    pub traced: bool,
    /// Descriptors of users arrive, as with Linux before 6.16.
    pub older_kernel: bool,
    /// The daemon is restarted, as systemd does it.
    pub restarts: bool,
}

/// A daemon and all that is beside it.
#[derive(Debug)]
pub struct Scene {
    setting: Setting,
    // Dropped in this order: a group is removed after its processes.
    honest: Process,
    node: Node,
    settings: NodeBuilder,
    service: Service,
    restarts: usize,
    group: Option<ControlGroup>,
    _peer: Node,
    _fabric: Fabric,
    memory: u64,
    /// Descriptors of the daemon, memory of the kernel and memory of the process after the first round.
    at_rest: Option<[u64; 3]>,
}

impl Round {
    /// Returns the round of a seed: every other one is with an older kernel, and a quarter of all with a restart.
    #[must_use]
    pub const fn of(seed: u64) -> Self {
        Self { traced: false, older_kernel: seed % 2 == 1, restarts: seed % 4 == 2 }
    }
}

/// Amounts of a round.
#[derive(Clone, Debug, Default)]
pub struct Amounts {
    /// The most memory of the daemon's group in bytes.
    pub memory: u64,
    /// The most descriptors of the daemon.
    pub descriptors: u64,
    /// Microseconds of the honest user's requests: for the cached name, and for others on new connections.
    pub micros: [Vec<u64>; 2],
    /// The bound of the longest iterations of the event loop in seconds.
    pub turn: f64,
}

/// Returns the bounds of the histogram of iterations, with the number of those up to each.
fn turns(metrics: &str) -> Vec<(f64, u64)> {
    let of = |line: &str| {
        let (bound, count) = line.strip_prefix("acm_turn_seconds_bucket{le=\"")?.split_once("\"} ")?;
        Some((bound.parse().ok()?, count.parse().ok()?))
    };
    metrics.lines().filter_map(of).collect()
}

/// Returns a number of the unit, such as of `MemoryMax=1G`.
fn of_unit(name: &str) -> u64 {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/acm-mio.service");
    let unit = fs::read_to_string(unit).unwrap();
    let value = unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap();
    let scale = if value.ends_with('G') { 1 << 30 } else { 1 };
    value.trim_end_matches('G').parse::<u64>().unwrap() * scale
}

impl Scene {
    /// Starts everything.
    #[must_use]
    pub fn start(setting: &Setting) -> Self {
        let memory = ROOM + of_unit("MemoryMax") / 8 * 7 / setting.part;
        let group = ControlGroup::new(&format!("acm-hostile-{}", number()), memory, of_unit("TasksMax"));
        let fabric = Fabric::serve(3, &["--subnet-timeout", "8"]);
        let names: String = (0..NAMES).map(|number| format!("live{number} sim0 1 default\n")).collect();
        let peer = Node::at(&fabric, 2).option("log_level 1\nrecv_depth 16384").addresses(&names).join();
        // A container may allow less.
        let limits = format!("{{ ulimit -n {} || ulimit -n $(ulimit -Hn); }}", of_unit("LimitNOFILE") / setting.part);
        let script = group.iter().map(ControlGroup::enter).chain([limits, Service::script(&setting.program)]);
        let script = script.collect::<Vec<_>>().join(" && ");
        let options = "log_level 1\nmetrics_listen DIR/metrics\nshared_cache on\naddr_timeout 1\nclient_timeout 3";
        let settings =
            Node::at(&fabric, 1).option(options).argument("--systemd").argument("--kernel=any").after(&script);
        let folder = tempfile::tempdir().unwrap();
        let mut service = Service::listen(folder.path());
        let mut node = settings.clone().spawn_in(folder);
        service.give();
        node.process.wait_for("join successful", 1);
        fs::set_permissions(node.dir(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(&setting.program);
        command
            .arg("honest")
            .arg(node.socket())
            .args([service.port_id, HONEST, NAMES].map(|number| number.to_string()));
        let mut honest = Process::start(&mut command);
        honest.wait_for("serving", 1);
        let setting = setting.clone();
        let (restarts, at_rest) = (0, None);
        Self {
            setting,
            honest,
            node,
            settings,
            service,
            restarts,
            group,
            _peer: peer,
            _fabric: fabric,
            memory,
            at_rest,
        }
    }

    /// Restarts the daemon with the connections that it leaves.
    fn restart(&mut self) {
        self.restarts += 1;
        self.node.process.signal(Signal::SIGTERM);
        poll::until("the end of the daemon", || {
            self.service.take();
            (!self.node.process.is_running()).then_some(())
        });
        self.service.take();
        self.node.process = Process::start(&mut self.settings.command(self.node.dir()));
        self.service.give();
        self.node.process.wait_for("join successful", 1);
        self.at_rest = None;
    }

    fn sockets(&self) -> Sockets {
        let file = |name: &str| self.node.dir().join(name);
        Sockets { clients: self.node.socket(), metrics: file("metrics"), status: file("acm-mio.status") }
    }

    /// Lets the hostile users take these steps, checks all the time, and returns the amounts.
    ///
    /// # Errors
    /// The first invariant that did not hold.
    pub fn round(&mut self, steps: &[Step], how: Round) -> Result<Amounts, String> {
        let mut amounts = Amounts::default();
        self.allow_descriptors(how)?;
        let before = if how.restarts { Vec::new() } else { turns(&self.metrics()?) };
        let lines = self.honest.stdout().lines().count();
        let folder = tempfile::tempdir().unwrap();
        let mut users: Vec<Process> = (0..PROCESSES).map(|number| self.users(steps, number, folder.path())).collect();
        let trace = how.traced.then(|| Trace::of(self.node.process.id()));
        let mut checks = 0;
        while users.iter().any(|process| !process.stdout().contains("done")) {
            self.check(&mut amounts)?;
            checks += 1;
            if how.restarts && checks == SCRAPE {
                self.restart();
                self.allow_descriptors(how)?;
            }
            if checks % SCRAPE == 0 {
                self.metrics()?;
            }
            if users.iter_mut().any(|process| !process.is_running()) {
                let text: String = users.iter().map(Process::stderr).collect();
                return Err(format!("hostile users ended: {text}"));
            }
            poll::pause();
        }
        let done = self.honest.stdout().lines().count();
        while self.honest.stdout().lines().count() < done + LINES {
            self.check(&mut amounts)?;
            poll::pause();
        }
        let metrics = self.metrics()?;
        // A restarted daemon begins to count again.
        if !how.restarts {
            compare(&metrics, &users)?;
        }
        amounts.turn = self.longest_turn(&before, &turns(&metrics), how)?;
        if let Some(calls) = trace.map(Trace::waiting)
            && !calls.is_empty()
        {
            return Err(format!("system calls of the event loop that may wait: {calls:?}"));
        }
        drop(users);
        self.settle(&mut amounts)?;
        for line in self.honest.stdout().lines().skip(lines) {
            let mut words = line.split(' ');
            let times = &mut amounts.micros[usize::from(words.next() == Some("new"))];
            times.extend(words.filter_map(|word| word.parse::<u64>().ok()));
        }
        Ok(amounts)
    }

    fn allow_descriptors(&self, how: Round) -> Result<(), String> {
        older::let_descriptors_arrive(self.node.process.id(), how.older_kernel).map_err(|error| error.to_string())
    }

    /// Starts a process with its part of the steps.
    fn users(&self, steps: &[Step], number: u32, folder: &Path) -> Process {
        let file = folder.join(number.to_string());
        let part = steps.iter().filter(|step| step.user % PROCESSES == number);
        fs::write(&file, part.map(|step| format!("{step}\n")).collect::<String>()).unwrap();
        let Sockets { clients, metrics, status } = self.sockets();
        let mut command = Command::new(&self.setting.program);
        Process::start(command.arg("attack").args([clients, metrics, status, file]))
    }

    /// Checks what holds at any time.
    fn check(&mut self, amounts: &mut Amounts) -> Result<(), String> {
        if !self.node.process.is_running() {
            return Err(format!("the daemon has ended: {}", self.node.log()));
        }
        let repeated = self.honest.stdout().matches("repeated").count();
        if repeated > self.restarts {
            return Err(format!("the honest user repeated {repeated} requests, after {} restarts", self.restarts));
        }
        if !self.honest.is_running() {
            let text = self.honest.stderr();
            let what = text.lines().find(|line| line.contains("kind: ")).unwrap_or(&text);
            return Err(format!("the honest user failed: {what}"));
        }
        amounts.descriptors = amounts.descriptors.max(self.descriptors());
        if let Some(group) = &self.group {
            let used = group.memory().map_err(|error| format!("the memory of the group: {error}"))?;
            amounts.memory = amounts.memory.max(used);
            if used > self.memory / 100 * 95 {
                return Err(format!("the daemon's group has {used} of {} bytes", self.memory));
            }
        }
        Ok(())
    }

    fn descriptors(&self) -> u64 {
        fs::read_dir(format!("/proc/{}/fd", self.node.process.id())).map_or(0, |files| files.count() as u64)
    }

    /// Waits until what the users had is free again. The first round sets the amounts of the following ones.
    fn settle(&mut self, amounts: &mut Amounts) -> Result<(), String> {
        let mut last = Ok(());
        let settled = poll::within(LIMIT, || {
            last = self.check(amounts);
            let now = self.amounts_in_use();
            let most = self.at_rest.map_or([64, u64::MAX, u64::MAX], |[descriptors, kernel, process]| {
                [descriptors, kernel + REMAINS, process + HEAP_REMAINS]
            });
            (last.is_err() || now.iter().zip(most).all(|(now, most)| *now <= most)).then_some(now)
        });
        last?;
        match (settled, self.at_rest) {
            (Some(now), None) => self.at_rest = Some(now),
            (Some(_), Some(_)) => {}
            (None, before) => {
                let now = self.amounts_in_use();
                return Err(format!("descriptors and memory, after the users have left: {now:?}; before: {before:?}"));
            }
        }
        Ok(())
    }

    /// Returns the descriptors of the daemon, the memory of the kernel and the memory of the process.
    fn amounts_in_use(&self) -> [u64; 3] {
        let of = |memory: fn(&ControlGroup) -> io::Result<u64>| {
            self.group.as_ref().map_or(0, |group| memory(group).unwrap_or_default())
        };
        let process = of(ControlGroup::anonymous);
        [self.descriptors(), of(ControlGroup::memory).saturating_sub(process), process]
    }

    /// Returns the metrics as an administrator gets them.
    fn metrics(&self) -> Result<String, String> {
        let get = || -> io::Result<String> {
            let mut stream = UnixStream::connect(self.sockets().status)?;
            stream.set_read_timeout(Some(LIMIT))?;
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n")?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            Ok(text)
        };
        let text = get().map_err(|error| format!("the scraper of root: {error}"))?;
        if text.ends_with("# EOF\n") { Ok(text) } else { Err(format!("the scraper of root got {text:?}")) }
    }

    /// Returns the bound of the longest iterations of a round, from the histogram before and after it.
    fn longest_turn(&self, before: &[(f64, u64)], after: &[(f64, u64)], how: Round) -> Result<f64, String> {
        let count = |index: usize| after[index].1 - before.get(index).map_or(0, |(_, count)| *count);
        let all = count(after.len().saturating_sub(1));
        let longest = (0..after.len()).find(|index| count(*index) == all).map_or(f64::INFINITY, |index| after[index].0);
        // The first bound that is not below the limit. A traced daemon is slow.
        let limit = self
            .setting
            .turn
            .filter(|_| !how.traced)
            .and_then(|limit| after.iter().map(|(bound, _)| *bound).find(|bound| *bound >= limit.as_secs_f64()));
        match limit {
            Some(limit) if longest > limit => Err(format!("an iteration of the event loop took up to {longest} s")),
            _ => Ok(longest),
        }
    }
}

/// Compares what the users saw with the daemon's counters.
fn compare(text: &str, users: &[Process]) -> Result<(), String> {
    let counted = |names: &[&str]| -> u64 {
        let of = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            let name = name.split('{').next()?.strip_prefix("acm_")?.strip_suffix("_total")?;
            names.contains(&name).then(|| value.parse::<u64>().ok()).flatten()
        };
        text.lines().filter_map(of).sum()
    };
    let seen = |name: &str| -> u64 {
        let start = format!("{name}=");
        let text = users.iter().map(Process::stdout).collect::<String>();
        text.split_whitespace().filter_map(|word| word.strip_prefix(&start)?.parse::<u64>().ok()).sum()
    };
    if seen("allowed") > 0 {
        return Err("a user had a command or a page that only root may have".to_owned());
    }
    let kinds = [
        ("refused", &["requests_refused", "lookups_refused", "requests_cancelled", "lookups_cancelled"][..]),
        ("closed", &["connections_refused", "connections_closed", "bad_messages"]),
    ];
    for (name, counters) in kinds {
        let (seen, counted) = (seen(name), counted(counters));
        if seen > counted {
            return Err(format!("users saw {seen} times {name}, and {counters:?} are {counted}"));
        }
    }
    Ok(())
}

/// Returns a number that no other scene of this process has.
fn number() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed).to_string()
}
