//! The system calls of a daemon's event loop: none may wait for anybody.
use crate::{Process, program};
use nix::{sys::signal::Signal, unistd::Pid};
use std::{collections::BTreeSet, fs, process::Command};
use tempfile::TempDir;

/// The system calls that the loop's thread may make. The loop sleeps in `epoll_wait` (`epoll_pwait`) alone. The daemon's
/// sockets do not block. `close` and `recvfrom` wait if they drop the last reference to a file of a client: the honest
/// user notices. `openat` is for `/proc/PID/comm`, `statfs` and `statx` for files of the system that may have changed.
const NEVER_WAIT: [&str; 42] = [
    "accept4",
    "bind",
    "brk",
    "clock_gettime",
    "clone3",
    "close",
    "connect",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_wait",
    "fcntl",
    "fstat",
    "fstatfs",
    "futex",
    "geteuid",
    "getpeername",
    "getrandom",
    "getrusage",
    "getsockname",
    "getsockopt",
    "ioctl",
    "lseek",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "openat",
    "poll",
    "read",
    "recvfrom",
    "recvmsg",
    "rt_sigaction",
    "rt_sigprocmask",
    "sendmsg",
    "sendto",
    "setsockopt",
    "shutdown",
    "socket",
    "statfs",
    "statx",
    "timerfd_settime",
];

/// A trace of the system calls of a thread.
#[derive(Debug)]
pub(super) struct Trace {
    strace: Process,
    folder: TempDir,
}

impl Trace {
    /// Traces the main thread of a process, which is its event loop.
    pub(super) fn of(process: Pid) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program("strace", "strace"));
        // Without -f, only the thread whose id is that of the process. No text of arguments is printed.
        command.args(["-s", "0", "-e", "signal=none", "-o"]).arg(folder.path().join("calls"));
        let mut strace = Process::start(command.args(["-p", &process.to_string()]));
        strace.wait_for("attached", 1);
        Self { strace, folder }
    }

    /// Ends the trace and returns the calls that may wait.
    pub(super) fn waiting(mut self) -> BTreeSet<String> {
        self.strace.signal(Signal::SIGINT);
        self.strace.wait();
        let text = fs::read_to_string(self.folder.path().join("calls")).unwrap();
        assert!(text.contains("epoll_"), "no system calls of the loop: {text}");
        text.lines().filter(|line| may_wait(line)).map(str::to_owned).collect()
    }
}

/// Reports whether a line of strace is a call that may wait.
fn may_wait(line: &str) -> bool {
    let Some((name, rest)) = line.split_once('(') else { return false };
    let is_call = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let arguments = rest.rsplit_once(')').map_or(rest, |(arguments, _)| arguments);
    let waits = match name {
        // A mutex that another thread holds, or a condition.
        "futex" => arguments.contains("FUTEX_WAIT"),
        // The log writes to a standard stream that does not block, or asks it first (acm-mio's `log/out.rs`).
        "write" => !arguments.starts_with("1,") && !arguments.starts_with("2,"),
        // The result follows the last parenthesis, or there is another one after it: `= 0 (Timeout)`.
        "poll" => !arguments.contains(", 0)") && !arguments.ends_with(", 0"),
        _ => !NEVER_WAIT.contains(&name),
    };
    is_call && waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_calls_are_found_in_lines_of_strace() {
        let never = [
            "epoll_wait(3, [], 1024, 0)              = 0",
            "poll([{fd=2, events=POLLOUT}], 1, 0)    = 1 ([{fd=2, revents=POLLOUT}])",
            "poll([{fd=2, events=POLLOUT}], 1, 0)    = 0 (Timeout)",
            "futex(0x7f, FUTEX_WAKE_PRIVATE, 1)      = 1",
            "write(2, \"\"..., 376)                    = 376",
            "recvfrom(17, 0x7f, 2048, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)",
        ];
        assert!(never.iter().all(|line| !may_wait(line)));
        let waiting = [
            "poll([{fd=2, events=POLLOUT}], 1, -1)   = 1 ([{fd=2, revents=POLLOUT}])",
            "poll([{fd=2, events=POLLOUT}], 1, 1000) = 0 (Timeout)",
            "futex(0x7f, FUTEX_WAIT_PRIVATE, 2, NULL) = 0",
            "write(9, \"\"..., 376)                    = 376",
            "fsync(9)                                = 0",
            "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=0}, NULL) = 0",
        ];
        assert!(waiting.iter().all(|line| may_wait(line)));
    }
}
