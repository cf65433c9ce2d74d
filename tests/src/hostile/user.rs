//! Hostile users: one process that takes the steps of many of them, as root with the effective user of each step.
use super::{
    gifts::{self, DeafPort},
    honest::{self, Path64},
    requests,
    steps::{Kind, Random, Step},
};
use crate::{Connection, LIMIT, message::Frame};
use acm_wire::client::ClientStatus;
use core::time::Duration;
use nix::{
    sys::resource::{Resource, getrlimit, setrlimit},
    unistd::{Gid, Uid, setgroups, setresgid, setresuid},
};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    net::Shutdown,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

/// The first uid of hostile users.
const FIRST_UID: u32 = 700_000;
/// Number of requests that wait for a lookup, so that the daemon reads no further request of their connection.
const HOLDING: u32 = 64;
/// Maximum number of processes that keep a connection.
const MAX_CHILDREN: usize = 8;
/// Number of descriptors that a process asks for.
const DESCRIPTORS: u64 = 262_144;

/// The sockets of a daemon.
#[derive(Clone, Debug)]
pub struct Sockets {
    /// Socket for clients.
    pub clients: PathBuf,
    /// Socket of `metrics_listen`.
    pub metrics: PathBuf,
    /// Socket for administrators.
    pub status: PathBuf,
}

/// A connection, and what is known of it.
struct Held {
    socket: Socket,
    /// Received bytes of an incomplete response.
    received: Vec<u8>,
    /// The other half of a request.
    rest: Vec<u8>,
    asked: bool,
    /// True if only whole and valid requests were sent.
    valid: bool,
    /// True if the first message is no request.
    malformed: bool,
}

/// Refusals that the users saw.
#[derive(Debug, Default)]
struct Seen {
    /// Responses that refuse for want of room.
    refused: u64,
    /// Connections that the daemon closed although nothing was sent, or after a message that is no request.
    closed: u64,
    /// Responses to commands that the users may not have.
    allowed: u64,
}

/// All users of a process.
struct Users {
    sockets: Sockets,
    open: BTreeMap<u32, Vec<Held>>,
    kept: Vec<OwnedFd>,
    children: Vec<Child>,
    port: DeafPort,
    path: Path64,
    random: Random,
    seen: Seen,
}

/// Takes the steps, prints what the users saw, and keeps everything open without end.
///
/// # Errors
/// The system's error of what is no part of a step.
pub fn hostile_users(sockets: Sockets, steps: &[Step]) -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // More than the limit needs a privilege that root may lack.
    if setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS).is_err() {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    }
    setgroups(&[])?;
    let nobody = Gid::from_raw(65_534);
    setresgid(nobody, nobody, nobody)?;
    let path = honest::resolve(&mut Connection::try_open(&sockets.clients)?, "live0")?;
    let mut users = Users {
        sockets,
        open: BTreeMap::new(),
        kept: Vec::new(),
        children: Vec::new(),
        port: DeafPort::open(),
        path,
        random: Random::new(steps.len() as u64),
        seen: Seen::default(),
    };
    println!("ready");
    for step in steps {
        users.take(*step)?;
    }
    let Seen { refused, closed, allowed } = users.seen;
    println!("done refused={refused} closed={closed} allowed={allowed}");
    loop {
        thread::park();
    }
}

