//! Attaching queue pairs to multicast groups.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{lock, number, queue_pair::Pair};
use crate::environment;
use core::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};
use ib_mad::{Gid, Lid};
use ib_verbs_sys::{ibv_gid, ibv_qp};
use std::sync::{Condvar, Mutex, PoisonError};

/// The requests of a connection to attach a queue pair. The server answers all of them, in order.
#[derive(Debug, Default)]
pub(super) struct Attaches {
    sent: AtomicU64,
    answered: Mutex<u64>,
    changed: Condvar,
}

impl Attaches {
    /// Counts a request, with the client locked. Returns its number.
    pub(super) fn sent(&self) -> u64 {
        self.sent.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts an answer.
    pub(super) fn answered(&self) {
        *lock(&self.answered) += 1;
        self.changed.notify_all();
    }

    /// Ends all waits: the connection is closed.
    pub(super) fn end(&self) {
        *lock(&self.answered) = u64::MAX;
        self.changed.notify_all();
    }

    /// Waits for the answer to a request.
    fn wait(&self, number: u64) {
        let answered = lock(&self.answered);
        // The guard is not used.
        drop(self.changed.wait_while(answered, |answered| *answered < number).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Pair {
    /// Attaches the queue pair. Datagrams that are sent to the group after the return are received.
    fn attach(&self, mgid: Gid, mlid: Lid) -> Result<(), c_int> {
        if !mgid.is_multicast() {
            return Err(libc::EINVAL);
        }
        if environment::get().is_some_and(|host| host.tree.join("no_room_for_groups").exists()) {
            return Err(libc::ENOMEM);
        }
        let mut client = lock(&self.context().client);
        let mut inner = lock(&self.inner);
        if inner.groups.contains(&mgid) {
            return Ok(());
        }
        let attaches = &self.context().attaches;
        let mut number = 0;
        if inner.open {
            client.attach(self.qpn, mgid, mlid).map_err(|_| libc::EIO)?;
            number = attaches.sent();
        }
        inner.groups.push(mgid);
        // The thread that receives needs both locks.
        drop((client, inner));
        attaches.wait(number);
        Ok(())
    }

    fn detach(&self, mgid: Gid) -> Result<(), c_int> {
        let mut client = lock(&self.context().client);
        let mut inner = lock(&self.inner);
        let position = inner.groups.iter().position(|group| *group == mgid).ok_or(libc::EINVAL)?;
        inner.groups.swap_remove(position);
        if inner.open {
            client.detach(self.qpn, mgid).map_err(|_| libc::EIO)?;
        }
        Ok(())
    }
}

/// Attaches a queue pair to a group, which the server finds by its MGID.
///
/// # Safety
/// The queue pair lives; the GID can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_attach_mcast(pair: *mut ibv_qp, mgid: *const ibv_gid, lid: u16) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives, and the GID can be read. Every GID is a sequence of bytes.
    let (pair, mgid) = unsafe { (Pair::of(pair), (*mgid).raw) };
    number(pair.attach(Gid::new(mgid), Lid::new(lid)))
}

/// Detaches a queue pair from a group; EINVAL if it is not attached.
///
/// # Safety
/// The queue pair lives; the GID can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_detach_mcast(pair: *mut ibv_qp, mgid: *const ibv_gid, _lid: u16) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives, and the GID can be read. Every GID is a sequence of bytes.
    let (pair, mgid) = unsafe { (Pair::of(pair), (*mgid).raw) };
    number(pair.detach(Gid::new(mgid)))
}
