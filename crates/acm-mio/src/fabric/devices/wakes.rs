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
