//! The descriptor that is readable while a connection has work. A reconnection does not change the descriptor.
use crate::{requests::LaneId, socket::Socket};
use core::time::Duration;
use nix::{
    Result,
    sys::{
        epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags},
        eventfd::{EfdFlags, EventFd},
        time::TimeSpec,
        timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
    },
};
use std::{
    collections::BTreeSet,
    os::fd::{AsFd, BorrowedFd},
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
    /// Sockets that are watched for writing, too.
    writes: BTreeSet<LaneId>,
}

impl Wake {
    pub(crate) fn new() -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        let flag = EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        // The events are never read, because the connection checks all sources after a wake-up.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        epoll.add(&flag, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        Ok(Self { epoll, timer, due: None, flag, is_ready: false, writes: BTreeSet::new() })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }

    /// Adds a socket.
    pub(crate) fn watch(&self, socket: &Socket) -> Result<()> {
        self.epoll.add(socket, EpollEvent::new(EpollFlags::EPOLLIN, 0))
    }

    /// Removes a socket.
    pub(crate) fn unwatch(&mut self, id: LaneId, socket: &Socket) {
        self.writes.remove(&id);
        // The socket may not have been added.
        let _ = self.epoll.delete(socket);
    }

    /// Sets whether the descriptor is readable while the socket is writable.
    pub(crate) fn set_writes(&mut self, id: LaneId, socket: &Socket, writes: bool) -> Result<()> {
        let flags = if writes { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
        if if writes { self.writes.insert(id) } else { self.writes.remove(&id) } {
            self.epoll.modify(socket, &mut EpollEvent::new(flags, 0))?;
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
