//! The list of devices: those of the node's host, if there is a node.
#![expect(unsafe_code, reason = "libibverbs")]
use super::lock;
use crate::{environment, next::set_errno};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    mem, ptr,
};
use rdma_sys::{ibv_device, ibv_node_type, ibv_transport_type};
use std::{ffi::CString, fs, os::unix::ffi::OsStrExt, sync::Mutex};

/// A device. It stays as long as the process lives: programs use devices of lists that they freed.
#[repr(C)]
struct Device {
    shown: ibv_device,
    /// In network order.
    guid: u64,
    number: u8,
}

// SAFETY: nobody writes to it after it was made, and it does not point anywhere.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// The device that the host has under this number now; `None` while it is taken away. One that comes back with another
/// GUID is another device; each is made once.
fn device(number: u8) -> Option<&'static Device> {
    static DEVICES: Mutex<Vec<&'static Device>> = Mutex::new(Vec::new());
    let class = environment::get()?.class("infiniband");
    let name = ib_sim::device_name(number);
    let guid = fs::read_to_string(class.join(&name).join("node_guid")).ok()?;
    let guid = u64::from_str_radix(&guid.trim().replace(':', ""), 16).ok()?.to_be();
    let mut devices = lock(&DEVICES);
    if let Some(known) = devices.iter().find(|device| (device.guid, device.number) == (guid, number)) {
        return Some(known);
    }
    // SAFETY: all of it are numbers, and functions that are not there.
    let mut shown: ibv_device = unsafe { mem::zeroed() };
    shown.node_type = ibv_node_type::IBV_NODE_CA;
    shown.transport_type = ibv_transport_type::IBV_TRANSPORT_IB;
    put(&mut shown.name, &name);
    put(&mut shown.dev_name, &format!("uverbs{number}"));
    put(&mut shown.dev_path, &format!("/sys/class/infiniband_verbs/uverbs{number}"));
    put(&mut shown.ibdev_path, &format!("/sys/class/infiniband/{name}"));
    let device: &'static Device = Box::leak(Box::new(Device { shown, guid, number }));
    devices.push(device);
    Some(device)
}

/// The number of a device at its host.
///
/// # Safety
/// The device is of `ibv_get_device_list`.
pub(super) unsafe fn number_of(device: *mut ibv_device) -> u8 {
    // SAFETY: the caller's promise: it is the beginning of ours.
    unsafe { (*device.cast::<Device>()).number }
}

/// Text into a field of zeros; the last zero stays.
#[expect(clippy::cast_possible_wrap, reason = "C's characters are bytes")]
pub(super) fn put(field: &mut [c_char], text: &str) {
    let room = field.len().saturating_sub(1);
    field.iter_mut().take(room).zip(text.bytes()).for_each(|(to, from)| *to = from as c_char);
}

/// As in libibverbs.
///
/// # Safety
/// `count` is null or may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ibv_device {
    let devices: Vec<&Device> = (0..ib_sim::MAX_DEVICES).filter_map(device).collect();
    // SAFETY: pointers, all zero; the list ends with a null.
    let list = unsafe { libc::calloc(devices.len() + 1, size_of::<*mut ibv_device>()) }.cast::<*mut ibv_device>();
    if list.is_null() {
        return list;
    }
    // SAFETY: the list has room for one more than there are devices; `count` is null or may be written.
    unsafe {
        for (place, device) in devices.iter().enumerate() {
            list.add(place).write(ptr::from_ref(*device).cast_mut().cast());
        }
        if !count.is_null() {
            count.write(c_int::try_from(devices.len()).unwrap_or(c_int::MAX));
        }
    }
    list
}

/// As in libibverbs.
///
/// # Safety
/// The list is of `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_free_device_list(list: *mut *mut ibv_device) {
    // SAFETY: allocated there.
    unsafe { libc::free(list.cast::<c_void>()) };
}

/// As in libibverbs.
///
/// # Safety
/// The device is of `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char {
    // SAFETY: the caller's promise: the device is one of the list, which lives.
    unsafe { (&raw const (*device).name).cast() }
}

/// As in libibverbs.
///
/// # Safety
/// The device is of `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_guid(device: *mut ibv_device) -> u64 {
    // SAFETY: the caller's promise: it is the beginning of ours.
    unsafe { (*device.cast::<Device>()).guid }
}

/// As in libibverbs.
///
/// # Safety
/// The device is of `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_index(device: *mut ibv_device) -> c_int {
    // SAFETY: the device is of `ibv_get_device_list`, whose devices live as long as the process.
    unsafe { number_of(device) }.into()
}

/// As in libibverbs: nothing is mapped from a device.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_fork_init() -> c_int {
    0
}

/// As in libibverbs: not needed.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_is_fork_initialized() -> c_int {
    2
}

/// As in libibverbs.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_get_sysfs_path() -> *const c_char {
    c"/sys".as_ptr()
}

/// As in libibverbs: a file's text without the last line end; its length, or -1 and errno.
///
/// # Safety
/// Both names end with a zero byte; `size` bytes may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_read_sysfs_file(
    dir: *const c_char,
    file: *const c_char,
    to: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promise: both are C strings.
    let (dir, file) = unsafe { (CStr::from_ptr(dir), CStr::from_ptr(file)) };
    let path = CString::from(
        [dir.to_bytes(), b"/", file.to_bytes()]
            .concat()
            .iter()
            .filter_map(|b| core::num::NonZero::new(*b))
            .collect::<Vec<_>>(),
    );
    // Through our own `open`, which knows the node's tree.
    let Ok(mut text) = fs::read(std::ffi::OsStr::from_bytes(path.to_bytes())) else {
        set_errno(libc::ENOENT);
        return -1;
    };
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    text.truncate(size.saturating_sub(1));
    if size > 0 {
        // SAFETY: less than `size` bytes and a zero byte.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
            to.add(text.len()).write(0);
        }
    }
    c_int::try_from(text.len()).unwrap_or(c_int::MAX)
}
