//! A UD queue pair with its buffers.
#![expect(unsafe_code, reason = "lends memory to the device")]
use super::{
    Completion, CompletionStatus, Context, Datagram, QueueKey, SendId, UdConfig,
    address_handle::AddressHandles,
    completion_queue::{BATCH, Ended},
    datagram::GRH_LEN,
    queues::{Destination, Queues},
    region::Region,
    sends::Sends,
    work::Work,
};
use crate::{Error, Result};
use ib_mad::{AddressVector, Gid, Lid, Qkey, Qpn, ServiceLevel, Wire, packet::Grh};
use nix::errno::Errno;
use rdma_sys::ibv_sge;
use std::collections::VecDeque;

/// The largest MTU: no packet has a longer payload.
const LONGEST_PACKET: u32 = 4096;

/// A UD queue pair, ready to send and to receive.
///
/// It goes on after every error by itself, in [`Self::poll`]. Its number stays the same until it is dropped; its
/// groups stay attached. Dropping it detaches and frees everything; leaving groups at the subnet administrator is the
/// program's business.
#[derive(Debug)]
pub struct UdQueuePair {
    queues: Queues,
    config: UdConfig,
    key: QueueKey,
    receives: Region,
    /// Where the ends of packets go that are longer than a slot. Never read.
    spill: Region,
    sends: Sends,
    handles: AddressHandles,
    groups: Vec<(Gid, Lid)>,
    /// Counts restarts, so that completions from before are known.
    epoch: u32,
    /// Receives that ended, and were not looked at yet.
    ended: VecDeque<Ended>,
    /// Receive slots that the device does not have.
    idle: Vec<u32>,
    /// Whether something failed, so that the state must be looked at.
    failed: bool,
    /// Last: the device must outlive the rest.
    context: Context,
}

/// What [`UdQueuePair::poll`] found, before it borrows from the buffers.
enum Found {
    Datagram(u32, Ended),
    Other(Completion<'static>),
}

impl UdQueuePair {
    /// Makes a queue pair with all its buffers posted.
    ///
    /// # Errors
    /// [`Error::Call`] with `ENOMEM` if `ulimit -l` or the device has no room, `EPERM` without CAP_NET_RAW for a Q_Key
    /// with its upper bit set, `EINVAL` for a P_Key index or port that is not there.
    pub fn new(context: &Context, config: UdConfig) -> Result<Self> {
        let limits = context.limits()?;
        let most = limits.queue_depth.min(limits.completions / 2).clamp(1, 1 << 20);
        let config = UdConfig {
            recv_depth: config.recv_depth.clamp(1, most),
            send_depth: config.send_depth.clamp(1, most),
            max_payload: config.max_payload.clamp(1, 1 << 16),
            ..config
        };
        let key = context.new_key();
        let mut pair = Self {
            queues: Queues::new(context, key, config.recv_depth, config.send_depth)?,
            key,
            receives: Region::new(context, config.recv_depth, config.max_payload + GRH_LEN)?,
            spill: Region::new(context, 1, LONGEST_PACKET)?,
            sends: Sends::new(context, config.send_depth, config.max_payload)?,
            handles: AddressHandles::new(config.address_handles),
            groups: Vec::new(),
            epoch: 0,
            ended: VecDeque::with_capacity(BATCH.into()),
            idle: Vec::new(),
            failed: false,
            config,
            context: context.clone(),
        };
        pair.restart()?;
        Ok(pair)
    }

    /// Its number, by which others address it.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        self.queues.qpn()
    }

    /// Its name in [`Context::next_completion`] and in events.
    #[must_use]
    pub const fn key(&self) -> QueueKey {
        self.key
    }

    /// What it became, with the numbers of buffers that the device allowed.
    #[must_use]
    pub const fn config(&self) -> &UdConfig {
        &self.config
    }

