//! The functions that libraries call, and the functions that `shim.c` needs.
//!
//! A library may call these functions from any thread, at any time, and with invalid pointers.
#![expect(unsafe_code, reason = "C calls them")]
use crate::{
    convert::{self, HEADER},
    queue::{LogLine, PluginEvent},
    rates, registry, slots, text,
};
use acm_provider::abi::{Endpoint, Header, Message, Port, SaHandler, SaMad};
use acm_sansio::api::ProviderMessage;
use acm_wire::client::Counter;
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr, slice,
    sync::atomic::{AtomicI32, AtomicPtr, Ordering},
};
use std::{ffi::CString, fs};

/// Return value for an error.
const FAILED: c_int = -1;

static LOG_LEVEL: AtomicI32 = AtomicI32::new(0);

/// The variable `opts_file` of ibacm_prov(7), a pointer to a string: the path of the option file. Libraries read it
/// from any thread.
#[unsafe(export_name = "opts_file")]
static OPTION_FILE: AtomicPtr<c_char> = AtomicPtr::new(c"/etc/rdma/ibacm_opts.cfg".as_ptr().cast_mut());

/// Sets the maximum level of the libraries' log lines, from 0 to 2.
pub fn set_log_level(level: u8) {
    LOG_LEVEL.store(level.into(), Ordering::Relaxed);
}

/// Sets the path of the option file. The path is never freed, because libraries keep the pointer.
pub(crate) fn set_option_file(path: CString) {
    // SAFETY: the variable has a string that is never freed.
    if unsafe { CStr::from_ptr(OPTION_FILE.load(Ordering::Acquire)) } != path.as_c_str() {
        OPTION_FILE.store(path.into_raw(), Ordering::Release);
    }
}

/// Makes the linker keep the functions that only libraries call.
pub(crate) fn keep_symbols() {
    let functions: [*const (); 17] = [
        acm_write as _,
        acm_increment_counter as _,
        acm_format_name as _,
        ib_any_gid as _,
        acm_gid_index as _,
        acm_get_gid as _,
        acm_if_get_sgid as _,
        acm_path_comp_mask as _,
        acm_resolve_response as _,
        acm_query_response as _,
        acm_get_rate as _,
        acm_convert_mtu as _,
        acm_convert_rate as _,
        acm_alloc_sa_mad as _,
        acm_free_sa_mad as _,
        acm_send_sa_mad as _,
        acm_get_opts_file as _,
    ];
    core::hint::black_box((functions, OPTION_FILE.as_ptr()));
}

unsafe extern "C" {
    /// Defined in `shim.c`, because Rust cannot define variadic functions.
    fn acm_write(level: c_int, format: *const c_char, ...);
    fn acm_increment_counter(counter: c_int);
}

