//! Completion channels and completion queues.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{context::Context, events::Events, lock, minus_one, number, object};
use core::{
    ffi::{c_int, c_uint, c_void},
    mem,
    sync::atomic::{AtomicU32, Ordering},
};
use rdma_sys::{ibv_comp_channel, ibv_context, ibv_cq, ibv_wc};
use std::{collections::VecDeque, sync::Mutex};

/// A completion channel: events are addresses of queues.
#[repr(C)]
struct Channel {
    shown: ibv_comp_channel,
    users: AtomicU32,
    events: Events<usize>,
}

/// A completion queue.
#[repr(C)]
pub(super) struct Queue {
    shown: ibv_cq,
    pub(super) users: AtomicU32,
    state: Mutex<State>,
}

struct State {
    done: VecDeque<ibv_wc>,
    size: usize,
    /// What is waited for: nothing, solicited completions and errors, any.
    armed: Armed,
    /// It had no room, or broke.
    failed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Armed {
    No,
    Solicited,
    Any,
}

// SAFETY: a completion is numbers only.
unsafe impl Send for State {}

impl Queue {
    /// # Safety
    /// The queue lives, as long as what is given back is used.
    pub(super) unsafe fn of<'a>(queue: *mut ibv_cq) -> &'a Self {
        // SAFETY: the caller's promise: it is the beginning of ours.
        unsafe { &*queue.cast() }
    }

    /// Adds a completion, and an event if somebody waits for it.
    pub(super) fn push(&self, completion: ibv_wc, solicited: bool) {
        let mut state = lock(&self.state);
        if state.failed || state.done.len() == state.size {
            drop(state);
            return self.fail();
        }
        let wakes = match state.armed {
            Armed::No => false,
            Armed::Solicited => solicited || completion.status != 0,
            Armed::Any => true,
        };
        state.done.push_back(completion);
        if wakes && !self.shown.channel.is_null() {
            state.armed = Armed::No;
            // SAFETY: a channel outlives its queues.
            unsafe { &*self.shown.channel.cast::<Channel>() }.events.push(self.as_ptr().expose_provenance());
        }
    }

    /// From now on nothing is told, but what was.
    pub(super) fn fail(&self) {
        if !mem::replace(&mut lock(&self.state).failed, true) {
            // SAFETY: the context of a living queue is open.
            unsafe { Context::of(self.shown.context) }.tell_cq_error(self.as_ptr());
        }
    }

    /// Forgets the completions of a queue pair.
    pub(super) fn forget(&self, qpn: u32) {
        lock(&self.state).done.retain(|completion| completion.qp_num != qpn);
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
    // SAFETY: the caller's promise: the queue lives, and it is ours.
    let mut state = lock(&unsafe { Queue::of(queue) }.state);
    let mut count = 0;
    for index in 0..usize::try_from(most).unwrap_or(0) {
        let Some(completion) = state.done.pop_front() else { break };
        // SAFETY: the caller's promise, as `index` is below `most`.
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
    // SAFETY: the caller's promise: the queue lives, and it is ours.
    let mut state = lock(&unsafe { Queue::of(queue) }.state);
    state.armed = match (solicited_only, state.armed) {
        (0, _) | (_, Armed::Any) => Armed::Any,
        _ => Armed::Solicited,
    };
    0
}

/// As in libibverbs.
///
/// # Safety
/// The context is open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel {
    let made = Events::new().map_err(|error| error.raw_os_error().unwrap_or(libc::EMFILE));
    object(made.map(|events| {
        let shown = ibv_comp_channel { context, fd: events.fd(), refcnt: 0 };
        Box::new(Channel { shown, users: AtomicU32::new(0), events })
    }))
}

/// As in libibverbs: EBUSY if queues use it.
///
/// # Safety
/// The channel was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    // SAFETY: the caller's promise: it lives, and it is ours.
    unsafe {
        if (*channel.cast::<Channel>()).users.load(Ordering::Acquire) != 0 {
            return libc::EBUSY;
        }
        drop(Box::from_raw(channel.cast::<Channel>()));
    }
    0
}

/// As in libibverbs: null and EINVAL for a size of none or over 2^20.
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
    let entries = usize::try_from(size).ok().filter(|entries| (1..=super::attributes::MAX_CQE).contains(entries));
    let Some(entries) = entries.filter(|_| vector == 0) else { return object::<ibv_cq, _>(Err(libc::EINVAL)) };
    // SAFETY: all of it are numbers and pointers. The mutex and the condition are never used.
    let mut shown: ibv_cq = unsafe { mem::zeroed() };
    shown.context = context;
    shown.cq_context = cq_context;
    shown.channel = channel;
    shown.cqe = size;
    if !channel.is_null() {
        // SAFETY: the caller's promise: it is ours.
        unsafe { &*channel.cast::<Channel>() }.users.fetch_add(1, Ordering::AcqRel);
    }
    let state = State { done: VecDeque::new(), size: entries, armed: Armed::No, failed: false };
    object(Ok(Box::new(Queue { shown, users: AtomicU32::new(0), state: Mutex::new(state) })))
}

/// As in libibverbs: EBUSY if queue pairs use it. Its events that nobody took are gone.
///
/// # Safety
/// The queue was not destroyed before.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_destroy_cq(queue: *mut ibv_cq) -> c_int {
    // SAFETY: the caller's promise: it lives, and it is ours; a channel outlives its queues.
    unsafe {
        let own = Queue::of(queue);
        if own.users.load(Ordering::Acquire) != 0 {
            return libc::EBUSY;
        }
        if !own.shown.channel.is_null() {
            let channel = &*own.shown.channel.cast::<Channel>();
            channel.events.remove(|event| *event == queue.addr());
            channel.users.fetch_sub(1, Ordering::AcqRel);
        }
        Context::of(own.shown.context).forget_events(queue.addr());
        drop(Box::from_raw(queue.cast::<Queue>()));
    }
    number(Ok(()))
}

/// As in libibverbs.
///
/// # Safety
/// The channel lives, both places may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut ibv_comp_channel,
    queue: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise: it is ours.
    let event = unsafe { &*channel.cast::<Channel>() }.events.pop();
    minus_one(event.map(|addr| {
        // SAFETY: an event's queue lives: it takes its events away when it is destroyed. The caller's promise.
        unsafe {
            let found = core::ptr::with_exposed_provenance_mut::<ibv_cq>(addr);
            queue.write(found);
            cq_context.write((*found).cq_context);
        }
    }))
}

/// As in libibverbs: nobody waits for it here.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_ack_cq_events(_queue: *mut ibv_cq, _count: c_uint) {}
