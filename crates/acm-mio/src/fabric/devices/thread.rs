//! The thread of a device, with its queues.
use super::{
    messages::{Command, Report},
    worker::Worker,
};
use crate::clock::Clock;
use acm_sansio::Time;
use core::{
    sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, Ordering},
    time::Duration,
};
use mio::{Events, Poll, Token, Waker, unix::pipe};
use std::{
    io::{self, Write},
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender, SyncSender, TryRecvError, TrySendError},
    },
    thread::{self, JoinHandle},
};

/// Maximum number of commands that wait for a device. A burst of this many requests of remote hosts gets all responses.
const MAX_COMMANDS: isize = 4096;
/// Maximum number of reports that wait for the event loop.
const MAX_REPORTS: usize = 64;
/// Commands that are carried out, and reports that are sent, before the other.
const BATCH: usize = 256;
/// Number of consecutive checks in which a thread is in the same work, after which its device does not respond.
const CHECKS: u32 = 3;

const COMMANDS: Token = Token(0);
/// The first token of the device.
const DEVICE: Token = Token(1);

/// The thread of a device, as the event loop sees it.
#[derive(Debug)]
pub(super) struct DeviceThread {
    /// True if the device was read for the first time.
    pub(super) is_read: bool,
    commands: Sender<Command>,
    reports: Receiver<Report>,
    shared: Arc<Shared>,
    waker: Arc<Waker>,
    thread: JoinHandle<()>,
    /// The work that the last check saw, and the number of checks that saw it.
    seen: (u64, u32),
}

#[derive(Debug, Default)]
struct Shared {
    /// Number of commands that wait. Less than zero for a moment if the thread takes a command before it is counted.
    waiting: AtomicIsize,
    /// Incremented when the thread begins to work, and when it begins to wait. Odd while the thread works. Two more after
    /// each piece of work, in which the device has responded.
    steps: AtomicU64,
    /// True if the event loop no longer serves the device: the commands that wait are not carried out.
    has_ended: AtomicBool,
}

/// The queues of a thread, as the thread sees them.
struct Link {
    commands: Receiver<Command>,
    reports: SyncSender<Report>,
    shared: Arc<Shared>,
    /// Wakes up the event loop.
    wake: Arc<pipe::Sender>,
}

impl DeviceThread {
    /// Starts a thread. `worker` makes the device's state, in the thread.
    pub(super) fn start(
        name: &str,
        wake: Arc<pipe::Sender>,
        worker: impl FnOnce() -> Worker + Send + 'static,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let waker = Arc::new(Waker::new(poll.registry(), COMMANDS)?);
        let (commands, taken) = mpsc::channel();
        let (reported, reports) = mpsc::sync_channel(MAX_REPORTS);
        let shared = Arc::new(Shared::default());
        let link = Link { commands: taken, reports: reported, shared: Arc::clone(&shared), wake };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let wake = Arc::clone(&link.wake);
            link.run(poll, || {
                let mut worker = worker();
                worker.register(registry, DEVICE);
                worker
            });
            // The queue of reports is closed: the event loop finds the end.
            wake_loop(&wake);
        })?;
        Ok(Self { is_read: false, commands, reports, shared, waker, thread, seen: (0, 0) })
    }

    /// Queues a command. Returns `false` if too many commands wait.
    pub(super) fn send(&self, command: Command) -> bool {
        if self.shared.waiting.load(Ordering::Relaxed) >= MAX_COMMANDS {
            return false;
        }
        // If the thread has ended, its device was removed, and a report says so.
        let _ = self.commands.send(command);
        // The thread continues until it has taken all commands that are counted.
        if self.shared.waiting.fetch_add(1, Ordering::AcqRel) == 0 {
            let _ = self.waker.wake();
        }
        true
    }

    /// Returns the next report, if there is one.
    pub(super) fn next_report(&self) -> Result<Report, TryRecvError> {
        self.reports.try_recv()
    }

    /// Waits for the next report.
    pub(super) fn wait_for_report(&self, timeout: Duration) -> Option<Report> {
        self.reports.recv_timeout(timeout).ok()
    }

    /// Returns `true` if the thread has been in the same work since the last [`CHECKS`] calls.
    pub(super) fn does_not_respond(&mut self) -> bool {
        let steps = self.shared.steps.load(Ordering::Relaxed);
        let checks = if steps % 2 == 1 && steps == self.seen.0 { self.seen.1 + 1 } else { 1 };
        self.seen = (steps, checks);
        checks >= CHECKS
    }

    #[cfg(test)]
    pub(super) fn is_working(&self) -> bool {
        self.shared.steps.load(Ordering::Relaxed) % 2 == 1
    }

    /// Ends the thread as soon as its device responds, without the commands that wait.
    pub(super) fn end(self) -> JoinHandle<()> {
        let Self { commands, reports, waker, thread, shared, .. } = self;
        shared.has_ended.store(true, Ordering::Relaxed);
        drop((commands, reports));
        let _ = waker.wake();
        thread
    }

    /// Ends the thread after its commands. Waits for the end until `due`.
    pub(super) fn finish(self, clock: Clock, due: Time) {
        let Self { commands, reports, waker, .. } = self;
        drop(commands);
        let _ = waker.wake();
        while reports.recv_timeout(due.since(clock.now())).is_ok() {}
    }
}

