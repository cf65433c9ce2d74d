//! An open device: its attributes, its asynchronous events, and the thread that receives.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    completion, device::put, events::Events, lock, memory::Region, minus_one, number, queue_pair::Pair,
    stalled::Stalled, work,
};
use crate::{environment, next::set_errno};
use core::{
    ffi::{c_int, c_uint, c_void},
    mem::{self, MaybeUninit, offset_of},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};
use ib_mad::{Mtu, Pkey, Qpn};
use ib_sim::{
    Port,
    client::{Client, ClientError, Message},
};
use rdma_sys::{
    ibv_async_event, ibv_context, ibv_cq, ibv_device, ibv_device_attr, ibv_gid, ibv_gid_entry, ibv_port_attr,
    verbs_context,
};
use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, AsRawFd},
    sync::Mutex,
    thread::{self, JoinHandle},
};

/// Limits that the device shows.
pub(super) const MAX_CQE: usize = 1 << 20;
pub(super) const MAX_WORK: u32 = 16_384;
pub(super) const MAX_SGE: u32 = 16;
pub(super) const MAX_INLINE: u32 = 1024;
/// Entries of the tables, used or not, as in the node's sysfs.
const GID_ENTRIES: usize = 8;
const PKEY_ENTRIES: usize = 32;
const CAPABILITIES: u32 = 0x2651_e848;
const EVENT_CQ_ERR: u32 = 0;
const EVENT_DEVICE_FATAL: u32 = 8;

/// An asynchronous event: its number and its element, a port's number or an address.
#[derive(Clone, Copy, Debug)]
struct AsyncEvent {
    number: u32,
    element: usize,
}

/// An open device. Locks are taken in the order of the fields, then those of a queue pair and a completion queue.
#[repr(C)]
pub(super) struct Context {
    /// First: programs have pointers to the end of it, and look in front of that.
    shown: verbs_context,
    pub(super) client: Mutex<Client>,
    /// Queue pairs by number.
    pub(super) pairs: Mutex<BTreeMap<Qpn, PairAddress>>,
    /// Memory regions by key.
    pub(super) regions: Mutex<BTreeMap<u32, Region>>,
    pub(super) stalled: Stalled,
    events: Events<AsyncEvent>,
    /// Whether the connection has ended: the device was taken away.
    gone: AtomicBool,
    receiver: Option<JoinHandle<()>>,
}

/// A living queue pair.
#[derive(Clone, Copy)]
pub(super) struct PairAddress(pub(super) *const Pair);

// SAFETY: queue pairs may be used from any thread.
unsafe impl Send for PairAddress {}

impl PairAddress {
    /// The queue pair. The list of queue pairs, where this is from, must be locked as long as it is used.
    pub(super) fn get(&self) -> &Pair {
        // SAFETY: it is in the list as long as it lives.
        unsafe { &*self.0 }
    }
}

// SAFETY: what programs see does not change after it was made; everything else has its lock.
unsafe impl Sync for Context {}

impl Context {
    /// # Safety
    /// The context is open, as long as what is given back is used.
    pub(super) unsafe fn of<'a>(context: *mut ibv_context) -> &'a Self {
        // SAFETY: the caller's promise: it is that part of ours.
        unsafe { &*context.byte_sub(offset_of!(verbs_context, context)).cast() }
    }

    /// A port as it is now.
    pub(super) fn port(&self, number: u8) -> Option<Port> {
        lock(&self.client).port(number).cloned()
    }

    /// Tells of a completion queue that had no room.
    pub(super) fn tell_overrun(&self, queue: *mut ibv_cq) {
        self.events.push(AsyncEvent { number: EVENT_CQ_ERR, element: queue.expose_provenance() });
    }

