//! Sends that wait for room at the server. As on a device with a busy link, they are sent and complete later.
use super::{events::Events, lock};
use ib_mad::{AddressVector, Qkey, Qpn};
use ib_sim::{
    Datagram,
    client::{Client, ClientError},
};
use std::{collections::VecDeque, io, sync::Mutex};

/// The waiting sends of a device in their order.
pub(super) struct StalledSends {
    queue: Mutex<VecDeque<StalledSend>>,
    /// Wakes up the thread that resumes them.
    wakeup: Events<()>,
}

/// A send that waits.
struct StalledSend {
    qpn: Qpn,
    to: AddressVector,
    to_qpn: Qpn,
    qkey: Qkey,
    payload: Vec<u8>,
    done: SendDone,
}

/// The contents of a send's completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendDone {
    /// `wr_id` of the work request.
    pub(super) id: u64,
    /// Bytes of payload.
    pub(super) length: u32,
    pub(super) solicited: bool,
    /// True if the program requested a completion.
    pub(super) signaled: bool,
}

impl StalledSends {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { queue: Mutex::default(), wakeup: Events::new()? })
    }

    /// Returns the queue whose descriptor becomes readable when the first send begins to wait.
    pub(super) fn wakeup(&self) -> &Events<()> {
        &self.wakeup
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.queue).is_empty()
    }

    /// Drops the waiting sends of a queue pair.
    pub(super) fn drop_sends_of(&self, qpn: Qpn) {
        lock(&self.queue).retain(|send| send.qpn != qpn);
    }

    /// Sends a datagram, or queues it and returns false if the server has no room or other sends wait. A datagram that
    /// the server refuses, or that finds no server, is lost as on a link: the sender gets no error.
    pub(super) fn send(&self, client: &mut Client, qpn: Qpn, datagram: &Datagram<'_>, done: SendDone) -> bool {
        let mut queue = lock(&self.queue);
        if queue.is_empty() {
            if !matches!(client.send_datagram(qpn, datagram), Err(ClientError::Full)) {
                return true;
            }
            self.wakeup.push(());
        }
        let (to, to_qpn, qkey, payload) = (datagram.to, datagram.qpn, datagram.qkey, datagram.payload.to_vec());
        queue.push_back(StalledSend { qpn, to, to_qpn, qkey, payload, done });
        false
    }

    /// Sends as many waiting datagrams as the server has room for and returns them.
    pub(super) fn resume(&self, client: &mut Client) -> Vec<(Qpn, SendDone)> {
        let mut sent = Vec::new();
        let mut queue = lock(&self.queue);
        while let Some(send) = queue.pop_front() {
            let datagram = Datagram { to: send.to, qpn: send.to_qpn, qkey: send.qkey, payload: &send.payload };
            if matches!(client.send_datagram(send.qpn, &datagram), Err(ClientError::Full)) {
                queue.push_front(send);
                break;
            }
            sent.push((send.qpn, send.done));
        }
        sent
    }
}
