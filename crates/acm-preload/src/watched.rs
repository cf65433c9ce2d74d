//! The descriptor of librdmacm's connection, which all threads use.
//!
//! A child process may have a lock that nobody releases, because another thread had it at the fork. So no function
//! waits for the lock, except to receive a response that is at hand.
use crate::connection::{Connection, Way};
use acm_client::Service;
use acm_wire::client::Header;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::{
    process,
    sync::{Mutex, MutexGuard},
};

/// The descriptor, or -1.
static FD: AtomicI32 = AtomicI32::new(-1);
/// The process that has opened the connection.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// True if a response is at hand.
static HAS_ANSWER: AtomicBool = AtomicBool::new(false);
static CONNECTION: Mutex<Option<Connection>> = Mutex::new(None);

/// Reports whether a descriptor is that of the connection.
pub(crate) fn is_watched(fd: i32) -> bool {
    fd >= 0 && FD.load(Ordering::Acquire) == fd
}

fn try_lock() -> Option<MutexGuard<'static, Option<Connection>>> {
    // The lock is poisoned after a panic, and this library then does nothing any more.
    CONNECTION.try_lock().ok()
}

/// Begins to watch a descriptor, in place of the previous one.
pub(crate) fn watch(fd: i32, service: Service) {
    if let Some(mut connection) = try_lock() {
        *connection = Some(Connection::new(service));
        HAS_ANSWER.store(false, Ordering::Release);
        PROCESS.store(process::id(), Ordering::Release);
        FD.store(fd, Ordering::Release);
    }
}

/// Reports whether a descriptor is watched in the process that has opened it. A child that shares this memory (`vfork`)
/// closes descriptors of its own. A child with a copy of this memory keeps the descriptor watched: if another file gets
/// the number, requests of this protocol are still answered correctly.
pub(crate) fn is_watched_here(fd: i32) -> bool {
    is_watched(fd) && PROCESS.load(Ordering::Acquire) == process::id()
}

/// Ends to watch a descriptor, for example because it is closed.
pub(crate) fn unwatch(fd: i32) {
    if fd >= 0 && FD.compare_exchange(fd, -1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        HAS_ANSWER.store(false, Ordering::Release);
    }
}

/// Ends to watch the descriptor if it is one of these.
pub(crate) fn unwatch_range(first: u32, last: u32) {
    let fd = FD.load(Ordering::Acquire);
    if u32::try_from(fd).is_ok_and(|number| (first..=last).contains(&number)) && is_watched_here(fd) {
        unwatch(fd);
    }
}

/// Handles a message that the program sends on the watched descriptor.
pub(crate) fn send(fd: i32, message: &[u8]) -> Way {
    let Some(mut guard) = try_lock() else {
        // The responses of this request and of later ones could change their order.
        unwatch(fd);
        return Way::Socket(None);
    };
    let Some(connection) = guard.as_mut() else { return Way::Socket(None) };
    let way = connection.send(message);
    HAS_ANSWER.store(connection.has_answer(), Ordering::Release);
    way
}

/// Returns the last report for the daemon, before the program closes the connection.
pub(crate) fn last_report() -> Option<Header> {
    try_lock()?.as_mut()?.report()
}

/// Copies a response that is at hand: see [`Connection::receive`].
pub(crate) fn receive(buffer: &mut [u8], peeks: bool) -> Option<usize> {
    if !HAS_ANSWER.load(Ordering::Acquire) {
        return None;
    }
    let mut guard = CONNECTION.lock().ok()?;
    let connection = guard.as_mut()?;
    let count = connection.receive(buffer, peeks);
    HAS_ANSWER.store(connection.has_answer(), Ordering::Release);
    count
}

/// Handles bytes that the program has received from the watched descriptor.
pub(crate) fn received(bytes: &[u8]) {
    if let Some(connection) = try_lock().as_mut().and_then(|guard| guard.as_mut()) {
        connection.received(bytes);
    }
}