    /// Receives until the connection ends.
    fn receive(&self, fd: c_int) {
        loop {
            let room = if self.stalled.is_empty() { 0 } else { libc::POLLOUT };
            let kick = self.stalled.kick();
            let mut polls = [(fd, libc::POLLIN | room), (kick.fd(), libc::POLLIN)].map(|(fd, events)| libc::pollfd {
                fd,
                events,
                revents: 0,
            });
            // SAFETY: two entries, ours.
            unsafe { libc::poll(polls.as_mut_ptr(), 2, -1) };
            if polls[1].revents != 0 {
                // There is an entry, and nobody else takes any.
                let _ = kick.pop();
            }
            self.let_go();
            loop {
                // Let go of after each message, so that senders have their turn.
                let mut client = lock(&self.client);
                match client.receive() {
                    Ok(Some(message)) => self.message(&message),
                    Ok(None) => break,
                    Err(ClientError::BadMessage(_)) => {}
                    Err(_) => {
                        self.gone.store(true, Ordering::Release);
                        self.events.push(AsyncEvent { number: EVENT_DEVICE_FATAL, element: 0 });
                        return;
                    }
                }
            }
        }
    }

    fn message(&self, message: &Message<'_>) {
        match message {
            Message::Datagram { qpn, source, grh, payload } => {
                let pairs = lock(&self.pairs);
                if let Some(pair) = pairs.get(qpn) {
                    work::deliver(self, pair.get(), source, *grh, payload);
                }
            }
            Message::Port { port, change } => {
                self.events.push(AsyncEvent { number: change.code().into(), element: (*port).into() });
            }
            // Nothing that this library asks for is refused but by a server that knows better: as if it were lost.
            _ => {}
        }
    }

    /// Whether the device was taken away: every command of the kernel says EIO then.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    fn attributes(&self, number: u8) -> Result<ibv_port_attr, c_int> {
        if self.is_gone() {
            return Err(libc::EIO);
        }
        let port = self.port(number).ok_or(libc::EINVAL)?;
        // SAFETY: all of it are numbers.
        let mut shown: ibv_port_attr = unsafe { mem::zeroed() };
        let (width, speed) = port.width_and_speed();
        shown.state = port.state.get().into();
        shown.phys_state = if port.state == ib_mad::PortState::DOWN { 2 } else { 5 };
        shown.max_mtu = Mtu::B4096.get().into();
        shown.active_mtu = port.mtu.get().into();
        shown.gid_tbl_len = c_int::try_from(port.gids.len().max(GID_ENTRIES)).unwrap_or(c_int::MAX);
        shown.pkey_tbl_len = u16::try_from(port.pkeys.len().max(PKEY_ENTRIES)).unwrap_or(u16::MAX);
        shown.port_cap_flags = CAPABILITIES;
        shown.max_msg_sz = 1 << 30;
        shown.lid = port.lid.get();
        shown.lmc = port.lmc.get();
        shown.sm_lid = port.sm_lid.get();
        shown.sm_sl = port.sm_sl.get();
        shown.subnet_timeout = port.subnet_timeout;
        shown.max_vl_num = 4;
        shown.active_width = width;
        shown.active_speed = speed;
        shown.link_layer = 1;
        Ok(shown)
    }
}

/// Everything blocked, so that the program's signals find the program's threads.
fn without_signals<T>(make: impl FnOnce() -> T) -> T {
    let (mut all, mut before) = (MaybeUninit::<libc::sigset_t>::uninit(), MaybeUninit::<libc::sigset_t>::uninit());
    // SAFETY: the first call fills `all`, the second `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let made = make();
    // SAFETY: filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    made
}

