//! Commands from ibacm's threads to the engine.
use crate::ports::SharedCounters;
use acm_provider::plugin::{Address, Endpoint, Port, Request, SaResponse, Status};
use acm_sansio::{PortId, SaRequestId};
use core::sync::atomic::{AtomicUsize, Ordering};
use mio::{Poll, Token, Waker};
use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};

#[derive(Debug)]
pub(crate) enum Command {
    PortOpened(PortId, Port),
    PortClosed(PortId),
    Reregister(PortId),
    EndpointOpened(PortId, Endpoint, SharedCounters),
    EndpointClosed(PortId, Endpoint),
    AddressAdded(PortId, Endpoint, Address),
    AddressRemoved(PortId, Endpoint, Address),
    Resolve(Request),
    Query(Request),
    SaResponded(SaRequestId, SaResponse),
}

/// The token of the commands' waker.
pub(crate) const WAKE: Token = Token(0);

/// Maximum number of queued requests. ibacm bounds the number of all other commands: ports, addresses, and one SA
/// response for each SA request of the core.
const MOST_REQUESTS: usize = 16_384;

/// The sending end, for ibacm's threads. Sending never blocks.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    sender: Sender<Command>,
    requests: Arc<AtomicUsize>,
    waker: Arc<Waker>,
}

/// The receiving end, for the engine.
#[derive(Debug)]
pub(crate) struct Inbox {
    receiver: Receiver<Command>,
    requests: Arc<AtomicUsize>,
}

impl Commands {
    pub(crate) fn send(&self, command: Command) {
        // After a panic there is no engine. A request in the command is then dropped, which sends the response ENODATA.
        if self.sender.send(command).is_ok() {
            let _ = self.waker.wake();
        }
    }

    pub(crate) fn send_request(&self, request: Request, command: fn(Request) -> Command) {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= MOST_REQUESTS {
            self.requests.fetch_sub(1, Ordering::Relaxed);
            return request.fail(Status::ENOMEM);
        }
        self.send(command(request));
    }
}

/// Creates both ends, and the engine's `Poll`.
pub(crate) fn new() -> io::Result<(Commands, Inbox, Poll)> {
    let poll = Poll::new()?;
    let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
    let (sender, receiver) = channel();
    let requests = Arc::new(AtomicUsize::new(0));
    Ok((Commands { sender, requests: requests.clone(), waker }, Inbox { receiver, requests }, poll))
}

impl Inbox {
    pub(crate) fn take(&self) -> Option<Command> {
        let command = self.receiver.try_recv().ok()?;
        if matches!(command, Command::Resolve(_) | Command::Query(_)) {
            self.requests.fetch_sub(1, Ordering::Relaxed);
        }
        Some(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_provider::testing::{request, responses};

    const MESSAGE: [u8; 16] = [0; 16];

    #[test]
    fn request_over_16384_gets_enomem_until_one_is_taken() {
        let (commands, inbox, _poll) = new().unwrap();
        for _ in 0..16_384 {
            commands.send_request(request(1, &MESSAGE).0, Command::Resolve);
        }
        let send = |command| {
            let (request, id) = request(1, &MESSAGE);
            commands.send_request(request, command);
            responses(id).first().map(|response| response.message.header.status)
        };
        let refused = Some(Status::ENOMEM.get());
        assert_eq!((send(Command::Resolve), send(Command::Query)), (refused, refused));
        // Other commands are not counted.
        commands.send(Command::Reregister(PortId(1)));
        assert!(matches!(inbox.take(), Some(Command::Resolve(_))));
        assert_eq!((send(Command::Query), send(Command::Query)), (None, refused));
        let rest: Vec<_> = core::iter::from_fn(|| inbox.take()).collect();
        assert_eq!(rest.len(), 16_383 + 2);
        assert_eq!(send(Command::Query), None, "each request that was taken makes room");
        assert_eq!(inbox.requests.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn request_that_no_engine_takes_gets_enodata() {
        let (commands, inbox, _poll) = new().unwrap();
        drop(inbox);
        let (request, id) = request(1, &MESSAGE);
        commands.send_request(request, Command::Resolve);
        assert_eq!(responses(id)[0].message.header.status, 3);
    }
}
