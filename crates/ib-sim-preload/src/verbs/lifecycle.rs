//! Creating, changing, querying and destroying queue pairs.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    attributes::{MAX_INLINE, MAX_SGE, MAX_WORK},
    context::{Context, PairAddress},
    lock,
    memory::Domain,
    number, object,
    queue_pair::{ERR, INIT, Pair, RESET, RTR, RTS, SQD, SQE},
};
use core::{
    cell::UnsafeCell,
    ffi::{c_int, c_uint},
    mem,
    sync::atomic::Ordering,
};
use ib_mad::{Lid, Qkey};
use ib_verbs_sys::{ibv_qp, ibv_qp_attr, ibv_qp_cap, ibv_qp_init_attr, ibv_qp_type};
use std::sync::Mutex;

// Bits of `enum ibv_qp_attr_mask`.
const STATE: c_uint = 1 << 0;
const CUR_STATE: c_uint = 1 << 1;
const PKEY_INDEX: c_uint = 1 << 4;
const PORT: c_uint = 1 << 5;
const QKEY: c_uint = 1 << 6;
const SQ_PSN: c_uint = 1 << 16;

/// The attributes of a state transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules {
    required: c_uint,
    optional: c_uint,
}

/// Returns the rules of UD queue pairs (IBTA 11.2.4.2), or `None` if there is no such transition.
const fn rules(from: c_uint, to: c_uint) -> Option<Rules> {
    let (required, optional) = match (from, to) {
        (_, RESET | ERR) => (0, 0),
        (RESET, INIT) => (PKEY_INDEX | PORT | QKEY, 0),
        (INIT, INIT) => (0, PKEY_INDEX | PORT | QKEY),
        (INIT, RTR) | (SQD, SQD) => (0, PKEY_INDEX | QKEY),
        (RTR, RTS) => (SQ_PSN, QKEY),
        (RTS | SQD | SQE, RTS) => (0, QKEY),
        (RTS, SQD) => (0, 0),
        _ => return None,
    };
    Some(Rules { required, optional })
}

impl Pair {
    fn modify(&self, attributes: &ibv_qp_attr, mask: c_uint) -> Result<(), c_int> {
        let mut client = lock(&self.context().client);
        let mut inner = lock(&self.inner);
        let from = inner.state;
        if mask & CUR_STATE != 0 && attributes.cur_qp_state != from {
            return Err(libc::EINVAL);
        }
        let to = if mask & STATE != 0 { attributes.qp_state } else { from };
        let rules = rules(from, to).ok_or(libc::EINVAL)?;
        let given = mask & !(STATE | CUR_STATE);
        if rules.required & !given != 0 || given & !(rules.required | rules.optional) != 0 {
            return Err(libc::EINVAL);
        }
        let number = if mask & PORT != 0 { attributes.port_num } else { inner.port };
        let index = if mask & PKEY_INDEX != 0 { attributes.pkey_index } else { inner.pkey_index };
        if mask & (PORT | PKEY_INDEX) != 0 {
            let port = client.port(number).ok_or(libc::EINVAL)?;
            if usize::from(index) >= port.pkeys.len() {
                return Err(libc::EINVAL);
            }
        }
        let changed = mask & (PORT | PKEY_INDEX | QKEY) != 0;
        (inner.port, inner.pkey_index) = (number, index);
        if mask & QKEY != 0 {
            inner.qkey = attributes.qkey;
        }
        if mask & SQ_PSN != 0 {
            inner.sq_psn = attributes.sq_psn;
        }
        let disconnected = |_| libc::EIO;
        let receiving = matches!(to, RTR | RTS | SQD | SQE);
        if inner.open && (changed || !receiving) {
            client.suspend_qp(self.qpn).map_err(disconnected)?;
            inner.open = false;
        }
        if receiving && !inner.open {
            client.open_reserved(self.qpn, number, Qkey::new(inner.qkey), index).map_err(disconnected)?;
            for mgid in &inner.groups {
                client.attach(self.qpn, *mgid, Lid::NONE).map_err(disconnected)?;
                self.context().attaches.sent();
            }
            inner.open = true;
        }
        self.set_state(&mut inner, to);
        match to {
            RESET => {
                inner.receives.clear();
                self.context().stalled.drop_sends_of(self.qpn);
                self.send_queue().drop_completions_of(self.qpn.get());
                self.receive_queue().drop_completions_of(self.qpn.get());
            }
            ERR => self.flush(&mut inner),
            _ => {}
        }
        Ok(())
    }
}