/// Keeps standard output, a connection, open until the end of standard input.
///
/// # Errors
/// The system's error.
pub fn keeper() -> io::Result<()> {
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

impl Users {
    fn take(&mut self, step: Step) -> io::Result<()> {
        let (uid, root) = (Uid::from_raw(FIRST_UID + step.user), Uid::from_raw(0));
        // The real user is the one whose descriptors in flight the kernel counts.
        setresuid(uid, uid, root)?;
        self.act(step);
        Ok(setresuid(root, root, root)?)
    }

    /// Errors of the sockets are no failure: the daemon may have closed them, or no descriptor is left.
    fn act(&mut self, Step { user, kind, times }: Step) {
        match kind {
            Kind::Connect => self.each_new(user, times, |_, _| ()),
            Kind::Churn => (0..times).for_each(|_| {
                if let Some(mut held) = self.connect() {
                    held.ask(&requests::cached(1));
                }
            }),
            Kind::Close => {
                let of_user = self.open.entry(user).or_default();
                of_user.truncate(of_user.len().saturating_sub(times as usize));
            }
            Kind::Cached => self.repeat(user, times, |_| requests::cached(1)),
            Kind::Unknown => self.repeat(user, times, |users| requests::unknown(&mut users.random, 0)),
            Kind::Dead => {
                self.repeat(user, times, |users| requests::unknown(&mut users.random, crate::Entry::NO_DELAY))
            }
            Kind::Conditions => self.repeat(user, times, |users| requests::conditions(&mut users.random, users.path)),
            Kind::Counters => self.repeat(user, times, |_| requests::counters(1)),
            Kind::Endpoints => self.repeat(user, times, |_| requests::endpoint(1)),
            Kind::Half => self.half(user),
            Kind::Malformed => self.each_new(user, times, |users, held| {
                held.send_other(&requests::malformed(&mut users.random));
                held.malformed = true;
            }),
            Kind::Huge => self.each_new(user, times, |_, held| held.send_other(&requests::huge())),
            Kind::Read => self.read(user),
            Kind::Deaf => self.each_new(user, times, |_, held| {
                let many = requests::counters(64);
                while held.ask(&many) == many.len() {}
            }),
            Kind::EndSending => self.shut_down(user, Shutdown::Write),
            Kind::EndReceiving => self.shut_down(user, Shutdown::Read),
            Kind::EndBoth => self.shut_down(user, Shutdown::Both),
            Kind::Abandon => self.each_new(user, times, |_, held| {
                // Their responses just fit into the daemon's send buffer.
                held.ask(&requests::counters(32));
                held.shut_down(Shutdown::Write);
            }),
            Kind::Fork => self.fork(user),
            Kind::Duplicate => {
                if let Some(held) = self.any(user)
                    && let Ok(other) = held.socket.try_clone()
                {
                    held.socket = other;
                }
            }
            Kind::Memory => self.each_new(user, times, |_, held| held.send_other(&requests::shared_memory())),
            Kind::ReadMemory => (0..times).for_each(|_| self.read_memory()),
            Kind::Report => self.repeat(user, times, |_| requests::report()),
            Kind::SendSocket => self.gifts(user, times, |_| gifts::socket()),
            Kind::SendPipe => self.gifts(user, times, |_| gifts::end_of_pipe()),
            Kind::SendMemory => self.gifts(user, times, |_| gifts::memory()),
            Kind::SendEpoll => self.gifts(user, times, |_| gifts::epoll_instance()),
            Kind::SendItself => self.each_new(user, times, |_, held| {
                let _ = gifts::send(&held.socket, &requests::counters(1), &held.socket);
                held.valid = false;
            }),
            Kind::SendTcp => self.each_new(user, times, |users, held| users.send_tcp(held)),
            Kind::SendCredentials => self.each_new(user, times, |_, held| {
                let _ = gifts::send_credentials(&held.socket, &requests::counters(1));
                held.valid = false;
            }),
            Kind::Control => (0..times).for_each(|_| self.control()),
            Kind::Metrics => (0..times).for_each(|number| self.metrics(number)),
        }
    }

    fn connect(&self) -> Option<Held> {
        connect(&self.sockets.clients).ok().map(|socket| Held {
            socket,
            received: Vec::new(),
            rest: Vec::new(),
            asked: false,
            valid: true,
            malformed: false,
        })
    }

    /// Opens connections of a user, does something on each, and keeps them.
    fn each_new(&mut self, user: u32, times: u32, mut act: impl FnMut(&mut Self, &mut Held)) {
        for _ in 0..times {
            let Some(mut held) = self.connect() else { return };
            act(self, &mut held);
            self.open.entry(user).or_default().push(held);
        }
    }

    /// Returns a connection of a user: usually the last one, or a new one if there is none.
    fn any(&mut self, user: u32) -> Option<&mut Held> {
        if self.open.get(&user).is_none_or(Vec::is_empty) {
            self.each_new(user, 1, |_, _| ());
        }
        let open = self.open.get_mut(&user)?;
        // There is none if the process has no further descriptor.
        let last = open.len().checked_sub(1)?;
        let back = self.random.below(open.len().min(4) as u64);
        open.get_mut(last.checked_sub(usize::try_from(back).ok()?)?)
    }

    /// Sends requests at once.
    fn repeat(&mut self, user: u32, times: u32, mut request: impl FnMut(&mut Self) -> Vec<u8>) {
        let bytes: Vec<u8> = (0..times).flat_map(|_| request(self)).collect();
        if let Some(held) = self.any(user) {
            held.ask(&bytes);
        }
    }

    fn half(&mut self, user: u32) {
        if let Some(held) = self.any(user) {
            let request = requests::cached(1);
            let (half, rest) = request.split_at(request.len() / 2);
            held.ask(half);
            held.rest = rest.to_vec();
        }
    }

    fn read(&mut self, user: u32) {
        let seen = &mut self.seen;
        self.open.entry(user).or_default().retain_mut(|held| held.read(seen));
    }

    fn shut_down(&mut self, user: u32, how: Shutdown) {
        if let Some(held) = self.any(user) {
            held.shut_down(how);
        }
    }

    fn fork(&mut self, user: u32) {
        let Some(copy) = self.any(user).and_then(|held| held.socket.try_clone().ok()) else { return };
        let mut command = Command::new("/proc/self/exe");
        command.arg("keep").stdin(Stdio::piped()).stdout(OwnedFd::from(copy)).stderr(Stdio::null());
        if self.children.len() == MAX_CHILDREN {
            let mut oldest = self.children.remove(0);
            drop(oldest.stdin.take());
            let _ = oldest.wait();
        }
        self.children.extend(command.spawn().ok());
    }

    fn read_memory(&self) {
        if let Some(mut held) = self.connect() {
            held.send_other(&requests::shared_memory());
            let _ = held.socket.set_nonblocking(false).and_then(|()| held.socket.set_read_timeout(Some(LIMIT)));
            let _ = held.socket.read(&mut [0; 64]);
        }
    }

    /// Sends descriptors, every other time after requests that wait, so that the daemon reads them later: the user's
    /// own copy is closed before.
    fn gifts<T: AsFd>(&mut self, user: u32, times: u32, make: impl Fn(&Self) -> io::Result<T>) {
        let holds = self.random.below(2) == 0;
        self.each_new(user, times, |users, held| {
            if holds {
                users.hold_back(held);
            }
            if let Ok(gift) = make(users) {
                let _ = gifts::send(&held.socket, &requests::counters(1), &gift);
            }
            held.valid = false;
        });
    }

    fn hold_back(&mut self, held: &mut Held) {
        for _ in 0..HOLDING {
            held.ask(&requests::unknown(&mut self.random, 0));
        }
    }

    fn send_tcp(&mut self, held: &mut Held) {
        self.hold_back(held);
        if let Ok(gift) = self.port.connect() {
            if gifts::send(&held.socket, &requests::counters(1), &gift).is_err() {
                let _ = gift.set_linger(Some(Duration::ZERO));
            }
            // The close would wait if the daemon had already closed its copy.
            thread::spawn(move || drop(gift));
        }
        held.valid = false;
    }

    /// Tries commands of root at both sockets of HTTP. A user may not even connect to the status socket.
    fn control(&mut self) {
        if connect(&self.sockets.status).is_ok() {
            self.seen.allowed += 1;
        }
        let number = usize::try_from(self.random.below(requests::COMMANDS.len() as u64)).unwrap_or_default();
        let Some(command) = requests::COMMANDS.get(number) else { return };
        if let Ok(mut socket) = connect(&self.sockets.metrics) {
            let _ = socket.write_all(format!("{command} HTTP/1.1\r\n\r\n").as_bytes());
            let _ = socket.set_nonblocking(false).and_then(|()| socket.set_read_timeout(Some(LIMIT)));
            let mut response = [0; 12];
            if socket.read(&mut response).is_ok() && response == *b"HTTP/1.1 200" {
                self.seen.allowed += 1;
            }
        }
    }

    fn metrics(&mut self, number: u32) {
        if let Ok(mut socket) = connect(&self.sockets.metrics) {
            let request: &[u8] = if number.is_multiple_of(2) { b"GET /metrics HTTP/1.1\r\n\r\n" } else { b"GET /me" };
            let _ = socket.write(request);
            self.kept.push(socket.into());
        }
    }
}

fn connect(path: &Path) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(LIMIT))?;
    socket.connect(&SockAddr::unix(path)?)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Held {
    fn send(&self, bytes: &[u8]) -> usize {
        self.socket.send_with_flags(bytes, nix::libc::MSG_NOSIGNAL).unwrap_or_default()
    }

    /// Sends whole requests after the rest of the last one. Returns the number of bytes that the socket accepted.
    fn ask(&mut self, bytes: &[u8]) -> usize {
        let rest = core::mem::take(&mut self.rest);
        let all = [&rest[..], bytes].concat();
        let sent = self.send(&all);
        self.asked = true;
        // The socket has no room for the end of the last request.
        self.valid &= sent == all.len();
        sent.saturating_sub(rest.len())
    }

    /// Sends bytes that are no request.
    fn send_other(&mut self, bytes: &[u8]) {
        self.valid = false;
        self.send(bytes);
    }

    fn shut_down(&mut self, how: Shutdown) {
        self.valid = false;
        let _ = self.socket.shutdown(how);
    }

    /// Reads all responses. Returns `false` if the daemon has closed the connection.
    fn read(&mut self, seen: &mut Seen) -> bool {
        let mut room = [0; 16_384];
        let ended = loop {
            match self.socket.read(&mut room) {
                Ok(0) => break true,
                Ok(count) => self.received.extend_from_slice(&room[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(_) => break true,
            }
        };
        while let Some(frame) = Frame::first(&self.received) {
            seen.refused += u64::from(frame.status == ClientStatus::ENOMEM);
            self.received.drain(..frame.length);
        }
        seen.closed += u64::from(ended && (self.malformed || self.valid && !self.asked));
        !ended
    }
}
