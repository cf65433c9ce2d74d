//! Sends that the server has no room for: as with a device whose link is busy, they go out, and complete, when there is
//! room.
use super::{context::Context, events::Events, lock, work};
use ib_mad::{AddressVector, Qkey, Qpn};
use ib_sim::{Datagram, client::ClientError};
use std::{collections::VecDeque, io, sync::Mutex};

/// Sends of a device that wait, in their order.
pub(super) struct Stalled {
    queue: Mutex<VecDeque<Held>>,
    /// Wakes up the thread that lets them go.
    kick: Events<()>,
}

/// A send that waits.
struct Held {
    qpn: Qpn,
    to: AddressVector,
    to_qpn: Qpn,
    qkey: Qkey,
    payload: Vec<u8>,
    done: Done,
}

/// What completes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) id: u64,
    pub(super) length: u32,
    pub(super) solicited: bool,
    /// Whether a completion is wanted.
    pub(super) signaled: bool,
}

impl Stalled {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { queue: Mutex::default(), kick: Events::new()? })
    }

    /// The descriptor that is readable after the first send began to wait.
    pub(super) fn kick(&self) -> &Events<()> {
        &self.kick
    }

    /// Whether room is waited for.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.queue).is_empty()
    }

    /// Forgets a queue pair's.
    pub(super) fn forget(&self, qpn: Qpn) {
        lock(&self.queue).retain(|held| held.qpn != qpn);
    }
}

impl Context {
    /// Sends a datagram; `false` if it waits for room. One that the server refuses, or that finds no server, is lost, as
    /// on a link: the sender does not learn that.
    pub(super) fn transmit(&self, qpn: Qpn, datagram: &Datagram<'_>, done: Done) -> bool {
        let mut client = lock(&self.client);
        let mut queue = lock(&self.stalled.queue);
        if queue.is_empty() {
            if !matches!(client.send_datagram(qpn, datagram), Err(ClientError::Full)) {
                return true;
            }
            self.stalled.kick.push(());
        }
        let (to, to_qpn, qkey, payload) = (datagram.to, datagram.qpn, datagram.qkey, datagram.payload.to_vec());
        queue.push_back(Held { qpn, to, to_qpn, qkey, payload, done });
        false
    }

    /// Sends what waits, as far as there is room.
    pub(super) fn let_go(&self) {
        let mut gone = Vec::new();
        {
            let mut client = lock(&self.client);
            let mut queue = lock(&self.stalled.queue);
            while let Some(held) = queue.pop_front() {
                let datagram = Datagram { to: held.to, qpn: held.to_qpn, qkey: held.qkey, payload: &held.payload };
                if matches!(client.send_datagram(held.qpn, &datagram), Err(ClientError::Full)) {
                    queue.push_front(held);
                    break;
                }
                gone.push((held.qpn, held.done));
            }
        }
        let pairs = lock(&self.pairs);
        for (qpn, done) in gone {
            if let Some(pair) = pairs.get(&qpn) {
                work::sent(pair.get(), done);
            }
        }
    }
}