    /// Sends a datagram. With a Q_Key whose upper bit is set, the queue pair's own goes out (IBTA 10.2.5).
    ///
    /// Making the address handle for a new destination is a system call; on RoCE it finds the neighbour, which may
    /// take a while.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::SendQueueFull`]: wait for a completion; [`Error::Call`] for a way that the device
    /// refuses (`EINVAL`: no GRH on RoCE). Nothing is under way then.
    pub fn send(&mut self, to: &AddressVector, qpn: Qpn, qkey: Qkey, payload: &[u8]) -> Result<SendId> {
        let max = self.sends.memory.slot_len();
        let len = u32::try_from(payload.len()).ok().filter(|len| *len <= max);
        let Some(len) = len else {
            return Err(Error::Length { what: "datagram", got: payload.len(), min: 0, max: max as usize });
        };
        if self.sends.is_full() {
            self.reap_sends()?;
        }
        let handle = self.handles.get(&self.context, self.config.port, to)?;
        let Some(slot) = self.sends.take() else {
            return Err(Error::SendQueueFull { depth: self.config.send_depth });
        };
        let to = Destination { handle: handle.as_ptr(), qpn, qkey };
        let inline = payload.len() <= self.queues.inline();
        let memory = if inline {
            ibv_sge { addr: payload.as_ptr() as u64, length: len, lkey: 0 }
        } else {
            // SAFETY: the slot was free, so no send that is under way uses it.
            let bytes = unsafe { self.sends.memory.write(slot) };
            for (to, from) in bytes.iter_mut().zip(payload) {
                *to = *from;
            }
            self.sends.memory.sge(slot, len)
        };
        let work = Work::Send(slot).to_id(self.epoch);
        // SAFETY: the handle is kept with the slot until the completion or a restart; both outlive the queues (see
        // `drop`). The payload of an inline send is ours for the call.
        if let Err(error) = unsafe { self.queues.post_send(work, &to, memory, inline) } {
            self.sends.give_back(slot);
            self.failed = true;
            return Err(error);
        }
        Ok(self.sends.begin(slot, handle))
    }

    /// Takes the slots of sends that ended back; [`Self::poll`] tells of them.
    fn reap_sends(&mut self) -> Result<()> {
        let mut ended: Vec<Ended> = Vec::new();
        loop {
            self.queues.sent.poll(&mut ended)?;
            if ended.is_empty() {
                return Ok(());
            }
            for ended in ended.drain(..) {
                if let (epoch, Work::Send(slot)) = Work::from_id(ended.id)
                    && epoch == self.epoch
                {
                    self.failed |= ended.status != CompletionStatus::SUCCESS;
                    self.sends.end(slot, ended.status);
                }
            }
        }
    }

