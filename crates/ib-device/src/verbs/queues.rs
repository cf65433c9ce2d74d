//! A raw queue pair and its two completion queues.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{Context, QueueKey, check, completion_queue::CompletionQueue, non_null};
use crate::Result;
use core::{
    ffi::c_int,
    mem::MaybeUninit,
    ptr::{self, NonNull},
};
use ib_mad::{Gid, Lid, Qkey, Qpn};
use ib_verbs_sys::{
    ibv_ah, ibv_attach_mcast, ibv_create_qp, ibv_destroy_qp, ibv_detach_mcast, ibv_gid, ibv_modify_qp, ibv_post_recv,
    ibv_post_send, ibv_qp, ibv_qp_attr, ibv_qp_attr_mask as mask, ibv_qp_cap, ibv_qp_init_attr, ibv_qp_state as state,
    ibv_qp_type, ibv_query_qp, ibv_recv_wr, ibv_send_flags, ibv_send_wr, ibv_sge, ibv_wr_opcode, ud_t,
};

/// Requested size of inline data in bytes, so that a MAD is sent without registered memory.
const INLINE: u32 = 256;

/// Number of memory segments of a receive: the slot, and the memory for the rest of a longer packet.
pub(super) const RECEIVE_SEGMENTS: u8 = 2;

/// A UD queue pair with two completion queues. The queues are separate so that a backlog of receives does not delay the
/// completions of sends.
#[derive(Debug)]
pub(super) struct Queues {
    qp: NonNull<ibv_qp>,
    /// Completions of sends.
    pub(super) sent: CompletionQueue,
    /// Completions of receives.
    pub(super) received: CompletionQueue,
    /// Maximum payload of an inline send in bytes.
    inline: usize,
    destroyed: bool,
    /// Keeps the device open.
    context: Context,
}

// SAFETY: libibverbs' objects may be used from any thread.
unsafe impl Send for Queues {}

/// The destination of a send.
pub(super) struct Destination {
    pub(super) handle: *mut ibv_ah,
    pub(super) qpn: Qpn,
    pub(super) qkey: Qkey,
}

impl Queues {
    /// Creates the queue pair in the state RESET, with both completion queues armed.
    pub(super) fn new(context: &Context, key: QueueKey, receives: u32, sends: u32) -> Result<Self> {
        let sent = CompletionQueue::new(context, key, sends)?;
        let received = CompletionQueue::new(context, key, receives)?;
        let create = |inline| {
            let mut attributes = ibv_qp_init_attr {
                qp_context: key.as_ptr(),
                send_cq: sent.as_ptr(),
                recv_cq: received.as_ptr(),
                srq: ptr::null_mut(),
                cap: ibv_qp_cap {
                    max_send_wr: sends,
                    max_recv_wr: receives,
                    max_send_sge: 1,
                    max_recv_sge: RECEIVE_SEGMENTS.into(),
                    max_inline_data: inline,
                },
                qp_type: ibv_qp_type::IBV_QPT_UD,
                sq_sig_all: 1,
            };
            // SAFETY: all objects in the attributes live; the attributes are read and written during the call only.
            let qp = unsafe { ibv_create_qp(context.pd(), &raw mut attributes) };
            non_null("ibv_create_qp", qp).map(|qp| (qp, attributes.cap.max_inline_data))
        };
        // A device without inline support rejects the first attempt. Sends then use registered memory.
        let (qp, inline) = create(INLINE).or_else(|_| create(0))?;
        let queues = Self { qp, sent, received, inline: inline as usize, destroyed: false, context: context.clone() };
        queues.arm()?;
        Ok(queues)
    }

    /// Requests an event for the next completion of a send or a receive. Earlier completions cause no event.
    pub(super) fn arm(&self) -> Result<()> {
        self.sent.arm()?;
        self.received.arm()
    }

    pub(super) const fn inline(&self) -> usize {
        self.inline
    }

    pub(super) fn qpn(&self) -> Qpn {
        // SAFETY: the queue pair lives as long as `self`; its number never changes.
        Qpn::masked(unsafe { (*self.qp.as_ptr()).qp_num })
    }

    /// Brings the queue pair from any state to RTS. Posted work is lost without a completion.
    pub(super) fn restart(&self, port: u8, pkey_index: u16, qkey: Qkey) -> Result<()> {
        self.modify(state::IBV_QPS_RESET, 0, |_| {})?;
        self.modify(
            state::IBV_QPS_INIT,
            mask::IBV_QP_PKEY_INDEX | mask::IBV_QP_PORT | mask::IBV_QP_QKEY,
            |attributes| {
                attributes.pkey_index = pkey_index;
                attributes.port_num = port;
                attributes.qkey = qkey.get();
            },
        )?;
        self.modify(state::IBV_QPS_RTR, 0, |_| {})?;
        self.modify(state::IBV_QPS_RTS, mask::IBV_QP_SQ_PSN, |_| {})
    }

