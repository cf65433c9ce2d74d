//! Functions that take a path: those of the node's devices lead into its tree.
//!
//! `open` and its like are variadic in C. Stable Rust cannot define that, but on x86-64 and aarch64 Linux an integer
//! argument travels in the same register for a variadic call as for one with a fixed argument. What a caller did not
//! pass is whatever the register holds, and the C library looks at it only when the flags say that it was passed.
#![expect(unsafe_code, reason = "stands in for functions of the C library")]
use crate::{
    environment,
    next::next,
    path::{redirected, umad_place},
    umad,
};
use core::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ptr,
};
use std::{ffi::CString, os::unix::ffi::OsStrExt};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("variadic functions are defined with fixed arguments: check the calling convention first");

/// The path that is meant.
struct Place {
    own: Option<CString>,
    given: *const c_char,
}

impl Place {
    /// # Safety
    /// `given` is null or ends with a zero byte.
    unsafe fn of(given: *const c_char) -> Self {
        // SAFETY: the caller gives null, or a path that ends with a zero byte and lives through this call.
        let own = unsafe { bytes(given) }.and_then(|path| {
            let tree = environment::get()?.tree.as_os_str().as_bytes();
            CString::new(redirected(path, tree)?).ok()
        });
        Self { own, given }
    }

    fn as_ptr(&self) -> *const c_char {
        self.own.as_ref().map_or(self.given, |own| own.as_ptr())
    }
}

/// # Safety
/// `path` is null or ends with a zero byte.
unsafe fn bytes<'a>(path: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: it is not null, so that it ends with a zero byte, and the caller keeps it while the bytes are used.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// A umad device, if the path is one and there is a node.
///
/// # Safety
/// `path` is null or ends with a zero byte.
unsafe fn umad(path: *const c_char, flags: c_int) -> Option<c_int> {
    // SAFETY: the caller gives null, or a path that ends with a zero byte and lives through this call.
    let place = umad_place(unsafe { bytes(path) }?)?;
    Some(umad::open(environment::get()?, place, flags))
}

macro_rules! opens {
    ($($name:ident $c:literal ($($before:ident: $bt:ty,)* @ $(, $after:ident: $at:ty)*);)*) => {$(
        /// Stands in for the C library's function of this name.
        ///
        /// # Safety
        /// As the C library demands.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $name($($before: $bt,)* path: *const c_char, flags: c_int $(, $after: $at)*) -> c_int {
            // SAFETY: the caller keeps the C library's rules, under which the path ends with a zero byte.
            unsafe {
                if let Some(fd) = umad(path, flags) {
                    return fd;
                }
                let place = Place::of(path);
                next!($c, fn($($before => $bt,)* place.as_ptr() => *const c_char, flags => c_int $(, $after => $at)*) -> c_int, -1)
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
        /// Stands in for the C library's function of this name.
        ///
        /// # Safety
        /// As the C library demands.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $name($($before: $bt,)* path: *const c_char $(, $after: $at)*) -> $ret {
            // SAFETY: the caller keeps the C library's rules; all arguments but the path are handed on as they came,
            // pointers to what this library never looks at.
            unsafe {
                let place = Place::of(path);
                next!($c, fn($($before => $bt,)* place.as_ptr() => *const c_char $(, $after => $at)*) -> $ret, $missing)
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