#[unsafe(no_mangle)]
extern "C" fn acm_plugin_takes(level: c_int) -> c_int {
    (level <= LOG_LEVEL.load(Ordering::Relaxed)).into()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_plugin_write(level: c_int, text: *const u8, size: usize, address: *const c_void) {
    let Some(slot) = slots::calling(address) else { return };
    // SAFETY: `shim.c` passes the size of `text` in bytes.
    let text = unsafe { slice::from_raw_parts(text, size) };
    let level = u8::try_from(level).unwrap_or(0);
    for text in text::lines(text) {
        slot.queue.push_line(slot.provider, LogLine { level, text });
    }
}

#[unsafe(no_mangle)]
extern "C" fn acm_plugin_count(counter: c_int, address: *const c_void) {
    let counter = usize::try_from(counter).ok().and_then(|counter| Counter::ALL.get(counter));
    if let (Some(counter), Some(slot)) = (counter, slots::calling(address)) {
        slot.queue.push(slot.provider, PluginEvent::Message(ProviderMessage::IncrementCounter(*counter)));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_format_name(
    level: c_int,
    name: *mut c_char,
    name_size: usize,
    kind: u8,
    address: *const u8,
    address_size: usize,
) {
    if acm_plugin_takes(level) == 0 || name.is_null() || address.is_null() || name_size == 0 {
        return;
    }
    // SAFETY: the library passes the size of the address. At most 64 bytes are read, the size of the longest address.
    let address = unsafe { slice::from_raw_parts(address, address_size.min(64)) };
    let text = text::name(kind, address);
    // SAFETY: the library passes the size of the buffer. One byte is reserved for the terminating 0.
    let room = unsafe { slice::from_raw_parts_mut(name.cast::<u8>(), name_size) };
    let text = text.iter().copied().take(name_size - 1).chain([0]);
    for (to, from) in room.iter_mut().zip(text) {
        *to = from;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ib_any_gid(gid: *const [u8; 16]) -> c_int {
    // SAFETY: the library passes a GID, or null.
    unsafe { gid.as_ref() }.is_some_and(|gid| *gid == [0; 16]).into()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_gid_index(port: *const Port, gid: *const [u8; 16]) -> u8 {
    // SAFETY: the library passes a GID, or null.
    let Some(gid) = (unsafe { gid.as_ref() }) else { return u8::MAX };
    let index = registry::with_gids(port, |gids| gids.iter().position(|entry| entry == gid).unwrap_or(gids.len()));
    u8::try_from(index.unwrap_or_default()).unwrap_or(u8::MAX)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_get_gid(port: *const Port, index: c_int, gid: *mut [u8; 16]) -> c_int {
    let entry = |gids: &[[u8; 16]]| usize::try_from(index).ok().and_then(|index| gids.get(index).copied());
    let found = registry::with_gids(port, entry).flatten();
    match found {
        Some(found) if !gid.is_null() => {
            // SAFETY: the library passes a pointer to a GID that can be written.
            unsafe { gid.write(found) };
            0
        }
        _ => FAILED,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_if_get_sgid(name: *const c_char, gid: *mut [u8; 16]) -> c_int {
    if name.is_null() || gid.is_null() {
        return FAILED;
    }
    // SAFETY: the library passes a string that ends with a 0.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    if name.is_empty() || name.starts_with('.') || name.contains('/') {
        return FAILED;
    }
    let text = fs::read_to_string(format!("/sys/class/net/{name}/address")).unwrap_or_default();
    let Some(found) = convert::gid_of_interface(&text) else { return FAILED };
    // SAFETY: the library passes a pointer to a GID that can be written.
    unsafe { gid.write(found) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_path_comp_mask(path: *const [u8; 64]) -> u64 {
    // SAFETY: the library passes a path record, or null.
    unsafe { path.as_ref() }.map_or(0, convert::component_mask).to_be()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn acm_resolve_response(id: u64, message: *const Message) -> c_int {
    if message.is_null() {
        return FAILED;
    }
    let Some((slot, request)) = slots::request(id) else { return FAILED };
    // SAFETY: the library passes a message, which begins with its header.
    let header = unsafe { message.cast::<Header>().read() };
    let length = convert::length(&header);
    let mut bytes = vec![0; length.max(HEADER)];
    // SAFETY: the message has at least its header, and as many bytes as its length field.
    unsafe { ptr::copy_nonoverlapping(message.cast::<u8>(), bytes.as_mut_ptr(), length) };
    push(slot, ProviderMessage::ResolveResponse { request, message: bytes })
}

/// Handles the response to `query`.
#[unsafe(no_mangle)]
unsafe extern "C" fn acm_query_response(id: u64, message: *const Message) -> c_int {
    // SAFETY: the arguments are those of `acm_resolve_response`.
    unsafe { acm_resolve_response(id, message) }
}

#[unsafe(no_mangle)]
extern "C" fn acm_get_rate(width: u8, speed: u8) -> u32 {
    rates::of_link(width, speed)
}

#[unsafe(no_mangle)]
extern "C" fn acm_convert_mtu(bytes: c_int) -> u32 {
    rates::of_mtu(bytes)
}

#[unsafe(no_mangle)]
extern "C" fn acm_convert_rate(gbps: c_int) -> u32 {
    rates::of_gbps(gbps)
}

#[unsafe(no_mangle)]
extern "C" fn acm_alloc_sa_mad(
    endpoint: *const Endpoint,
    context: *mut c_void,
    handler: Option<SaHandler>,
) -> *mut SaMad {
    registry::allocate(endpoint, context, handler).map_or(ptr::null_mut(), ptr::NonNull::as_ptr)
}

#[unsafe(no_mangle)]
extern "C" fn acm_free_sa_mad(mad: *const SaMad) {
    registry::free(mad);
}

#[unsafe(no_mangle)]
extern "C" fn acm_send_sa_mad(mad: *const SaMad) -> c_int {
    let Some(registry::Sent { slot, id, endpoint, mad }) = registry::send(mad) else { return FAILED };
    let result = push(slot, ProviderMessage::SaRequest { id, endpoint, mad });
    if result != 0 {
        registry::cancel_send(id);
    }
    result
}

#[unsafe(no_mangle)]
extern "C" fn acm_get_opts_file() -> *const c_char {
    OPTION_FILE.load(Ordering::Acquire)
}

fn push(slot: slots::SlotId, message: ProviderMessage) -> c_int {
    let is_queued = slot.slot().is_some_and(|slot| slot.queue.push(slot.provider, PluginEvent::Message(message)));
    if is_queued { 0 } else { FAILED }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of a buffer of which the library passes the first `room`.
    fn formatted(name: &CStr, room: usize) -> [u8; 8] {
        let mut buffer = [b'#'; 8];
        // SAFETY: the name and the buffer are as long as their sizes.
        unsafe { acm_format_name(0, buffer.as_mut_ptr().cast(), room, 1, name.as_ptr().cast(), name.count_bytes()) };
        buffer
    }

    #[test]
    fn name_and_its_zero_fill_the_room_and_no_more() {
        assert_eq!(&formatted(c"node1", 6), b"node1\0##", "exactly the room");
        assert_eq!(&formatted(c"node1", 5), b"node\0###");
        assert_eq!(&formatted(c"node1", 1), b"\0#######");
        assert_eq!(&formatted(c"node1", 0), b"########");
        assert_eq!(&formatted(c"node1", 8), b"node1\0##");
    }

    /// Otherwise a name could select any file that is called `address`.
    #[test]
    fn interface_name_with_a_path_has_no_gid() {
        let folder = tempfile::tempdir().unwrap();
        let address = "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01\n";
        fs::write(folder.path().join("address"), address).unwrap();
        assert!(convert::gid_of_interface(address).is_some());
        let mut gid = [0; 16];
        for name in
            [format!("../../..{}", folder.path().display()), format!("lo/../../../..{}", folder.path().display())]
        {
            let name = CString::new(name).unwrap();
            // SAFETY: the name ends with a 0, and the GID is writable.
            assert_eq!(unsafe { acm_if_get_sgid(name.as_ptr(), &raw mut gid) }, FAILED, "{name:?}");
        }
    }

    #[test]
    fn component_mask_is_in_network_byte_order() {
        let mut path = [0; 64];
        path[8] = 1;
        // SAFETY: the argument is a path record, or null.
        let mask = |path: *const [u8; 64]| unsafe { acm_path_comp_mask(path) };
        assert_eq!((mask(&raw const path).to_ne_bytes(), mask(ptr::null())), ([0, 0, 0, 0, 0, 0, 0, 4], 0));
    }

    #[test]
    fn request_that_cannot_be_queued_can_be_sent_later() {
        // The table has no such slot, and so the slot has no queue.
        let slot = slots::SlotId::of_a_test(64);
        let endpoint = Endpoint { port: ptr::null_mut(), pkey: 0xffff };
        registry::add_endpoint(&raw const endpoint, slot, acm_sansio::EndpointId::new(7, 8));
        let mad = acm_alloc_sa_mad(&raw const endpoint, ptr::null_mut(), None);
        for _ in 0..2 {
            assert_eq!(acm_send_sa_mad(mad), FAILED);
        }
        assert!(registry::send(mad).is_some());
        acm_free_sa_mad(mad);
        registry::remove_endpoint(&raw const endpoint);
    }
}
