//! A completion queue.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{CompletionStatus, Context, QueueKey, check, non_null};
use crate::Result;
use core::{mem::MaybeUninit, ptr::NonNull};
use ib_mad::{Lid, Qpn};
use ib_verbs_sys::{ibv_cq, ibv_create_cq, ibv_destroy_cq, ibv_poll_cq, ibv_req_notify_cq, ibv_wc, ibv_wc_flags};

/// Maximum number of completions of a poll.
pub(super) const BATCH: u8 = 16;

/// A completion queue on its context's channel.
#[derive(Debug)]
pub(super) struct CompletionQueue {
    cq: NonNull<ibv_cq>,
    /// True if an existing queue pair uses the queue, so that the queue cannot be destroyed.
    leaked: bool,
    /// Keeps the channel alive.
    context: Context,
}

// SAFETY: libibverbs' objects may be used from any thread.
unsafe impl Send for CompletionQueue {}

/// A completion of a work request. Only `id` and `status` are valid if the request failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkCompletion {
    pub(super) id: u64,
    pub(super) status: CompletionStatus,
    pub(super) len: u32,
    pub(super) src_qpn: Qpn,
    pub(super) slid: Lid,
    pub(super) sl: u8,
    pub(super) path_bits: u8,
    pub(super) has_grh: bool,
}

impl CompletionQueue {
    /// Creates a queue with room for `entries` completions. The queue's events on the channel have this key.
    pub(super) fn new(context: &Context, key: QueueKey, entries: u32) -> Result<Self> {
        let entries = i32::try_from(entries).unwrap_or(i32::MAX);
        // SAFETY: context and channel live as long as the `Context`, of which `self` has a clone.
        let cq = unsafe { ibv_create_cq(context.context(), entries, key.as_ptr(), context.channel(), 0) };
        Ok(Self { cq: non_null("ibv_create_cq", cq)?, leaked: false, context: context.clone() })
    }

    pub(super) const fn as_ptr(&self) -> *mut ibv_cq {
        self.cq.as_ptr()
    }

    /// Requests an event for the next completion. After this call, poll again: completions that are already in the
    /// queue cause no event.
    pub(super) fn arm(&self) -> Result<()> {
        // SAFETY: the queue lives as long as `self`.
        check("ibv_req_notify_cq", unsafe { ibv_req_notify_cq(self.as_ptr(), 0) })
    }

    /// Appends up to [`BATCH`] completions.
    pub(super) fn poll(&self, completions: &mut impl Extend<WorkCompletion>) -> Result<()> {
        // Zeroed: the library does not write fields that are invalid for the operation or its status.
        let mut polled = [const { MaybeUninit::<ibv_wc>::zeroed() }; BATCH as usize];
        // SAFETY: the queue lives as long as `self`; `polled` has room for `BATCH` completions.
        let count = unsafe { ibv_poll_cq(self.as_ptr(), BATCH.into(), polled.as_mut_ptr().cast()) };
        let Ok(count) = usize::try_from(count) else { return check("ibv_poll_cq", count) };
        completions.extend(polled.iter().take(count).map(|completion| {
            // SAFETY: all bytes are written, with zero or by the call, and all fields are numbers.
            WorkCompletion::from(unsafe { completion.assume_init_ref() })
        }));
        Ok(())
    }

    /// Keeps the queue until the process ends, because its queue pair was not destroyed.
    pub(super) const fn leak(&mut self) {
        self.leaked = true;
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: created in `new`, and destroyed only here. Its events are acknowledged when they are received. No
        // queue pair uses it unless it is leaked.
        if self.leaked || check("ibv_destroy_cq", unsafe { ibv_destroy_cq(self.as_ptr()) }).is_err() {
            self.context.count_leak();
        }
    }
}

impl From<&ibv_wc> for WorkCompletion {
    fn from(completion: &ibv_wc) -> Self {
        Self {
            id: completion.wr_id,
            status: CompletionStatus::new(u8::try_from(completion.status).unwrap_or(u8::MAX)),
            len: completion.byte_len,
            src_qpn: Qpn::masked(completion.src_qp),
            slid: Lid::new(completion.slid),
            sl: completion.sl,
            path_bits: completion.dlid_path_bits,
            has_grh: completion.wc_flags & ibv_wc_flags::IBV_WC_GRH != 0,
        }
    }
}
