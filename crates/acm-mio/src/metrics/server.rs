//! Listens for scrapers and answers them, in the daemon's one loop.
use super::{
    connection::{Connection, Progress},
    http::{self, Page, Wanted},
};
use crate::stream::Stream;
use acm_sansio::Time;
use acm_wire::files::opts::MetricsTarget;
use core::{ops::Range, time::Duration};
use mio::{
    Interest, Registry, Token,
    net::{TcpListener, UnixListener},
};
use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// In the run directory: what `acm-mio --status` asks.
pub(crate) const STATUS_SOCKET: &str = "acm-mio.status";
/// Scrapers at a time; another one takes the place of the oldest.
const MOST: usize = 8;
/// Of those, places that only whoever may ask for the status has.
const FOR_STATUS: usize = 2;
/// Numbers may be as old as this: writing them takes some of everybody's time.
const FRESH: Duration = Duration::from_millis(100);
/// Places to listen at: the status socket, and what `metrics_listen` says.
const LISTENERS: usize = 2;
/// Wake-ups: the listeners, then the scrapers.
pub(crate) const TOKENS: Range<usize> = FIRST..FIRST + LISTENERS + MOST;
const FIRST: usize = 4;

#[derive(Debug)]
enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

#[derive(Debug)]
struct Listening {
    socket: Socket,
    /// To be removed in the end.
    file: Option<PathBuf>,
    /// Who connects may see what names users.
    trusted: bool,
    ready: bool,
}

/// Scrapers, and where they come from: the status socket, and what `metrics_listen` says.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    listening: [Option<Listening>; LISTENERS],
    connections: [Option<Connection>; MOST],
    /// What was written last, and when.
    written: [Option<(Time, String)>; 2],
}

impl Metrics {
    /// Listens on the status socket. Without it the daemon serves its clients all the same.
    pub(crate) fn open(run_dir: &Path, registry: &Registry) -> Self {
        let mut metrics = Self::default();
        let path = run_dir.join(STATUS_SOCKET);
        match listen_unix(&path, 0o660, true) {
            Ok(listening) => metrics.listen(0, listening, registry),
            Err(error) => tracing::warn!(target: "metrics", "no status socket {}: {error}", path.display()),
        }
        metrics
    }

    /// Listens where the option says, and nowhere else.
    pub(crate) fn configure(&mut self, target: MetricsTarget<'_>, registry: &Registry) {
        if let Some(mut before) = self.listening.get_mut(1).and_then(Option::take) {
            let _ = match &mut before.socket {
                Socket::Unix(socket) => registry.deregister(socket),
                Socket::Tcp(socket) => registry.deregister(socket),
            };
        }
        let opened = match target {
            MetricsTarget::None => return,
            MetricsTarget::Unix(path) => listen_unix(Path::new(path), 0o666, false),
            MetricsTarget::Loopback(address) => TcpListener::bind(address).map(|socket| Listening {
                socket: Socket::Tcp(socket),
                file: None,
                trusted: false,
                ready: true,
            }),
        };
        match opened {
            Ok(listening) => {
                tracing::info!(target: "metrics", "metrics_listen: serving GET /metrics");
                self.listen(1, listening, registry);
            }
            Err(error) => tracing::warn!(target: "metrics", "metrics_listen: {error}; metrics are not served there"),
        }
    }

    fn listen(&mut self, place: usize, mut listening: Listening, registry: &Registry) {
        let token = Token(FIRST + place);
        let registered = match &mut listening.socket {
            Socket::Unix(socket) => registry.register(socket, token, Interest::READABLE),
            Socket::Tcp(socket) => registry.register(socket, token, Interest::READABLE),
        };
        match registered {
            Ok(()) => {
                if let Some(slot) = self.listening.get_mut(place) {
                    *slot = Some(listening);
                }
            }
            Err(error) => tracing::warn!(target: "metrics", "not served: {error}"),
        }
    }

    /// Whether a wake-up is for this.
    pub(crate) fn owns(token: Token) -> bool {
        TOKENS.contains(&token.0)
    }

    /// What has this token may have something to do.
    pub(crate) fn ready(&mut self, token: Token) {
        let place = token.0 - FIRST;
        if let Some(listening) = self.listening.get_mut(place) {
            if let Some(listening) = listening {
                listening.ready = true;
            }
        } else if let Some(Some(connection)) = self.connections.get_mut(place - LISTENERS) {
            connection.ready = true;
        }
    }

