//! A client for tokio. Any number of tasks send requests on one connection, and each waits for its own response.
//!
//! [`Session`] implements the protocol. This file reads and writes the bytes.
use acm_client::{ProtocolError, Request, RequestId, Response, Session};
use std::{collections::HashMap, io, path::Path, time::Duration};
use tokio::{
    net::UnixStream,
    sync::{mpsc, oneshot},
    time::timeout,
};

/// Maximum number of requests in flight, which is the daemon's limit for a client. Further requests wait.
const DEPTH: usize = 64;

/// A request and the channel for its response.
type Submission = (Request, oneshot::Sender<Response>);

/// A connection. Clones share it.
#[derive(Clone, Debug)]
pub struct AsyncClient {
    submissions: mpsc::Sender<Submission>,
}

impl AsyncClient {
    /// Connects to the daemon's socket. A task of the current runtime owns the connection until the last clone is
    /// dropped.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path).await?;
        let (submissions, queue) = mpsc::channel(DEPTH);
        tokio::spawn(drive(stream, queue));
        Ok(Self { submissions })
    }

    /// Sends a request and waits for the response. Returns `None` after the time-out, or if the daemon has closed the
    /// connection.
    pub async fn ask(&self, request: Request, limit: Duration) -> Option<Response> {
        let (sender, response) = oneshot::channel();
        let exchange = async {
            self.submissions.send((request, sender)).await.ok()?;
            response.await.ok()
        };
        timeout(limit, exchange).await.ok().flatten()
    }
}

/// Reads and writes until the last client is dropped or the connection breaks. The channels of open requests are closed
/// then.
async fn drive(stream: UnixStream, mut queue: mpsc::Receiver<Submission>) -> io::Result<()> {
    let mut session = Session::default();
    let mut waiting: HashMap<RequestId, oneshot::Sender<Response>> = HashMap::new();
    let mut buffer = [0; 4096];
    loop {
        // All requests in flight have timed out, and there is no room for others.
        if session.in_flight() >= DEPTH && waiting.values().all(oneshot::Sender::is_closed) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        tokio::select! {
            submission = queue.recv(), if session.in_flight() < DEPTH => match submission {
                // The request has timed out in the queue.
                Some((_, sender)) if sender.is_closed() => {}
                Some((request, sender)) => {
                    waiting.insert(session.ask(&request), sender);
                }
                // All clients are dropped, so that no request is open.
                None => return Ok(()),
            },
            ready = stream.readable() => {
                ready?;
                receive(&stream, &mut session, &mut buffer, &mut waiting)?;
            }
            ready = stream.writable(), if !session.to_send().is_empty() => {
                ready?;
                let sent = unless_blocked(stream.try_write(session.to_send()))?;
                session.sent(sent);
            }
        }
    }
}

fn receive(
    stream: &UnixStream,
    session: &mut Session,
    buffer: &mut [u8],
    waiting: &mut HashMap<RequestId, oneshot::Sender<Response>>,
) -> io::Result<()> {
    match stream.try_read(buffer) {
        Ok(0) => return Err(io::ErrorKind::ConnectionReset.into()),
        count => session.receive(buffer.get(..unless_blocked(count)?).unwrap_or_default()),
    }
    let broken = |error: ProtocolError| io::Error::new(io::ErrorKind::InvalidData, error);
    while let Some((id, response)) = session.poll().map_err(broken)? {
        if let Some(sender) = waiting.remove(&id) {
            // The request may have timed out.
            let _ = sender.send(response);
        }
    }
    Ok(())
}

/// Returns 0 for `WouldBlock`, because readiness may be spurious.
fn unless_blocked(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}
