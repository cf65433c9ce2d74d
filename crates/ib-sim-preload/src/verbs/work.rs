//! Sends and receives.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    context::MessageHandler,
    lock,
    memory::AddressHandle,
    queue_pair::{ERR, INIT, Pair, RESET, RTR, RTS, Receive, SQD, SQE},
    stalled::SendDone,
};
use core::{
    ffi::{c_int, c_uint},
    ptr, slice,
};
use ib_mad::{AddressVector, FlowLabel, Gid, GlobalRoute, Lid, Qkey, Qpn, Rate, ServiceLevel, as_bytes, packet::Grh};
use ib_sim::{Datagram, Port, Source};
use ib_verbs_sys::{ibv_qp, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_wc_opcode, ibv_wc_status, ibv_wr_opcode};

/// Bytes in front of every received datagram for a global route header.
const GRH: u32 = 40;
// Bits of `enum ibv_send_flags`.
const SIGNALED: c_uint = 1 << 1;
const SOLICITED: c_uint = 1 << 2;
const INLINE: c_uint = 1 << 3;
/// Bit of `enum ibv_wc_flags`: the datagram has a global route header.
const WITH_GRH: c_uint = 1 << 0;

impl MessageHandler for Pair {
    /// Writes a datagram to the first posted receive. Without a posted receive the datagram is lost. If the receive is
    /// too short, the queue pair fails as on most devices (IBTA 10.7.3.1, 11.6.2: local length error).
    fn handle_datagram(&self, source: &Source, grh: Option<&Grh>, payload: &[u8]) {
        let mut inner = lock(&self.inner);
        let Some(length) = u32::try_from(payload.len()).ok().and_then(|length| length.checked_add(GRH)) else { return };
        let room = |receive: &Receive| receive.memory.iter().map(|sge| u64::from(sge.length)).sum::<u64>();
        if !matches!(inner.state, RTR | RTS | SQD | SQE) {
            return;
        }
        let Some(receive) = inner.receives.pop_front() else { return };
        let regions = &self.context().regions;
        let mut status = ibv_wc_status::IBV_WC_SUCCESS;
        if room(&receive) < length.into() {
            status = ibv_wc_status::IBV_WC_LOC_LEN_ERR;
        } else if receive.memory.iter().all(|sge| regions.allow(self.protection_domain(), sge, true)) {
            // SAFETY: the memory is in regions that the program registered. The program promises that the device may
            // write to them until the completion.
            unsafe { scatter(&receive.memory, grh.map(as_bytes), payload) };
        } else {
            status = ibv_wc_status::IBV_WC_LOC_PROT_ERR;
        }
        let mut completion = self.completion(receive.id, status, ibv_wc_opcode::IBV_WC_RECV);
        completion.byte_len = length;
        completion.src_qp = source.qpn.get();
        completion.slid = source.slid.get();
        completion.sl = source.sl.get();
        completion.dlid_path_bits = source.path_bits;
        completion.pkey_index = source.pkey_index;
        completion.wc_flags = if grh.is_some() { WITH_GRH } else { 0 };
        // The protocol does not carry the sender's solicited flag, so every datagram counts as solicited.
        self.receive_queue().push(completion, true);
        if status != ibv_wc_status::IBV_WC_SUCCESS {
            self.set_state(&mut inner, ERR);
            self.flush(&mut inner);
        }
    }

    fn handle_pair_fault(&self) {
        let mut inner = lock(&self.inner);
        self.set_state(&mut inner, ERR);
        inner.receives.clear();
    }

    fn handle_queue_fault(&self) {
        self.receive_queue().fail();
    }

    fn handle_sent(&self, done: SendDone) {
        if done.signaled {
            let mut completion = self.completion(done.id, ibv_wc_status::IBV_WC_SUCCESS, ibv_wc_opcode::IBV_WC_SEND);
            completion.byte_len = done.length;
            self.send_queue().push(completion, done.solicited);
        }
    }
}

