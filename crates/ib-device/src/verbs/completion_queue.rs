//! A completion queue: what ended, in the order in which it ended.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{CompletionStatus, Context, QueueKey, check, non_null};
use crate::Result;
use core::{mem::MaybeUninit, ptr::NonNull};
use ib_mad::{Lid, Qpn};
use rdma_sys::{ibv_cq, ibv_create_cq, ibv_destroy_cq, ibv_poll_cq, ibv_req_notify_cq, ibv_wc, ibv_wc_flags};

/// Completions that one look takes.
pub(super) const BATCH: u8 = 16;

/// A completion queue on its context's channel.
#[derive(Debug)]
pub(super) struct CompletionQueue {
    cq: NonNull<ibv_cq>,
    /// Whether something that lives uses it, so that it cannot be destroyed.
    leaked: bool,
    /// Keeps the channel.
    context: Context,
}

// SAFETY: libibverbs' objects may be used from any thread.
unsafe impl Send for CompletionQueue {}

/// What is known of something that ended. If it did not end well, only the first two are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
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
    /// With room for so many completions; the channel names it by this key.
    pub(super) fn new(context: &Context, key: QueueKey, entries: u32) -> Result<Self> {
        let entries = i32::try_from(entries).unwrap_or(i32::MAX);
        // SAFETY: context and channel live as long as the `Context`, which we hold.
        let cq = unsafe { ibv_create_cq(context.context(), entries, key.as_ptr(), context.channel(), 0) };
        Ok(Self { cq: non_null("ibv_create_cq", cq)?, leaked: false, context: context.clone() })
    }

    pub(super) const fn as_ptr(&self) -> *mut ibv_cq {
        self.cq.as_ptr()
    }

    /// Lets the channel tell of the next completion. What is in the queue already is not told of: look once more.
    pub(super) fn arm(&self) -> Result<()> {
        // SAFETY: the queue lives as long as `self`.
        check("ibv_req_notify_cq", unsafe { ibv_req_notify_cq(self.as_ptr(), 0) })
    }

    /// Appends what ended, up to [`BATCH`] of it.
    pub(super) fn poll(&self, ended: &mut impl Extend<Ended>) -> Result<()> {
        // Zeroed: the library leaves fields unwritten that mean nothing for the operation or its status.
        let mut completions = [const { MaybeUninit::<ibv_wc>::zeroed() }; BATCH as usize];
        // SAFETY: the queue lives as long as `self`; there is room for as many as asked for.
        let count = unsafe { ibv_poll_cq(self.as_ptr(), BATCH.into(), completions.as_mut_ptr().cast()) };
        let Ok(count) = usize::try_from(count) else { return check("ibv_poll_cq", count) };
        ended.extend(completions.iter().take(count).map(|completion| {
            // SAFETY: all bytes are written, with zero or by the call, and every field is a number.
            Ended::from(unsafe { completion.assume_init_ref() })
        }));
        Ok(())
    }

    /// Never destroys it: its queue pair lives on.
    pub(super) const fn leak(&mut self) {
        self.leaked = true;
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and destroyed only here. Its events are acknowledged where they are taken, and nobody
        // uses it, or else it is leaked.
        if self.leaked || check("ibv_destroy_cq", unsafe { ibv_destroy_cq(self.as_ptr()) }).is_err() {
            self.context.count_leak();
        }
    }
}

impl From<&ibv_wc> for Ended {
    fn from(completion: &ibv_wc) -> Self {
        Self {
            id: completion.wr_id,
            status: CompletionStatus::new(u8::try_from(completion.status).unwrap_or(u8::MAX)),
            len: completion.byte_len,
            src_qpn: Qpn::masked(completion.src_qp),
            slid: Lid::new(completion.slid),
            sl: completion.sl,
            path_bits: completion.dlid_path_bits,
            has_grh: completion.wc_flags & ibv_wc_flags::IBV_WC_GRH.0 != 0,
        }
    }
}
