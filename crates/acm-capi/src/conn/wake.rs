//! One descriptor that is readable while there is something to do, whatever socket there is.
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
    due: Option<Instant>,
    flag: EventFd,
    is_ready: bool,
    /// Of the socket that is watched.
    writes: bool,
}

impl Wake {
    pub(crate) fn new() -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        let flag = EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        // Nobody reads what the events say: whoever is woken looks at everything.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        epoll.add(&flag, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        Ok(Self { epoll, timer, due: None, flag, is_ready: false, writes: false })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.epoll.0.as_raw_fd()
    }

    /// Watches this socket, too.
    pub(crate) fn watch(&mut self, link: &Link) -> Result<()> {
        self.writes = false;
        self.epoll.add(link, EpollEvent::new(EpollFlags::EPOLLIN, 0))
    }

    /// Watches it no more.
    pub(crate) fn forget(&self, link: &Link) {
        // One that was never watched is forgotten, too.
        let _ = self.epoll.delete(link);
    }

    /// Whether room to write is something to do.
    pub(crate) fn set_writes(&mut self, link: &Link, writes: bool) -> Result<()> {
        if self.writes != writes {
            let flags = if writes { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
            self.epoll.modify(link, &mut EpollEvent::new(flags, 0))?;
            self.writes = writes;
        }
        Ok(())
    }

    /// When there is something to do whatever comes. One that is past stays readable until it is set anew.
    pub(crate) fn set_due(&mut self, due: Option<Instant>, now: Instant) -> Result<()> {
        if self.due == due && due.is_none_or(|due| due > now) {
            return Ok(());
        }
        match due {
            // Zero would disarm it.
            Some(due) => {
                let left = due.saturating_duration_since(now).max(Duration::from_nanos(1));
                self.timer.set(Expiration::OneShot(TimeSpec::from_duration(left)), TimerSetTimeFlags::empty())?;
            }
            None => self.timer.unset()?,
        }
        self.due = due;
        Ok(())
    }

    /// Whether there is something to do now.
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
    /// Waits as a caller does, but not for ever.
    pub(crate) fn wait(&self) {
        use nix::poll::{PollFd, PollFlags, poll};
        use std::os::fd::AsFd;
        let count = poll(&mut [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)], 30_000_u16);
        assert_eq!(count, Ok(1), "nothing to do");
    }
}
