//! The thread that reads the files.
use super::{
    files::Files,
    parse::{self, Faults},
    read_file::{HOSTS, ROUTES, read_file},
    watched::Watched,
};
use crate::{
    clock::Clock,
    log::{Lines, limited},
};
use acm_sansio::preload::{Preload, Routes};
use core::time::Duration;
use ib_mad::{Guid, Lid};
use mio::Waker;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

/// Interval between checks for a replaced file.
const LOOK: Duration = Duration::from_secs(10);
/// Time to wait for further active ports before the file is read for all of them.
const TOGETHER: Duration = Duration::from_millis(100);

/// A port as path dumps identify it: GUID and first LID.
type Port = (Guid, Lid);

enum Command {
    /// Sets the active ports.
    Ports(Vec<Port>),
    /// Reads all files again.
    Again,
}

/// A message of the thread.
enum Message {
    Table(Preload),
    /// A file of this kind was not read, for this reason. The previous table stays.
    NotRead(&'static str, String),
    /// The last table of this kind lacks a part of its file, for this reason.
    Incomplete(&'static str, String),
    /// The files were read, or could not be read, for this number of commands.
    Done(u64),
}

/// Reads files in a thread, and wakes the loop for each finished table.
#[derive(Debug)]
pub(crate) struct Loader {
    commands: Sender<Command>,
    messages: Receiver<Message>,
    ports: Vec<Port>,
    /// Number of commands sent.
    sent: u64,
    /// Number of completed commands; `None` before the first reading.
    done: Option<u64>,
    /// Reasons of failed readings since the last call of [`Loader::take_not_read`].
    not_read: Vec<String>,
    /// The problem of the last reading of each kind of file, if it has one.
    problems: BTreeMap<&'static str, String>,
}

impl Loader {
    /// Starts the thread. After the loader is dropped, the thread finishes reading the current file and ends. The
    /// program does not wait for this end.
    pub(crate) fn start(files: Files, waker: Arc<Waker>) -> io::Result<Self> {
        for (kind, file) in [(ROUTES, &files.routes), (HOSTS, &files.hosts)] {
            if let Some(file) = file {
                tracing::info!(target: "preload", "{kind} preload: none loaded yet: {}", file.display());
            }
        }
        let (commands, received) = channel();
        let (hand_over, messages) = sync_channel(2);
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
                // The thread has its own limits of lines, because those of the event loop cannot be shared between
                // threads.
                lines: Lines::default(),
            };
            reader.run(&received);
        };
        thread::Builder::new().name("preload".into()).spawn(read)?;
        Ok(Self {
            commands,
            messages,
            ports: Vec::new(),
            sent: 0,
            done: None,
            not_read: Vec::new(),
            problems: BTreeMap::new(),
        })
    }

    /// Returns the next finished table.
    pub(crate) fn take(&mut self) -> Option<Preload> {
        loop {
            match self.messages.try_recv().ok()? {
                Message::Table(table) => {
                    self.problems.remove(if matches!(table, Preload::Routes(_)) { ROUTES } else { HOSTS });
                    return Some(table);
                }
                Message::NotRead(kind, reason) => {
                    self.problems.insert(kind, reason.clone());
                    self.not_read.push(reason);
                }
                Message::Incomplete(kind, reason) => {
                    self.problems.insert(kind, reason);
                }
                Message::Done(commands) => self.done = Some(commands),
            }
        }
    }

    /// Returns the reasons of failed readings since the last call.
    pub(crate) fn take_not_read(&mut self) -> Vec<String> {
        core::mem::take(&mut self.not_read)
    }

    /// Returns the problems of the last readings, at most one for each file.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &String> {
        self.problems.values()
    }

    /// Reports whether a command is not completed.
    pub(crate) fn is_reading(&self) -> bool {
        self.done != Some(self.sent)
    }

    /// Reports whether the routes are read for these ports.
    pub(crate) fn has_ports(&self, ports: impl Iterator<Item = Port>) -> bool {
        ports.eq(self.ports.iter().copied())
    }

    /// Sets the active ports. Routes of other ports are not kept.
    pub(crate) fn set_ports(&mut self, ports: Vec<Port>) {
        self.send(Command::Ports(ports.clone()));
        self.ports = ports;
    }

    /// Reads all files again.
    pub(crate) fn read_again(&mut self) {
        self.send(Command::Again);
    }

    fn send(&mut self, command: Command) {
        let _ = self.commands.send(command);
        self.sent += 1;
    }
}

