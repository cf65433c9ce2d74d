//! Sends and receives.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    context::Context,
    lock,
    memory::AddressHandle,
    queue_pair::{ERR, INIT, Inner, Pair, RESET, RTR, RTS, Receive, SQD, SQE},
    stalled::Done,
};
use core::{
    ffi::{c_int, c_uint},
    mem, ptr, slice,
};
use ib_mad::{AddressVector, FlowLabel, Gid, GlobalRoute, Lid, Qkey, Qpn, Rate, ServiceLevel, as_bytes, packet::Grh};
use ib_sim::{Datagram, Port, Source};
use rdma_sys::{
    ibv_pd, ibv_qp, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_wc, ibv_wc_opcode, ibv_wc_status, ibv_wr_opcode,
};

/// Bytes in front of every received datagram, for a global route header.
const GRH: u32 = 40;
// Bits of `enum ibv_send_flags`.
const SIGNALED: c_uint = 1 << 1;
const SOLICITED: c_uint = 1 << 2;
const INLINE: c_uint = 1 << 3;
/// Bit of `enum ibv_wc_flags`: there is a global route header.
const WITH_GRH: c_uint = 1 << 0;

fn completion(pair: &Pair, id: u64, status: c_uint, opcode: c_uint) -> ibv_wc {
    // SAFETY: all of it are numbers.
    let mut completion: ibv_wc = unsafe { mem::zeroed() };
    completion.wr_id = id;
    completion.status = status;
    completion.opcode = opcode;
    completion.qp_num = pair.qpn.get();
    completion
}

/// Ends every posted receive, as a queue pair in error does.
pub(super) fn flush(pair: &Pair, inner: &mut Inner) {
    for receive in inner.receives.drain(..) {
        flushed(pair, receive.id);
    }
}

/// The queue pair is in error, and what was posted to it is gone without a word: a device that broke may
/// do that.
pub(super) fn lose(pair: &Pair) {
    let mut inner = lock(&pair.inner);
    pair.set_state(&mut inner, ERR);
    inner.receives.clear();
}

fn flushed(pair: &Pair, id: u64) {
    let completion = completion(pair, id, ibv_wc_status::IBV_WC_WR_FLUSH_ERR, ibv_wc_opcode::IBV_WC_RECV);
    pair.receive_queue().push(completion, false);
}

/// Puts a datagram into the first posted receive. Without one it is lost; with one that has no room the queue pair
/// fails, as most devices' do (IBTA 10.7.3.1, 11.6.2: local length error).
pub(super) fn deliver(context: &Context, pair: &Pair, source: &Source, grh: Option<&Grh>, payload: &[u8]) {
    let mut inner = lock(&pair.inner);
    let Some(length) = u32::try_from(payload.len()).ok().and_then(|length| length.checked_add(GRH)) else { return };
    let room = |receive: &Receive| receive.memory.iter().map(|sge| u64::from(sge.length)).sum::<u64>();
    if !matches!(inner.state, RTR | RTS | SQD | SQE) {
        return;
    }
    let Some(receive) = inner.receives.pop_front() else { return };
    let mut status = ibv_wc_status::IBV_WC_SUCCESS;
    if room(&receive) < length.into() {
        status = ibv_wc_status::IBV_WC_LOC_LEN_ERR;
    } else if receive.memory.iter().all(|sge| admitted(context, pair.shown().pd, sge, true)) {
        // SAFETY: the memory is in regions that the program registered, and its own promise is that these are the
        // device's to write until the completion.
        unsafe { scatter(&receive.memory, grh.map(as_bytes), payload) };
    } else {
        status = ibv_wc_status::IBV_WC_LOC_PROT_ERR;
    }
    let mut completion = completion(pair, receive.id, status, ibv_wc_opcode::IBV_WC_RECV);
    completion.byte_len = length;
    completion.src_qp = source.qpn.get();
    completion.slid = source.slid.get();
    completion.sl = source.sl.get();
    completion.dlid_path_bits = source.path_bits;
    completion.pkey_index = source.pkey_index;
    completion.wc_flags = if grh.is_some() { WITH_GRH } else { 0 };
    // Whether the sender asked for it does not travel, so every datagram is a solicited one.
    pair.receive_queue().push(completion, true);
    if status != ibv_wc_status::IBV_WC_SUCCESS {
        pair.set_state(&mut inner, ERR);
        flush(pair, &mut inner);
    }
}

fn admitted(context: &Context, pd: *mut ibv_pd, sge: &ibv_sge, write: bool) -> bool {
    let region = lock(&context.regions).get(&sge.lkey).copied();
    sge.length == 0 || region.is_some_and(|region| region.admits(pd, sge.addr, sge.length, write))
}

