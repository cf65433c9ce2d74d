//! Attaching queue pairs to multicast groups.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{lock, number, queue_pair::Pair};
use crate::environment;
use core::ffi::c_int;
use ib_mad::Gid;
use rdma_sys::{ibv_gid, ibv_qp};

impl Pair {
    fn attach(&self, mgid: Gid) -> Result<(), c_int> {
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
        if inner.open {
            client.attach(self.qpn, mgid).map_err(|_| libc::EIO)?;
        }
        inner.groups.push(mgid);
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

/// Attaches a queue pair to a group. The MLID is not used: the server finds the group by its MGID.
///
/// # Safety
/// The queue pair lives; the GID can be read.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_attach_mcast(pair: *mut ibv_qp, mgid: *const ibv_gid, _lid: u16) -> c_int {
    // SAFETY: by the caller's promise the queue pair lives, and the GID can be read. Every GID is a sequence of bytes.
    let (pair, mgid) = unsafe { (Pair::of(pair), (*mgid).raw) };
    number(pair.attach(Gid::new(mgid)))
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
