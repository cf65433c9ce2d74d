//! Writes a line with the name of a library that crashes the program.
//!
//! A defect of a library, such as an invalid pointer, ends the whole program. The line names the library and its
//! current call. The default action of the signal follows, such as a core dump or a restart by systemd.
#![expect(unsafe_code, reason = "signals")]
use crate::slots::{self, running};
use core::{
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    ptr,
    sync::atomic::{AtomicI32, Ordering},
};
use nix::libc;
use std::{
    os::fd::{FromRawFd, IntoRawFd, OwnedFd},
    sync::{Once, OnceLock},
};

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
];
const NONE: c_int = -1;
const STDERR: c_int = 2;

/// The previous action of each signal.
static PREVIOUS: [OnceLock<libc::sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];
static INSTALLED: Once = Once::new();
/// The file for the line, in addition to standard error.
static LOG: AtomicI32 = AtomicI32::new(NONE);

/// Sets a file for the line, in addition to standard error; `None` for standard error only.
pub fn write_into(log: Option<OwnedFd>) {
    let previous = LOG.swap(log.map_or(NONE, IntoRawFd::into_raw_fd), Ordering::SeqCst);
    if previous != NONE {
        // SAFETY: an earlier call of this function stored the descriptor in `LOG`, which was its only owner.
        drop(unsafe { OwnedFd::from_raw_fd(previous) });
    }
}

/// Reports whether the signal handlers are installed. They are installed with the first library.
#[must_use]
pub fn is_watching() -> bool {
    INSTALLED.is_completed()
}

/// Ends the program without calling destructors of libraries, whose threads may still run.
pub fn leave(code: u8) -> ! {
    // SAFETY: `_exit` has no precondition.
    unsafe { libc::_exit(code.into()) }
}

/// Installs handlers for the signals of a crash.
pub(crate) fn install() {
    INSTALLED.call_once(|| {
        for ((signal, _), previous) in SIGNALS.iter().zip(&PREVIOUS) {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: a zeroed action is valid, and its fields are set. `old` is a local variable that the call writes.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = handle as *const () as usize;
                // Rust's threads have an alternate signal stack; other threads use their own stack.
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                if libc::sigaction(*signal, &raw const action, old.as_mut_ptr()) == 0 {
                    let _ = previous.set(old.assume_init());
                }
            }
        }
    });
}

/// Writes the line. As a signal handler, this function takes no locks and allocates no memory.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let name = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| *name);
    write("acm-mio: ");
    if let Some((slot, function)) = running() {
        write("provider ");
        write(slot.slot().map_or("", |slot| &slot.label));
        write(" ends the daemon: ");
        write(name);
        write(" in ");
        write(function);
    } else if let Some((_, slot)) = slots::at(program_counter(context)) {
        write("provider ");
        write(&slot.label);
        write(" ends the daemon: ");
        write(name);
        write(" in a thread of its own");
    } else {
        write(name);
        write(" in none of the providers' calls; there are");
        for (_, slot) in slots::all() {
            write(" ");
            write(&slot.label);
        }
    }
    write("\n");
    // Restores the previous actions. The signal then occurs again: the faulting instruction is repeated, or `raise`
    // sends the signal.
    for ((number, _), previous) in SIGNALS.iter().zip(&PREVIOUS) {
        if let Some(previous) = previous.get() {
            // SAFETY: `previous` is an action that the kernel returned.
            unsafe { libc::sigaction(*number, ptr::from_ref(previous), ptr::null_mut()) };
        }
    }
    // SAFETY: the kernel passes a valid pointer, or null.
    let was_sent = unsafe { info.as_ref() }.is_none_or(|info| info.si_code <= 0);
    if was_sent {
        // SAFETY: `raise` may be called in a signal handler. The signal is delivered after this function returns.
        unsafe { libc::raise(signal) };
    }
}

fn write(text: &str) {
    for file in [STDERR, LOG.load(Ordering::SeqCst)] {
        if file != NONE {
            // SAFETY: the pointer and the length are those of `text`. An error cannot be handled here.
            unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
        }
    }
}

/// Returns the program counter at the signal; 0 on unsupported architectures.
fn program_counter(context: *mut c_void) -> usize {
    // SAFETY: the kernel passes a pointer to the registers of the thread, or null.
    let Some(context) = (unsafe { context.cast::<libc::ucontext_t>().as_ref() }) else { return 0 };
    #[cfg(target_arch = "x86_64")]
    let counter = context.uc_mcontext.gregs.get(usize::try_from(libc::REG_RIP).unwrap_or(usize::MAX)).copied();
    #[cfg(target_arch = "aarch64")]
    let counter = Some(context.uc_mcontext.pc);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let counter: Option<usize> = {
        let _ = context;
        None
    };
    counter.and_then(|counter| usize::try_from(counter).ok()).unwrap_or(0)
}
