//! A client for tokio: any number of tasks ask on one connection, and each waits for its own answer only.
//!
//! [`Session`] knows the protocol, and this file moves the bytes.
use acm_client::{Response, ProtocolError, Request, RequestId, Session};
use std::{collections::HashMap, io, path::Path, time::Duration};
use tokio::{
    net::UnixStream,
    sync::{mpsc, oneshot},
    time::timeout,
};

/// Requests under way at a time: no more than the daemon takes from one client. Who asks more waits for a place.
const DEPTH: usize = 64;

type Question = (Request, oneshot::Sender<Response>);

/// One connection, for as many tasks as have a copy.
#[derive(Clone, Debug)]
pub struct AsyncClient {
    questions: mpsc::Sender<Question>,
}

impl AsyncClient {
    /// Connects to the daemon's socket; a task of the current runtime owns the connection until the last copy is gone.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path).await?;
        let (questions, waiting) = mpsc::channel(DEPTH);
        tokio::spawn(drive(stream, waiting));
        Ok(Self { questions })
    }

    /// Asks, and waits at most so long. `None`: the time is over, or the daemon has closed the connection.
    pub async fn ask(&self, request: Request, patience: Duration) -> Option<Response> {
        let (tell, answer) = oneshot::channel();
        let asked = async {
            self.questions.send((request, tell)).await.ok()?;
            answer.await.ok()
        };
        timeout(patience, asked).await.ok().flatten()
    }
}

/// Moves bytes until nobody asks any more, or the connection breaks. Those who wait then learn it by their channel.
async fn drive(stream: UnixStream, mut questions: mpsc::Receiver<Question>) -> io::Result<()> {
    let mut session = Session::default();
    let mut waiting: HashMap<RequestId, oneshot::Sender<Response>> = HashMap::new();
    let mut buffer = [0; 4096];
    loop {
        // Nothing came for any of them, and no place is left for others.
        if session.in_flight() >= DEPTH && waiting.values().all(oneshot::Sender::is_closed) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        tokio::select! {
            question = questions.recv(), if session.in_flight() < DEPTH => match question {
                // Who asked may have gone away meanwhile.
                Some((_, tell)) if tell.is_closed() => {}
                Some((request, tell)) => {
                    waiting.insert(session.ask(&request), tell);
                }
                // Who asks has a copy of the client: nobody waits.
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
    while let Some((id, answer)) = session.poll().map_err(broken)? {
        if let Some(tell) = waiting.remove(&id) {
            // Nobody may wait for it any more.
            let _ = tell.send(answer);
        }
    }
    Ok(())
}

/// Readiness may be a false alarm.
fn unless_blocked(moved: io::Result<usize>) -> io::Result<usize> {
    match moved {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        moved => moved,
    }
}
