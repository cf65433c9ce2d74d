//! A queue with a descriptor that is readable as long as the queue has an entry.
#![expect(unsafe_code, reason = "eventfd")]
use core::ffi::{c_int, c_void};
use std::{
    collections::VecDeque,
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Locks a mutex, also after a thread panicked with the lock held: the device continues.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A queue of events. The descriptor counts the entries; the program decides by its flags if reading blocks.
#[derive(Debug)]
pub(super) struct Events<T> {
    fd: OwnedFd,
    queue: Mutex<VecDeque<T>>,
}

impl<T> Events<T> {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no memory is involved.
        let fd = unsafe { libc::eventfd(0, libc::EFD_SEMAPHORE | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was opened above and has no other owner.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) }, queue: Mutex::default() })
    }

    pub(super) fn fd(&self) -> c_int {
        self.fd.as_raw_fd()
    }

    pub(super) fn push(&self, event: T) {
        let mut queue = lock(&self.queue);
        queue.push_back(event);
        let one = 1u64;
        // SAFETY: eight bytes are read from `one`. The call cannot fail: the counter would have to pass 2^64.
        unsafe { libc::write(self.fd(), (&raw const one).cast::<c_void>(), size_of::<u64>()) };
    }

    /// Removes and returns the first entry. Waits for an entry if the descriptor is a blocking one.
    pub(super) fn pop(&self) -> Result<T, c_int> {
        loop {
            self.count_down()?;
            // The queue is empty if `remove` took the entry in the meantime.
            if let Some(event) = lock(&self.queue).pop_front() {
                return Ok(event);
            }
        }
    }

    /// Removes the entries for which `matches` is true.
    pub(super) fn remove(&self, matches: impl Fn(&T) -> bool) {
        let mut queue = lock(&self.queue);
        let before = queue.len();
        queue.retain(|event| !matches(event));
        for _ in queue.len()..before {
            // There was an entry, so this does not block, unless `pop` of another thread counted it down first. That
            // thread then finds no entry and continues to wait.
            if !self.is_readable() || self.count_down().is_err() {
                break;
            }
        }
    }

    fn is_readable(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the array has one entry, `poll`.
        unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
    }

    fn count_down(&self) -> Result<(), c_int> {
        let mut count = 0u64;
        // SAFETY: eight bytes may be written to `count`.
        let read = unsafe { libc::read(self.fd(), (&raw mut count).cast::<c_void>(), size_of::<u64>()) };
        if read < 0 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptor_is_readable_while_the_queue_has_entries() {
        let events = Events::new().unwrap();
        assert!(!events.is_readable());
        (0..4).for_each(|event| events.push(event));
        assert_eq!(events.pop(), Ok(0));
        events.remove(|event| *event == 1 || *event == 3);
        assert_eq!(events.pop(), Ok(2));
        assert!(!events.is_readable());
    }
}
