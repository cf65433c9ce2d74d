//! An open device: tables of its objects, its asynchronous events, and the thread that receives.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{
    events::Events,
    lock, minus_one,
    multicast::Attaches,
    regions::Regions,
    stalled::{SendDone, StalledSends},
};
use core::{
    ffi::c_int,
    mem::{MaybeUninit, offset_of},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};
use ib_mad::{Qpn, packet::Grh};
use ib_sim::{
    Datagram, Port, Source,
    client::{Client, ClientError, Message},
    proto::{Fault, Kind},
};
use ib_verbs_sys::{ibv_async_event, ibv_context, ibv_cq, verbs_context};
use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, AsRawFd},
    sync::Mutex,
    thread::{self, JoinHandle},
};

// Numbers of `enum ibv_event_type`.
const EVENT_CQ_ERR: u32 = 0;
const EVENT_QP_FATAL: u32 = 1;
const EVENT_DEVICE_FATAL: u32 = 8;

/// An asynchronous event: its number and its element, which is a port's number or an object's address.
#[derive(Clone, Copy, Debug)]
struct AsyncEvent {
    number: u32,
    element: usize,
}

/// An open device. Locks are taken in the order of the fields, then those of a queue pair and a completion queue.
#[repr(C)]
pub(super) struct Context {
    /// The first field: programs have pointers to the end of it and read in front of that.
    abi: verbs_context,
    pub(super) client: Mutex<Client>,
    /// Queue pairs by number.
    pub(super) pairs: Mutex<BTreeMap<Qpn, PairAddress>>,
    pub(super) regions: Regions,
    pub(super) stalled: StalledSends,
    events: Events<AsyncEvent>,
    pub(super) attaches: Attaches,
    /// True after the connection ended: the device was removed.
    removed: AtomicBool,
    receiver: Mutex<Option<JoinHandle<()>>>,
}

/// A queue pair as the thread that receives uses it.
pub(super) trait MessageHandler {
    /// Handles a datagram for the queue pair.
    fn handle_datagram(&self, source: &Source, grh: Option<&Grh>, payload: &[u8]);

    /// Handles a failure of the queue pair: it is in error, and its posted receives are lost without completions, as a
    /// defective device may lose them.
    fn handle_pair_fault(&self);

    /// Handles a failure of the completion queue of its receives.
    fn handle_queue_fault(&self);

    /// Completes a send that went out after a wait.
    fn handle_sent(&self, done: SendDone);
}

/// The address of a living queue pair.
#[derive(Clone, Copy)]
pub(super) struct PairAddress(pub(super) *const dyn MessageHandler);

// SAFETY: queue pairs may be used from any thread.
unsafe impl Send for PairAddress {}

impl PairAddress {
    /// Returns the queue pair. The table of queue pairs must be locked as long as the queue pair is used.
    fn get(&self) -> &dyn MessageHandler {
        // SAFETY: a queue pair is in the table only while it lives.
        unsafe { &*self.0 }
    }
}

// SAFETY: the part that programs see does not change after it was made; every other field has its lock.
unsafe impl Sync for Context {}

impl Context {
    /// Starts the thread that receives, and returns the part of the context that programs see.
    ///
    /// # Errors
    /// EMFILE without descriptors for the events; EAGAIN without a thread.
    pub(super) fn start(mut abi: verbs_context, client: Client) -> Result<*mut ibv_context, c_int> {
        let queues = || Ok((Events::new()?, StalledSends::new()?));
        let (events, stalled) = queues().map_err(|_: io::Error| libc::EMFILE)?;
        let fd = client.as_fd().as_raw_fd();
        abi.context.cmd_fd = fd;
        abi.context.async_fd = events.fd();
        let context = Box::into_raw(Box::new(Self {
            abi,
            client: Mutex::new(client),
            pairs: Mutex::default(),
            regions: Regions::default(),
            stalled,
            events,
            removed: AtomicBool::new(false),
            attaches: Attaches::default(),
            receiver: Mutex::default(),
        }));
        let address = context.expose_provenance();
        let receive = move || {
            // SAFETY: the thread ends before the context is freed.
            unsafe { &*ptr::with_exposed_provenance::<Self>(address) }.receive(fd);
        };
        let Ok(receiver) = without_signals(|| thread::Builder::new().name("ib-sim".into()).spawn(receive)) else {
            // SAFETY: allocated above, and no other reference to it exists.
            drop(unsafe { Box::from_raw(context) });
            return Err(libc::EAGAIN);
        };
        // SAFETY: allocated above.
        unsafe {
            *lock(&(*context).receiver) = Some(receiver);
            Ok(&raw mut (*context).abi.context)
        }
    }

    /// Ends the thread that receives and frees the context.
    ///
    /// # Safety
    /// The context is open, and nothing of it is in use.
    pub(super) unsafe fn stop(context: *mut ibv_context) {
        let this = context.wrapping_byte_sub(offset_of!(verbs_context, context)).cast::<Self>();
        // SAFETY: by the caller's promise the context is open, and nothing of it is in use. The thread ends when its
        // socket is shut down; after that no other reference to the context exists.
        unsafe {
            libc::shutdown((*context).cmd_fd, libc::SHUT_RDWR);
            let receiver = lock(&(*this).receiver).take();
            if let Some(receiver) = receiver {
                // An error is a panic of the thread, which is a defect of this library. C has no way to report it.
                let _ = receiver.join();
            }
            drop(Box::from_raw(this));
        }
    }

