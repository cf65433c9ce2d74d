//! Which descriptor a wake-up is of, so that only what is ready is read.
use super::device::DeviceKey;
use crate::log::{Lines, limited};
use acm_sansio::{EndpointId, PortId, turns::Lane};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    collections::BTreeMap,
    os::fd::{AsRawFd, BorrowedFd},
};

/// Something that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The kernel's messages about devices that come and go.
    Hotplug,
    /// A device's async events.
    Async(DeviceKey),
    /// A device's completion channel: the names of queue pairs with completions.
    Completions(DeviceKey),
    /// A port's management datagrams.
    Mads(PortId),
    /// A queue pair's completions. It has no descriptor: the channel tells.
    Datagrams(EndpointId),
}

impl Source {
    /// Strangers decide how much there is of datagrams, and of nothing else.
    pub(super) const fn lane(self) -> Lane {
        match self {
            Self::Datagrams(_) => Lane::Bulk,
            _ => Lane::Urgent,
        }
    }
}

/// The descriptors that are waited for, each with a token of its own, which is never used again.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    registry: Option<Registry>,
    next: usize,
    sources: BTreeMap<Token, Source>,
    lines: Lines,
}

impl Wakes {
    pub(super) fn new(lines: Lines) -> Self {
        Self { lines, ..Self::default() }
    }

    /// Tokens from `first` on. What was there before is to be watched after this.
    pub(super) fn start(&mut self, registry: Registry, first: Token) {
        self.registry = Some(registry);
        self.next = first.0;
    }

    /// Waits for a descriptor from now on; also for what it has already.
    pub(super) fn watch(&mut self, fd: BorrowedFd<'_>, source: Source) {
        let Some(registry) = &self.registry else { return };
        let token = Token(self.next);
        self.next += 1;
        match registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE) {
            Ok(()) => {
                self.sources.insert(token, source);
            }
            Err(error) => limited!(self.lines, ERROR, "devices", "cannot wait for events: {error}"),
        }
    }

    /// Does not wait for it any more. A descriptor may stay open behind our back, if its device is gone.
    pub(super) fn forget(&mut self, fd: BorrowedFd<'_>, source: Source) {
        let Some(registry) = &self.registry else { return };
        self.sources.retain(|_, other| *other != source);
        // One that could not be registered is not there.
        let _ = registry.deregister(&mut SourceFd(&fd.as_raw_fd()));
    }

    /// Whose token this is; `None` for one that is gone.
    pub(super) fn source(&self, token: Token) -> Option<Source> {
        self.sources.get(&token).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use mio::{Events, Poll};
    use std::{
        io::Write,
        os::{fd::AsFd, unix::net::UnixStream},
    };

    #[test]
    fn what_is_forgotten_wakes_nobody_and_the_others_do() {
        let mut poll = Poll::new().unwrap();
        let mut wakes = Wakes::new(Lines::default());
        let pairs = [0, 1].map(|_| UnixStream::pair().unwrap());
        let sources = [Source::Hotplug, Source::Mads(PortId(1))];
        wakes.watch(pairs[0].0.as_fd(), sources[0]);
        wakes.start(poll.registry().try_clone().unwrap(), Token(70));
        assert_eq!(wakes.source(Token(70)), None, "it was not to be watched yet");
        for (pair, source) in pairs.iter().zip(sources) {
            wakes.watch(pair.0.as_fd(), source);
        }
        let mut woken = |wakes: &Wakes| -> Vec<Option<Source>> {
            let mut events = Events::with_capacity(4);
            pairs.iter().for_each(|(_, theirs)| (&mut &*theirs).write_all(&[1]).unwrap());
            poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
            let mut woken: Vec<_> = events.iter().map(|event| wakes.source(event.token())).collect();
            woken.sort_unstable();
            woken
        };
        assert_eq!(woken(&wakes), sources.map(Some));
        wakes.forget(pairs[0].0.as_fd(), sources[0]);
        assert_eq!((woken(&wakes), wakes.source(Token(70))), (vec![Some(sources[1])], None));
    }
}
