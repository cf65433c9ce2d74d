//! A client of ibacm and acm-mio for tokio. Any number of tasks send requests on one connection, and each waits for its
//! own response. If the daemon restarts, the client connects again and repeats the requests without a response.
//!
//! [`Session`] implements the protocol. This module reads and writes the bytes.
use crate::{ProtocolError, Request, RequestId, Response, Service, Session};
use ::tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpStream, UnixStream},
    sync::{mpsc, oneshot, watch},
    time,
};
use core::time::Duration;
use std::{collections::BTreeMap, io};

/// Maximum number of requests in flight, which is the daemon's limit for a client. Further requests wait.
const DEPTH: usize = 64;
/// First and longest pause between two attempts to connect.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));
/// Number of connections after whose loss a request is not repeated: the request itself may be the cause.
const MAX_LOSSES: u8 = 2;

/// The reason why a request has no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// There was no response in time. The daemon has the request, or the request waited for one of the places in flight:
    /// the time includes this wait.
    #[error("the daemon has not responded in time")]
    Late,
    /// There was no connection to the daemon when the time ended.
    #[error("there is no connection to the daemon")]
    Disconnected,
    /// The daemon closed the connection twice without a response to this request.
    #[error("the daemon closed two connections without a response")]
    Lost,
}

/// A request that is not answered.
struct Pending {
    request: Request,
    losses: u8,
    response: oneshot::Sender<Result<Response, AskError>>,
}

/// A connection. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    submissions: mpsc::Sender<Pending>,
    is_connected: watch::Receiver<bool>,
}

impl Client {
    /// Connects to a daemon. A task of the current runtime owns the connection until the last clone is dropped.
    ///
    /// # Errors
    /// The first attempt to connect fails. Later ones are repeated. An attempt waits while the daemon's queue of new clients
    /// is full.
    pub async fn connect(service: Service) -> io::Result<Self> {
        let stream = open(&service).await?;
        let (submissions, queue) = mpsc::channel(DEPTH);
        let (connected, is_connected) = watch::channel(true);
        ::tokio::spawn(Driver { service, queue, connected, repeated: Vec::new() }.run(stream));
        Ok(Self { submissions, is_connected })
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// There is no response after `limit`, or two connections ended before the response.
    pub async fn ask(&self, request: Request, limit: Duration) -> Result<Response, AskError> {
        let (response, received) = oneshot::channel();
        let exchange = async {
            let pending = Pending { request, losses: 0, response };
            self.submissions.send(pending).await.map_err(|_| AskError::Disconnected)?;
            received.await.unwrap_or(Err(AskError::Disconnected))
        };
        let late = || if *self.is_connected.borrow() { AskError::Late } else { AskError::Disconnected };
        time::timeout(limit, exchange).await.unwrap_or_else(|_| Err(late()))
    }

    /// True if there is a connection to the daemon now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        *self.is_connected.borrow()
    }
}

/// A stream of either kind of socket.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn open(service: &Service) -> io::Result<Box<dyn Stream>> {
    Ok(match service {
        Service::Unix(path) => Box::new(loop {
            match UnixStream::connect(path).await {
                // The daemon's queue of new clients is full: EAGAIN.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => time::sleep(PAUSE.0).await,
                other => break other?,
            }
        }),
        Service::Tcp { host, port } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    })
}

/// The end of a connection.
enum End {
    /// All clients are dropped.
    Unused,
    /// The connection is lost.
    Lost,
}

/// The task that owns the connection.
struct Driver {
    service: Service,
    queue: mpsc::Receiver<Pending>,
    connected: watch::Sender<bool>,
    /// Requests of lost connections, which are sent first.
    repeated: Vec<Pending>,
}

impl Driver {
    async fn run(mut self, mut stream: Box<dyn Stream>) {
        while let End::Lost = self.exchange(stream).await {
            self.connected.send_replace(false);
            let Some(next) = self.reconnect().await else { return };
            stream = next;
            self.connected.send_replace(true);
        }
    }

    /// Connects again after pauses. Returns `None` after the last client was dropped.
    async fn reconnect(&mut self) -> Option<Box<dyn Stream>> {
        let (mut pause, longest) = PAUSE;
        loop {
            if let Ok(stream) = open(&self.service).await {
                return Some(stream);
            }
            time::sleep(pause).await;
            pause = longest.min(pause * 2);
            if self.queue.is_closed() {
                return None;
            }
        }
    }

    /// Sends requests and receives responses on one connection until its end.
    async fn exchange(&mut self, stream: Box<dyn Stream>) -> End {
        let (mut input, mut output) = ::tokio::io::split(stream);
        let (mut session, mut waiting, mut buffer) = (Session::default(), BTreeMap::new(), [0; 4096]);
        for pending in self.repeated.drain(..) {
            waiting.insert(session.ask(&pending.request), pending);
        }
        loop {
            // All requests in flight have timed out, and there is no room for others.
            if session.in_flight() >= DEPTH && waiting.values().all(|pending| pending.response.is_closed()) {
                break;
            }
            ::tokio::select! {
                submission = self.queue.recv(), if session.in_flight() < DEPTH => match submission {
                    // The request has timed out in the queue.
                    Some(pending) if pending.response.is_closed() => {}
                    Some(pending) => {
                        waiting.insert(session.ask(&pending.request), pending);
                    }
                    // No request is open.
                    None => return End::Unused,
                },
                count = input.read(&mut buffer) => {
                    let received = count.ok().filter(|count| *count > 0).and_then(|count| buffer.get(..count));
                    let Some(received) = received else { break };
                    session.receive(received);
                    if respond(&mut session, &mut waiting).is_err() {
                        break;
                    }
                }
                // Nothing reports the time-out of a request.
                () = time::sleep(PAUSE.1), if session.in_flight() >= DEPTH => {}
                sent = output.write(session.to_send()), if !session.to_send().is_empty() => match sent {
                    Ok(count) => session.sent(count),
                    Err(_) => break,
                },
            }
        }
        self.keep(waiting);
        End::Lost
    }

    /// Keeps the requests of a lost connection in their order, except those that have lost too many.
    fn keep(&mut self, waiting: BTreeMap<RequestId, Pending>) {
        let mut lost: Vec<(RequestId, Pending)> = waiting.into_iter().collect();
        lost.sort_by_key(|(id, _)| *id);
        for (_, mut pending) in lost {
            pending.losses += 1;
            if pending.losses >= MAX_LOSSES {
                // The request may have timed out.
                let _ = pending.response.send(Err(AskError::Lost));
            } else if !pending.response.is_closed() {
                self.repeated.push(pending);
            }
        }
    }
}

fn respond(session: &mut Session, waiting: &mut BTreeMap<RequestId, Pending>) -> Result<(), ProtocolError> {
    while let Some((id, response)) = session.poll()? {
        if let Some(pending) = waiting.remove(&id) {
            let _ = pending.response.send(Ok(response));
        }
    }
    Ok(())
}
