//! Completion channels and completion queues.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{attributes::MAX_CQE, context::Context, events::Events, lock, minus_one, number, object};
use core::{
    ffi::{c_int, c_uint, c_void},
    mem, ptr,
    sync::atomic::{AtomicU32, Ordering},
};
use ib_verbs_sys::{ibv_comp_channel, ibv_context, ibv_cq, ibv_wc};
use std::{collections::VecDeque, sync::Mutex};

/// A completion channel. Its events are addresses of completion queues.
#[repr(C)]
struct Channel {
    abi: ibv_comp_channel,
    /// Number of completion queues on the channel.
    users: AtomicU32,
    events: Events<usize>,
}

/// A completion queue.
#[repr(C)]
pub(super) struct Queue {
    abi: ibv_cq,
    /// Number of queue pairs that use the queue.
    pub(super) users: AtomicU32,
    state: Mutex<State>,
}

struct State {
    completions: VecDeque<ibv_wc>,
    capacity: usize,
    armed: Armed,
    /// True after an overrun or an injected fault.
    failed: bool,
}

/// The completions for which the program requested an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Armed {
    No,
    /// Completions of solicited datagrams, and errors.
    Solicited,
    Any,
}

// SAFETY: a completion has only numbers.
unsafe impl Send for State {}

impl Queue {
    /// # Safety
    /// The queue lives as long as the returned reference is used.
    pub(super) unsafe fn of<'a>(queue: *mut ibv_cq) -> &'a Self {
        // SAFETY: by the caller's promise; `abi` is the first field.
        unsafe { &*queue.cast() }
    }

    /// Adds a completion, and an event if the program requested one.
    pub(super) fn push(&self, completion: ibv_wc, solicited: bool) {
        let mut state = lock(&self.state);
        if state.failed || state.completions.len() == state.capacity {
            drop(state);
            return self.fail();
        }
        let wakes = match state.armed {
            Armed::No => false,
            Armed::Solicited => solicited || completion.status != 0,
            Armed::Any => true,
        };
        state.completions.push_back(completion);
        if wakes && !self.abi.channel.is_null() {
            state.armed = Armed::No;
            // SAFETY: a channel outlives its queues.
            unsafe { &*self.abi.channel.cast::<Channel>() }.events.push(self.as_ptr().expose_provenance());
        }
    }

    /// Stops adding completions. Those in the queue can still be polled.
    pub(super) fn fail(&self) {
        if !mem::replace(&mut lock(&self.state).failed, true) {
            // SAFETY: the context of a living queue is open.
            unsafe { Context::of(self.abi.context) }.report_cq_error(self.as_ptr());
        }
    }

    /// Drops the completions of a queue pair.
    pub(super) fn drop_completions_of(&self, qpn: u32) {
        lock(&self.state).completions.retain(|completion| completion.qp_num != qpn);
    }

    fn as_ptr(&self) -> *mut ibv_cq {
        (&raw const *self).cast_mut().cast()
    }
}

/// `ops.poll_cq`.
///
/// # Safety
/// The queue lives; `most` completions may be written.
pub(super) unsafe extern "C" fn poll(queue: *mut ibv_cq, most: c_int, to: *mut ibv_wc) -> c_int {
    // SAFETY: by the caller's promise the queue lives.
    let mut state = lock(&unsafe { Queue::of(queue) }.state);
    let mut count = 0;
    for index in 0..usize::try_from(most).unwrap_or(0) {
        let Some(completion) = state.completions.pop_front() else { break };
        // SAFETY: by the caller's promise there is room for `most` completions, and `index` is below `most`.
        unsafe { to.add(index).write(completion) };
        count += 1;
    }
    count
}

/// `ops.req_notify_cq`.
///
/// # Safety
/// The queue lives.
pub(super) unsafe extern "C" fn request_notify(queue: *mut ibv_cq, solicited_only: c_int) -> c_int {
    // SAFETY: by the caller's promise the queue lives.
    let mut state = lock(&unsafe { Queue::of(queue) }.state);
    state.armed = match (solicited_only, state.armed) {
        (0, _) | (_, Armed::Any) => Armed::Any,
        _ => Armed::Solicited,
    };
    0
}

