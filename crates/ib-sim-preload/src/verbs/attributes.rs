//! Limits, ports and tables of a device.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{context::Context, device::write_text, lock, minus_one, number};
use core::{
    ffi::{c_int, c_uint, c_void},
    mem,
    mem::offset_of,
    ptr,
};
use ib_mad::{Mtu, Pkey};
use ib_verbs_sys::{ibv_context, ibv_device_attr, ibv_gid, ibv_gid_entry, ibv_port_attr};

// Limits of the device.
pub(super) const MAX_CQE: usize = 1 << 20;
pub(super) const MAX_WORK: u32 = 16_384;
pub(super) const MAX_SGE: u32 = 16;
/// Bytes.
pub(super) const MAX_INLINE: u32 = 1024;
// Entries of the tables, used or not, as in the node's sysfs.
const GID_ENTRIES: usize = 8;
const PKEY_ENTRIES: usize = 32;
// Link layers of `struct ibv_port_attr`.
const INFINIBAND: u8 = 1;
const ETHERNET: u8 = 2;
/// Bit of `flags`.
const GRH_REQUIRED: u8 = 1;
const CAPABILITIES: u32 = 0x2651_e848;

impl Context {
    fn port_attributes(&self, number: u8) -> Result<ibv_port_attr, c_int> {
        if self.is_removed() {
            return Err(libc::EIO);
        }
        let port = self.port(number).ok_or(libc::EINVAL)?;
        // SAFETY: all fields are numbers.
        let mut attributes: ibv_port_attr = unsafe { mem::zeroed() };
        let (width, speed) = port.width_and_speed();
        attributes.state = port.state.get().into();
        attributes.phys_state = if port.state == ib_mad::PortState::DOWN { 2 } else { 5 };
        attributes.max_mtu = Mtu::B4096.get().into();
        attributes.active_mtu = port.mtu.get().into();
        attributes.gid_tbl_len = c_int::try_from(port.gids.len().max(GID_ENTRIES)).unwrap_or(c_int::MAX);
        attributes.pkey_tbl_len = u16::try_from(port.pkeys.len().max(PKEY_ENTRIES)).unwrap_or(u16::MAX);
        attributes.port_cap_flags = CAPABILITIES;
        attributes.max_msg_sz = 1 << 30;
        attributes.lid = port.lid.get();
        attributes.lmc = port.lmc.get();
        attributes.sm_lid = port.sm_lid.get();
        attributes.sm_sl = port.sm_sl.get();
        attributes.subnet_timeout = port.subnet_timeout;
        attributes.max_vl_num = 4;
        attributes.active_width = width;
        // XDR does not fit in the 8 bits, as in libibverbs.
        attributes.active_speed = u8::try_from(speed).unwrap_or_default();
        attributes.link_layer = if port.ethernet { ETHERNET } else { INFINIBAND };
        attributes.flags = if port.grh_required { GRH_REQUIRED } else { 0 };
        Ok(attributes)
    }
}

/// `query_port` of the extended context.
///
/// # Safety
/// The context is open; `length` bytes may be written.
pub(super) unsafe extern "C" fn query_port(
    context: *mut ibv_context,
    port: u8,
    to: *mut ibv_port_attr,
    length: usize,
) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    number(unsafe { Context::of(context) }.port_attributes(port).map(|attributes| {
        let copied = size_of::<ibv_port_attr>().min(length);
        // SAFETY: by the caller's promise `length` bytes may be written at `to`; `copied` bytes are in both structures.
        unsafe {
            to.cast::<u8>().write_bytes(0, length);
            ptr::copy_nonoverlapping((&raw const attributes).cast::<u8>(), to.cast(), copied);
        }
    }))
}

/// Queries a port. The symbol fills the first version of the structure: all fields before `port_cap_flags2`.
///
/// # Safety
/// The context is open; the structure may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_port(context: *mut ibv_context, port: u8, to: *mut ibv_port_attr) -> c_int {
    // SAFETY: by the caller's promise the context is open, and the structure up to that field may be written.
    unsafe { query_port(context, port, to, offset_of!(ibv_port_attr, port_cap_flags2)) }
}

/// Queries the device's limits.
///
/// # Safety
/// The context is open; the structure may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_device(context: *mut ibv_context, to: *mut ibv_device_attr) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    let context = unsafe { Context::of(context) };
    // SAFETY: all fields are numbers.
    let mut attributes: ibv_device_attr = unsafe { mem::zeroed() };
    let client = lock(&context.client);
    let node = client.node();
    write_text(&mut attributes.fw_ver, env!("CARGO_PKG_VERSION"));
    attributes.node_guid = node.guid.get().to_be();
    attributes.sys_image_guid = attributes.node_guid;
    attributes.phys_port_cnt = u8::try_from(node.ports.len()).unwrap_or(u8::MAX);
    attributes.max_mr_size = u64::MAX;
    attributes.page_size_cap = 0xffff_f000;
    attributes.vendor_id = 0x02c9;
    attributes.max_qp = 256;
    attributes.max_qp_wr = c_int::try_from(MAX_WORK).unwrap_or(c_int::MAX);
    attributes.max_sge = c_int::try_from(MAX_SGE).unwrap_or(c_int::MAX);
    attributes.max_cq = 65_536;
    attributes.max_cqe = c_int::try_from(MAX_CQE).unwrap_or(c_int::MAX);
    attributes.max_mr = 1 << 20;
    attributes.max_pd = 65_536;
    attributes.max_ah = 1 << 20;
    attributes.max_mcast_grp = 8192;
    attributes.max_mcast_qp_attach = 256;
    attributes.max_total_mcast_qp_attach = 8192 * 256;
    attributes.max_pkeys = u16::try_from(PKEY_ENTRIES).unwrap_or(u16::MAX);
    attributes.local_ca_ack_delay = 16;
    // SAFETY: by the caller's promise `to` may be written.
    unsafe { to.write(attributes) };
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

