//! Helpers of tests.
use nix::{
    sched::{CloneFlags, unshare},
    sys::stat::{Mode, umask},
};
use std::{
    io,
    sync::{Arc, Mutex, mpsc},
    thread,
};

#[expect(unreachable_pub, reason = "a module of the end-to-end tests")]
#[path = "../../../tests/src/poll.rs"]
mod poll;
pub(crate) use poll::{LIMIT, until};

/// Runs `work` in a thread and returns its result. Panics after [`LIMIT`], for tests of code that must not block.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(LIMIT).expect("it blocks, or panicked")
}

/// Runs `work` without a file mode creation mask, in a thread of its own.
pub(crate) fn without_umask<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let own_mask = scope.spawn(|| {
            unshare(CloneFlags::CLONE_FS).unwrap();
            umask(Mode::empty());
            work()
        });
        own_mask.join().unwrap()
    })
}

/// A writer that stores all bytes, which clones share.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Adds the log lines of a test to its output, which only a failed test shows.
pub(crate) fn log_to_output_of_test() {
    // Another test of this process may have done it.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::fmt().with_test_writer().finish());
}

/// Calls `act` and returns the lines that this thread has logged meanwhile, up to `level`.
pub(crate) fn captured_log(level: tracing::Level, act: impl FnOnce()) -> String {
    let written = Written::default();
    let writer = written.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_max_level(level).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, act);
    let bytes = written.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}
