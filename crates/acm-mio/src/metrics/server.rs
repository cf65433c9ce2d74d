//! Accepts scrapers and responds to them, within the event loop.
use super::{
    connection::{Connection, Progress, Rights},
    ending::Ending,
    http::{self, Command, Page, Request, Response},
    snapshot::Number,
    unix_name::is_stale,
};
use crate::{
    closing::{Closing, Refused},
    owners::Owners,
    peer::{Peer, may_change},
    stream::{ListeningSocket, Stream},
};
use acm_sansio::{Account, Time};
use acm_wire::files::opts::MetricsTarget;
use core::{ops::Range, time::Duration};
use mio::{
    Interest, Registry, Token,
    net::{TcpListener, UnixListener},
};
use nix::libc;
use std::{
    fs,
    io::{self, ErrorKind},
    os::{
        fd::AsRawFd,
        unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// Name of the socket in the run directory that `acmctl` connects to.
pub(crate) const STATUS_SOCKET: &str = "acm-mio.status";
/// Maximum number of scrapers. A further scraper replaces the oldest whose response is not due, or is turned away.
const MAX_SCRAPERS: usize = 8;
/// Number of scrapers' slots that are reserved for root and the daemon's user at the status socket, so that members of
/// the daemon's group cannot block them.
const FOR_OWNERS: usize = 2;
/// Number of further slots that are reserved for clients of the status socket.
const FOR_GROUP: usize = 1;
/// Maximum age of a page. Pages are reused, because writing a page delays the loop.
const FRESH: Duration = Duration::from_millis(100);
/// Number of listening sockets: the status socket and the socket of `metrics_listen`.
const LISTENERS: usize = 2;
/// Tokens of the listening sockets, then of the scrapers.
pub(crate) const TOKENS: Range<usize> = FIRST..FIRST + LISTENERS + MAX_SCRAPERS;
const FIRST: usize = 4;

#[derive(Debug)]
struct Listening {
    socket: ListeningSocket,
    /// File to remove when dropped.
    file: Option<PathBuf>,
    /// True if clients may request pages with the names of users.
    trusted: bool,
    ready: bool,
    refused: Refused,
}

/// A request of an administrator, which the daemon answers with [`Metrics::respond`] in the same iteration.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The slot of the connection.
    pub(crate) slot: usize,
    pub(crate) command: Command,
    /// The user who sent the request, and the program.
    pub(crate) by: (Account, Peer),
}

/// The listening sockets and the scrapers.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    listening: [Option<Listening>; LISTENERS],
    connections: [Option<Connection>; MAX_SCRAPERS],
    /// The last written pages, with their times.
    written: [Option<(Time, String)>; 3],
    ending: Ending,
    /// Number of scrapers that were turned away.
    refused: u64,
}

impl Metrics {
    /// Listens on the status socket. A failure is only logged, because the daemon can serve its clients without this
    /// socket.
    pub(crate) fn open(run_dir: &Path, registry: &Registry) -> Self {
        let mut metrics = Self::default();
        let path = run_dir.join(STATUS_SOCKET);
        match listen_unix(&path, 0o660, true) {
            Ok(listening) => metrics.listen(0, listening, registry),
            Err(error) => tracing::warn!(target: "metrics", "no status socket {}: {error}", path.display()),
        }
        metrics
    }

    /// Closes connections that may take long in these threads.
    pub(crate) fn close_in(&mut self, closing: Closing) {
        self.ending.closing = closing;
    }

    /// Charges subordinate uids to their owners from now on.
    pub(crate) fn set_owners(&mut self, owners: Owners) {
        self.ending.owners = owners;
    }

    /// Returns the numbers of this server.
    pub(crate) fn numbers(&self) -> [Number; 2] {
        [
            Number::gauge("scrapers_ending", self.ending.count() as u64),
            Number::counter("scrapers_refused", self.refused),
        ]
    }

    /// Reports whether the socket of `metrics_listen` is open.
    pub(crate) fn is_listening(&self) -> bool {
        matches!(self.listening, [_, Some(_)])
    }