/// Reads an entry of a port's GID table.
///
/// # Safety
/// The context is open; the GID may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_gid(context: *mut ibv_context, port: u8, index: c_int, to: *mut ibv_gid) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    let context = unsafe { Context::of(context) };
    let gid = usize::try_from(index).map_err(|_| libc::EINVAL).and_then(|index| context.gid(port, index));
    // SAFETY: by the caller's promise `to` may be written.
    minus_one(gid.map(|raw| unsafe { to.write(ibv_gid { raw }) }))
}

/// Writes the type of a GID: 0 for InfiniBand. A private symbol for libibverbs' own tools.
///
/// # Safety
/// The context is open; the type may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_gid_type(context: *mut ibv_context, port: u8, index: c_uint, to: *mut c_uint) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    let context = unsafe { Context::of(context) };
    let gid = usize::try_from(index).map_err(|_| libc::EINVAL).and_then(|index| context.gid(port, index));
    // SAFETY: by the caller's promise `to` may be written.
    minus_one(gid.map(|_| unsafe { to.write(0) }))
}

/// # Safety
/// `size` bytes may be written.
unsafe fn write_entry(to: *mut c_void, size: usize, port: u32, index: u32, raw: [u8; 16]) {
    let entry = ibv_gid_entry { gid: ibv_gid { raw }, gid_index: index, port_num: port, gid_type: 0, ndev_ifindex: 0 };
    // SAFETY: by the caller's promise `size` bytes may be written at `to`.
    unsafe { ptr::copy_nonoverlapping((&raw const entry).cast::<u8>(), to.cast(), size.min(size_of_val(&entry))) };
}

/// Reads an entry of a port's GID table; ENODATA for an unused entry.
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
    // SAFETY: by the caller's promise the context is open.
    let context = unsafe { Context::of(context) };
    let (Ok(number_of_port), Ok(position)) = (u8::try_from(port), usize::try_from(index)) else { return libc::EINVAL };
    number(context.gid(number_of_port, position).and_then(|gid| {
        if gid == [0; 16] {
            return Err(libc::ENODATA);
        }
        // SAFETY: by the caller's promise `size` bytes may be written at `to`.
        unsafe { write_entry(to.cast(), size, port, index, gid) };
        Ok(())
    }))
}

/// Writes the used GID entries of all ports and returns their number.
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
    // SAFETY: by the caller's promise the context is open.
    let client = lock(&unsafe { Context::of(context) }.client);
    let gids = (1u32..).zip(&client.node().ports).flat_map(|(number, port)| {
        (0u32..).zip(&port.gids).filter(|(_, gid)| !gid.is_zero()).map(move |(index, gid)| (number, index, gid.get()))
    });
    let mut count = 0;
    for (position, (port, index, gid)) in gids.take(most).enumerate() {
        // SAFETY: by the caller's promise there is room for `most` entries, and `position` is below `most`.
        unsafe { write_entry(to.cast::<u8>().add(position * size).cast(), size, port, index, gid) };
        count += 1;
    }
    count
}

/// Reads an entry of a port's P_Key table, in network byte order.
///
/// # Safety
/// The context is open; the key may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_query_pkey(context: *mut ibv_context, port: u8, index: c_int, to: *mut u16) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    let context = unsafe { Context::of(context) };
    let pkey = usize::try_from(index).map_err(|_| libc::EINVAL).and_then(|index| context.pkey(port, index));
    // SAFETY: by the caller's promise `to` may be written.
    minus_one(pkey.map(|pkey| unsafe { to.write(pkey.get().to_be()) }))
}

/// Returns the index of a P_Key, given in network byte order, or -1.
///
/// # Safety
/// The context is open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_pkey_index(context: *mut ibv_context, port: u8, pkey: u16) -> c_int {
    // SAFETY: by the caller's promise the context is open.
    let port = unsafe { Context::of(context) }.port(port);
    let index = port.and_then(|port| port.pkeys.iter().position(|entry| entry.get() == u16::from_be(pkey)));
    index.and_then(|index| c_int::try_from(index).ok()).unwrap_or(-1)
}

const _: () = assert!(size_of::<ibv_gid_entry>() == 32);
