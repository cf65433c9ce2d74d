//! The descriptor that is readable while a connection has work. A reconnection does not change the descriptor.
use super::link::Link;
use crate::errno::Result;
use core::time::Duration;
use nix::sys::{
    epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags},
    eventfd::{EfdFlags, EventFd},
    time::TimeSpec,
    timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
};
use std::{
    os::fd::{AsRawFd, RawFd},
    time::Instant,
};

/// An epoll set of the socket, a timer, and a flag.
#[derive(Debug)]
pub(crate) struct Wake {
    epoll: Epoll,
    timer: TimerFd,
    /// The time for which the timer is set.
    due: Option<Instant>,
    flag: EventFd,
    is_ready: bool,
    /// True if the socket is watched for writing, too.
    writes: bool,
}

impl Wake {
    pub(crate) fn new() -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        let flag = EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        // The events are never read, because the connection checks all sources after a wake-up.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        epoll.add(&flag, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        Ok(Self { epoll, timer, due: None, flag, is_ready: false, writes: false })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.epoll.0.as_raw_fd()
    }

    /// Adds a socket.
    pub(crate) fn watch(&mut self, link: &Link) -> Result<()> {
        self.writes = false;
        self.epoll.add(link, EpollEvent::new(EpollFlags::EPOLLIN, 0))
    }

    /// Removes a socket.
    pub(crate) fn unwatch(&self, link: &Link) {
        // The socket may not have been added.
        let _ = self.epoll.delete(link);
    }

    /// Sets whether the descriptor is readable while the socket is writable.
    pub(crate) fn set_writes(&mut self, link: &Link, writes: bool) -> Result<()> {
        if self.writes != writes {
            let flags = if writes { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
            self.epoll.modify(link, &mut EpollEvent::new(flags, 0))?;
            self.writes = writes;
        }
        Ok(())
    }

    /// Sets the timer, after which the descriptor is readable until the next call.
    pub(crate) fn set_timer(&mut self, due: Option<Instant>, now: Instant) -> Result<()> {
        if self.due == due && due.is_none_or(|due| due > now) {
            return Ok(());
        }
        match due {
            // Zero would disarm the timer.
            Some(due) => {
                let left = due.saturating_duration_since(now).max(Duration::from_nanos(1));
                self.timer.set(Expiration::OneShot(TimeSpec::from_duration(left)), TimerSetTimeFlags::empty())?;
            }
            None => self.timer.unset()?,
        }
        self.due = due;
        Ok(())
    }

    /// Sets whether the descriptor is readable now.
    pub(crate) fn set_ready(&mut self, is_ready: bool) -> Result<()> {
        if self.is_ready != is_ready {
            if is_ready {
                self.flag.write(1)?;
            } else {
                self.flag.read()?;
            }
            self.is_ready = is_ready;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Wake {
    /// Waits for the descriptor, with a time-out of 30 s.
    pub(crate) fn wait(&self) {
        use nix::poll::{PollFd, PollFlags, poll};
        use std::os::fd::AsFd;
        let count = poll(&mut [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)], 30_000_u16);
        assert_eq!(count, Ok(1), "nothing to do");
    }
}