/// Writes the global route header and the payload to the parts of a receive.
///
/// # Safety
/// The memory may be written.
unsafe fn scatter(memory: &[ibv_sge], grh: Option<&[u8]>, payload: &[u8]) {
    let header = GRH as usize;
    let mut at = 0usize;
    let end = header + payload.len();
    for sge in memory {
        let mut left = (sge.length as usize).min(end - at);
        let mut to = ptr::with_exposed_provenance_mut::<u8>(address(sge));
        while left > 0 {
            // Without a header its bytes keep their old values.
            let part = if at < header {
                grh.map(|grh| grh.get(at..).unwrap_or_default())
            } else {
                Some(payload.get(at - header..).unwrap_or_default())
            };
            let whole = if at < header { header - at } else { end - at };
            let count = whole.min(left);
            // SAFETY: by the caller's promise `left` bytes may be written at `to`. `part` has `whole` bytes.
            unsafe {
                if let Some(part) = part {
                    ptr::copy_nonoverlapping(part.as_ptr(), to, count.min(part.len()));
                }
                to = to.add(count);
            }
            at += count;
            left -= count;
        }
    }
}

/// Returns the address of the memory. A program uses the pointers of the machine, so that the address fits.
fn address(sge: &ibv_sge) -> usize {
    usize::try_from(sge.addr).unwrap_or(0)
}

