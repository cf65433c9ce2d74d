//! The requests of `<rdma/ib_user_mad.h>`.
#![expect(unsafe_code, reason = "ioctl")]
use crate::{Error, Result};
use std::{fs::File, os::fd::AsRawFd};

/// Flag of an agent: the program handles RMPP.
pub(super) const USER_RMPP: u32 = 1;

#[cfg(target_pointer_width = "64")]
type Longs = [u64; 2];
#[cfg(target_pointer_width = "32")]
type Longs = [u32; 4];

/// `struct ib_user_mad_reg_req`. Packed, because the mask of longs is aligned only to 4 bytes.
#[derive(Debug)]
#[repr(C, packed(4))]
pub(super) struct RegisterAgent {
    pub(super) id: u32,
    pub(super) method_mask: Longs,
    pub(super) qpn: u8,
    pub(super) mgmt_class: u8,
    pub(super) mgmt_class_version: u8,
    pub(super) oui: [u8; 3],
    pub(super) rmpp_version: u8,
    pub(super) padding: u8,
}
const _: () = assert!(size_of::<RegisterAgent>() == 28);

/// `struct ib_user_mad_reg_req2` (Linux 3.17).
#[derive(Debug)]
#[repr(C)]
pub(super) struct RegisterAgent2 {
    pub(super) id: u32,
    pub(super) qpn: u32,
    pub(super) mgmt_class: u8,
    pub(super) mgmt_class_version: u8,
    pub(super) reserved: u16,
    pub(super) flags: u32,
    pub(super) method_mask: [u64; 2],
    pub(super) oui: u32,
    pub(super) rmpp_version: u8,
    pub(super) reserved2: [u8; 3],
}
const _: () = assert!(size_of::<RegisterAgent2>() == 40);

mod raw {
    use super::{RegisterAgent, RegisterAgent2};
    const MAGIC: u8 = 0x1b;
    nix::ioctl_readwrite!(register_agent, MAGIC, 1, RegisterAgent);
    nix::ioctl_write_ptr!(unregister_agent, MAGIC, 2, u32);
    nix::ioctl_none!(enable_pkey, MAGIC, 3);
    nix::ioctl_readwrite!(register_agent2, MAGIC, 4, RegisterAgent2);
}

/// Switches to frames with a P_Key index, whose header has 64 bytes. Must be the first request on the file.
pub(super) fn enable_pkey(file: &File) -> Result<()> {
    // SAFETY: the request takes no memory.
    unsafe { raw::enable_pkey(file.as_raw_fd()) }.map(drop).map_err(Error::call("ENABLE_PKEY"))
}

/// Registers an agent. The kernel sets `id`.
pub(super) fn register_agent(file: &File, request: &mut RegisterAgent) -> nix::Result<()> {
    // SAFETY: the kernel reads and writes one structure of this size (asserted above), which this function has
    // borrowed.
    unsafe { raw::register_agent(file.as_raw_fd(), request) }.map(drop)
}

/// Registers an agent by the second form of the request. The kernel sets `id`.
pub(super) fn register_agent2(file: &File, request: &mut RegisterAgent2) -> nix::Result<()> {
    // SAFETY: the kernel reads and writes one structure of this size (asserted above), which this function has
    // borrowed.
    unsafe { raw::register_agent2(file.as_raw_fd(), request) }.map(drop)
}

pub(super) fn unregister_agent(file: &File, id: u32) -> Result<()> {
    // SAFETY: the kernel reads one u32, which lives until the request ends.
    unsafe { raw::unregister_agent(file.as_raw_fd(), &raw const id) }.map(drop).map_err(Error::call("UNREGISTER_AGENT"))
}
