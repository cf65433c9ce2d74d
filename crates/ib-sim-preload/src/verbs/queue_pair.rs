//! Queue pairs: making, changing, destroying them, and their multicast groups.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    attributes::{MAX_INLINE, MAX_SGE, MAX_WORK},
    completion::Queue,
    context::{Context, PairAddress},
    lock,
    memory::Domain,
    number, object, work,
};
use crate::environment;
use core::{
    cell::UnsafeCell,
    ffi::{c_int, c_uint},
    mem,
    sync::atomic::Ordering,
};
use ib_mad::{Gid, Qkey, Qpn};
use rdma_sys::{ibv_gid, ibv_qp, ibv_qp_attr, ibv_qp_cap, ibv_qp_init_attr, ibv_qp_state, ibv_qp_type, ibv_sge};
use std::{collections::VecDeque, sync::Mutex};

pub(super) const RESET: c_uint = ibv_qp_state::IBV_QPS_RESET;
pub(super) const INIT: c_uint = ibv_qp_state::IBV_QPS_INIT;
pub(super) const RTR: c_uint = ibv_qp_state::IBV_QPS_RTR;
pub(super) const RTS: c_uint = ibv_qp_state::IBV_QPS_RTS;
pub(super) const SQD: c_uint = ibv_qp_state::IBV_QPS_SQD;
pub(super) const SQE: c_uint = ibv_qp_state::IBV_QPS_SQE;
pub(super) const ERR: c_uint = ibv_qp_state::IBV_QPS_ERR;

// Bits of `enum ibv_qp_attr_mask`.
const STATE: c_uint = 1 << 0;
const CUR_STATE: c_uint = 1 << 1;
const PKEY_INDEX: c_uint = 1 << 4;
const PORT: c_uint = 1 << 5;
const QKEY: c_uint = 1 << 6;
const SQ_PSN: c_uint = 1 << 16;

/// A queue pair.
#[repr(C)]
pub(super) struct Pair {
    /// Programs read the state out of it.
    shown: UnsafeCell<ibv_qp>,
    pub(super) qpn: Qpn,
    pub(super) cap: ibv_qp_cap,
    pub(super) signal_all: bool,
    pub(super) inner: Mutex<Inner>,
}

/// What changes of it.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) state: c_uint,
    pub(super) port: u8,
    pkey_index: u16,
    pub(super) qkey: u32,
    sq_psn: u32,
    pub(super) receives: VecDeque<Receive>,
    groups: Vec<Gid>,
    /// Whether the server has it.
    open: bool,
}

/// A receive that was posted.
pub(super) struct Receive {
    pub(super) id: u64,
    pub(super) memory: Vec<ibv_sge>,
}

impl Pair {
    /// # Safety
    /// The queue pair lives, as long as what is given back is used.
    pub(super) unsafe fn of<'a>(pair: *mut ibv_qp) -> &'a Self {
        // SAFETY: the caller's promise: it is the beginning of ours.
        unsafe { &*pair.cast() }
    }

    /// What programs see of it.
    pub(super) fn shown(&self) -> &ibv_qp {
        // SAFETY: only the state changes, by `set_state`, and is not read through this.
        unsafe { &*self.shown.get() }
    }

    pub(super) fn context(&self) -> &Context {
        // SAFETY: the context of a living queue pair is open.
        unsafe { Context::of(self.shown().context) }
    }

    pub(super) fn send_queue(&self) -> &Queue {
        // SAFETY: completion queues outlive their queue pairs.
        unsafe { Queue::of(self.shown().send_cq) }
    }

    pub(super) fn receive_queue(&self) -> &Queue {
        // SAFETY: as above.
        unsafe { Queue::of(self.shown().recv_cq) }
    }

    /// The lock on `inner` is held.
    pub(super) fn set_state(&self, inner: &mut Inner, state: c_uint) {
        inner.state = state;
        // SAFETY: under the lock; programs read it at their own risk, as of the real library.
        unsafe { (&raw mut (*self.shown.get()).state).write_volatile(state) };
    }

