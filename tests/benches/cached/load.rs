//! Clients that know nothing of one another.
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
pub(crate) const ANSWER: usize = 88;
/// A server that runs no longer than [`IDLE_NS`] in this time is idle.
const REST: Duration = Duration::from_millis(10);
const IDLE_NS: u64 = 500_000;
/// So many times of [`REST`] are enough for any.
const LONGEST_REST: usize = 100;
/// A client's thread needs little; 512 of them should not need much.
const STACK: usize = 64 * 1024;

/// What is asked, where, and which process answers.
pub(crate) struct Load {
    socket: PathBuf,
    message: Vec<u8>,
    server: Pid,
}

/// What a turn gave.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Answers a second.
    pub(crate) rate: f64,
    /// Microseconds of a processor that the server took for one: it holds on a busy machine, too.
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

    /// So many connections together, for so long.
    pub(crate) fn measure(&self, connections: usize, time: Duration) -> Measured {
        // All are connected and served once before the time begins.
        let (start, over) = (Barrier::new(connections + 1), AtomicBool::new(false));
        let measured = thread::scope(|scope| {
            let client = || {
                let mut stream = UnixStream::connect(&self.socket).unwrap();
                self.ask(&mut stream);
                start.wait();
                let mut answered = 0_u32;
                while !over.load(Ordering::Relaxed) {
                    self.ask(&mut stream);
                    answered += 1;
                }
                answered
            };
            let clients: Vec<_> = (0..connections)
                .map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, client).unwrap())
                .collect();
            start.wait();
            let (began, cpu) = (Instant::now(), self.cpu_ns());
            thread::sleep(time);
            over.store(true, Ordering::Relaxed);
            let answered: u32 = clients.into_iter().map(|client| client.join().unwrap()).sum();
            let (answered, elapsed, cpu) = (f64::from(answered), began.elapsed(), self.cpu_ns() - cpu);
            let cpu_us = Duration::from_nanos(cpu).as_secs_f64() * 1e6;
            Measured { rate: answered / elapsed.as_secs_f64(), cpu_us: cpu_us / answered }
        });
        self.rest();
        measured
    }

    /// Waits until the server has seen its clients off: the next one does not share its processor with that.
    fn rest(&self) {
        for _ in 0..LONGEST_REST {
            let before = self.cpu_ns();
            thread::sleep(REST);
            if self.cpu_ns() - before < IDLE_NS {
                return;
            }
        }
    }

    /// What all threads of the server have run so far.
    fn cpu_ns(&self) -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.server)).unwrap();
        let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap();
        let first = |text: String| text.split(' ').next().unwrap().parse::<u64>().unwrap();
        tasks.map(|task| first(of(task.unwrap()))).sum()
    }

    fn ask(&self, stream: &mut UnixStream) {
        let mut answer = [0; ANSWER];
        stream.write_all(&self.message).unwrap();
        stream.read_exact(&mut answer).unwrap();
    }
}
