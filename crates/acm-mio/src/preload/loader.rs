//! The thread that reads, and what it says.
use super::{
    file::Watched,
    read::{self, Faults, ReadError},
};
use crate::{
    clock::Clock,
    log::{Lines, limited},
};
use acm_sansio::preload::{Hosts, Preload, Routes};
use acm_wire::files::opts::{AddrPreload, Options, RoutePreload};
use core::{fmt, time::Duration};
use ib_mad::{Guid, Lid};
use mio::Waker;
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

/// Between two looks whether a file was replaced.
const LOOK: Duration = Duration::from_secs(10);
/// Ports that come up within this time are read for together.
const TOGETHER: Duration = Duration::from_millis(100);

/// The files that the options name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) routes: Option<PathBuf>,
    pub(crate) hosts: Option<PathBuf>,
}

impl Files {
    /// Paths are taken from the directory in which the daemon was started.
    pub(crate) fn new(options: &Options<'_>, start_dir: &Path) -> Self {
        let file = |path: &str| Some(start_dir.join(path));
        Self {
            routes: match options.route_preload {
                RoutePreload::None => None,
                RoutePreload::OpenSmFullV1 => file(options.route_data_file),
            },
            hosts: match options.addr_preload {
                AddrPreload::None => None,
                AddrPreload::AcmHosts => file(options.addr_data_file),
            },
        }
    }
}

/// What counts where there is no file any more.
pub(crate) fn nothing(files: &Files) -> impl Iterator<Item = Preload> {
    let routes = files.routes.is_none().then(|| Preload::Routes(Routes::builder().finish().into()));
    let hosts = files.hosts.is_none().then(|| Preload::Hosts(Hosts::default().into()));
    routes.into_iter().chain(hosts)
}

/// A port as dumps name it: GUID and first LID.
type Port = (Guid, Lid);

enum Wish {
    /// These ports are active.
    Ports(Vec<Port>),
    /// Read all files again.
    Again,
}

/// Reads files in a thread of its own; to be asked for tables when its token is ready.
#[derive(Debug)]
pub(crate) struct Loader {
    wishes: Sender<Wish>,
    tables: Receiver<Preload>,
    ports: Vec<Port>,
}

impl Loader {
    /// Begins to read the files. The thread ends after the loader, when it has read what it is
    /// reading; nobody waits for it.
    pub(crate) fn start(files: Files, waker: Arc<Waker>) -> io::Result<Self> {
        for (kind, file) in [(ROUTES, &files.routes), (HOSTS, &files.hosts)] {
            if let Some(file) = file {
                tracing::info!(target: "preload", "{kind} preload: none loaded yet: {}", file.display());
            }
        }
        let (wishes, heard) = channel();
        let (hand_over, tables) = sync_channel(2);
        let Files { routes, hosts } = files;
        let read = move || {
            let reader = Reader {
                routes: routes.map(Watched::new),
                hosts: hosts.map(Watched::new),
                ports: Vec::new(),
                read_for: BTreeSet::new(),
                loaded: None,
                has_hosts: false,
                hand_over,
                waker,
                // Its own: the others are the loop's.
                lines: Lines::default(),
            };
            reader.run(&heard);
        };
        thread::Builder::new().name("preload".into()).spawn(read)?;
        Ok(Self { wishes, tables, ports: Vec::new() })
    }

    /// The next table that is finished.
    pub(crate) fn take(&self) -> Option<Preload> {
        self.tables.try_recv().ok()
    }

    /// Whether these are the ports that it knows.
    pub(crate) fn knows(&self, ports: impl Iterator<Item = Port>) -> bool {
        ports.eq(self.ports.iter().copied())
    }

    /// Says which ports are active: routes of other ports are not kept.
    pub(crate) fn set_ports(&mut self, ports: Vec<Port>) {
        let _ = self.wishes.send(Wish::Ports(ports.clone()));
        self.ports = ports;
    }

    /// Reads all files again.
    pub(crate) fn read_again(&self) {
        let _ = self.wishes.send(Wish::Again);
    }
}

const ROUTES: &str = "route";
const HOSTS: &str = "addr";

struct Reader {
    routes: Option<Watched>,
    hosts: Option<Watched>,
    ports: Vec<Port>,
    /// Ports whose sections the last reading kept.
    read_for: BTreeSet<Guid>,
    /// The last table.
    loaded: Option<Arc<Routes>>,
    has_hosts: bool,
    hand_over: SyncSender<Preload>,
    waker: Arc<Waker>,
    /// Ports that come and go make it read, and say things.
    lines: Lines,
}