struct Reader {
    routes: Option<Watched>,
    hosts: Option<Watched>,
    ports: Vec<Port>,
    /// Ports whose sections were kept at the last reading.
    read_for: BTreeSet<Guid>,
    /// The last table of routes.
    loaded: Option<Arc<Routes>>,
    has_hosts: bool,
    hand_over: SyncSender<Message>,
    waker: Arc<Waker>,
    /// Limits lines that are written for each reading, because changes of ports cause readings.
    lines: Lines,
}

impl Reader {
    fn run(mut self, commands: &Receiver<Command>) {
        let clock = Clock::start();
        self.read_hosts();
        let (mut done, mut reported) = (0, None);
        loop {
            if reported != Some(done) {
                reported = Some(done);
                self.pass(Message::Done(done));
            }
            let (mut again, mut checks) = (false, false);
            match commands.recv_timeout(LOOK) {
                Ok(command) => {
                    done += 1;
                    again |= self.apply(command);
                }
                Err(RecvTimeoutError::Timeout) => checks = true,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.lines.write_counts(clock.now());
            while let Ok(command) = commands.recv_timeout(if checks { Duration::ZERO } else { TOGETHER }) {
                done += 1;
                again |= self.apply(command);
            }
            let due = |file: &mut Option<Watched>| file.as_mut().is_some_and(|file| checks && file.has_settled());
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

    /// Applies a command. Returns `true` if all files are to be read again.
    fn apply(&mut self, command: Command) -> bool {
        match command {
            Command::Again => return true,
            Command::Ports(ports) => {
                self.ports = ports;
                self.warn_of_ports_without_routes();
            }
        }
        false
    }

    fn read_routes(&mut self) {
        let ours: BTreeSet<Guid> = self.ports.iter().map(|(guid, _)| *guid).collect();
        self.read_for.clone_from(&ours);
        let Some(watched) = &mut self.routes else { return };
        let had = self.loaded.is_some();
        let read = |file, faults: &mut Faults| parse::routes(file, |guid| ours.contains(&guid), faults);
        let (routes, cost) = match read_file(ROUTES, watched, had, &self.lines, read) {
            Ok(read) => read,
            Err(reason) => return self.pass(Message::NotRead(ROUTES, reason)),
        };
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
        let skipped = cost.skipped(ROUTES, watched);
        let routes = Arc::new(routes);
        self.loaded = Some(Arc::clone(&routes));
        self.warn_of_ports_without_routes();
        self.pass(Message::Table(Preload::Routes(routes)));
        skipped.into_iter().for_each(|problem| self.pass(Message::Incomplete(ROUTES, problem)));
    }

    fn read_hosts(&mut self) {
        let Some(watched) = &mut self.hosts else { return };
        let (hosts, cost) = match read_file(HOSTS, watched, self.has_hosts, &self.lines, parse::hosts) {
            Ok(read) => read,
            Err(reason) => return self.pass(Message::NotRead(HOSTS, reason)),
        };
        self.has_hosts = true;
        limited!(
            self.lines,
            INFO,
            "preload",
            "addr preload: loaded {} addresses: {}: {cost}",
            hosts.len(),
            watched.path.display()
        );
        let mut problem = cost.skipped(HOSTS, watched);
        if hosts.left_out() > 0 {
            let left_out = format!("addr preload: {} addresses are too many and left out", hosts.left_out());
            limited!(self.lines, WARN, "preload", "{left_out}");
            problem = Some(left_out);
        }
        self.pass(Message::Table(Preload::Hosts(hosts.into())));
        problem.into_iter().for_each(|problem| self.pass(Message::Incomplete(HOSTS, problem)));
    }

    /// Passes a message to the event loop. A failure means that the loop has dropped the loader.
    fn pass(&self, message: Message) {
        if self.hand_over.send(message).is_ok() {
            let _ = self.waker.wake();
        }
    }

    fn warn_of_ports_without_routes(&self) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LIMIT, captured_log};
    use acm_wire::Address;
    use core::net::Ipv4Addr;
    use mio::{Events, Poll, Token};
    use std::{fs, path::Path};

    const DUMP: &str = "Channel Adapter 0x2, base LID 2, \"n\", port 1\n# LID\n0x4 : 0 : 4 : 3\n";

    fn files(dir: &Path) -> Files {
        Files { routes: Some(dir.join("dump")), hosts: Some(dir.join("hosts")) }
    }

    /// Waits for the next table.
    fn next(loader: &mut Loader, poll: &mut Poll) -> Preload {
        let mut events = Events::with_capacity(4);
        loop {
            if let Some(table) = loader.take() {
                return table;
            }
            poll.poll(&mut events, Some(LIMIT)).unwrap();
            assert!(!events.is_empty(), "no table comes");
        }
    }

    #[test]
    fn loader_reads_until_the_commands_are_carried_out() {
        let dir = tempfile::tempdir().unwrap();
        let mut poll = Poll::new().unwrap();
        let waker = Arc::new(Waker::new(poll.registry(), Token(1)).unwrap());
        // Neither file exists.
        let mut loader = Loader::start(files(dir.path()), waker).unwrap();
        assert!(loader.is_reading());
        let mut events = Events::with_capacity(4);
        let mut wait = |loader: &mut Loader| {
            while loader.is_reading() {
                poll.poll(&mut events, Some(LIMIT)).unwrap();
                assert!(!events.is_empty(), "it is never done");
                assert!(loader.take().is_none());
            }
        };
        wait(&mut loader);
        assert_eq!([loader.take_not_read().len(), loader.take_not_read().len()], [1, 0], "the hosts");
        loader.set_ports(vec![(Guid::new(2), Lid::new(2))]);
        assert!(loader.is_reading());
        loader.read_again();
        wait(&mut loader);
        assert!(loader.take_not_read().len() >= 2, "routes and hosts");
    }

    #[test]
    fn addresses_over_the_limit_are_left_out_with_a_line_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hosts");
        let lines = (0..524_289_u32).map(|number| format!("{} 1::\n", Ipv4Addr::from(number)));
        fs::write(&path, lines.collect::<String>()).unwrap();
        let poll = Poll::new().unwrap();
        let (hand_over, messages) = sync_channel(2);
        let mut reader = Reader {
            routes: None,
            hosts: Some(Watched::new(path)),
            ports: Vec::new(),
            read_for: BTreeSet::new(),
            loaded: None,
            has_hosts: false,
            hand_over,
            waker: Arc::new(Waker::new(poll.registry(), Token(1)).unwrap()),
            lines: Lines::default(),
        };
        let log = captured_log(tracing::Level::INFO, || reader.read_hosts());
        assert!(log.contains("addr preload: loaded 524288 addresses: "), "{log}");
        assert!(log.contains("addr preload: 1 addresses are too many and left out\n"), "{log}");
        assert!(matches!(messages.try_recv(), Ok(Message::Table(Preload::Hosts(hosts))) if hosts.len() == 524_288));
        assert!(matches!(messages.try_recv(), Ok(Message::Incomplete(HOSTS, problem)) if problem.contains(": 1 addr")));
    }

    #[test]
    fn files_are_read_at_the_start_and_on_request() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("hosts"), "node2 fe80::2\n").unwrap();
        fs::write(dir.path().join("dump"), DUMP).unwrap();
        let mut poll = Poll::new().unwrap();
        let waker = Arc::new(Waker::new(poll.registry(), Token(1)).unwrap());
        let mut loader = Loader::start(files(dir.path()), waker).unwrap();
        let gid = |table: Preload| match table {
            Preload::Hosts(hosts) => hosts.gid_of(&Address::from_text("node2")),
            Preload::Routes(_) => panic!("no port is active"),
        };
        assert_eq!(gid(next(&mut loader, &mut poll)), Some("fe80::2".parse().unwrap()));
        let port = (Guid::new(2), Lid::new(2));
        assert!(!loader.has_ports([port].into_iter()));
        loader.set_ports(vec![port]);
        assert!(loader.has_ports([port].into_iter()));
        let routes = |table: Preload| match table {
            Preload::Routes(routes) => routes.destinations(port.0, port.1),
            Preload::Hosts(_) => panic!("the hosts were read already"),
        };
        let count = routes(next(&mut loader, &mut poll));
        assert!(count > 0);
        fs::write(dir.path().join("hosts"), "node2 fe80::3\n").unwrap();
        fs::write(dir.path().join("dump"), format!("{DUMP}0x5 : 0 : 4 : 3\n")).unwrap();
        loader.read_again();
        assert_eq!(routes(next(&mut loader, &mut poll)), count + 1);
        assert_eq!(gid(next(&mut loader, &mut poll)), Some("fe80::3".parse().unwrap()));
    }
}
