//! A queue pair: its state and its posted receives.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{completion::Queue, context::Context};
use core::{
    cell::UnsafeCell,
    ffi::c_uint,
    mem,
    sync::atomic::{AtomicU32, Ordering},
};
use ib_mad::{Gid, Qpn};
use ib_verbs_sys::{ibv_pd, ibv_qp, ibv_qp_cap, ibv_qp_state, ibv_sge, ibv_wc, ibv_wc_opcode, ibv_wc_status};
use std::{collections::VecDeque, sync::Mutex};

pub(super) const RESET: c_uint = ibv_qp_state::IBV_QPS_RESET;
pub(super) const INIT: c_uint = ibv_qp_state::IBV_QPS_INIT;
pub(super) const RTR: c_uint = ibv_qp_state::IBV_QPS_RTR;
pub(super) const RTS: c_uint = ibv_qp_state::IBV_QPS_RTS;
pub(super) const SQD: c_uint = ibv_qp_state::IBV_QPS_SQD;
pub(super) const SQE: c_uint = ibv_qp_state::IBV_QPS_SQE;
pub(super) const ERR: c_uint = ibv_qp_state::IBV_QPS_ERR;

/// A queue pair.
#[repr(C)]
pub(super) struct Pair {
    /// Programs read the state from it.
    pub(super) abi: UnsafeCell<ibv_qp>,
    pub(super) qpn: Qpn,
    pub(super) cap: ibv_qp_cap,
    /// True if every send has a completion, requested or not.
    pub(super) signal_all: bool,
    pub(super) inner: Mutex<Inner>,
}

/// The part of a queue pair that changes.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) state: c_uint,
    pub(super) port: u8,
    pub(super) pkey_index: u16,
    pub(super) qkey: u32,
    pub(super) sq_psn: u32,
    pub(super) receives: VecDeque<Receive>,
    pub(super) groups: Vec<Gid>,
    /// True while the queue pair is open at the server.
    pub(super) open: bool,
}

/// A posted receive.
pub(super) struct Receive {
    pub(super) id: u64,
    pub(super) memory: Vec<ibv_sge>,
}

impl Pair {
    /// # Safety
    /// The queue pair lives as long as the returned reference is used.
    pub(super) unsafe fn of<'a>(pair: *mut ibv_qp) -> &'a Self {
        // SAFETY: by the caller's promise; `abi` is the first field.
        unsafe { &*pair.cast() }
    }

    /// Reads a field of the part that programs see. A reference to the whole part would cover the state, which other
    /// threads change.
    pub(super) fn field<T: Copy>(&self, of: impl FnOnce(*const ibv_qp) -> *const T) -> T {
        // SAFETY: the field is one of a living structure. Only the state changes, which is not read here.
        unsafe { of(self.abi.get()).read() }
    }

    pub(super) fn protection_domain(&self) -> *mut ibv_pd {
        // SAFETY: the pointer is to a living structure.
        self.field(|abi| unsafe { &raw const (*abi).pd })
    }

    pub(super) fn context(&self) -> &Context {
        // SAFETY: the pointer is to a living structure; the context of a living queue pair is open.
        unsafe { Context::of(self.field(|abi| &raw const (*abi).context)) }
    }

    pub(super) fn send_queue(&self) -> &Queue {
        // SAFETY: the pointer is to a living structure; completion queues outlive their queue pairs.
        unsafe { Queue::of(self.field(|abi| &raw const (*abi).send_cq)) }
    }

    pub(super) fn receive_queue(&self) -> &Queue {
        // SAFETY: the pointer is to a living structure; completion queues outlive their queue pairs.
        unsafe { Queue::of(self.field(|abi| &raw const (*abi).recv_cq)) }
    }

    /// Sets the state. The caller holds the lock on `inner`.
    pub(super) fn set_state(&self, inner: &mut Inner, state: c_uint) {
        inner.state = state;
        // SAFETY: the field lives and is aligned; this crate accesses it only here. Programs read it without a lock, as
        // with the real library.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.abi.get()).state) }.store(state, Ordering::Relaxed);
    }

    pub(super) fn completion(&self, id: u64, status: c_uint, opcode: c_uint) -> ibv_wc {
        // SAFETY: all fields are numbers.
        let mut completion: ibv_wc = unsafe { mem::zeroed() };
        completion.wr_id = id;
        completion.status = status;
        completion.opcode = opcode;
        completion.qp_num = self.qpn.get();
        completion
    }

    /// Completes a receive with a flush error.
    pub(super) fn flush_receive(&self, id: u64) {
        let completion = self.completion(id, ibv_wc_status::IBV_WC_WR_FLUSH_ERR, ibv_wc_opcode::IBV_WC_RECV);
        self.receive_queue().push(completion, false);
    }

    /// Completes every posted receive with a flush error, as a queue pair in error does.
    pub(super) fn flush(&self, inner: &mut Inner) {
        for receive in inner.receives.drain(..) {
            self.flush_receive(receive.id);
        }
    }
}