impl Reader {
    fn run(mut self, wishes: &Receiver<Wish>) {
        let clock = Clock::start();
        self.read_hosts();
        loop {
            let (mut again, mut looks) = (false, false);
            match wishes.recv_timeout(LOOK) {
                Ok(wish) => again |= self.hear(wish),
                Err(RecvTimeoutError::Timeout) => looks = true,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.lines.write_counts(clock.now());
            while let Ok(wish) = wishes.recv_timeout(if looks { Duration::ZERO } else { TOGETHER }) {
                again |= self.hear(wish);
            }
            let due = |file: &mut Option<Watched>| file.as_mut().is_some_and(|file| looks && file.has_settled_anew());
            let (routes, hosts) = (due(&mut self.routes), due(&mut self.hosts));
            let new_port = self.ports.iter().any(|(guid, _)| !self.read_for.contains(guid));
            if !self.ports.is_empty() && (again || routes || new_port) {
                self.read_routes();
            }
            if again || hosts {
                self.read_hosts();
            }
        }
    }

    /// Whether files are to be read again.
    fn hear(&mut self, wish: Wish) -> bool {
        match wish {
            Wish::Again => return true,
            Wish::Ports(ports) => {
                self.ports = ports;
                self.say_which_ports_do_not_fit();
            }
        }
        false
    }

    fn read_routes(&mut self) {
        let ours: BTreeSet<Guid> = self.ports.iter().map(|(guid, _)| *guid).collect();
        self.read_for.clone_from(&ours);
        let Some(watched) = &mut self.routes else { return };
        let had = self.loaded.is_some();
        let read = |file, faults: &mut Faults| read::routes(file, |guid| ours.contains(&guid), faults);
        let Some((routes, cost)) = read_file(ROUTES, watched, had, &self.lines, read) else { return };
        let (counts, file) = (routes.counts(), watched.path.display());
        limited!(
            self.lines,
            INFO,
            "preload",
            "route preload: loaded {} destinations from {} of {} ports, {} without a GID: {file}: {cost}",
            counts.routes,
            routes.sections().count(),
            counts.ports,
            counts.nameless
        );
        let routes = Arc::new(routes);
        self.loaded = Some(Arc::clone(&routes));
        self.say_which_ports_do_not_fit();
        self.give(Preload::Routes(routes));
    }

    fn read_hosts(&mut self) {
        let Some(watched) = &mut self.hosts else { return };
        let Some((hosts, cost)) = read_file(HOSTS, watched, self.has_hosts, &self.lines, read::hosts) else { return };
        self.has_hosts = true;
        limited!(
            self.lines,
            INFO,
            "preload",
            "addr preload: loaded {} addresses: {}: {cost}",
            hosts.len(),
            watched.path.display()
        );
        if hosts.left_out() > 0 {
            limited!(
                self.lines,
                WARN,
                "preload",
                "addr preload: {} addresses are too many and left out",
                hosts.left_out()
            );
        }
        self.give(Preload::Hosts(hosts.into()));
    }

    /// The loop may be gone: then nobody needs it.
    fn give(&self, table: Preload) {
        if self.hand_over.send(table).is_ok() {
            let _ = self.waker.wake();
        }
    }

    fn say_which_ports_do_not_fit(&self) {
        let (Some(routes), Some(file)) = (&self.loaded, &self.routes) else { return };
        let file = file.path.display();
        for (guid, lid) in self.ports.iter().filter(|(guid, _)| self.read_for.contains(guid)) {
            if routes.destinations(*guid, *lid) == 0 {
                limited!(
                    self.lines,
                    WARN,
                    "preload",
                    "route preload: {file} has no routes of port {guid} with LID {lid}; its routes come from elsewhere"
                );
            }
        }
    }
}

/// What reading cost, and what is wrong.
struct Cost {
    bytes: u64,
    time: Duration,
    faults: u64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes in {} ms, {} lines skipped", self.bytes, self.time.as_millis(), self.faults)
    }
}

/// Reads a file, and says what is wrong with it. A file that gives no table leaves the one before.
fn read_file<T>(
    kind: &str,
    watched: &mut Watched,
    had_one: bool,
    lines: &Lines,
    read: impl Fn(io::Take<std::fs::File>, &mut Faults) -> Result<T, ReadError>,
) -> Option<(T, Cost)> {
    let (clock, mut faults, mut bytes) = (Clock::start(), Faults::default(), 0);
    let result = watched.open().and_then(|file| {
        bytes = file.metadata()?.len();
        Ok(file)
    });
    // What is added while it is read is for the next time; and nobody reads a device for ever.
    let result = result.map_err(ReadError::Io).and_then(|file| read(io::Read::take(file, bytes), &mut faults));
    say_faults(kind, watched, &faults, lines);
    let file = watched.path.display();
    let failure: &dyn fmt::Display = match &result {
        Ok(_) if watched.is_still() => {
            let time = clock.now().since_start();
            return result.ok().map(|table| (table, Cost { bytes, time, faults: faults.count + faults.too_long }));
        }
        Ok(_) => &"it changed while it was read; tried again when it has settled",
        Err(error) => error,
    };
    let state = if had_one { "the old one stays" } else { "none loaded" };
    limited!(lines, WARN, "preload", "{kind} preload: {state}: {file}: {failure}");
    None
}

fn say_faults(kind: &str, watched: &Watched, faults: &Faults, lines: &Lines) {
    let file = watched.path.display();
    // What is mended is another file, and all that is still wrong with it is said.
    let state = watched.to_string();
    for error in &faults.said {
        limited!(lines, WARN, "preload", of state, "{file}:{}:{}: {}; the line is skipped", error.line, error.column, error.kind);
    }
    let more = faults.count.saturating_sub(faults.said.len() as u64);
    if more > 0 || faults.too_long > 0 {
        let long = faults.too_long;
        limited!(lines, WARN, "preload", of state, "{kind} preload: {file}: {more} lines more are wrong, {long} are too long");
    }
}