    /// Resumes sending after a failed send, which did not affect receiving. Returns false if the queue pair must be
    /// restarted.
    pub(super) fn resume_sending(&self) -> Result<bool> {
        match self.state()? {
            state::IBV_QPS_RTS => Ok(true),
            state::IBV_QPS_SQE => self.modify(state::IBV_QPS_RTS, 0, |_| {}).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Brings the queue pair to the state ERROR: posted work is flushed.
    pub(super) fn fail(&self) -> Result<()> {
        self.modify(state::IBV_QPS_ERR, 0, |_| {})
    }

    fn modify(&self, to: state::Type, what: c_int, fill: impl FnOnce(&mut ibv_qp_attr)) -> Result<()> {
        // SAFETY: all fields are numbers, so that zero is a valid value.
        let mut attributes: ibv_qp_attr = unsafe { MaybeUninit::zeroed().assume_init() };
        attributes.qp_state = to;
        fill(&mut attributes);
        let what = mask::IBV_QP_STATE | what;
        // SAFETY: the queue pair lives; the attributes are read during the call only.
        check("ibv_modify_qp", unsafe { ibv_modify_qp(self.qp.as_ptr(), &raw mut attributes, what) })
    }

    fn state(&self) -> Result<state::Type> {
        let mut attributes = MaybeUninit::<ibv_qp_attr>::zeroed();
        let mut initial = MaybeUninit::<ibv_qp_init_attr>::zeroed();
        let what = mask::IBV_QP_STATE;
        // SAFETY: the queue pair lives; both structures may be written. All fields are numbers and pointers, so that
        // zero is a valid value.
        unsafe {
            let result = ibv_query_qp(self.qp.as_ptr(), attributes.as_mut_ptr(), what, initial.as_mut_ptr());
            check("ibv_query_qp", result)?;
            Ok(attributes.assume_init().qp_state)
        }
    }

    /// Posts a receive. The memory belongs to the device until the completion `id`.
    ///
    /// # Safety
    /// The memory is registered. It stays alive and is not accessed until the completion, a restart, or the end of
    /// `self`.
    pub(super) unsafe fn post_receive(&self, id: u64, mut memory: [ibv_sge; RECEIVE_SEGMENTS as usize]) -> Result<()> {
        let (sg_list, num_sge) = (memory.as_mut_ptr(), RECEIVE_SEGMENTS.into());
        let mut request = ibv_recv_wr { wr_id: id, next: ptr::null_mut(), sg_list, num_sge };
        let mut refused = ptr::null_mut();
        // SAFETY: the queue pair lives; request and list are read during the call only; the caller promises that the
        // memory is valid.
        let result = unsafe { ibv_post_recv(self.qp.as_ptr(), &raw mut request, &raw mut refused) };
        check("ibv_post_recv", result)
    }

    /// Posts a send of the memory's contents, with the completion `id`.
    ///
    /// # Safety
    /// The handle lives until the completion, a restart, or the end of `self`. The memory is registered, lives and is
    /// not changed for the same time. If `inline`, the memory need not be registered and is used during the call only.
    pub(super) unsafe fn post_send(&self, id: u64, to: &Destination, mut memory: ibv_sge, inline: bool) -> Result<()> {
        // SAFETY: the fields are numbers, pointers and unions of these, so that zero is a valid value.
        let mut request: ibv_send_wr = unsafe { MaybeUninit::zeroed().assume_init() };
        request.wr_id = id;
        request.sg_list = &raw mut memory;
        request.num_sge = 1;
        request.opcode = ibv_wr_opcode::IBV_WR_SEND;
        request.send_flags = ibv_send_flags::IBV_SEND_SIGNALED;
        if inline {
            request.send_flags |= ibv_send_flags::IBV_SEND_INLINE;
        }
        request.wr.ud = ud_t { ah: to.handle, remote_qpn: to.qpn.get(), remote_qkey: to.qkey.get() };
        let mut refused = ptr::null_mut();
        // SAFETY: the queue pair lives; request and list are read during the call only; the caller promises that handle
        // and memory are valid.
        let result = unsafe { ibv_post_send(self.qp.as_ptr(), &raw mut request, &raw mut refused) };
        check("ibv_post_send", result)
    }

    pub(super) fn attach(&self, group: Gid, mlid: Lid) -> Result<()> {
        let gid = ibv_gid { raw: group.get() };
        // SAFETY: the queue pair lives; the GID is read during the call only. The LID is in host byte order.
        check("ibv_attach_mcast", unsafe { ibv_attach_mcast(self.qp.as_ptr(), &raw const gid, mlid.get()) })
    }

    pub(super) fn detach(&self, group: Gid, mlid: Lid) -> Result<()> {
        let gid = ibv_gid { raw: group.get() };
        // SAFETY: the queue pair lives; the GID is read during the call only. The LID is in host byte order.
        check("ibv_detach_mcast", unsafe { ibv_detach_mcast(self.qp.as_ptr(), &raw const gid, mlid.get()) })
    }

    /// Destroys the queue pair. Returns false if the device did not destroy the queue pair. Posted memory and the
    /// completion queues must then stay.
    pub(super) fn destroy(&mut self) -> bool {
        if !self.destroyed {
            // SAFETY: created in `new`, and destroyed only here.
            self.destroyed = check("ibv_destroy_qp", unsafe { ibv_destroy_qp(self.qp.as_ptr()) }).is_ok();
        }
        self.destroyed
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        if !self.destroy() {
            self.context.count_leak();
            self.sent.leak();
            self.received.leak();
        }
    }
}
