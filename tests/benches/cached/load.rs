//! Independent clients that send requests to a server.
use acm_tests::Process;
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use nix::unistd::Pid;
use std::{
    env,
    fs::{self, Permissions},
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::PathBuf,
    process::Command,
    sync::Barrier,
    thread,
    time::Instant,
};

pub(crate) const REQUEST: usize = 160;
pub(crate) const RESPONSE: usize = 88;
/// A server that uses less CPU time than [`IDLE_NS`] within this time is idle.
const REST: Duration = Duration::from_millis(10);
const IDLE_NS: u64 = 500_000;
/// Maximum number of [`REST`] periods to wait for an idle server.
const MAX_RESTS: usize = 100;
/// Uid of the user with busy connections.
const OTHER_USER: &str = "60001";
/// Stack size of a client's thread. There are up to 512 threads.
const STACK: usize = 64 * 1024;

/// The request, the socket and the process of a server.
pub(crate) struct Load {
    socket: PathBuf,
    name: String,
    message: Vec<u8>,
    server: Pid,
}

/// Result of one measurement.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Responses per second.
    pub(crate) rate: f64,
    /// CPU time of the server per response in microseconds. Other load on the machine does not change it.
    pub(crate) cpu_us: f64,
}

impl Load {
    /// Returns a load in which a server resolves its local name.
    pub(crate) fn new(name: &str, socket: PathBuf, server: Pid) -> Self {
        let address = Address::from_text(name);
        let message = resolve_request(Some(&address), &address, EntryFlags::empty(), [7; 8]).to_vec();
        assert_eq!(message.len(), REQUEST);
        Self { socket, name: name.to_owned(), message, server }
    }

    pub(crate) fn server(&self) -> Pid {
        self.server
    }

    /// Measures `connections` concurrent connections for `time`.
    pub(crate) fn measure(&self, connections: usize, time: Duration) -> Measured {
        // Each connection gets one response before the measurement.
        let (start, over) = (Barrier::new(connections + 1), AtomicBool::new(false));
        let measured = thread::scope(|scope| {
            let client = || {
                let mut stream = UnixStream::connect(&self.socket).unwrap();
                self.request(&mut stream);
                start.wait();
                let mut responses = 0_u32;
                while !over.load(Ordering::Relaxed) {
                    self.request(&mut stream);
                    responses += 1;
                }
                responses
            };
            let clients: Vec<_> = (0..connections)
                .map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, client).unwrap())
                .collect();
            start.wait();
            let (began, cpu) = (Instant::now(), self.cpu_ns());
            thread::sleep(time);
            over.store(true, Ordering::Relaxed);
            let responses: u32 = clients.into_iter().map(|client| client.join().unwrap()).sum();
            let (responses, elapsed, cpu) = (f64::from(responses), began.elapsed(), self.cpu_ns() - cpu);
            let cpu_us = Duration::from_nanos(cpu).as_secs_f64() * 1e6;
            Measured { rate: responses / elapsed.as_secs_f64(), cpu_us: cpu_us / responses }
        });
        self.rest();
        measured
    }

    /// Measures one connection for `time` beside `busy` connections of another user. Returns the median and the 99th
    /// percentile of the time of a request in microseconds. The other user's program has a normal priority. Run the
    /// benchmark with `chrt -f 1`, so that only the server's time counts.
    pub(crate) fn measure_beside(&self, busy: usize, time: Duration) -> [f64; 2] {
        // The directories belong to root.
        for folder in self.socket.ancestors().skip(1).take_while(|folder| *folder != env::temp_dir()) {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        let mut other = Command::new("chrt");
        other.args(["--other", "0", env!("CARGO_BIN_EXE_acm-user"), OTHER_USER]).arg(&self.socket);
        let mut other = Process::start(other.args(["busy", &self.name, &busy.to_string()]));
        other.wait_for("busy", 1);
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        let (began, mut times) = (Instant::now(), Vec::new());
        while began.elapsed() < time {
            let start = Instant::now();
            self.request(&mut stream);
            times.push(start.elapsed());
        }
        drop(other);
        self.rest();
        times.sort_unstable();
        [50, 99].map(|percent| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6)
    }

    /// Waits until the server has closed its connections, so that this work is not part of the next measurement.
    fn rest(&self) {
        for _ in 0..MAX_RESTS {
            let before = self.cpu_ns();
            thread::sleep(REST);
            if self.cpu_ns() - before < IDLE_NS {
                return;
            }
        }
    }

    /// Returns the CPU time of all threads of the server in nanoseconds.
    fn cpu_ns(&self) -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.server)).unwrap();
        let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap();
        let first = |text: String| text.split(' ').next().unwrap().parse::<u64>().unwrap();
        tasks.map(|task| first(of(task.unwrap()))).sum()
    }

    fn request(&self, stream: &mut UnixStream) {
        let mut response = [0; RESPONSE];
        stream.write_all(&self.message).unwrap();
        stream.read_exact(&mut response).unwrap();
    }
}