/// Creates a completion channel.
///
/// # Safety
/// The context is open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel {
    let events = Events::new().map_err(|error| error.raw_os_error().unwrap_or(libc::EMFILE));
    object(events.map(|events| {
        let abi = ibv_comp_channel { context, fd: events.fd(), refcnt: 0 };
        Box::new(Channel { abi, users: AtomicU32::new(0), events })
    }))
}

/// Destroys a completion channel; EBUSY if completion queues use it.
///
/// # Safety
/// The channel was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    // SAFETY: by the caller's promise the channel lives; `ibv_create_comp_channel` allocated it.
    unsafe {
        if (*channel.cast::<Channel>()).users.load(Ordering::Acquire) != 0 {
            return libc::EBUSY;
        }
        drop(Box::from_raw(channel.cast::<Channel>()));
    }
    0
}

/// Creates a completion queue; null and EINVAL unless `size` is 1 to 2^20 and `vector` is 0.
///
/// # Safety
/// The context is open, the channel null or alive.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_cq(
    context: *mut ibv_context,
    size: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    vector: c_int,
) -> *mut ibv_cq {
    let capacity = usize::try_from(size).ok().filter(|capacity| (1..=MAX_CQE).contains(capacity));
    let Some(capacity) = capacity.filter(|_| vector == 0) else { return object::<ibv_cq, _>(Err(libc::EINVAL)) };
    // SAFETY: all fields are numbers and pointers. The mutex and the condition variable are never used.
    let mut abi: ibv_cq = unsafe { mem::zeroed() };
    abi.context = context;
    abi.cq_context = cq_context;
    abi.channel = channel;
    abi.cqe = size;
    if !channel.is_null() {
        // SAFETY: by the caller's promise the channel lives.
        unsafe { &*channel.cast::<Channel>() }.users.fetch_add(1, Ordering::AcqRel);
    }
    let state = State { completions: VecDeque::new(), capacity, armed: Armed::No, failed: false };
    object(Ok(Box::new(Queue { abi, users: AtomicU32::new(0), state: Mutex::new(state) })))
}

/// Destroys a completion queue and its pending events; EBUSY if queue pairs use it.
///
/// # Safety
/// The queue was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_cq(queue: *mut ibv_cq) -> c_int {
    // SAFETY: by the caller's promise the queue lives; `ibv_create_cq` allocated it. A channel outlives its queues.
    unsafe {
        let cq = Queue::of(queue);
        if cq.users.load(Ordering::Acquire) != 0 {
            return libc::EBUSY;
        }
        if !cq.abi.channel.is_null() {
            let channel = &*cq.abi.channel.cast::<Channel>();
            channel.events.remove(|event| *event == queue.addr());
            channel.users.fetch_sub(1, Ordering::AcqRel);
        }
        Context::of(cq.abi.context).remove_events(queue.addr());
        drop(Box::from_raw(queue.cast::<Queue>()));
    }
    number(Ok(()))
}

/// Waits for an event of a channel and writes its completion queue.
///
/// # Safety
/// The channel lives; both pointers may be written to.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut ibv_comp_channel,
    queue: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    // SAFETY: by the caller's promise the channel lives.
    let event = unsafe { &*channel.cast::<Channel>() }.events.pop();
    minus_one(event.map(|addr| {
        // SAFETY: the queue of an event lives: destroying a queue removes its events. By the caller's promise both
        // pointers may be written to.
        unsafe {
            let found = ptr::with_exposed_provenance_mut::<ibv_cq>(addr);
            queue.write(found);
            cq_context.write((*found).cq_context);
        }
    }))
}

/// Acknowledges events. Nothing here waits for acknowledgements.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_ack_cq_events(_queue: *mut ibv_cq, _count: c_uint) {}
