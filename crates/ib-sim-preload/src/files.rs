//! Functions of the C library that take a path. A path of the node's devices is redirected to the node's tree.
//!
//! `open` and its variants are variadic in C. Stable Rust cannot define variadic functions. On x86-64 and aarch64 Linux
//! an integer argument is passed in the same register by a variadic call and by one with a fixed argument. If the
//! caller passed no mode, the argument is the register's old value. The C library reads it only if the flags require a
//! mode.
#![expect(unsafe_code, reason = "replaces functions of the C library")]
use crate::{
    environment,
    next::next,
    path::{redirected, umad_port},
    umad,
};
use core::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ptr,
};
use std::{ffi::CString, os::unix::ffi::OsStrExt};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("variadic functions are defined with fixed arguments: check the calling convention first");

/// A path after redirection.
struct Redirected {
    /// The path in the node's tree, if the path is redirected.
    inner: Option<CString>,
    given: *const c_char,
}

impl Redirected {
    /// # Safety
    /// `given` is null or ends with a zero byte.
    unsafe fn of(given: *const c_char) -> Self {
        // SAFETY: by the caller's promise `given` is null, or ends with a zero byte and lives through this call.
        let inner = unsafe { bytes(given) }.and_then(|path| {
            let tree = environment::get()?.tree.as_os_str().as_bytes();
            CString::new(redirected(path, tree)?).ok()
        });
        Self { inner, given }
    }

    fn as_ptr(&self) -> *const c_char {
        self.inner.as_ref().map_or(self.given, |inner| inner.as_ptr())
    }
}

/// # Safety
/// `path` is null or ends with a zero byte.
unsafe fn bytes<'a>(path: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: by the caller's promise a path that is not null ends with a zero byte. The caller keeps it while the
    // bytes are used.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// Opens a umad device. Returns `None` if the path is not one, or the environment names no node.
///
/// # Safety
/// `path` is null or ends with a zero byte.
unsafe fn umad(path: *const c_char, flags: c_int) -> Option<c_int> {
    // SAFETY: by the caller's promise `path` is null, or ends with a zero byte and lives through this call.
    let port = umad_port(unsafe { bytes(path) }?)?;
    Some(umad::open(environment::get()?, port, flags))
}

macro_rules! opens {
    ($($name:ident $c:literal ($($before:ident: $bt:ty,)* @ $(, $after:ident: $at:ty)*);)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The requirements of the C library's function.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $name($($before: $bt,)* path: *const c_char, flags: c_int $(, $after: $at)*) -> c_int {
            // SAFETY: the caller meets the requirements of the C library's function: the path ends with a zero byte.
            unsafe {
                if let Some(fd) = umad(path, flags) {
                    return fd;
                }
                let redirected = Redirected::of(path);
                next!($c, fn($($before => $bt,)* redirected.as_ptr() => *const c_char, flags => c_int $(, $after => $at)*) -> c_int, -1)
            }
        }
    )*};
}
opens! {
    open c"open" (@, mode: c_uint);
    open64 c"open64" (@, mode: c_uint);
    __open_2 c"__open_2" (@);
    __open64_2 c"__open64_2" (@);
    openat c"openat" (dir: c_int, @, mode: c_uint);
    openat64 c"openat64" (dir: c_int, @, mode: c_uint);
    __openat_2 c"__openat_2" (dir: c_int, @);
    __openat64_2 c"__openat64_2" (dir: c_int, @);
}

macro_rules! redirects {
    ($($name:ident $c:literal ($($before:ident: $bt:ty,)* @ $(, $after:ident: $at:ty)*) -> $ret:ty = $missing:expr;)*) => {$(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// The requirements of the C library's function.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $name($($before: $bt,)* path: *const c_char $(, $after: $at)*) -> $ret {
            // SAFETY: the caller meets the requirements of the C library's function. All arguments but the path are
            // passed on unchanged; this library does not read what they point to.
            unsafe {
                let redirected = Redirected::of(path);
                next!($c, fn($($before => $bt,)* redirected.as_ptr() => *const c_char $(, $after => $at)*) -> $ret, $missing)
            }
        }
    )*};
}
type Anything = *mut c_void;
redirects! {
    fopen c"fopen" (@, mode: *const c_char) -> Anything = ptr::null_mut();
    fopen64 c"fopen64" (@, mode: *const c_char) -> Anything = ptr::null_mut();
    opendir c"opendir" (@) -> Anything = ptr::null_mut();
    access c"access" (@, mode: c_int) -> c_int = -1;
    eaccess c"eaccess" (@, mode: c_int) -> c_int = -1;
    euidaccess c"euidaccess" (@, mode: c_int) -> c_int = -1;
    faccessat c"faccessat" (dir: c_int, @, mode: c_int, flags: c_int) -> c_int = -1;
    stat c"stat" (@, to: Anything) -> c_int = -1;
    stat64 c"stat64" (@, to: Anything) -> c_int = -1;
    lstat c"lstat" (@, to: Anything) -> c_int = -1;
    lstat64 c"lstat64" (@, to: Anything) -> c_int = -1;
    __xstat c"__xstat" (version: c_int, @, to: Anything) -> c_int = -1;
    __xstat64 c"__xstat64" (version: c_int, @, to: Anything) -> c_int = -1;
    __lxstat c"__lxstat" (version: c_int, @, to: Anything) -> c_int = -1;
    __lxstat64 c"__lxstat64" (version: c_int, @, to: Anything) -> c_int = -1;
    fstatat c"fstatat" (dir: c_int, @, to: Anything, flags: c_int) -> c_int = -1;
    fstatat64 c"fstatat64" (dir: c_int, @, to: Anything, flags: c_int) -> c_int = -1;
    statx c"statx" (dir: c_int, @, flags: c_int, mask: c_uint, to: Anything) -> c_int = -1;
    readlink c"readlink" (@, to: *mut c_char, size: usize) -> isize = -1;
    readlinkat c"readlinkat" (dir: c_int, @, to: *mut c_char, size: usize) -> isize = -1;
    realpath c"realpath" (@, to: *mut c_char) -> *mut c_char = ptr::null_mut();
    canonicalize_file_name c"canonicalize_file_name" (@) -> *mut c_char = ptr::null_mut();
    scandir c"scandir" (@, list: Anything, filter: Anything, order: Anything) -> c_int = -1;
    scandir64 c"scandir64" (@, list: Anything, filter: Anything, order: Anything) -> c_int = -1;
}
