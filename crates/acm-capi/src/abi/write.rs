//! Writes values for C, in memory that `free` releases.
use super::types::{Completion, EpConfigData, EpInfo, PathData, PathRecord as RawPath};
use crate::{conn::CompletedRequest, errno::Result};
use acm_client::{Address, Counters, Endpoint, Response};
use acm_wire::client::entry::RESPONSE_PATH_FLAGS;
use core::ptr;
use ib_mad::{sa::PathRecord, wire::Text};
use nix::{
    errno::Errno,
    libc::{c_void, calloc, free},
};

/// IBV_PATH_FLAG_ALTERNATE and IBV_PATH_FLAG_BIDIRECTIONAL of <infiniband/sa.h>.
const ALTERNATE_FLAGS: u32 = 1 << 2 | 1 << 3 | 1 << 5;

/// Converts a path record.
pub(super) fn path(path: &PathRecord) -> RawPath {
    let mut bytes = [0; 64];
    bytes.copy_from_slice(ib_mad::as_bytes(path));
    RawPath(bytes)
}

/// Converts a path record, and adds the flags that every daemon sets in responses.
pub(super) fn path_data(found: &PathRecord) -> PathData {
    PathData { flags: RESPONSE_PATH_FLAGS, reserved: 0, path: path(found) }
}

/// Allocates zeroed memory for `count` values.
///
/// # Errors
/// ENOMEM.
fn memory<T>(count: usize) -> Result<*mut T> {
    // SAFETY: `calloc` has no precondition.
    let memory = unsafe { calloc(count, size_of::<T>()) };
    if memory.is_null() { Err(Errno::ENOMEM) } else { Ok(memory.cast()) }
}

/// Allocates a path, followed by its alternate paths.
pub(super) fn new_paths(found: &PathRecord, alternates: &[PathRecord]) -> Result<*mut PathData> {
    let alternates = alternates.iter().map(|found| PathData { flags: ALTERNATE_FLAGS, reserved: 0, path: path(found) });
    let paths: Vec<PathData> = core::iter::once(path_data(found)).chain(alternates).collect();
    new_array(&paths)
}

/// Allocates counters.
pub(super) fn new_counters(Counters(values): &Counters) -> Result<*mut u64> {
    new_array(values)
}

/// Allocates a copy of values.
pub(super) fn new_array<T: Copy>(values: &[T]) -> Result<*mut T> {
    // `calloc` may return NULL for no values.
    let memory: *mut T = memory(values.len().max(1))?;
    // SAFETY: the memory is new, and has room for as many values; `calloc` aligns for every type.
    unsafe { ptr::copy_nonoverlapping(values.as_ptr(), memory, values.len()) };
    Ok(memory)
}

/// Allocates an endpoint, followed by its addresses.
pub(super) fn new_endpoint(endpoint: &Endpoint) -> Result<*mut EpConfigData> {
    let count = u16::try_from(endpoint.addresses.len()).map_err(|_| Errno::EPROTO)?;
    let head = EpConfigData {
        dev_guid: endpoint.device.get(),
        port_num: endpoint.port,
        phys_port_cnt: endpoint.ports,
        rsvd: [0; 2],
        pkey: endpoint.pkey.get(),
        addr_cnt: count,
        prov_name: c_string(&endpoint.provider),
        addrs: [],
    };
    // The unit is the size of an address. The head (80 bytes) needs two units.
    let memory: *mut EpConfigData = memory::<[EpInfo; 1]>(usize::from(count) + 2)?.cast();
    // SAFETY: the memory is new, and has room for the head and for all addresses.
    unsafe {
        memory.write(head);
        let addresses = memory.add(1).cast::<EpInfo>();
        for (index, address) in endpoint.addresses.iter().enumerate() {
            addresses.add(index).write(EpInfo(c_string(address)));
        }
    }
    Ok(memory)
}

/// Returns a text that ends with a 0, truncated if necessary.
fn c_string(text: &str) -> [u8; 64] {
    let mut bytes = Text::<64>::new(text.as_bytes()).0;
    let [.., end] = &mut bytes;
    *end = 0;
    bytes
}