    /// Listens on the socket of `metrics_listen`, and closes the socket of the option's previous value.
    /// Returns the reason if the metrics are not served there.
    pub(crate) fn configure(&mut self, target: MetricsTarget<'_>, registry: &Registry) -> Option<String> {
        if let Some(mut before) = self.listening.get_mut(1).and_then(Option::take) {
            let _ = registry.deregister(before.socket.source());
        }
        let opened = match target {
            MetricsTarget::None => return None,
            MetricsTarget::Unix(path) => listen_unix(Path::new(path), 0o666, false),
            MetricsTarget::Loopback(address) => {
                TcpListener::bind(address).map(|socket| Listening::new(ListeningSocket::Tcp(socket), None, false))
            }
        };
        match opened {
            Ok(listening) => {
                tracing::info!(target: "metrics", "metrics_listen: serving GET /metrics");
                self.listen(1, listening, registry);
                None
            }
            Err(error) => {
                let problem = format!("metrics_listen: {error}; metrics are not served there");
                tracing::warn!(target: "metrics", "{problem}");
                Some(problem)
            }
        }
    }

    fn listen(&mut self, index: usize, mut listening: Listening, registry: &Registry) {
        let token = Token(FIRST + index);
        match registry.register(listening.socket.source(), token, Interest::READABLE) {
            Ok(()) => {
                if let Some(slot) = self.listening.get_mut(index) {
                    *slot = Some(listening);
                }
            }
            Err(error) => tracing::warn!(target: "metrics", "not served: {error}"),
        }
    }

    /// Reports whether a token belongs to a socket of the metrics server.
    pub(crate) fn owns(token: Token) -> bool {
        TOKENS.contains(&token.0)
    }

    /// Marks the socket of this token as ready.
    pub(crate) fn ready(&mut self, token: Token) {
        let index = token.0 - FIRST;
        if let Some(listening) = self.listening.get_mut(index) {
            if let Some(listening) = listening {
                listening.ready = true;
            }
        } else if let Some(Some(connection)) = self.connections.get_mut(index - LISTENERS) {
            connection.ready = true;
        }
    }