/// As in libibverbs.
///
/// # Safety
/// The device is of `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context {
    let Some(at) = environment::get() else {
        set_errno(libc::ENODEV);
        return ptr::null_mut();
    };
    let opened = Client::connect(&at.socket, Some(&at.node)).map_err(|_| libc::ENODEV);
    let queues = || Ok((Events::new()?, Stalled::new()?));
    let opened = opened.and_then(|client| Ok((client, queues().map_err(|_: io::Error| libc::EMFILE)?)));
    let (client, (events, stalled)) = match opened {
        Ok(opened) => opened,
        Err(errno) => {
            set_errno(errno);
            return ptr::null_mut();
        }
    };
    let fd = client.as_fd().as_raw_fd();
    // SAFETY: all of it are numbers, pointers, and functions that are not there. The mutex is never used.
    let mut shown: verbs_context = unsafe { mem::zeroed() };
    shown.sz = size_of::<verbs_context>();
    shown.query_port = Some(query_port);
    shown.context.device = device;
    // The mark of a context with an extended part, UINTPTR_MAX.
    shown.context.abi_compat = ptr::without_provenance_mut(usize::MAX);
    shown.context.cmd_fd = fd;
    shown.context.async_fd = events.fd();
    shown.context.num_comp_vectors = 1;
    shown.context.ops.poll_cq = Some(completion::poll);
    shown.context.ops.req_notify_cq = Some(completion::request_notify);
    shown.context.ops.post_send = Some(work::post_send);
    shown.context.ops.post_recv = Some(work::post_receive);
    let context = Box::into_raw(Box::new(Context {
        shown,
        client: Mutex::new(client),
        pairs: Mutex::default(),
        regions: Mutex::default(),
        stalled,
        events,
        gone: AtomicBool::new(false),
        receiver: None,
    }));
    let address = context.expose_provenance();
    let receive = move || {
        // SAFETY: the thread ends before the context is freed.
        unsafe { &*ptr::with_exposed_provenance::<Context>(address) }.receive(fd);
    };
    let receiver = without_signals(|| thread::Builder::new().name("ib-sim".into()).spawn(receive));
    let Ok(receiver) = receiver else {
        // SAFETY: made above; nobody else knows it.
        drop(unsafe { Box::from_raw(context) });
        set_errno(libc::EAGAIN);
        return ptr::null_mut();
    };
    // SAFETY: made above. Its thread does not look at this field.
    unsafe {
        (&raw mut (*context).receiver).write(Some(receiver));
        &raw mut (*context).shown.context
    }
}

/// As in libibverbs.
///
/// # Safety
/// The context was not closed before, and nothing of it is in use.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_close_device(context: *mut ibv_context) -> c_int {
    let own = context.wrapping_byte_sub(offset_of!(verbs_context, context)).cast::<Context>();
    // SAFETY: the caller's promise: the context is open, and nothing of it is in use. The thread ends as its socket
    // does; then nobody else has the context.
    unsafe {
        libc::shutdown((*context).cmd_fd, libc::SHUT_RDWR);
        if let Some(receiver) = (&raw mut (*own).receiver).replace(None) {
            // It can have panicked only by a bug; there is nobody here to tell.
            let _ = receiver.join();
        }
        drop(Box::from_raw(own));
    }
    number(Ok(()))
}

/// `query_port` of the extended context.
///
/// # Safety
/// The context is open; `length` bytes may be written.
unsafe extern "C" fn query_port(context: *mut ibv_context, port: u8, to: *mut ibv_port_attr, length: usize) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    number(unsafe { Context::of(context) }.attributes(port).map(|shown| {
        let known = size_of::<ibv_port_attr>().min(length);
        // SAFETY: the caller's promise: `length` bytes may be written at `to`; `known` bytes are in both.
        unsafe {
            to.cast::<u8>().write_bytes(0, length);
            ptr::copy_nonoverlapping((&raw const shown).cast::<u8>(), to.cast(), known);
        }
    }))
}

/// As in libibverbs, whose symbol fills the structure that it began as: all but `port_cap_flags2`.
///
/// # Safety
/// The context is open; the structure may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_port(context: *mut ibv_context, port: u8, to: *mut ibv_port_attr) -> c_int {
    // SAFETY: the caller's promise: the context is open, and the structure up to that field may be written.
    unsafe { query_port(context, port, to, offset_of!(ibv_port_attr, port_cap_flags2)) }
}