    /// Whether there is something to do now.
    pub(crate) fn is_ready(&self) -> bool {
        self.listening.iter().flatten().any(|listening| listening.ready)
            || self.connections.iter().flatten().any(|connection| connection.ready)
    }

    /// When the next scraper has had its time.
    pub(crate) fn due(&self) -> Option<Time> {
        self.connections.iter().flatten().map(|connection| connection.until).min()
    }

    /// Does what there is to do. At most one page is written anew: who comes at once waits for the next turn.
    pub(crate) fn serve(&mut self, now: Time, registry: &Registry, mut write: impl FnMut(Page) -> String) {
        for slot in &mut self.connections {
            if slot.as_ref().is_some_and(|connection| connection.until <= now) {
                close(slot, registry);
            }
        }
        for place in 0..self.listening.len() {
            self.accept(now, place, registry);
        }
        let mut wrote = false;
        for slot in &mut self.connections {
            let Some(connection) = slot.as_mut().filter(|connection| connection.ready) else { continue };
            let mut progress = Progress::Waits;
            if !connection.is_answered() {
                progress = connection.receive();
                match http::wanted(&connection.head) {
                    None => {}
                    Some(Wanted::Page(page)) if page == Page::Metrics || connection.trusted => {
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
                        connection.set_answer(http::answer("200 OK", http::kind(page), &text));
                    }
                    Some(Wanted::Page(_) | Wanted::NoPage) => connection.set_answer(refusal("404 Not Found")),
                    Some(Wanted::NoMethod) => connection.set_answer(refusal("405 Method Not Allowed")),
                    Some(Wanted::Malformed) => connection.set_answer(refusal("400 Bad Request")),
                }
            }
            if connection.is_answered() {
                progress = connection.send();
            }
            connection.ready = false;
            if progress == Progress::Over {
                close(slot, registry);
            }
        }
    }

    fn accept(&mut self, now: Time, place: usize, registry: &Registry) {
        for _ in 0..MOST {
            let Some(listening) = self.listening.get_mut(place).and_then(Option::as_mut) else { return };
            if !listening.ready {
                return;
            }
            let accepted = match &listening.socket {
                Socket::Unix(socket) => socket.accept().map(|(stream, _)| Stream::Unix(stream)),
                Socket::Tcp(socket) => socket.accept().map(|(stream, _)| Stream::Tcp(stream)),
            };
            let trusted = listening.trusted;
            let mut stream = match accepted {
                Ok(stream) => stream,
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => continue,
                // With no descriptor left as with nobody there: the next who comes wakes us up.
                Err(_) => {
                    listening.ready = false;
                    return;
                }
            };
            let Some(number) = self.place(trusted) else { return };
            let Some(slot) = self.connections.get_mut(number) else { return };
            close(slot, registry);
            let token = Token(FIRST + LISTENERS + number);
            if registry.register(stream.source(), token, Interest::READABLE | Interest::WRITABLE).is_ok() {
                *slot = Some(Connection::new(now, stream, trusted));
            }
        }
    }

    /// Where another scraper goes: a free place, or the oldest one's.
    fn place(&self, trusted: bool) -> Option<usize> {
        let by_age = |slot: &Option<Connection>| slot.as_ref().map(|connection| connection.until);
        let first = if trusted { 0 } else { FOR_STATUS };
        (first..MOST).min_by_key(|place| self.connections.get(*place).and_then(by_age))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

fn close(slot: &mut Option<Connection>, registry: &Registry) {
    if let Some(mut connection) = slot.take() {
        let _ = registry.deregister(connection.stream.source());
    }
}

fn refusal(status: &str) -> Vec<u8> {
    http::answer(status, "text/plain; charset=utf-8", "GET /metrics\n")
}

/// A unix socket with this mode. A stale one goes; what is no socket stays, and is an error.
fn listen_unix(path: &Path, mode: u32, trusted: bool) -> io::Result<Listening> {
    use std::os::unix::fs::FileTypeExt;
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        fs::remove_file(path)?;
    }
    let socket = UnixListener::bind(path)?;
    let listening = Listening { socket: Socket::Unix(socket), file: Some(path.to_owned()), trusted, ready: true };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    Ok(listening)
}

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod tests;