/// # Safety
/// `count` entries can be read at `list`.
unsafe fn entries<'a>(list: *const ibv_sge, count: c_int) -> &'a [ibv_sge] {
    match usize::try_from(count) {
        Ok(count) if count > 0 && !list.is_null() => {
            // SAFETY: by the caller's promise the list has `count` entries.
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
    mut next: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives.
    let pair = unsafe { Pair::of(pair) };
    let mut inner = lock(&pair.inner);
    while !next.is_null() {
        // SAFETY: by the caller's promise each request of the list can be read.
        let request = unsafe { &*next };
        let errno = if inner.state == RESET || pair.cap.max_recv_sge < request.num_sge.cast_unsigned() {
            Some(libc::EINVAL)
        } else if inner.receives.len() >= pair.cap.max_recv_wr as usize {
            Some(libc::ENOMEM)
        } else {
            None
        };
        if let Some(errno) = errno {
            // SAFETY: by the caller's promise `bad` may be written.
            unsafe { bad.write(next) };
            return errno;
        }
        if inner.state == ERR {
            pair.flush_receive(request.wr_id);
        } else {
            // SAFETY: by the caller's promise the request's list has `num_sge` entries.
            let memory = unsafe { entries(request.sg_list, request.num_sge) }.to_vec();
            inner.receives.push_back(Receive { id: request.wr_id, memory });
        }
        next = request.next;
    }
    0
}

/// `ops.post_send`.
///
/// # Safety
/// The queue pair and the address handles live; the list can be read, and `bad` written.
pub(super) unsafe extern "C" fn post_send(
    pair: *mut ibv_qp,
    mut next: *mut ibv_send_wr,
    bad: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives.
    let pair = unsafe { Pair::of(pair) };
    while !next.is_null() {
        // SAFETY: by the caller's promise each request of the list can be read.
        let request = unsafe { &*next };
        // SAFETY: by the caller's promise the request's address handle lives, and its memory can be read.
        if let Err(errno) = unsafe { send(pair, request) } {
            // SAFETY: by the caller's promise `bad` may be written.
            unsafe { bad.write(next) };
            return errno;
        }
        next = request.next;
    }
    0
}

/// Sends one datagram. Bad arguments are errors of the call; every other failure is the status of the completion.
///
/// # Safety
/// The requirements of `post_send`.
unsafe fn send(pair: &Pair, request: &ibv_send_wr) -> Result<(), c_int> {
    let (state, port_number) = {
        let inner = lock(&pair.inner);
        (inner.state, inner.port)
    };
    // SAFETY: `ud` is the union's part for datagrams; its fields are numbers and a pointer.
    let to = unsafe { request.wr.ud };
    if matches!(state, RESET | INIT | RTR)
        || request.opcode != ibv_wr_opcode::IBV_WR_SEND
        || to.ah.is_null()
        || pair.cap.max_send_sge < request.num_sge.cast_unsigned()
    {
        return Err(libc::EINVAL);
    }
    // SAFETY: by the caller's promise the request's list has `num_sge` entries.
    let memory = unsafe { entries(request.sg_list, request.num_sge) };
    let length = memory.iter().map(|sge| u64::from(sge.length)).sum::<u64>();
    let inline = request.send_flags & INLINE != 0;
    if inline && length > pair.cap.max_inline_data.into() {
        return Err(libc::ENOMEM);
    }
    let context = pair.context();
    // SAFETY: by the caller's promise the handle lives; `ibv_create_ah` allocated it.
    let handle = unsafe { &*to.ah.cast::<AddressHandle>() };
    let attributes = handle.attributes;
    let port = context.port(port_number).ok_or(libc::EINVAL)?;
    let status = if matches!(state, ERR | SQE) {
        ibv_wc_status::IBV_WC_WR_FLUSH_ERR
    } else if attributes.port_num != port_number {
        ibv_wc_status::IBV_WC_LOC_QP_OP_ERR
    } else if port.mtu.bytes().is_none_or(|mtu| length > mtu.into()) {
        ibv_wc_status::IBV_WC_LOC_LEN_ERR
    } else if !inline && !memory.iter().all(|sge| context.regions.allow(pair.protection_domain(), sge, false)) {
        ibv_wc_status::IBV_WC_LOC_PROT_ERR
    } else {
        let mut payload = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        for sge in memory.iter().filter(|sge| sge.length > 0) {
            // SAFETY: inline memory can be read by the caller's promise. Other memory is in a region that the program
            // registered, and the program promises not to change it until the completion.
            let bytes =
                unsafe { slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(address(sge)), sge.length as usize) };
            payload.extend_from_slice(bytes);
        }
        let datagram = datagram(&port, &attributes, Qpn::masked(to.remote_qpn), Qkey::new(to.remote_qkey), &payload);
        let done = SendDone {
            id: request.wr_id,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            solicited: request.send_flags & SOLICITED != 0,
            signaled: pair.signal_all || request.send_flags & SIGNALED != 0,
        };
        // A datagram from a removed source GID is lost, and the send completes with success.
        if handle.is_stale(&port) || context.send(pair.qpn, &datagram, done) {
            pair.handle_sent(done);
        }
        return Ok(());
    };
    if state != ERR {
        let mut inner = lock(&pair.inner);
        pair.set_state(&mut inner, SQE);
    }
    let mut completion = pair.completion(request.wr_id, status, ibv_wc_opcode::IBV_WC_SEND);
    completion.byte_len = u32::try_from(length).unwrap_or(u32::MAX);
    pair.send_queue().push(completion, request.send_flags & SOLICITED != 0);
    Ok(())
}

fn datagram<'a>(port: &Port, to: &ib_verbs_sys::ibv_ah_attr, qpn: Qpn, qkey: Qkey, payload: &'a [u8]) -> Datagram<'a> {
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
    fn datagram_is_written_across_the_parts_of_a_receive() {
        let mut parts = [[0xaau8; 30], [0xaa; 30]];
        let sges = parts.each_mut().map(|part| ibv_sge {
            addr: part.as_mut_ptr().expose_provenance() as u64,
            length: 30,
            lkey: 0,
        });
        // SAFETY: the entries are the addresses and lengths of `parts`.
        unsafe { scatter(&sges, None, b"hello") };
        assert_eq!((parts[0], &parts[1][..10]), ([0xaa; 30], &[0xaa; 10][..]));
        assert_eq!((&parts[1][10..15], &parts[1][15..]), (&b"hello"[..], &[0xaa; 15][..]));
        // SAFETY: the entries are the addresses and lengths of `parts`.
        unsafe { scatter(&sges, Some(&[7; 40]), b"") };
        assert_eq!((parts[0], &parts[1][..11]), ([7; 30], &[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, b'h'][..]));
    }
}