/// As in libibverbs.
///
/// # Safety
/// The context is open; the structure may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_device(context: *mut ibv_context, to: *mut ibv_device_attr) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    let own = unsafe { Context::of(context) };
    // SAFETY: all of it are numbers.
    let mut shown: ibv_device_attr = unsafe { mem::zeroed() };
    let client = lock(&own.client);
    let node = client.node();
    put(&mut shown.fw_ver, env!("CARGO_PKG_VERSION"));
    shown.node_guid = node.guid.get().to_be();
    shown.sys_image_guid = shown.node_guid;
    shown.phys_port_cnt = u8::try_from(node.ports.len()).unwrap_or(u8::MAX);
    shown.max_mr_size = u64::MAX;
    shown.page_size_cap = 0xffff_f000;
    shown.vendor_id = 0x02c9;
    shown.max_qp = 256;
    shown.max_qp_wr = c_int::try_from(MAX_WORK).unwrap_or(c_int::MAX);
    shown.max_sge = c_int::try_from(MAX_SGE).unwrap_or(c_int::MAX);
    shown.max_cq = 65_536;
    shown.max_cqe = c_int::try_from(MAX_CQE).unwrap_or(c_int::MAX);
    shown.max_mr = 1 << 20;
    shown.max_pd = 65_536;
    shown.max_ah = 1 << 20;
    shown.max_mcast_grp = 8192;
    shown.max_mcast_qp_attach = 256;
    shown.max_total_mcast_qp_attach = 8192 * 256;
    shown.max_pkeys = u16::try_from(PKEY_ENTRIES).unwrap_or(u16::MAX);
    shown.local_ca_ack_delay = 16;
    // SAFETY: the caller's promise: `to` may be written.
    unsafe { to.write(shown) };
    0
}

impl Context {
    fn gid(&self, port: u8, index: usize) -> Result<[u8; 16], c_int> {
        let port = self.port(port).ok_or(libc::EINVAL)?;
        match port.gids.get(index) {
            Some(gid) => Ok(gid.get()),
            None if index < GID_ENTRIES => Ok([0; 16]),
            None => Err(libc::EINVAL),
        }
    }

    fn pkey(&self, port: u8, index: usize) -> Result<Pkey, c_int> {
        let port = self.port(port).ok_or(libc::EINVAL)?;
        match port.pkeys.get(index) {
            Some(pkey) => Ok(*pkey),
            None if index < PKEY_ENTRIES => Ok(Pkey::new(0)),
            None => Err(libc::EINVAL),
        }
    }
}

/// As in libibverbs.
///
/// # Safety
/// The context is open; the GID may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_gid(context: *mut ibv_context, port: u8, index: c_int, to: *mut ibv_gid) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    let own = unsafe { Context::of(context) };
    let gid = usize::try_from(index).map_err(|_| libc::EINVAL).and_then(|index| own.gid(port, index));
    // SAFETY: the caller's promise: `to` may be written.
    minus_one(gid.map(|raw| unsafe { to.write(ibv_gid { raw }) }))
}

/// As in libibverbs (a private symbol, for its own tools): 0 = InfiniBand.
///
/// # Safety
/// The context is open; the type may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_gid_type(context: *mut ibv_context, port: u8, index: c_uint, to: *mut c_uint) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    let own = unsafe { Context::of(context) };
    let gid = usize::try_from(index).map_err(|_| libc::EINVAL).and_then(|index| own.gid(port, index));
    // SAFETY: the caller's promise: `to` may be written.
    minus_one(gid.map(|_| unsafe { to.write(0) }))
}

/// # Safety
/// `size` bytes may be written.
unsafe fn put_entry(to: *mut c_void, size: usize, port: u32, index: u32, raw: [u8; 16]) {
    let entry = ibv_gid_entry { gid: ibv_gid { raw }, gid_index: index, port_num: port, gid_type: 0, ndev_ifindex: 0 };
    // SAFETY: the caller's promise: `to` may be written.
    unsafe { ptr::copy_nonoverlapping((&raw const entry).cast::<u8>(), to.cast(), size.min(size_of_val(&entry))) };
}

