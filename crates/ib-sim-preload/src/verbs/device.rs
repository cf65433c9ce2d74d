//! The list of devices: all devices of the host that the environment names.
#![expect(unsafe_code, reason = "libibverbs")]
use super::lock;
use crate::{environment, errno::set_errno};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    mem, ptr,
};
use ib_verbs_sys::{ibv_device, ibv_node_type, ibv_transport_type};
use std::{ffi::CString, fs, os::unix::ffi::OsStrExt, sync::Mutex};

/// A device. It lives as long as the process: programs use devices of lists that they freed.
#[repr(C)]
struct Device {
    abi: ibv_device,
    /// In network byte order.
    guid: u64,
    /// Number of the device at its host.
    number: u8,
}

// SAFETY: a device is not changed after it was made, and has no pointers.
unsafe impl Send for Device {}
// SAFETY: a device is not changed after it was made, and has no pointers.
unsafe impl Sync for Device {}

/// Returns the host's device with this number, or `None` while it is removed. A device that comes back with another
/// GUID is another device. Each device is allocated once.
fn find(number: u8) -> Option<&'static Device> {
    static DEVICES: Mutex<Vec<&'static Device>> = Mutex::new(Vec::new());
    let class = environment::get()?.class("infiniband");
    let name = ib_sim::device_name(number);
    let guid = fs::read_to_string(class.join(&name).join("node_guid")).ok()?;
    let guid = u64::from_str_radix(&guid.trim().replace(':', ""), 16).ok()?.to_be();
    let mut devices = lock(&DEVICES);
    if let Some(device) = devices.iter().find(|device| (device.guid, device.number) == (guid, number)) {
        return Some(device);
    }
    // SAFETY: all fields are numbers and optional functions.
    let mut abi: ibv_device = unsafe { mem::zeroed() };
    abi.node_type = ibv_node_type::IBV_NODE_CA;
    abi.transport_type = ibv_transport_type::IBV_TRANSPORT_IB;
    write_text(&mut abi.name, &name);
    write_text(&mut abi.dev_name, &format!("uverbs{number}"));
    write_text(&mut abi.dev_path, &format!("/sys/class/infiniband_verbs/uverbs{number}"));
    write_text(&mut abi.ibdev_path, &format!("/sys/class/infiniband/{name}"));
    let device: &'static Device = Box::leak(Box::new(Device { abi, guid, number }));
    devices.push(device);
    Some(device)
}

/// Returns the number of a device at its host.
///
/// # Safety
/// The device is from `ibv_get_device_list`.
pub(super) unsafe fn number_of(device: *mut ibv_device) -> u8 {
    // SAFETY: by the caller's promise the device is from `ibv_get_device_list`; `abi` is its first field.
    unsafe { (*device.cast::<Device>()).number }
}

/// Writes text to a field of zeros. The last zero stays.
#[expect(clippy::cast_possible_wrap, reason = "C's characters are bytes")]
pub(super) fn write_text(field: &mut [c_char], text: &str) {
    let room = field.len().saturating_sub(1);
    field.iter_mut().take(room).zip(text.bytes()).for_each(|(to, from)| *to = from as c_char);
}

/// Returns a list of the devices, which ends with null. Writes the number of devices to `count`.
///
/// # Safety
/// `count` is null or may be written.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ibv_device {
    let devices: Vec<&Device> = (0..ib_sim::MAX_DEVICES).filter_map(find).collect();
    // SAFETY: the list has pointers, all null.
    let list = unsafe { libc::calloc(devices.len() + 1, size_of::<*mut ibv_device>()) }.cast::<*mut ibv_device>();
    if list.is_null() {
        return list;
    }
    // SAFETY: the list has room for the devices and a null. By the caller's promise `count` is null or may be written.
    unsafe {
        for (position, device) in devices.iter().enumerate() {
            list.add(position).write(ptr::from_ref(*device).cast_mut().cast());
        }
        if !count.is_null() {
            count.write(c_int::try_from(devices.len()).unwrap_or(c_int::MAX));
        }
    }
    list
}

/// Frees a list. Its devices stay usable.
///
/// # Safety
/// The list is from `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_free_device_list(list: *mut *mut ibv_device) {
    // SAFETY: `ibv_get_device_list` allocated it.
    unsafe { libc::free(list.cast::<c_void>()) };
}

/// Returns the name of a device.
///
/// # Safety
/// The device is from `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char {
    // SAFETY: by the caller's promise the device is from `ibv_get_device_list`, whose devices live as long as the
    // process.
    unsafe { (&raw const (*device).name).cast() }
}

/// Returns the node GUID of a device in network byte order.
///
/// # Safety
/// The device is from `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_guid(device: *mut ibv_device) -> u64 {
    // SAFETY: by the caller's promise the device is from `ibv_get_device_list`; `abi` is its first field.
    unsafe { (*device.cast::<Device>()).guid }
}

/// Returns the number of a device at its host.
///
/// # Safety
/// The device is from `ibv_get_device_list`.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ibv_get_device_index(device: *mut ibv_device) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { number_of(device) }.into()
}

/// Prepares for `fork`. Nothing is mapped from a device, so there is nothing to do.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_fork_init() -> c_int {
    0
}

/// Returns 2 (`IBV_FORK_UNNEEDED`).
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_is_fork_initialized() -> c_int {
    2
}

/// Returns the path of sysfs.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ibv_get_sysfs_path() -> *const c_char {
    c"/sys".as_ptr()
}

/// Reads a file without its last line end. Returns the length of the text, or -1 and errno.
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
    // SAFETY: by the caller's promise both are C strings.
    let (dir, file) = unsafe { (CStr::from_ptr(dir), CStr::from_ptr(file)) };
    let path = CString::from(
        [dir.to_bytes(), b"/", file.to_bytes()]
            .concat()
            .iter()
            .filter_map(|b| core::num::NonZero::new(*b))
            .collect::<Vec<_>>(),
    );
    // `read` uses this library's `open`, which redirects to the node's tree.
    let Ok(mut text) = fs::read(std::ffi::OsStr::from_bytes(path.to_bytes())) else {
        set_errno(libc::ENOENT);
        return -1;
    };
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    text.truncate(size.saturating_sub(1));
    if size > 0 {
        // SAFETY: the text is shorter than `size` bytes, so that the zero byte fits, too.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
            to.add(text.len()).write(0);
        }
    }
    c_int::try_from(text.len()).unwrap_or(c_int::MAX)
}