impl Link {
    /// Serves the device until it is removed, or the event loop no longer serves it.
    fn run(self, mut poll: Poll, worker: impl FnOnce() -> Worker) {
        let (clock, mut events) = (Clock::start(), Events::with_capacity(BATCH));
        let step = || self.shared.steps.fetch_add(1, Ordering::Relaxed);
        step();
        let mut worker = worker();
        worker.read();
        worker.reports.push_back(Report::Read);
        let mut has_commands = false;
        loop {
            let Some(has_reports) = self.report(&mut worker) else { return };
            if worker.is_removed {
                return;
            }
            let due = worker.poll_timeout().map(|due| due.since(clock.now()));
            let timeout = if has_reports || has_commands { Some(Duration::ZERO) } else { due };
            step();
            // A wait that is interrupted has no events.
            let waited = poll.poll(&mut events, timeout);
            step();
            worker.handle_timeout(clock.now());
            self.retry(&mut worker);
            if waited.is_ok() {
                events.iter().for_each(|event| worker.ready(event.token()));
            }
            let Some(more) = self.carry_out(&mut worker) else { return };
            has_commands = more;
        }
    }

    /// Notes that a piece of work has ended, and another one may follow.
    fn worked(&self) {
        self.shared.steps.fetch_add(2, Ordering::Relaxed);
    }

    /// Does all work that is due.
    fn retry(&self, worker: &mut Worker) {
        while worker.retry() {
            self.worked();
        }
    }

    /// Sends a batch of reports. Returns `true` if there may be more, and `None` if the event loop no
    /// longer serves the device.
    fn report(&self, worker: &mut Worker) -> Option<bool> {
        for number in 0..BATCH {
            let Some(report) = worker.next_report(|| self.worked()) else {
                if number > 0 {
                    wake_loop(&self.wake);
                }
                return Some(false);
            };
            match self.reports.try_send(report) {
                Ok(()) => {}
                Err(TrySendError::Full(report)) => {
                    wake_loop(&self.wake);
                    self.reports.send(report).ok()?;
                }
                Err(TrySendError::Disconnected(_)) => return None,
            }
        }
        wake_loop(&self.wake);
        Some(true)
    }

    /// Carries out a batch of commands. Returns `true` if there may be more, and `None` if the event loop no
    /// longer serves the device.
    fn carry_out(&self, worker: &mut Worker) -> Option<bool> {
        for _ in 0..BATCH {
            if self.shared.has_ended.load(Ordering::Relaxed) {
                return None;
            }
            match self.commands.try_recv() {
                Ok(command) => {
                    self.shared.waiting.fetch_sub(1, Ordering::AcqRel);
                    worker.carry_out(command);
                    self.worked();
                }
                Err(TryRecvError::Empty) => return Some(false),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
        Some(true)
    }
}

fn wake_loop(mut wake: &pipe::Sender) {
    // If the pipe is full, the event loop is awake.
    let _ = wake.write(&[1]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::devices::{
        table::DeviceKey,
        worker::{Depths, Work},
    };
    use acm_sansio::EndpointId;
    use core::num::NonZeroU32;
    use ib_device::sysfs::Sysfs;

    #[test]
    fn work_that_ends_is_a_response_of_the_device() {
        let (depths, sysfs) =
            (Depths { receive: NonZeroU32::MIN, send: NonZeroU32::MIN }, Sysfs::new("/nonexistent", "/nonexistent"));
        let mut worker = Worker::new(DeviceKey(0), "mlx9_0".into(), sysfs, depths, Arc::default());
        for index in 0..3 {
            worker.retries.failed(Time::ZERO, Work::Endpoint(EndpointId::new(index, 0)));
        }
        let ((_, commands), (reports, _received)) = (mpsc::channel(), mpsc::sync_channel(MAX_REPORTS));
        let link = Link { commands, reports, shared: Arc::default(), wake: Arc::new(pipe::new().unwrap().0) };
        let steps = || link.shared.steps.load(Ordering::Relaxed);
        worker.handle_timeout(Time::ZERO + Duration::from_secs(100));
        link.retry(&mut worker);
        assert_eq!((steps(), worker.poll_timeout()), (6, None));
        assert_eq!((link.report(&mut worker), steps()), (Some(false), 8));
    }
}