/// As in libibverbs: ENODATA for an entry that is not in use.
///
/// # Safety
/// The context is open; `size` bytes may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn _ibv_query_gid_ex(
    context: *mut ibv_context,
    port: u32,
    index: u32,
    to: *mut ibv_gid_entry,
    _flags: u32,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    let own = unsafe { Context::of(context) };
    let (Ok(small), Ok(place)) = (u8::try_from(port), usize::try_from(index)) else { return libc::EINVAL };
    number(own.gid(small, place).and_then(|gid| {
        if gid == [0; 16] {
            return Err(libc::ENODATA);
        }
        // SAFETY: the caller's promise: `size` bytes may be written at `to`.
        unsafe { put_entry(to.cast(), size, port, index, gid) };
        Ok(())
    }))
}

/// As in libibverbs: how many entries were written.
///
/// # Safety
/// The context is open; `most` entries of `size` bytes may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn _ibv_query_gid_table(
    context: *mut ibv_context,
    to: *mut ibv_gid_entry,
    most: usize,
    _flags: u32,
    size: usize,
) -> isize {
    // SAFETY: the caller's promise: the context is open.
    let client = lock(&unsafe { Context::of(context) }.client);
    let gids = (1u32..).zip(&client.node().ports).flat_map(|(number, port)| {
        (0u32..).zip(&port.gids).filter(|(_, gid)| !gid.is_zero()).map(move |(index, gid)| (number, index, gid.get()))
    });
    let mut count = 0;
    for (place, (port, index, gid)) in gids.take(most).enumerate() {
        // SAFETY: `place` is below `most`.
        unsafe { put_entry(to.cast::<u8>().add(place * size).cast(), size, port, index, gid) };
        count += 1;
    }
    count
}

/// As in libibverbs.
///
/// # Safety
/// The context is open; the key may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_pkey(context: *mut ibv_context, port: u8, index: c_int, to: *mut u16) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    let own = unsafe { Context::of(context) };
    let pkey = usize::try_from(index).map_err(|_| libc::EINVAL).and_then(|index| own.pkey(port, index));
    // SAFETY: the caller's promise: `to` may be written.
    minus_one(pkey.map(|pkey| unsafe { to.write(pkey.get().to_be()) }))
}

/// As in libibverbs: -1 if the table does not have the key, which comes in network order.
///
/// # Safety
/// The context is open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_pkey_index(context: *mut ibv_context, port: u8, pkey: u16) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    let port = unsafe { Context::of(context) }.port(port);
    let index = port.and_then(|port| port.pkeys.iter().position(|own| own.get() == u16::from_be(pkey)));
    index.and_then(|index| c_int::try_from(index).ok()).unwrap_or(-1)
}

/// As in libibverbs.
///
/// # Safety
/// The context is open; the event may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_async_event(context: *mut ibv_context, to: *mut ibv_async_event) -> c_int {
    // SAFETY: the caller's promise: the context is open.
    minus_one(unsafe { Context::of(context) }.events.pop().map(|event| {
        // SAFETY: the caller's promise: `to` may be written. The union is as wide as a pointer, and the machine's first
        // bytes are the lowest, so that a port's number is right in it too. The number is written as one: the
        // enumeration of the bindings is for reading.
        unsafe {
            (&raw mut (*to).element).cast::<usize>().write(event.element);
            (&raw mut (*to).event_type).cast::<u32>().write(event.number);
        }
    }))
}
#[cfg(not(target_endian = "little"))]
compile_error!("an event's port number is written as the low half of a pointer");

/// As in libibverbs: nobody waits for it here.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_ack_async_event(_event: *mut ibv_async_event) {}

const _: () = assert!(size_of::<ibv_async_event>() == 16 && size_of::<ibv_gid_entry>() == 32);