/// Creates a queue pair. Returns null and EINVAL for another type than UD or beyond the device's limits, null and
/// ENOMEM if all queue pair numbers of the connection are in use.
///
/// # Safety
/// The domain and the completion queues live; the attributes can be read and written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_qp(pd: *mut ib_verbs_sys::ibv_pd, attributes: *mut ibv_qp_init_attr) -> *mut ibv_qp {
    // SAFETY: by the caller's promise the attributes can be read.
    let attributes = unsafe { *attributes };
    let ibv_qp_cap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data } = attributes.cap;
    if attributes.qp_type != ibv_qp_type::IBV_QPT_UD
        || attributes.send_cq.is_null()
        || attributes.recv_cq.is_null()
        || !attributes.srq.is_null()
        || max_send_wr.max(max_recv_wr) > MAX_WORK
        || max_send_sge.max(max_recv_sge) > MAX_SGE
        || max_inline_data > MAX_INLINE
    {
        return object::<Pair, _>(Err(libc::EINVAL));
    }
    // SAFETY: by the caller's promise the domain lives; the context of a living domain is open.
    let (domain, context) = unsafe { (&*pd.cast::<Domain>(), Context::of((*pd).context)) };
    let Ok(qpn) = lock(&context.client).reserve_qpn() else { return object::<Pair, _>(Err(libc::ENOMEM)) };
    // SAFETY: all fields are numbers and pointers. The mutex and the condition variable are never used.
    let mut abi: ibv_qp = unsafe { mem::zeroed() };
    // SAFETY: the domain lives.
    abi.context = unsafe { (*pd).context };
    abi.qp_context = attributes.qp_context;
    abi.pd = pd;
    abi.send_cq = attributes.send_cq;
    abi.recv_cq = attributes.recv_cq;
    abi.qp_num = qpn.get();
    abi.qp_type = attributes.qp_type;
    let pair = Box::new(Pair {
        abi: UnsafeCell::new(abi),
        qpn,
        cap: attributes.cap,
        signal_all: attributes.sq_sig_all != 0,
        inner: Mutex::default(),
    });
    domain.users.fetch_add(1, Ordering::AcqRel);
    pair.send_queue().users.fetch_add(1, Ordering::AcqRel);
    pair.receive_queue().users.fetch_add(1, Ordering::AcqRel);
    let pair = Box::into_raw(pair);
    lock(&context.pairs).insert(qpn, PairAddress(pair));
    pair.cast()
}

/// Destroys a queue pair; EBUSY if it is attached to a group, EIO if the device was removed.
///
/// # Safety
/// The queue pair was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_qp(pair: *mut ibv_qp) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives.
    let qp = unsafe { Pair::of(pair) };
    if qp.context().is_removed() {
        return libc::EIO;
    }
    let mut client = lock(&qp.context().client);
    {
        let inner = lock(&qp.inner);
        if !inner.groups.is_empty() {
            return libc::EBUSY;
        }
        if inner.open {
            // An error means that the connection ended. The server then has closed the queue pair.
            let _ = client.suspend_qp(qp.qpn);
        }
    }
    qp.context().stalled.drop_sends_of(qp.qpn);
    qp.context().remove_events(pair.addr());
    client.release_qpn(qp.qpn);
    lock(&qp.context().pairs).remove(&qp.qpn);
    drop(client);
    for queue in [qp.send_queue(), qp.receive_queue()] {
        queue.drop_completions_of(qp.qpn.get());
        queue.users.fetch_sub(1, Ordering::AcqRel);
    }
    // SAFETY: the domain of a living queue pair lives. The queue pair is in no table any longer.
    unsafe {
        (*qp.protection_domain().cast::<Domain>()).users.fetch_sub(1, Ordering::AcqRel);
        drop(Box::from_raw(pair.cast::<Pair>()));
    }
    0
}

/// Changes attributes of a queue pair.
///
/// # Safety
/// The queue pair lives; the attributes can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_modify_qp(pair: *mut ibv_qp, attributes: *mut ibv_qp_attr, mask: c_int) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives, and the attributes can be read.
    let (pair, attributes) = unsafe { (Pair::of(pair), &*attributes) };
    number(pair.modify(attributes, mask.cast_unsigned()))
}

/// Queries all attributes of a queue pair.
///
/// # Safety
/// The queue pair lives; both structures may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_qp(
    pair: *mut ibv_qp,
    to: *mut ibv_qp_attr,
    _mask: c_int,
    initial_to: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives.
    let pair = unsafe { Pair::of(pair) };
    let inner = lock(&pair.inner);
    // SAFETY: all fields of both are numbers and pointers.
    let (mut attributes, mut initial): (ibv_qp_attr, ibv_qp_init_attr) = unsafe { (mem::zeroed(), mem::zeroed()) };
    attributes.qp_state = inner.state;
    attributes.cur_qp_state = inner.state;
    attributes.port_num = inner.port;
    attributes.pkey_index = inner.pkey_index;
    attributes.qkey = inner.qkey;
    attributes.sq_psn = inner.sq_psn;
    attributes.cap = pair.cap;
    // SAFETY: the pointer is to a living structure.
    unsafe {
        initial.qp_context = pair.field(|abi| &raw const (*abi).qp_context);
        initial.send_cq = pair.field(|abi| &raw const (*abi).send_cq);
        initial.recv_cq = pair.field(|abi| &raw const (*abi).recv_cq);
        initial.qp_type = pair.field(|abi| &raw const (*abi).qp_type);
    }
    initial.cap = pair.cap;
    initial.sq_sig_all = pair.signal_all.into();
    // SAFETY: by the caller's promise both structures may be written.
    unsafe {
        to.write(attributes);
        initial_to.write(initial);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_leads_to_reset_and_error_but_no_state_is_skipped() {
        assert_eq!(rules(RESET, INIT), Some(Rules { required: PKEY_INDEX | PORT | QKEY, optional: 0 }));
        for (from, to) in [(RESET, RTR), (INIT, RTS), (RTS, INIT), (ERR, RTS), (RTR, SQD)] {
            assert_eq!(rules(from, to), None, "{from} to {to}");
        }
        for from in [RESET, INIT, RTR, RTS, SQD, SQE, ERR] {
            assert!(rules(from, RESET).is_some() && rules(from, ERR).is_some());
        }
    }
}