    fn modify(&self, asked: &ibv_qp_attr, mask: c_uint) -> Result<(), c_int> {
        let mut client = lock(&self.context().client);
        let mut inner = lock(&self.inner);
        let from = inner.state;
        if mask & CUR_STATE != 0 && asked.cur_qp_state != from {
            return Err(libc::EINVAL);
        }
        let to = if mask & STATE != 0 { asked.qp_state } else { from };
        let rules = rules(from, to).ok_or(libc::EINVAL)?;
        let given = mask & !(STATE | CUR_STATE);
        if rules.needed & !given != 0 || given & !(rules.needed | rules.allowed) != 0 {
            return Err(libc::EINVAL);
        }
        let number = if mask & PORT != 0 { asked.port_num } else { inner.port };
        let index = if mask & PKEY_INDEX != 0 { asked.pkey_index } else { inner.pkey_index };
        if mask & (PORT | PKEY_INDEX) != 0 {
            let port = client.port(number).ok_or(libc::EINVAL)?;
            if usize::from(index) >= port.pkeys.len() {
                return Err(libc::EINVAL);
            }
        }
        let changed = mask & (PORT | PKEY_INDEX | QKEY) != 0;
        (inner.port, inner.pkey_index) = (number, index);
        if mask & QKEY != 0 {
            inner.qkey = asked.qkey;
        }
        if mask & SQ_PSN != 0 {
            inner.sq_psn = asked.sq_psn;
        }
        let gone = |_| libc::EIO;
        let receiving = matches!(to, RTR | RTS | SQD | SQE);
        if inner.open && (changed || !receiving) {
            client.suspend_qp(self.qpn).map_err(gone)?;
            inner.open = false;
        }
        if receiving && !inner.open {
            client.open_reserved(self.qpn, number, Qkey::new(inner.qkey), index).map_err(gone)?;
            for mgid in &inner.groups {
                client.attach(self.qpn, *mgid).map_err(gone)?;
            }
            inner.open = true;
        }
        self.set_state(&mut inner, to);
        match to {
            RESET => {
                inner.receives.clear();
                self.context().stalled.forget(self.qpn);
                self.send_queue().forget(self.qpn.get());
                self.receive_queue().forget(self.qpn.get());
            }
            ERR => work::flush(self, &mut inner),
            _ => {}
        }
        Ok(())
    }

    fn join(&self, mgid: Gid) -> Result<(), c_int> {
        if !mgid.is_multicast() {
            return Err(libc::EINVAL);
        }
        if environment::get().is_some_and(|own| own.tree.join("no_room_for_groups").exists()) {
            return Err(libc::ENOMEM);
        }
        let mut client = lock(&self.context().client);
        let mut inner = lock(&self.inner);
        if inner.groups.contains(&mgid) {
            return Ok(());
        }
        if inner.open {
            client.attach(self.qpn, mgid).map_err(|_| libc::EIO)?;
        }
        inner.groups.push(mgid);
        Ok(())
    }

    fn leave(&self, mgid: Gid) -> Result<(), c_int> {
        let mut client = lock(&self.context().client);
        let mut inner = lock(&self.inner);
        let place = inner.groups.iter().position(|group| *group == mgid).ok_or(libc::EINVAL)?;
        inner.groups.swap_remove(place);
        if inner.open {
            client.detach(self.qpn, mgid).map_err(|_| libc::EIO)?;
        }
        Ok(())
    }
}

/// Which attributes a change of state must have, and may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules {
    needed: c_uint,
    allowed: c_uint,
}

/// The rules of UD queue pairs (IBTA 11.2.4.2); `None`: there is no such way.
const fn rules(from: c_uint, to: c_uint) -> Option<Rules> {
    let (needed, allowed) = match (from, to) {
        (_, RESET | ERR) => (0, 0),
        (RESET, INIT) => (PKEY_INDEX | PORT | QKEY, 0),
        (INIT, INIT) => (0, PKEY_INDEX | PORT | QKEY),
        (INIT, RTR) | (SQD, SQD) => (0, PKEY_INDEX | QKEY),
        (RTR, RTS) => (SQ_PSN, QKEY),
        (RTS | SQD | SQE, RTS) => (0, QKEY),
        (RTS, SQD) => (0, 0),
        _ => return None,
    };
    Some(Rules { needed, allowed })
}

/// As in libibverbs: null and EINVAL for what is no UD queue pair or beyond the device's limits, ENOMEM if the
/// connection's numbers are used up.
///
/// # Safety
/// The domain and the completion queues live; the attributes can be read and written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_qp(pd: *mut rdma_sys::ibv_pd, attributes: *mut ibv_qp_init_attr) -> *mut ibv_qp {
    // SAFETY: the caller's promise: the attributes can be read.
    let asked = unsafe { *attributes };
    let ibv_qp_cap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data } = asked.cap;
    if asked.qp_type != ibv_qp_type::IBV_QPT_UD
        || asked.send_cq.is_null()
        || asked.recv_cq.is_null()
        || !asked.srq.is_null()
        || max_send_wr.max(max_recv_wr) > MAX_WORK
        || max_send_sge.max(max_recv_sge) > MAX_SGE
        || max_inline_data > MAX_INLINE
    {
        return object::<Pair, _>(Err(libc::EINVAL));
    }
    // SAFETY: the caller's promise: the domain lives; the context of a living domain is open.
    let (domain, context) = unsafe { (&*pd.cast::<Domain>(), Context::of((*pd).context)) };
    let Ok(qpn) = lock(&context.client).reserve_qpn() else { return object::<Pair, _>(Err(libc::ENOMEM)) };
    // SAFETY: all of it are numbers and pointers. The mutex and the condition are never used.
    let mut shown: ibv_qp = unsafe { mem::zeroed() };
    // SAFETY: the domain lives.
    shown.context = unsafe { (*pd).context };
    shown.qp_context = asked.qp_context;
    shown.pd = pd;
    shown.send_cq = asked.send_cq;
    shown.recv_cq = asked.recv_cq;
    shown.qp_num = qpn.get();
    shown.qp_type = asked.qp_type;
    let pair = Box::new(Pair {
        shown: UnsafeCell::new(shown),
        qpn,
        cap: asked.cap,
        signal_all: asked.sq_sig_all != 0,
        inner: Mutex::default(),
    });
    domain.users.fetch_add(1, Ordering::AcqRel);
    pair.send_queue().users.fetch_add(1, Ordering::AcqRel);
    pair.receive_queue().users.fetch_add(1, Ordering::AcqRel);
    let pair = Box::into_raw(pair);
    lock(&context.pairs).insert(qpn, PairAddress(pair));
    pair.cast()
}