/// # Safety
/// The memory may be written.
unsafe fn scatter(memory: &[ibv_sge], grh: Option<&[u8]>, payload: &[u8]) {
    let header = GRH as usize;
    let mut at = 0usize;
    let end = header + payload.len();
    for sge in memory {
        let mut left = (sge.length as usize).min(end - at);
        let mut place = ptr::with_exposed_provenance_mut::<u8>(address(sge));
        while left > 0 {
            // Without a header its bytes stay as they were.
            let part = if at < header {
                grh.map(|grh| grh.get(at..).unwrap_or_default())
            } else {
                Some(payload.get(at - header..).unwrap_or_default())
            };
            let whole = if at < header { header - at } else { end - at };
            let count = whole.min(left);
            // SAFETY: the caller's promise: `left` bytes may be written at `place`. `part` has `whole` bytes.
            unsafe {
                if let Some(part) = part {
                    ptr::copy_nonoverlapping(part.as_ptr(), place, count.min(part.len()));
                }
                place = place.add(count);
            }
            at += count;
            left -= count;
        }
    }
}

/// Where the memory begins. Programs run with the machine's own pointers.
fn address(sge: &ibv_sge) -> usize {
    usize::try_from(sge.addr).unwrap_or(0)
}

/// # Safety
/// `count` entries can be read at `list`.
unsafe fn entries<'a>(list: *const ibv_sge, count: c_int) -> &'a [ibv_sge] {
    match usize::try_from(count) {
        Ok(count) if count > 0 && !list.is_null() => {
            // SAFETY: the caller's promise: the list has `count` entries.
            unsafe { slice::from_raw_parts(list, count) }
        }
        _ => &[],
    }
}

/// `ops.post_recv`.
///
/// # Safety
/// The queue pair lives; the list can be read, and `bad` written.
pub(super) unsafe extern "C" fn post_receive(
    pair: *mut ibv_qp,
    mut request: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours.
    let own = unsafe { Pair::of(pair) };
    let mut inner = lock(&own.inner);
    while !request.is_null() {
        // SAFETY: the caller's promise: each request of the list can be read.
        let wanted = unsafe { &*request };
        let errno = if inner.state == RESET || own.cap.max_recv_sge < wanted.num_sge.cast_unsigned() {
            Some(libc::EINVAL)
        } else if inner.receives.len() >= own.cap.max_recv_wr as usize {
            Some(libc::ENOMEM)
        } else {
            None
        };
        if let Some(errno) = errno {
            // SAFETY: the caller's promise: `bad` may be written.
            unsafe { bad.write(request) };
            return errno;
        }
        if inner.state == ERR {
            flushed(own, wanted.wr_id);
        } else {
            // SAFETY: the caller's promise: the list of the request has as many entries as it says.
            let memory = unsafe { entries(wanted.sg_list, wanted.num_sge) }.to_vec();
            inner.receives.push_back(Receive { id: wanted.wr_id, memory });
        }
        request = wanted.next;
    }
    0
}

/// `ops.post_send`.
///
/// # Safety
/// The queue pair and the address handles live; the list can be read, and `bad` written.
pub(super) unsafe extern "C" fn post_send(
    pair: *mut ibv_qp,
    mut request: *mut ibv_send_wr,
    bad: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's promise: the queue pair lives, and it is ours.
    let own = unsafe { Pair::of(pair) };
    while !request.is_null() {
        // SAFETY: the caller's promise: each request of the list can be read.
        let wanted = unsafe { &*request };
        // SAFETY: the caller's promise: the memory of the request is as its list says.
        if let Err(errno) = unsafe { send(own, wanted) } {
            // SAFETY: the caller's promise: `bad` may be written.
            unsafe { bad.write(request) };
            return errno;
        }
        request = wanted.next;
    }
    0
}

