//! An open device: its asynchronous events, and the thread that receives.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    attributes::query_port, completion, device::number_of, events::Events, lock, memory::Region, minus_one, number,
    queue_pair::Pair, stalled::Stalled, work,
};
use crate::{environment, next::set_errno};
use core::{
    ffi::c_int,
    mem::{self, MaybeUninit, offset_of},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};
use ib_mad::Qpn;
use ib_sim::{
    Port,
    client::{Client, ClientError, Message},
    proto::Fault,
};
use rdma_sys::{ibv_async_event, ibv_context, ibv_cq, ibv_device, verbs_context};
use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, AsRawFd},
    sync::Mutex,
    thread::{self, JoinHandle},
};

const EVENT_CQ_ERR: u32 = 0;
const EVENT_QP_FATAL: u32 = 1;
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

    /// Tells of a completion queue that tells of nothing any more.
    pub(super) fn tell_cq_error(&self, queue: *mut ibv_cq) {
        self.events.push(AsyncEvent { number: EVENT_CQ_ERR, element: queue.expose_provenance() });
    }

    /// Takes away the events about a queue pair or a completion queue, which goes.
    pub(super) fn forget_events(&self, element: usize) {
        let names_port = |number: u32| matches!(number, 9..=13 | 17 | 18);
        self.events.remove(|event| event.element == element && !names_port(event.number));
    }

    /// Something of a queue pair broke.
    fn fault(&self, qpn: Qpn, fault: Fault) {
        let pairs = lock(&self.pairs);
        let Some(pair) = pairs.get(&qpn) else { return };
        match fault {
            Fault::QUEUE_PAIR => {
                work::lose(pair.get());
                self.events.push(AsyncEvent { number: EVENT_QP_FATAL, element: pair.0.expose_provenance() });
            }
            Fault::COMPLETION_QUEUE => pair.get().receive_queue().fail(),
            _ => {}
        }
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
            Message::Fault { qpn, fault } => self.fault(*qpn, *fault),
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
    // SAFETY: the device is of `ibv_get_device_list`, whose devices live as long as the process.
    let node = at.device(unsafe { number_of(device) });
    let opened = Client::connect(&at.socket, Some(&node)).map_err(|_| libc::ENODEV);
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

const _: () = assert!(size_of::<ibv_async_event>() == 16);