/// As in libibverbs: EBUSY as long as it is attached to a group, EIO if the device was taken away.
///
/// # Safety
/// The queue pair was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_qp(pair: *mut ibv_qp) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours.
    let own = unsafe { Pair::of(pair) };
    if own.context().is_gone() {
        return libc::EIO;
    }
    let mut client = lock(&own.context().client);
    {
        let inner = lock(&own.inner);
        if !inner.groups.is_empty() {
            return libc::EBUSY;
        }
        if inner.open {
            // Without a server there is nothing to close.
            let _ = client.suspend_qp(own.qpn);
        }
    }
    own.context().stalled.forget(own.qpn);
    own.context().forget_events(pair.addr());
    client.release_qpn(own.qpn);
    lock(&own.context().pairs).remove(&own.qpn);
    drop(client);
    for queue in [own.send_queue(), own.receive_queue()] {
        queue.forget(own.qpn.get());
        queue.users.fetch_sub(1, Ordering::AcqRel);
    }
    // SAFETY: the domain of a living queue pair lives; nobody knows the queue pair any more.
    unsafe {
        (*own.shown().pd.cast::<Domain>()).users.fetch_sub(1, Ordering::AcqRel);
        drop(Box::from_raw(pair.cast::<Pair>()));
    }
    0
}

/// As in libibverbs.
///
/// # Safety
/// The queue pair lives; the attributes can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_modify_qp(pair: *mut ibv_qp, attributes: *mut ibv_qp_attr, mask: c_int) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours.
    let (own, attributes) = unsafe { (Pair::of(pair), &*attributes) };
    number(own.modify(attributes, mask.cast_unsigned()))
}

/// As in libibverbs.
///
/// # Safety
/// The queue pair lives; both structures may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_qp(
    pair: *mut ibv_qp,
    to: *mut ibv_qp_attr,
    _mask: c_int,
    made: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours.
    let own = unsafe { Pair::of(pair) };
    let inner = lock(&own.inner);
    // SAFETY: all of both are numbers and pointers.
    let (mut now, mut first): (ibv_qp_attr, ibv_qp_init_attr) = unsafe { (mem::zeroed(), mem::zeroed()) };
    now.qp_state = inner.state;
    now.cur_qp_state = inner.state;
    now.port_num = inner.port;
    now.pkey_index = inner.pkey_index;
    now.qkey = inner.qkey;
    now.sq_psn = inner.sq_psn;
    now.cap = own.cap;
    let shown = own.shown();
    first.qp_context = shown.qp_context;
    first.send_cq = shown.send_cq;
    first.recv_cq = shown.recv_cq;
    first.cap = own.cap;
    first.qp_type = shown.qp_type;
    first.sq_sig_all = own.signal_all.into();
    // SAFETY: the caller's promise: both structures may be written.
    unsafe {
        to.write(now);
        made.write(first);
    }
    0
}

/// As in libibverbs. The group's LID is the server's own affair.
///
/// # Safety
/// The queue pair lives; the GID can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_attach_mcast(pair: *mut ibv_qp, mgid: *const ibv_gid, _lid: u16) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours; every GID is a sequence of bytes.
    let (own, mgid) = unsafe { (Pair::of(pair), (*mgid).raw) };
    number(own.join(Gid::new(mgid)))
}

/// As in libibverbs: EINVAL if it is not attached.
///
/// # Safety
/// The queue pair lives; the GID can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_detach_mcast(pair: *mut ibv_qp, mgid: *const ibv_gid, _lid: u16) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours; every GID is a sequence of bytes.
    let (own, mgid) = unsafe { (Pair::of(pair), (*mgid).raw) };
    number(own.leave(Gid::new(mgid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_between_states() {
        assert_eq!(rules(RESET, INIT), Some(Rules { needed: PKEY_INDEX | PORT | QKEY, allowed: 0 }));
        for (from, to) in [(RESET, RTR), (INIT, RTS), (RTS, INIT), (ERR, RTS), (RTR, SQD)] {
            assert_eq!(rules(from, to), None, "{from} to {to}");
        }
        for from in [RESET, INIT, RTR, RTS, SQD, SQE, ERR] {
            assert!(rules(from, RESET).is_some() && rules(from, ERR).is_some());
        }
    }
}
