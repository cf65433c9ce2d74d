//! A UD queue pair with its buffers.
#![expect(unsafe_code, reason = "lends memory to the device")]
use super::{
    Completion, CompletionStatus, Context, Datagram, QueueKey, SendId, UdConfig,
    address_handle::AddressHandles,
    completion_queue::{BATCH, WorkCompletion},
    datagram::GRH_LEN,
    queues::{Destination, Queues},
    region::Region,
    sends::Sends,
    work::Work,
};
use crate::{Error, Result};
use ib_mad::{AddressVector, Gid, Lid, Qkey, Qpn, ServiceLevel, Wire, packet::Grh};
use ib_verbs_sys::ibv_sge;
use nix::errno::Errno;
use std::collections::VecDeque;

/// The largest MTU in bytes.
const MAX_MTU: u32 = 4096;

/// A UD queue pair, ready to send and to receive.
///
/// [`Self::poll`] recovers the queue pair from every error. The queue pair number and the attached groups stay the
/// same. Dropping the queue pair detaches it from its groups and frees all resources. Leaving the groups at the subnet
/// administrator is up to the program.
#[derive(Debug)]
pub struct UdQueuePair {
    queues: Queues,
    config: UdConfig,
    key: QueueKey,
    receives: Region,
    /// Memory for the ends of packets that are longer than a slot. The program never reads this memory.
    overflow: Region,
    sends: Sends,
    handles: AddressHandles,
    groups: Vec<(Gid, Lid)>,
    /// Number of restarts. A completion with another number is from before the last restart.
    epoch: u32,
    /// Polled completions of receives that were not handled yet.
    completed: VecDeque<WorkCompletion>,
    /// Receive slots that are not posted.
    idle: Vec<u32>,
    /// True after a failure. The state of the queue pair must then be checked.
    failed: bool,
    /// The last field, so that the device is closed after all other fields are dropped.
    context: Context,
}

