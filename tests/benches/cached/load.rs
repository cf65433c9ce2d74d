//! Independent clients that send requests to a server.
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
    fs,
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
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
/// Stack size of a client's thread. There are up to 512 threads.
const STACK: usize = 64 * 1024;

/// The request, the socket and the process of a server.
pub(crate) struct Load {
    socket: PathBuf,
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
    pub(crate) fn new(socket: PathBuf, name: &Address, server: Pid) -> Self {
        let message = resolve_request(Some(name), name, EntryFlags::empty(), [7; 8]).to_vec();
        assert_eq!(message.len(), REQUEST);
        Self { socket, message, server }
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