    /// Reports whether a socket is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.listening.iter().flatten().any(|listening| listening.ready && listening.refused.is_empty())
            || self.connections.iter().flatten().any(|connection| connection.ready)
    }

    /// Returns the next deadline of a scraper.
    pub(crate) fn due(&self) -> Option<Time> {
        let refused = self.listening.iter().flatten().filter_map(|listening| listening.refused.due());
        let scrapers = self.connections.iter().flatten().map(|connection| connection.until);
        scrapers.chain(refused).chain(self.ending.due()).min()
    }

    /// Serves the sockets that are ready. At most one page is written in each iteration of the loop, or one request of
    /// an administrator is returned.
    pub(crate) fn serve(
        &mut self,
        now: Time,
        registry: &Registry,
        mut write: impl FnMut(Page) -> String,
    ) -> Option<Asked> {
        self.ending.close_read(now);
        for slot in &mut self.connections {
            if slot.as_ref().is_some_and(|connection| connection.until <= now) {
                self.ending.close(now, slot, registry);
            }
        }
        for index in 0..self.listening.len() {
            self.accept(now, index, registry);
        }
        let (mut wrote, mut asked) = (false, None);
        for (number, slot) in self.connections.iter_mut().enumerate() {
            let Some(connection) = slot.as_mut().filter(|connection| connection.ready) else { continue };
            let (mut progress, is_trusted) = (Progress::Waits, connection.rights != Rights::Metrics);
            if !connection.has_response() {
                progress = connection.receive();
                let is_tcp = matches!(connection.stream, Stream::Tcp(_));
                match http::parse(&connection.head) {
                    None => {}
                    Some(_) if is_tcp && !http::is_for_this_machine(&connection.head) => {
                        self.refused += 1;
                        connection.set_response(http::refusal("421 Misdirected Request"));
                    }
                    Some(Request::Start) => connection.set_response(http::start_page()),
                    Some(Request::Page(page)) if page == Page::Metrics || is_trusted => {
                        let written = self.written.get_mut(page as usize);
                        let old = written.as_ref().and_then(|page| page.as_ref()).filter(|(at, _)| now < *at + FRESH);
                        let text = match old {
                            Some((_, text)) => text.clone(),
                            None if wrote => continue,
                            None => {
                                wrote = true;
                                let text = write(page);
                                if let Some(written) = written {
                                    *written = Some((now, text.clone()));
                                }
                                text
                            }
                        };
                        connection.set_response(http::response("200 OK", http::kind(page), &text));
                    }
                    Some(Request::Command(_)) if is_trusted && wrote => continue,
                    Some(Request::Command(command)) if is_trusted => {
                        wrote = true;
                        connection.ready = false;
                        asked = Some(Asked { slot: number, command, by: connection.stream.peer() });
                        continue;
                    }
                    Some(Request::Page(_) | Request::Command(_) | Request::UnknownPage) => {
                        connection.set_response(http::refusal("404 Not Found"))
                    }
                    Some(Request::OtherMethod) => connection.set_response(http::refusal("405 Method Not Allowed")),
                    Some(Request::Malformed) => connection.set_response(http::refusal("400 Bad Request")),
                }
            }
            if connection.has_response() {
                progress = connection.send();
            }
            connection.ready = false;
            if progress == Progress::Over {
                self.ending.close(now, slot, registry);
            }
        }
        asked
    }

    /// Sends the response to a request of an administrator.
    pub(crate) fn respond(&mut self, now: Time, asked: &Asked, response: &Response, registry: &Registry) {
        let Some(slot) = self.connections.get_mut(asked.slot) else { return };
        let Some(connection) = slot else { return };
        connection.set_response(response.bytes());
        if connection.send() == Progress::Over {
            self.ending.close(now, slot, registry);
        }
    }

    fn accept(&mut self, now: Time, index: usize, registry: &Registry) {
        for _ in 0..MAX_SCRAPERS {
            let Some(listening) = self.listening.get_mut(index).and_then(Option::as_mut) else { return };
            listening.refused.close_waiting(now, &self.ending.closing);
            if !listening.refused.is_empty() || !listening.ready {
                return;
            }
            let trusted = listening.trusted;
            let stream = match listening.socket.accept() {
                Ok(stream) => stream,
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => continue,
                // No connection is pending, or no descriptor is left. The next connection causes another event.
                Err(_) => {
                    listening.ready = false;
                    return;
                }
            };
            let rights = match trusted {
                true if may_change(stream.peer().0) => Rights::Change,
                true => Rights::Look,
                false => Rights::Metrics,
            };
            self.admit(now, index, stream, rights, registry);
        }
    }

    /// Gives a new scraper a slot, or closes its connection: a client of the status socket tries again.
    fn admit(&mut self, now: Time, index: usize, stream: Stream, rights: Rights, registry: &Registry) {
        let Some(stream) = self.give_slot(now, stream, rights, registry) else { return };
        self.refused += 1;
        let account = self.ending.owners.account_of(stream.peer().0);
        if let Some(Some(listening)) = self.listening.get_mut(index) {
            listening.refused.close(now, &self.ending.closing, account, stream);
        }
    }

    /// Gives a new scraper a free slot, or the slot of the oldest scraper whose response is not due. Returns the
    /// connection if there is none.
    fn give_slot(&mut self, now: Time, mut stream: Stream, rights: Rights, registry: &Registry) -> Option<Stream> {
        if !self.ending.admits(&stream, rights) {
            return Some(stream);
        }
        let first = match rights {
            Rights::Change => 0,
            Rights::Look => FOR_OWNERS,
            Rights::Metrics => FOR_OWNERS + FOR_GROUP,
        };
        let slots = self.connections.iter_mut().enumerate().skip(first);
        let free = slots.filter(|(_, slot)| !slot.as_ref().is_some_and(|connection| connection.is_due(now)));
        let oldest = free.min_by_key(|(_, slot)| slot.as_ref().map(|connection| connection.until));
        let Some((number, slot)) = oldest else { return Some(stream) };
        self.ending.close(now, slot, registry);
        let token = Token(FIRST + LISTENERS + number);
        if registry.register(stream.source(), token, Interest::READABLE | Interest::WRITABLE).is_err() {
            return Some(stream);
        }
        *slot = Some(Connection::new(now, stream, rights));
        None
    }
}

impl Listening {
    fn new(socket: ListeningSocket, file: Option<PathBuf>, trusted: bool) -> Self {
        Self { socket, file, trusted, ready: true, refused: Refused::default() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

/// Binds a unix socket with this mode. Replaces a stale socket; fails if a process has the socket open, or another type
/// of file exists.
fn listen_unix(path: &Path, mode: u32, trusted: bool) -> io::Result<Listening> {
    if is_stale(path)? {
        fs::remove_file(path)?;
    }
    let socket = UnixListener::bind(path)?;
    let listening = Listening::new(socket.into(), Some(path.to_owned()), trusted);
    set_mode_of_socket(path, mode)?;
    Ok(listening)
}

/// Sets the mode of a socket. Does not follow a symbolic link, by which a user with write access to the directory may
/// have replaced the socket.
fn set_mode_of_socket(path: &Path, mode: u32) -> io::Result<()> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.file_type().is_socket() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the socket was replaced"));
    }
    // fchmod does not accept a descriptor of O_PATH. The descriptor's link in /proc leads to exactly this file.
    fs::set_permissions(format!("/proc/self/fd/{}", file.as_raw_fd()), fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod tests;