/// A result of [`UdQueuePair::poll`] before it borrows from the buffers.
enum Polled {
    Datagram(u32, WorkCompletion),
    Other(Completion<'static>),
}

impl UdQueuePair {
    /// Creates a queue pair and posts all its receive buffers.
    ///
    /// # Errors
    /// [`Error::Call`] with `ENOMEM` if `ulimit -l` or the device allows no more, `EPERM` without CAP_NET_RAW for a
    /// Q_Key with its upper bit set, `EINVAL` for a P_Key index or port that does not exist.
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
            overflow: Region::new(context, 1, MAX_MTU)?,
            sends: Sends::new(context, config.send_depth, config.max_payload)?,
            handles: AddressHandles::new(config.address_handles),
            groups: Vec::new(),
            epoch: 0,
            completed: VecDeque::with_capacity(BATCH.into()),
            idle: Vec::new(),
            failed: false,
            config,
            context: context.clone(),
        };
        pair.restart()?;
        Ok(pair)
    }

    /// Returns the queue pair number, to which other ports send datagrams.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        self.queues.qpn()
    }

    /// Returns the queue pair's key in [`Context::next_completion`] and in events.
    #[must_use]
    pub const fn key(&self) -> QueueKey {
        self.key
    }

    /// Returns the configuration, with the numbers of buffers that the device allowed.
    #[must_use]
    pub const fn config(&self) -> &UdConfig {
        &self.config
    }

    /// Sends a datagram. If the Q_Key's upper bit is set, the device sends the queue pair's own Q_Key (IBTA 10.2.5).
    ///
    /// For a new destination, an address handle is created by a system call. On RoCE, this call resolves the neighbour,
    /// which may take some time.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::SendQueueFull`] until a send completes; [`Error::Call`] for an address that the
    /// device rejects (`EINVAL`: no GRH on RoCE). After an error nothing was sent.
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
            // SAFETY: the slot was free, so no posted send uses it.
            let bytes = unsafe { self.sends.memory.write(slot) };
            for (to, from) in bytes.iter_mut().zip(payload) {
                *to = *from;
            }
            self.sends.memory.sge(slot, len)
        };
        let work = Work::Send(slot).to_id(self.epoch);
        // SAFETY: the handle is kept with the slot until the completion or a restart; both outlive the queues (see
        // `drop`). The payload of an inline send is borrowed during the call.
        if let Err(error) = unsafe { self.queues.post_send(work, &to, memory, inline) } {
            self.sends.give_back(slot);
            self.failed = true;
            return Err(error);
        }
        Ok(self.sends.begin(slot, handle))
    }

    /// Frees the slots of completed sends. [`Self::poll`] reports the sends.
    fn reap_sends(&mut self) -> Result<()> {
        let mut completions: Vec<WorkCompletion> = Vec::new();
        loop {
            self.queues.sent.poll(&mut completions)?;
            if completions.is_empty() {
                return Ok(());
            }
            for completion in completions.drain(..) {
                if let (epoch, Work::Send(slot)) = Work::from_id(completion.id)
                    && epoch == self.epoch
                {
                    self.failed |= completion.status != CompletionStatus::SUCCESS;
                    self.sends.end(slot, completion.status);
                }
            }
        }
    }

    /// Returns the next completion, sends before receives. `None` if there is no completion; the completion channel
    /// then reports the next completion. Recovers the queue pair from errors.
    ///
    /// # Errors
    /// [`Error::Gone`], or [`Error::Call`] if the device cannot recover the queue pair or cannot request events. After
    /// an error the channel may not report completions, so call this function again later.
    pub fn poll(&mut self) -> Result<Option<Completion<'_>>> {
        match self.poll_next()? {
            None => Ok(None),
            Some(Polled::Other(completion)) => Ok(Some(completion)),
            Some(Polled::Datagram(slot, received)) => {
                // SAFETY: the slot's completion was polled. Only the next call, which needs `self` exclusively, posts
                // the slot again.
                let bytes = unsafe { self.receives.read(slot) };
                let bytes = bytes.get(..received.len as usize).unwrap_or(bytes);
                let (grh, payload) = Grh::parse_prefix(bytes).map_or((None, bytes), |(grh, rest)| (Some(grh), rest));
                Ok(Some(Completion::Received(Datagram {
                    slid: received.slid,
                    src_qpn: received.src_qpn,
                    sl: ServiceLevel::masked(received.sl),
                    path_bits: received.path_bits,
                    grh: grh.filter(|_| received.has_grh),
                    payload,
                })))
            }
        }
    }

    fn poll_next(&mut self) -> Result<Option<Polled>> {
        let (mut restarts, mut armed) = (0, false);
        loop {
            let posted = self.post_idle();
            if self.completed.is_empty() {
                self.reap_sends()?;
                self.queues.received.poll(&mut self.completed)?;
            }
            if let Some(completion) = self.sends.next_completion() {
                return Ok(Some(Polled::Other(completion)));
            }
            match self.completed.pop_front() {
                Some(completion) => {
                    if let Some(polled) = self.end_receive(completion) {
                        return Ok(Some(polled));
                    }
                }
                None if !self.failed => {
                    if armed {
                        return Ok(None);
                    }
                    // Completions before the call of `arm` cause no event, so poll once more.
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

    /// Ends a receive and frees its slot. Returns `None` if there is nothing to report.
    fn end_receive(&mut self, completion: WorkCompletion) -> Option<Polled> {
        let (epoch, Work::Receive(slot)) = Work::from_id(completion.id) else { return None };
        if epoch != self.epoch {
            return None;
        }
        self.failed |= completion.status != CompletionStatus::SUCCESS;
        self.idle.push(slot);
        match completion.status {
            CompletionStatus::SUCCESS => {
                // The length includes the global route header; a smaller length is a fault of the device.
                let len = completion.len.checked_sub(GRH_LEN)?;
                Some(if len > self.config.max_payload {
                    let WorkCompletion { slid, src_qpn, .. } = completion;
                    Polled::Other(Completion::TooLong { len, slid, src_qpn })
                } else {
                    Polled::Datagram(slot, completion)
                })
            }
            // The first failed receive has reported the cause; all other receives are flushed.
            CompletionStatus::FLUSHED => None,
            status => Some(Polled::Other(Completion::ReceiveFailed(status))),
        }
    }

    /// Posts the idle receive slots. A slot that the device refuses stays idle.
    fn post_idle(&mut self) -> Result<()> {
        if self.failed {
            // In the state ERROR the receives would be flushed at once, in an endless loop.
            return Ok(());
        }
        while let Some(slot) = self.idle.pop() {
            let work = Work::Receive(slot).to_id(self.epoch);
            let overflow = self.overflow.sge(0, self.overflow.slot_len());
            let memory = [self.receives.sge(slot, self.receives.slot_len()), overflow];
            // SAFETY: the memory is registered. The slot is not posted, and is not read before its completion. The
            // overflow memory is never read. Both outlive the queues (see `drop`).
            let posted = unsafe { self.queues.post_receive(work, memory) };
            if posted.is_err() {
                self.idle.push(slot);
                self.failed = true;
                return posted;
            }
        }
        Ok(())
    }

    /// Recovers a failed queue pair; does nothing if the queue pair works. Call this function after
    /// [`super::Event::QueuePairError`]. [`Self::poll`] calls it after failed completions.
    ///
    /// # Errors
    /// [`Error::Gone`], or [`Error::Call`] if the device rejects the operation.
    pub fn recover(&mut self) -> Result<()> {
        if !self.queues.resume_sending()? {
            self.restart()?;
        }
        self.failed = false;
        Ok(())
    }

    /// Uses another entry of the port's P_Key table, after the table changed. Posted work is lost: sends are reported
    /// as [`Completion::SendFailed`].
    ///
    /// # Errors
    /// [`Error::Call`] with `EINVAL` for an index that does not exist; call again with another index.
    pub fn set_pkey_index(&mut self, index: u16) -> Result<()> {
        if index == self.config.pkey_index {
            return Ok(());
        }
        self.config.pkey_index = index;
        self.restart()
    }

    /// Stops the queue pair. Posted work is lost: sends are reported as [`Completion::SendFailed`]. The next
    /// [`Self::poll`] restarts the queue pair.
    ///
    /// # Errors
    /// [`Error::Gone`], or [`Error::Call`] if the device rejects the operation.
    pub fn flush(&mut self) -> Result<()> {
        self.failed = true;
        self.queues.fail()
    }

    /// Drops the cached address handles. Call this function when the indexes of the port's GIDs change, because a
    /// handle contains such an index.
    pub fn clear_address_handles(&mut self) {
        self.handles.clear();
    }

    /// Attaches the queue pair to a group, by the GID of the group and the LID that the subnet administrator assigned.
    /// If the queue pair is attached with another LID, detaches it first. If it is attached with this LID, does
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Call`]: `EINVAL` for a GID that is not a multicast GID.
    pub fn attach(&mut self, group: Gid, mlid: Lid) -> Result<()> {
        match self.groups.iter().find(|(attached, _)| *attached == group) {
            Some((_, attached)) if *attached == mlid => return Ok(()),
            Some(_) => self.detach(group)?,
            None => {}
        }
        self.queues.attach(group, mlid)?;
        self.groups.push((group, mlid));
        Ok(())
    }

    /// Detaches the queue pair from a group. Does nothing if the queue pair is not attached.
    ///
    /// # Errors
    /// [`Error::Call`] if the device rejects the operation.
    pub fn detach(&mut self, group: Gid) -> Result<()> {
        let Some(at) = self.groups.iter().position(|(attached, _)| *attached == group) else { return Ok(()) };
        let (group, mlid) = self.groups.swap_remove(at);
        self.queues.detach(group, mlid)
    }

    /// Restarts the queue pair: posts all receive slots, and marks all sends as flushed.
    fn restart(&mut self) -> Result<()> {
        self.failed = true;
        self.queues.restart(self.config.port, self.config.pkey_index, self.config.qkey)?;
        self.epoch = self.epoch.wrapping_add(1);
        // Nothing is posted now. Old completions are removed to make room in the completion queues.
        for queue in [&self.queues.sent, &self.queues.received] {
            loop {
                self.completed.clear();
                queue.poll(&mut self.completed)?;
                if self.completed.is_empty() {
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
            // A removed device has no groups any longer.
            let _ = self.queues.detach(group, mlid);
        }
        if !self.queues.destroy() {
            self.receives.leak();
            self.overflow.leak();
            self.sends.memory.leak();
        }
    }
}
