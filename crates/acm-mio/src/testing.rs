//! Helpers of tests.
use core::{iter, mem::MaybeUninit, time::Duration};
use nix::{
    sched::{CloneFlags, unshare},
    sys::stat::{Mode, umask},
};
use rustix::{
    io::Errno,
    net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
        connect, sendmsg, socket_with, sockopt,
    },
};
use std::{
    io::{self, IoSlice, Write},
    net::{TcpListener, TcpStream},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
};

#[expect(unreachable_pub, reason = "a module of the end-to-end tests")]
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
    with_umask(0, work)
}

/// Runs `work` with this file mode creation mask, in a thread of its own.
pub(crate) fn with_umask<T: Send>(mask: u32, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let own_mask = scope.spawn(|| {
            unshare(CloneFlags::CLONE_FS).unwrap();
            umask(Mode::from_bits_truncate(mask));
            work()
        });
        own_mask.join().unwrap()
    })
}

/// A socket whose close waits until its unsent bytes are read, and the socket that could read them.
pub(crate) fn slow_to_close() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The connection inherits the small buffer.
    sockopt::set_socket_recv_buffer_size(&listener, 4096).unwrap();
    let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (reader, _) = listener.accept().unwrap();
    sockopt::set_socket_send_buffer_size(&slow, 4096).unwrap();
    slow.set_nonblocking(true).unwrap();
    while slow.write(&[0; 1 << 16]).is_ok() {}
    slow.set_nonblocking(false).unwrap();
    sockopt::set_socket_linger(&slow, Some(Duration::from_secs(600))).unwrap();
    (slow, reader)
}

/// Connects without waiting until the kernel's queue of a unix socket is full. Returns the number of clients in it.
pub(crate) fn fill_queue(path: &Path) -> usize {
    let address = SocketAddrUnix::new(path).unwrap();
    let connect = || {
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
        connect(&socket, &address).map(|()| socket)
    };
    let waiting: Vec<OwnedFd> = iter::from_fn(|| connect().ok()).take(200).collect();
    assert_eq!(connect().unwrap_err(), Errno::AGAIN);
    waiting.len()
}

/// Sends bytes with the only reference to a file.
pub(crate) fn send_with(
    stream: &UnixStream,
    bytes: &[u8],
    file: impl Into<OwnedFd>,
    flags: SendFlags,
) -> io::Result<()> {
    let file = file.into();
    let files = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&files));
    let result = sendmsg(stream, &[IoSlice::new(bytes)], &mut control, flags | SendFlags::NOSIGNAL);
    if result.is_err() {
        // Its close would wait.
        core::mem::forget(file);
    }
    result.map(|_| ()).map_err(io::Error::from)
}

/// Waits for a fact, at most for [`LIMIT`].
pub(crate) fn wait_until(mut fact: impl FnMut() -> bool) {
    until("the fact that the test waits for", || fact().then_some(()));
}

/// A writer that stores all bytes, which clones share.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
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