/// Releases memory.
///
/// # Safety
/// `memory` is NULL, or was allocated by this module and is not used any more.
pub(super) unsafe fn free_memory<T>(memory: *mut T) {
    // SAFETY: by contract of this function, the memory is NULL or from `calloc` in this module, and not used any more.
    unsafe { free(memory.cast::<c_void>()) };
}

/// Returns the completion of a request, with the error ENOMEM if there is no memory for the response.
pub(super) fn completion(request: &CompletedRequest) -> Completion {
    let mut completion = Completion {
        cookie: request.cookie,
        id: request.id,
        kind: request.kind,
        error: request.errno(),
        status: 0,
        source_type: 0,
        path: PathData { flags: 0, reserved: 0, path: RawPath([0; 64]) },
        source: EpInfo([0; 64]),
        counters: [0; 7],
        endpoint: ptr::null_mut(),
    };
    match &request.outcome {
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
        Err(error) => completion.status = error.status().map_or(0, |status| status.get().into()),
    }
    completion
}

/// Prints the source that the daemon chose to standard output, through C's stream, because the caller writes to the
/// same stream.
pub(super) fn print_source(source: &Address) {
    let text = match source {
        // The bytes are printed, because a name need not be valid UTF-8.
        Address::Name(name) => name.as_bytes().to_vec(),
        other => other.to_string().into_bytes(),
    };
    let Ok(text) = std::ffi::CString::new(text) else { return };
    // SAFETY: both strings end with a 0, and the format has one string argument.
    let _ = unsafe { nix::libc::printf(c"Source: %s\n".as_ptr(), text.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Guid, Lid, Pkey};

    #[test]
    fn first_path_is_the_primary_one() {
        let path = |dlid| PathRecord { dlid: Lid::new(dlid), ..PathRecord::default() };
        let memory = new_paths(&path(5), &[path(6), path(7)]).unwrap();
        // SAFETY: the memory has three values, and is released once.
        let found = unsafe {
            let found = [0, 1, 2].map(|index| memory.add(index).read());
            free_memory(memory);
            found
        };
        // IBV_PATH_FLAG_GMP 1, PRIMARY 2, ALTERNATE 4, OUTBOUND 8, INBOUND_REVERSE 32.
        assert_eq!(found.map(|path| path.flags), [1 | 2 | 8 | 32, 4 | 8 | 32, 4 | 8 | 32]);
        assert_eq!(found.map(|found| found.path.0[41]), [5, 6, 7]);
    }

    #[test]
    fn each_member_of_an_endpoint_has_its_own_value() {
        let endpoint = Endpoint {
            device: Guid::new(1),
            port: 2,
            ports: 4,
            pkey: Pkey::new(0x8005),
            provider: "ibacmp".to_owned(),
            addresses: vec!["node1".to_owned(), "node1b".to_owned()],
        };
        let memory = new_endpoint(&endpoint).unwrap();
        // SAFETY: the memory has an endpoint and two addresses, and is released once.
        let (head, addresses) = unsafe {
            let head = memory.read();
            let addresses = memory.add(1).cast::<EpInfo>();
            let addresses = [0, 1].map(|index| addresses.add(index).read().0);
            free_memory(memory);
            (head, addresses)
        };
        assert_eq!((head.dev_guid, head.port_num, head.phys_port_cnt), (1, 2, 4));
        assert_eq!((head.rsvd, head.pkey, head.addr_cnt), ([0; 2], 0x8005, 2));
        assert_eq!([head.prov_name, addresses[0], addresses[1]], ["ibacmp", "node1", "node1b"].map(c_string));
    }

    #[test]
    fn text_of_any_length_ends_with_zero() {
        for length in [0, 1, 63, 64, 200] {
            let bytes = c_string(&"x".repeat(length));
            assert_eq!(bytes.iter().position(|byte| *byte == 0), Some(length.min(63)), "{length}");
        }
    }
}
