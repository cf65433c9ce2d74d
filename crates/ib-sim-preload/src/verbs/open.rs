//! Opening and closing a device.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{attributes::query_port, completion, context::Context, device::number_of, number, work};
use crate::{environment, errno::set_errno};
use core::{ffi::c_int, mem, ptr};
use ib_sim::client::Client;
use ib_verbs_sys::{ibv_context, ibv_device, verbs_context};

/// Opens a device.
///
/// # Safety
/// The device is from `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context {
    // SAFETY: the caller's promise.
    unsafe { open(device) }.unwrap_or_else(|errno| {
        set_errno(errno);
        ptr::null_mut()
    })
}

/// # Safety
/// The device is from `ibv_get_device_list`.
unsafe fn open(device: *mut ibv_device) -> Result<*mut ibv_context, c_int> {
    let host = environment::get().ok_or(libc::ENODEV)?;
    // SAFETY: by the caller's promise the device is from `ibv_get_device_list`, whose devices live as long as the
    // process.
    let node = host.device(unsafe { number_of(device) });
    let client = Client::connect(&host.socket, Some(&node)).map_err(|_| libc::ENODEV)?;
    // SAFETY: all fields are numbers, pointers and optional functions. The mutex is never used.
    let mut abi: verbs_context = unsafe { mem::zeroed() };
    abi.sz = size_of::<verbs_context>();
    abi.query_port = Some(query_port);
    abi.context.device = device;
    // UINTPTR_MAX marks a context with an extended part.
    abi.context.abi_compat = ptr::without_provenance_mut(usize::MAX);
    abi.context.num_comp_vectors = 1;
    abi.context.ops.poll_cq = Some(completion::poll);
    abi.context.ops.req_notify_cq = Some(completion::request_notify);
    abi.context.ops.post_send = Some(work::post_send);
    abi.context.ops.post_recv = Some(work::post_receive);
    Context::start(abi, client)
}

/// Closes a device.
///
/// # Safety
/// The context is open, and nothing of it is in use.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_close_device(context: *mut ibv_context) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { Context::stop(context) };
    number(Ok(()))
}
