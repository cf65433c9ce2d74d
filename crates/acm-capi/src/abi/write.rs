//! Values as C has them: in its memory, which `free` gives back.
use super::types::{Completion, EpConfigData, EpInfo, PathData, PathRecord as RawPath};
use crate::{conn::Done, errno::Result};
use acm_client::{Address, Counters, Endpoint, Response};
use acm_wire::client::entry::ANSWER_PATH_FLAGS;
use core::ptr;
use ib_mad::{sa::PathRecord, wire::Text};
use nix::{
    errno::Errno,
    libc::{c_void, calloc, free},
};

/// A path record as C has it.
pub(super) fn path(path: &PathRecord) -> RawPath {
    let mut bytes = [0; 64];
    bytes.copy_from_slice(ib_mad::as_bytes(path));
    RawPath(bytes)
}

/// The same with the flags that every daemon gives its paths.
pub(super) fn path_data(found: &PathRecord) -> PathData {
    PathData { flags: ANSWER_PATH_FLAGS, reserved: 0, path: path(found) }
}

/// Zeroed memory of C, for `count` values.
///
/// # Errors
/// ENOMEM.
fn memory<T>(count: usize) -> Result<*mut T> {
    // SAFETY: it has no precondition.
    let memory = unsafe { calloc(count, size_of::<T>()) };
    if memory.is_null() { Err(Errno::ENOMEM) } else { Ok(memory.cast()) }
}

/// A path in memory of its own.
pub(super) fn new_path(found: &PathRecord) -> Result<*mut PathData> {
    let memory: *mut PathData = memory(1)?;
    // SAFETY: it is new, and has room for one; calloc aligns for every type.
    unsafe { memory.write(path_data(found)) };
    Ok(memory)
}

/// Counters in memory of their own.
pub(super) fn new_counters(Counters(values): &Counters) -> Result<*mut u64> {
    let memory: *mut u64 = memory(values.len())?;
    // SAFETY: it is new, and has room for as many.
    unsafe { ptr::copy_nonoverlapping(values.as_ptr(), memory, values.len()) };
    Ok(memory)
}

/// An endpoint in memory of its own, with its addresses behind it.
pub(super) fn new_endpoint(endpoint: &Endpoint) -> Result<*mut EpConfigData> {
    let count = u16::try_from(endpoint.addresses.len()).map_err(|_| Errno::EPROTO)?;
    let head = EpConfigData {
        dev_guid: endpoint.device.get(),
        port_num: endpoint.port,
        phys_port_cnt: endpoint.ports,
        rsvd: [0; 2],
        pkey: endpoint.pkey.get(),
        addr_cnt: count,
        prov_name: fitting(&endpoint.provider),
        addrs: [],
    };
    // In pieces as large as an address: the head takes two of them, and has some to spare.
    let memory: *mut EpConfigData = memory::<[EpInfo; 1]>(usize::from(count) + 2)?.cast();
    // SAFETY: it is new, and has room for the head and for as many addresses behind it.
    unsafe {
        memory.write(head);
        let addresses = memory.add(1).cast::<EpInfo>();
        for (index, address) in endpoint.addresses.iter().enumerate() {
            addresses.add(index).write(EpInfo(fitting(address)));
        }
    }
    Ok(memory)
}

/// A text that ends with a 0.
fn fitting(text: &str) -> [u8; 64] {
    let mut bytes = Text::<64>::new(text.as_bytes()).0;
    let [.., end] = &mut bytes;
    *end = 0;
    bytes
}

/// Gives memory back.
///
/// # Safety
/// It is NULL, or from here, and nobody has it any more.
pub(super) unsafe fn free_memory<T>(memory: *mut T) {
    // SAFETY: the memory is NULL, or of `calloc` by this module, and the caller uses it no more.
    unsafe { free(memory.cast::<c_void>()) };
}

/// What became of a request. One whose answer finds no memory has ENOMEM.
pub(super) fn completion(done: &Done) -> Completion {
    let mut completion = Completion {
        cookie: done.cookie,
        id: done.id,
        kind: done.kind,
        error: done.errno(),
        status: 0,
        source_type: 0,
        path: PathData { flags: 0, reserved: 0, path: RawPath([0; 64]) },
        source: EpInfo([0; 64]),
        counters: [0; 7],
        endpoint: ptr::null_mut(),
    };
    match &done.outcome {
        Ok(Response::Path(found)) => {
            completion.path = path_data(&found.path);
            if let Some(source) = &found.source {
                let (kind, bytes) = source.encode();
                (completion.source_type, completion.source) = (kind.get().into(), EpInfo(bytes));
            }
        }
        Ok(Response::Counters(Counters(values))) => completion.counters = *values,
        Ok(Response::Endpoint(endpoint)) => match new_endpoint(endpoint) {
            Ok(endpoint) => completion.endpoint = endpoint,
            Err(errno) => completion.error = errno as i32,
        },
        Ok(Response::Refused(status)) => completion.status = status.get().into(),
        Err(_) => {}
    }
    completion
}

/// Says on standard output which source the daemon chose. By C's own stream: the caller writes to it, too.
pub(super) fn print_source(source: &Address) {
    let text = match source {
        // What it says is shown as it is, as far as it goes.
        Address::Name(name) => name.as_bytes().to_vec(),
        other => other.to_string().into_bytes(),
    };
    let Ok(text) = std::ffi::CString::new(text) else { return };
    // SAFETY: both are strings that end with a 0, and the format has one of them.
    let _ = unsafe { nix::libc::printf(c"Source: %s\n".as_ptr(), text.as_ptr()) };
}
