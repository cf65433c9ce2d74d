//! The last line of a program that a library ends.
//!
//! A library that follows a wild pointer takes the program with it. Whoever looks for the cause then sees which library
//! it was, and in which call. What would have happened without this happens afterwards: a core dump, a restart by systemd.
#![expect(unsafe_code, reason = "signals")]
use crate::{running::running, slots};
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

/// What was to be done about each signal before.
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];
static INSTALLED: Once = Once::new();
/// Where the line goes beside standard error.
static LOG: AtomicI32 = AtomicI32::new(NONE);

/// Has the last line written into this file, too; `None`: to standard error alone.
pub fn write_into(log: Option<OwnedFd>) {
    let before = LOG.swap(log.map_or(NONE, IntoRawFd::into_raw_fd), Ordering::SeqCst);
    if before != NONE {
        // SAFETY: it was handed over above, and nobody else has it.
        drop(unsafe { OwnedFd::from_raw_fd(before) });
    }
}

/// Whether a library runs.
#[must_use]
pub fn is_watching() -> bool {
    INSTALLED.is_completed()
}

/// Ends the program at once, without destructors of libraries that still run.
pub fn leave(code: u8) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code.into()) }
}

/// Watches the signals of a program that does something wrong.
pub(crate) fn watch() {
    INSTALLED.call_once(|| {
        for ((signal, _), before) in SIGNALS.iter().zip(&BEFORE) {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all zero is an action; its fields are set, and the other one is ours to write.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = handle as *const () as usize;
                // Rust's threads have a stack for signals; others have the one that they run on.
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                if libc::sigaction(*signal, &raw const action, old.as_mut_ptr()) == 0 {
                    let _ = before.set(old.assume_init());
                }
            }
        }
    });
}

/// Nothing in here takes a lock or memory.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let name = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| *name);
    say("acm-mio: ");
    if let Some((slot, function)) = running() {
        say("provider ");
        say(slot.slot().map_or("", |slot| &slot.label));
        say(" ends the daemon: ");
        say(name);
        say(" in ");
        say(function);
    } else if let Some((_, slot)) = slots::at(program_counter(context)) {
        say("provider ");
        say(&slot.label);
        say(" ends the daemon: ");
        say(name);
        say(" in a thread of its own");
    } else {
        say(name);
        say(" in none of the providers' calls; there are");
        for (_, slot) in slots::all() {
            say(" ");
            say(&slot.label);
        }
    }
    say("\n");
    // What would have happened without us happens now: the instruction is tried again, or the signal sent again.
    for ((number, _), before) in SIGNALS.iter().zip(&BEFORE) {
        if let Some(before) = before.get() {
            // SAFETY: an action that the system gave.
            unsafe { libc::sigaction(*number, ptr::from_ref(before), ptr::null_mut()) };
        }
    }
    // SAFETY: the system gives facts of the signal with it.
    let was_sent = unsafe { info.as_ref() }.is_none_or(|info| info.si_code <= 0);
    if was_sent {
        // SAFETY: it may be called here. The signal comes when this function has returned.
        unsafe { libc::raise(signal) };
    }
}

fn say(text: &str) {
    for file in [STDERR, LOG.load(Ordering::SeqCst)] {
        if file != NONE {
            // SAFETY: the bytes are there. Nothing can be done about an error.
            unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
        }
    }
}

/// Where the thread was; 0 if this machine does not tell.
fn program_counter(context: *mut c_void) -> usize {
    // SAFETY: the system gives the thread's registers with the signal.
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