    /// The next thing that ended, sends before receives; `None` when there is nothing for now, and the completion
    /// channel will tell of the next. Recovers the queue pair from errors.
    ///
    /// # Errors
    /// [`Error::Gone`], or [`Error::Call`] if the device cannot recover the queue pair, or cannot tell of completions.
    /// The channel may not tell then: call again later.
    pub fn poll(&mut self) -> Result<Option<Completion<'_>>> {
        match self.find()? {
            None => Ok(None),
            Some(Found::Other(completion)) => Ok(Some(completion)),
            Some(Found::Datagram(slot, ended)) => {
                // SAFETY: the slot's completion was taken, and it is posted again by the next call only, which needs
                // `self` exclusively.
                let bytes = unsafe { self.receives.read(slot) };
                let bytes = bytes.get(..ended.len as usize).unwrap_or(bytes);
                let (grh, payload) = Grh::parse_prefix(bytes).map_or((None, bytes), |(grh, rest)| (Some(grh), rest));
                Ok(Some(Completion::Received(Datagram {
                    slid: ended.slid,
                    src_qpn: ended.src_qpn,
                    sl: ServiceLevel::masked(ended.sl),
                    path_bits: ended.path_bits,
                    grh: grh.filter(|_| ended.has_grh),
                    payload,
                })))
            }
        }
    }

    fn find(&mut self) -> Result<Option<Found>> {
        let (mut restarts, mut armed) = (0, false);
        loop {
            let posted = self.post_idle();
            if self.ended.is_empty() {
                self.reap_sends()?;
                self.queues.received.poll(&mut self.ended)?;
            }
            if let Some(completion) = self.sends.next_ended() {
                return Ok(Some(Found::Other(completion)));
            }
            match self.ended.pop_front() {
                Some(ended) => {
                    if let Some(found) = self.classify(ended) {
                        return Ok(Some(found));
                    }
                }
                None if !self.failed => {
                    if armed {
                        return Ok(None);
                    }
                    // What came before it was armed is not told of.
                    self.queues.arm()?;
                    armed = true;
                }
                None if restarts < 2 => {
                    restarts += 1;
                    self.recover()?;
                }
                None => {
                    let again = Error::Call { call: "recovery of the queue pair", errno: Errno::EAGAIN };
                    return Err(posted.err().unwrap_or(again));
                }
            }
        }
    }

    /// Takes the slot of a receive back. `None` if there is nothing to tell.
    fn classify(&mut self, ended: Ended) -> Option<Found> {
        let (epoch, Work::Receive(slot)) = Work::from_id(ended.id) else { return None };
        if epoch != self.epoch {
            return None;
        }
        self.failed |= ended.status != CompletionStatus::SUCCESS;
        self.idle.push(slot);
        match ended.status {
            CompletionStatus::SUCCESS => {
                // Shorter than a header that is always there: not from a device that works.
                let len = ended.len.checked_sub(GRH_LEN)?;
                Some(if len > self.config.max_payload {
                    Found::Other(Completion::TooLong { len, slid: ended.slid, src_qpn: ended.src_qpn })
                } else {
                    Found::Datagram(slot, ended)
                })
            }
            // The first failure said why; these follow from it.
            CompletionStatus::FLUSHED => None,
            status => Some(Found::Other(Completion::ReceiveFailed(status))),
        }
    }

    /// Gives the device the receive slots that it does not have. What it refuses stays for the next time.
    fn post_idle(&mut self) -> Result<()> {
        if self.failed {
            // In the state ERROR they would come back at once, again and again.
            return Ok(());
        }
        while let Some(slot) = self.idle.pop() {
            let work = Work::Receive(slot).to_id(self.epoch);
            let memory = [self.receives.sge(slot, self.receives.slot_len()), self.spill.sge(0, self.spill.slot_len())];
            // SAFETY: the memory is registered, the device does not have the slot, nobody reads it before its
            // completion, nor the spill ever, and both outlive the queues (see `drop`).
            let posted = unsafe { self.queues.post_receive(work, memory) };
            if posted.is_err() {
                self.idle.push(slot);
                self.failed = true;
                return posted;
            }
        }
        Ok(())
    }

    /// Brings a queue pair that failed back to work; does nothing to one that works. [`Self::poll`] does it by
    /// itself; call it after [`super::Event::QueuePairError`].
    ///
    /// # Errors
    /// [`Error::Gone`], or [`Error::Call`] if the device refuses.
    pub fn recover(&mut self) -> Result<()> {
        if !self.queues.resume_sending()? {
            self.restart()?;
        }
        self.failed = false;
        Ok(())
    }

    /// Uses another entry of the port's P_Key table, after the table changed. What is under way is lost: sends end
    /// as [`Completion::SendFailed`].
    ///
    /// # Errors
    /// [`Error::Call`] with `EINVAL` for an index that is not there: call again with another one.
    pub fn set_pkey_index(&mut self, index: u16) -> Result<()> {
        if index == self.config.pkey_index {
            return Ok(());
        }
        self.config.pkey_index = index;
        self.restart()
    }

    /// Stops the queue pair: everything that is under way ends, sends as [`Completion::SendFailed`]. The next
    /// [`Self::poll`] starts it again.
    ///
    /// # Errors
    /// [`Error::Gone`], or [`Error::Call`] if the device refuses.
    pub fn flush(&mut self) -> Result<()> {
        self.failed = true;
        self.queues.fail()
    }

    /// Forgets the address handles. For when the GIDs of the port moved: a handle means an index, not a GID.
    pub fn forget_addresses(&mut self) {
        self.handles.clear();
    }

    /// Receives what is sent to a group, by its GID and the LID that the subnet administrator gave it. Does nothing if
    /// that is so already; with another LID the old one goes.
    ///
    /// # Errors
    /// [`Error::Call`]: `EINVAL` for a GID that is no group's.
    pub fn attach(&mut self, group: Gid, mlid: Lid) -> Result<()> {
        match self.groups.iter().find(|(known, _)| *known == group) {
            Some((_, known)) if *known == mlid => return Ok(()),
            Some(_) => self.detach(group)?,
            None => {}
        }
        self.queues.attach(group, mlid)?;
        self.groups.push((group, mlid));
        Ok(())
    }

    /// Receives no more of a group. Does nothing if it is not attached.
    ///
    /// # Errors
    /// [`Error::Call`] if the device refuses.
    pub fn detach(&mut self, group: Gid) -> Result<()> {
        let Some(at) = self.groups.iter().position(|(known, _)| *known == group) else { return Ok(()) };
        let (group, mlid) = self.groups.swap_remove(at);
        self.queues.detach(group, mlid)
    }

    /// Starts anew: all receive slots posted, all sends ended.
    fn restart(&mut self) -> Result<()> {
        self.failed = true;
        self.queues.restart(self.config.port, self.config.pkey_index, self.config.qkey)?;
        self.epoch = self.epoch.wrapping_add(1);
        // Nothing is posted now. What ended before must make room in the completion queues.
        for queue in [&self.queues.sent, &self.queues.received] {
            loop {
                self.ended.clear();
                queue.poll(&mut self.ended)?;
                if self.ended.is_empty() {
                    break;
                }
            }
        }
        self.idle = (0..self.receives.slots()).collect();
        self.sends.end_all();
        self.failed = false;
        self.post_idle()
    }
}

impl Drop for UdQueuePair {
    fn drop(&mut self) {
        for (group, mlid) in core::mem::take(&mut self.groups) {
            // A device that is gone has no groups any more.
            let _ = self.queues.detach(group, mlid);
        }
        if !self.queues.destroy() {
            self.receives.leak();
            self.spill.leak();
            self.sends.memory.leak();
        }
    }
}