/// Sends one datagram: an error is one of the call, others are completions.
///
/// # Safety
/// As for `post_send`.
unsafe fn send(pair: &Pair, wanted: &ibv_send_wr) -> Result<(), c_int> {
    let (state, port) = {
        let inner = lock(&pair.inner);
        (inner.state, inner.port)
    };
    // SAFETY: the union's part for datagrams, all of it numbers and a pointer.
    let to = unsafe { wanted.wr.ud };
    if matches!(state, RESET | INIT | RTR)
        || wanted.opcode != ibv_wr_opcode::IBV_WR_SEND
        || to.ah.is_null()
        || pair.cap.max_send_sge < wanted.num_sge.cast_unsigned()
    {
        return Err(libc::EINVAL);
    }
    // SAFETY: the caller's promise: the list of the request has as many entries as it says.
    let memory = unsafe { entries(wanted.sg_list, wanted.num_sge) };
    let length = memory.iter().map(|sge| u64::from(sge.length)).sum::<u64>();
    let inline = wanted.send_flags & INLINE != 0;
    if inline && length > pair.cap.max_inline_data.into() {
        return Err(libc::ENOMEM);
    }
    let context = pair.context();
    // SAFETY: the caller's promise: it is ours.
    let handle = unsafe { &*to.ah.cast::<AddressHandle>() };
    let attributes = handle.attributes;
    let own = context.port(port).ok_or(libc::EINVAL)?;
    let status = if matches!(state, ERR | SQE) {
        ibv_wc_status::IBV_WC_WR_FLUSH_ERR
    } else if attributes.port_num != port {
        ibv_wc_status::IBV_WC_LOC_QP_OP_ERR
    } else if own.mtu.bytes().is_none_or(|mtu| length > mtu.into()) {
        ibv_wc_status::IBV_WC_LOC_LEN_ERR
    } else if !inline && !memory.iter().all(|sge| admitted(context, pair.shown().pd, sge, false)) {
        ibv_wc_status::IBV_WC_LOC_PROT_ERR
    } else {
        let mut payload = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        for sge in memory.iter().filter(|sge| sge.length > 0) {
            // SAFETY: inline, the caller's promise; else it is in a region that the program registered, and its
            // promise is that it does not change until the completion.
            let bytes =
                unsafe { slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(address(sge)), sge.length as usize) };
            payload.extend_from_slice(bytes);
        }
        let datagram = datagram(&own, &attributes, Qpn::masked(to.remote_qpn), Qkey::new(to.remote_qkey), &payload);
        let done = Done {
            id: wanted.wr_id,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            solicited: wanted.send_flags & SOLICITED != 0,
            signaled: pair.signal_all || wanted.send_flags & SIGNALED != 0,
        };
        // From a GID that is not there any more nothing arrives; the sender does not learn that.
        if handle.is_stale(&own) || context.transmit(pair.qpn, &datagram, done) {
            sent(pair, done);
        }
        return Ok(());
    };
    if state != ERR {
        let mut inner = lock(&pair.inner);
        pair.set_state(&mut inner, SQE);
    }
    let mut done = completion(pair, wanted.wr_id, status, ibv_wc_opcode::IBV_WC_SEND);
    done.byte_len = u32::try_from(length).unwrap_or(u32::MAX);
    pair.send_queue().push(done, wanted.send_flags & SOLICITED != 0);
    Ok(())
}

/// A send went out.
pub(super) fn sent(pair: &Pair, done: Done) {
    if done.signaled {
        let mut completion = completion(pair, done.id, ibv_wc_status::IBV_WC_SUCCESS, ibv_wc_opcode::IBV_WC_SEND);
        completion.byte_len = done.length;
        pair.send_queue().push(completion, done.solicited);
    }
}

fn datagram<'a>(port: &Port, to: &rdma_sys::ibv_ah_attr, qpn: Qpn, qkey: Qkey, payload: &'a [u8]) -> Datagram<'a> {
    // SAFETY: every GID is a sequence of bytes.
    let dgid = Gid::new(unsafe { to.grh.dgid.raw });
    let route = GlobalRoute {
        dgid,
        sgid_index: to.grh.sgid_index,
        hop_limit: to.grh.hop_limit,
        traffic_class: to.grh.traffic_class,
        flow_label: FlowLabel::masked(to.grh.flow_label),
    };
    let path_bits = to.src_path_bits & u8::try_from(port.lmc.mask()).unwrap_or(u8::MAX);
    let to = AddressVector {
        dlid: Lid::new(to.dlid),
        sl: ServiceLevel::masked(to.sl),
        path_bits,
        static_rate: (to.static_rate != 0).then(|| Rate::new(to.static_rate)),
        grh: (to.is_global != 0).then_some(route),
    };
    Datagram { to, qpn, qkey, payload }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_spread_over_the_memory() {
        let mut parts = [[0xaau8; 30], [0xaa; 30]];
        let sges = parts.each_mut().map(|part| ibv_sge {
            addr: part.as_mut_ptr().expose_provenance() as u64,
            length: 30,
            lkey: 0,
        });
        // SAFETY: both parts are ours.
        unsafe { scatter(&sges, None, b"hello") };
        assert_eq!((parts[0], &parts[1][..10]), ([0xaa; 30], &[0xaa; 10][..]));
        assert_eq!((&parts[1][10..15], &parts[1][15..]), (&b"hello"[..], &[0xaa; 15][..]));
        // SAFETY: both parts are ours.
        unsafe { scatter(&sges, Some(&[7; 40]), b"") };
        assert_eq!((parts[0], &parts[1][..11]), ([7; 30], &[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, b'h'][..]));
    }
}