    /// # Safety
    /// The context is open as long as the returned reference is used.
    pub(super) unsafe fn of<'a>(context: *mut ibv_context) -> &'a Self {
        // SAFETY: by the caller's promise the pointer is to that part of a `Context`.
        unsafe { &*context.byte_sub(offset_of!(verbs_context, context)).cast() }
    }

    /// Returns the present state of a port.
    pub(super) fn port(&self, number: u8) -> Option<Port> {
        lock(&self.client).port(number).cloned()
    }

    /// True if the device was removed. The kernel then fails every command with EIO.
    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    /// Reports that a completion queue failed and has no further completions.
    pub(super) fn report_cq_error(&self, queue: *mut ibv_cq) {
        self.events.push(AsyncEvent { number: EVENT_CQ_ERR, element: queue.expose_provenance() });
    }

    /// Removes the events about a queue pair or a completion queue that is being destroyed.
    pub(super) fn remove_events(&self, element: usize) {
        let is_of_port = |number: u32| matches!(number, 9..=13 | 17 | 18);
        self.events.remove(|event| event.element == element && !is_of_port(event.number));
    }

    /// Sends a datagram; false if it waits for room at the server.
    pub(super) fn send(&self, qpn: Qpn, datagram: &Datagram<'_>, done: SendDone) -> bool {
        self.stalled.send(&mut lock(&self.client), qpn, datagram, done)
    }

    /// Sends and completes waiting sends as far as the server has room.
    fn resume_sends(&self) {
        let sent = self.stalled.resume(&mut lock(&self.client));
        let pairs = lock(&self.pairs);
        for (qpn, done) in sent {
            if let Some(pair) = pairs.get(&qpn) {
                pair.get().handle_sent(done);
            }
        }
    }

    /// Receives until the connection ends.
    fn receive(&self, fd: c_int) {
        loop {
            let room = if self.stalled.is_empty() { 0 } else { libc::POLLOUT };
            let wakeup = self.stalled.wakeup();
            let mut polls = [(fd, libc::POLLIN | room), (wakeup.fd(), libc::POLLIN)].map(|(fd, events)| libc::pollfd {
                fd,
                events,
                revents: 0,
            });
            // SAFETY: `polls` has two entries.
            unsafe { libc::poll(polls.as_mut_ptr(), 2, -1) };
            if polls[1].revents != 0 {
                // There is an entry, and only this thread removes entries.
                let _ = wakeup.pop();
            }
            self.resume_sends();
            loop {
                // The lock is released after each message, so that other threads can send.
                let mut client = lock(&self.client);
                match client.receive() {
                    Ok(Some(message)) => self.handle_message(&message),
                    Ok(None) => break,
                    Err(ClientError::BadMessage(_)) => {}
                    Err(_) => {
                        self.removed.store(true, Ordering::Release);
                        self.attaches.end();
                        self.events.push(AsyncEvent { number: EVENT_DEVICE_FATAL, element: 0 });
                        return;
                    }
                }
            }
        }
    }

    fn handle_message(&self, message: &Message<'_>) {
        match message {
            Message::Datagram { qpn, source, grh, payload } => {
                let pairs = lock(&self.pairs);
                if let Some(pair) = pairs.get(qpn) {
                    pair.get().handle_datagram(source, *grh, payload);
                }
            }
            Message::Fault { qpn, fault } => self.handle_fault(*qpn, *fault),
            Message::Port { port, change } => {
                self.events.push(AsyncEvent { number: change.code().into(), element: (*port).into() });
            }
            Message::Attached { .. } | Message::Refused { request: Kind::ATTACH, .. } => self.attaches.answered(),
            // This library sends no MADs by this connection. The server refuses a request if its state changed after
            // this library checked the request. Such a request counts as lost.
            _ => {}
        }
    }

    fn handle_fault(&self, qpn: Qpn, fault: Fault) {
        let pairs = lock(&self.pairs);
        let Some(pair) = pairs.get(&qpn) else { return };
        match fault {
            Fault::QUEUE_PAIR => {
                pair.get().handle_pair_fault();
                self.events.push(AsyncEvent { number: EVENT_QP_FATAL, element: pair.0.expose_provenance() });
            }
            Fault::COMPLETION_QUEUE => pair.get().handle_queue_fault(),
            _ => {}
        }
    }
}

/// Runs `make` with all signals blocked, so that a thread it starts handles none of the program's signals.
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

/// Waits for an asynchronous event and writes it to `to`.
///
/// # Safety
/// The context is open; the event may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_async_event(context: *mut ibv_context, to: *mut ibv_async_event) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    minus_one(unsafe { Context::of(context) }.events.pop().map(|event| {
        // SAFETY: by the caller's promise `to` may be written. The union is as wide as a pointer. On a little-endian
        // machine its first bytes are the lowest, so that a port's number is right, too.
        unsafe {
            (&raw mut (*to).element).cast::<usize>().write(event.element);
            (&raw mut (*to).event_type).write(event.number);
        }
    }))
}
#[cfg(not(target_endian = "little"))]
compile_error!("an event's port number is written as the low half of a pointer");

/// Acknowledges an event. Nothing here waits for acknowledgements.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_ack_async_event(_event: *mut ibv_async_event) {}

const _: () = assert!(size_of::<ibv_async_event>() == 16);
