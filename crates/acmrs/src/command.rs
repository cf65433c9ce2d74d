//! What ibacm's threads leave for the engine.
use crate::counters::Shared;
use acm_provider::plugin::{Address, Endpoint, Port, Request, SaAnswer, Status};
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
    EndpointOpened(PortId, Endpoint, Shared),
    EndpointClosed(PortId, Endpoint),
    AddressAdded(PortId, Endpoint, Address),
    AddressRemoved(PortId, Endpoint, Address),
    Resolve(Request),
    Query(Request),
    SaAnswered(SaRequestId, SaAnswer),
}

/// The token of what is left for the engine.
pub(crate) const WAKE: Token = Token(0);

/// Requests that wait until the engine takes them. ibacm itself bounds what else comes: ports, addresses, and one question
/// to subnet administration for each that the core asks.
const MOST_REQUESTS: usize = 16_384;

/// The end of ibacm's threads. Leaving something never blocks.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    sender: Sender<Command>,
    requests: Arc<AtomicUsize>,
    waker: Arc<Waker>,
}

/// The engine's end.
#[derive(Debug)]
pub(crate) struct Inbox {
    receiver: Receiver<Command>,
    requests: Arc<AtomicUsize>,
}

impl Commands {
    pub(crate) fn leave(&self, command: Command) {
        // There is no engine any more if it panicked; a request in the command is answered as it is dropped.
        if self.sender.send(command).is_ok() {
            let _ = self.waker.wake();
        }
    }

    pub(crate) fn ask(&self, request: Request, command: fn(Request) -> Command) {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= MOST_REQUESTS {
            self.requests.fetch_sub(1, Ordering::Relaxed);
            return request.fail(Status::ENOMEM);
        }
        self.leave(command(request));
    }
}

/// Both ends, and what the engine waits with.
pub(crate) fn ends() -> io::Result<(Commands, Inbox, Poll)> {
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
