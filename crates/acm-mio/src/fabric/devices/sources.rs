//! File descriptors in the poll set, and their tokens, so that only ready sources are read.
use crate::log::{Lines, limited};
use acm_sansio::{EndpointId, PortId, turns::Lane};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    collections::BTreeMap,
    os::fd::{AsRawFd, BorrowedFd},
};

/// A source of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The device's async events.
    Async,
    /// The device's completion channel, which names the queue pairs with completions.
    Completions,
    /// A port's management datagrams (MADs).
    Mads(PortId),
    /// A queue pair's completions. This source has no descriptor; the completion channel reports it.
    Datagrams(EndpointId),
}

impl Source {
    /// Returns the lane of the source. Datagrams have the bulk lane, because remote hosts determine their number. All
    /// other sources are urgent.
    pub(super) const fn lane(self) -> Lane {
        match self {
            Self::Datagrams(_) => Lane::Bulk,
            _ => Lane::Urgent,
        }
    }
}

/// The file descriptors in the poll set. Each descriptor has a unique token, which is never reused.
#[derive(Debug, Default)]
pub(super) struct SourceRegistry {
    registry: Option<Registry>,
    next: usize,
    sources: BTreeMap<Token, Source>,
    lines: Lines,
}

impl SourceRegistry {
    pub(super) fn new(lines: Lines) -> Self {
        Self { lines, ..Self::default() }
    }

    /// Sets the first token. Calls of [`Self::watch`] before this have no effect.
    pub(super) fn start(&mut self, registry: Registry, first: Token) {
        self.registry = Some(registry);
        self.next = first.0;
    }

    /// Adds a descriptor. If the descriptor is already ready, an event follows.
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

    /// Removes a descriptor. Closing the descriptor is not enough, because the file may stay open if its device was
    /// removed.
    pub(super) fn unwatch(&mut self, fd: BorrowedFd<'_>, source: Source) {
        let Some(registry) = &self.registry else { return };
        self.sources.retain(|_, other| *other != source);
        // Fails for a descriptor that could not be registered.
        let _ = registry.deregister(&mut SourceFd(&fd.as_raw_fd()));
    }

    /// Returns the source with this token; `None` if it was removed.
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
    fn removed_source_causes_no_event_but_others_do() {
        let mut poll = Poll::new().unwrap();
        let mut registry = SourceRegistry::new(Lines::default());
        let pairs = [0, 1].map(|_| UnixStream::pair().unwrap());
        let sources = [Source::Async, Source::Mads(PortId(1))];
        registry.watch(pairs[0].0.as_fd(), sources[0]);
        registry.start(poll.registry().try_clone().unwrap(), Token(70));
        assert_eq!(registry.source(Token(70)), None, "nothing is watched before `start`");
        for (pair, source) in pairs.iter().zip(sources) {
            registry.watch(pair.0.as_fd(), source);
        }
        let mut woken = |registry: &SourceRegistry| -> Vec<Option<Source>> {
            let mut events = Events::with_capacity(4);
            pairs.iter().for_each(|(_, theirs)| (&mut &*theirs).write_all(&[1]).unwrap());
            poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
            let mut woken: Vec<_> = events.iter().map(|event| registry.source(event.token())).collect();
            woken.sort_unstable();
            woken
        };
        assert_eq!(woken(&registry), sources.map(Some));
        registry.unwatch(pairs[0].0.as_fd(), sources[0]);
        assert_eq!((woken(&registry), registry.source(Token(70))), (vec![Some(sources[1])], None));
    }
}
