//! The memory in which clients read paths without a request (`shared_cache`).
//!
//! A client gets the memory's descriptor on a connection of its own: it sends [`SHARED_CACHE`], gets one message with
//! the descriptor, and the connection ends.
use crate::{metrics::Number, settings::as_size, stream::Stream};
use acm_sansio::{EndpointId, Time, api::Publication};
use acm_shm::{Identity, Key, NotStored, Shared, Time as ShmTime, Writer};
use acm_wire::{
    client::{ClientStatus, Header, Opcode, SHARED_CACHE},
    files::opts::Options,
};
use core::{num::NonZeroU64, time::Duration};
use std::io;

/// Time between two heartbeats. Clients wait for one for [`acm_shm::LIFETIME`].
const HEARTBEAT: Duration = Duration::from_millis(250);
/// Steps of the clock of clients, which is behind the daemon's clock. A path expires earlier by twice as much.
const CLOCK_STEP: Duration = Duration::from_millis(10);

/// The memory that clients read.
#[derive(Debug)]
pub(crate) struct SharedCache {
    writer: Writer<Shared>,
    /// Number of paths for which the memory was created: `shared_cache_entries`.
    size: usize,
    heartbeat_at: Time,
    not_stored: u64,
    clients: u64,
    /// Clients that got no descriptor, because too many are unread.
    refused: u64,
    /// Lookups that clients report. They may report any number.
    lookups: u64,
}

/// Returns the number of an endpoint in keys, or `None` beyond 65,535 endpoints. Number 0 is for local addresses.
///
/// A client may look up the number before the endpoint closes, and the path afterwards. The number therefore contains
/// the generation: the next endpoint with this index has other paths.
fn number(endpoint: EndpointId) -> Option<u32> {
    let index = u16::try_from(endpoint.index()).ok()?.checked_add(1)?;
    Some(endpoint.generation() << 16 | u32::from(index))
}

impl SharedCache {
    /// Creates the memory. Without memory, clients send all requests.
    pub(crate) fn open(options: &Options<'_>) -> Option<Self> {
        let created = Self::create(as_size(options.shared_cache_entries));
        created.inspect_err(|error| tracing::warn!(target: "shared_cache", "no memory to share: {error}")).ok()
    }

    /// Creates memory for `size` paths.
    pub(crate) fn create(size: usize) -> io::Result<Self> {
        let random = || getrandom::u64().map_err(|error| io::Error::other(error.to_string()));
        let identity = Identity { generation: NonZeroU64::MIN | random()?, seed: [random()?, random()?] };
        let writer = Writer::create(size, identity, ShmTime::now())?;
        Ok(Self { writer, size, heartbeat_at: Time::ZERO, not_stored: 0, clients: 0, refused: 0, lookups: 0 })
    }

    /// Reports whether the memory is that of the options.
    pub(crate) fn has_size_of(&self, options: &Options<'_>) -> bool {
        self.size == as_size(options.shared_cache_entries)
    }

    /// Carries out a change. Clients see it at once.
    pub(crate) fn publish(&mut self, publication: &Publication) {
        match publication {
            Publication::Source { address, endpoint } => match endpoint.and_then(number) {
                Some(number) => {
                    let stored = self.writer.insert_source(address, number);
                    self.count(stored);
                }
                None => self.remove(&Key::new(0, address)),
            },
            Publication::Path { endpoint, dest, path, lifetime } => {
                let Some(number) = number(*endpoint) else { return };
                let until = ShmTime::now() + lifetime.saturating_sub(2 * CLOCK_STEP);
                let stored = self.writer.insert(&Key::new(number, dest), path, until);
                self.count(stored);
            }
            Publication::Withdrawn { endpoint, dest } => {
                let Some(number) = number(*endpoint) else { return };
                self.remove(&Key::new(number, dest));
            }
            Publication::AllWithdrawn(endpoint) => {
                let Some(number) = number(*endpoint) else { return };
                self.writer.remove_source(number);
            }
        }
    }

    fn remove(&mut self, key: &Key) {
        // A path that did not fit is not stored.
        self.writer.remove(key);
    }

    /// Counts paths that did not fit.
    fn count(&mut self, stored: Result<(), NotStored>) {
        self.not_stored += u64::from(stored.is_err());
    }

    /// Returns the time of the next heartbeat.
    pub(crate) const fn due(&self) -> Time {
        self.heartbeat_at
    }

    /// Reports whether clients may have stopped to use the memory, because the heartbeat is late.
    pub(crate) fn is_late(&self, now: Time) -> bool {
        now.since(self.heartbeat_at) + HEARTBEAT >= acm_shm::LIFETIME
    }

    /// Sends a heartbeat if it is due.
    pub(crate) fn tick(&mut self, now: Time) {
        if self.heartbeat_at <= now {
            self.writer.heartbeat(ShmTime::now());
            self.heartbeat_at = now + HEARTBEAT;
        }
    }

    /// Sends the descriptor to a client that requested it. Returns `true` if it was sent. Without it, the client sends
    /// requests.
    pub(crate) fn send_to(&mut self, stream: &Stream) -> bool {
        let head = Header::new(Opcode::new(SHARED_CACHE).ack(), ClientStatus::SUCCESS, 16, [0; 8]);
        let is_sent = stream.send_with_file(ib_mad::as_bytes(&head), self.writer.file()).is_ok();
        self.clients += u64::from(is_sent);
        is_sent
    }

    /// Counts a client that gets no descriptor.
    pub(crate) const fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Returns the file of the memory.
    #[cfg(test)]
    pub(crate) fn file(&self) -> std::os::fd::BorrowedFd<'_> {
        self.writer.file()
    }

    /// Counts lookups that a client reports.
    pub(crate) const fn count_lookups(&mut self, lookups: u64) {
        self.lookups = self.lookups.wrapping_add(lookups);
    }

    /// Returns the numbers for the log, `acmctl status` and metrics.
    pub(crate) fn numbers(&self) -> [Number; 6] {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        [
            Number::gauge("shared_cache_entries", number(self.writer.entries())),
            Number::gauge("shared_cache_room", number(self.writer.room())),
            Number::counter("shared_cache_clients", self.clients),
            Number::counter("shared_cache_refused", self.refused),
            Number::counter("shared_cache_lookups", self.lookups),
            Number::counter("shared_cache_not_stored", self.not_stored),
        ]
    }
}

impl Drop for SharedCache {
    /// Tells clients that the memory no longer changes. They would find that within a second.
    fn drop(&mut self) {
        self.writer.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_shm::{Lookup, Reader};
    use acm_wire::Address;
    use core::net::Ipv4Addr;
    use ib_mad::{Lid, sa::PathRecord};

    const ENDPOINT: EndpointId = EndpointId::new(3, 0);
    const MINUTE: Duration = Duration::from_secs(60);

    fn lid(number: u32) -> Lid {
        Lid::new(u16::try_from(number % 0xc000).unwrap())
    }

    fn dest(number: u32) -> Address {
        Address::Ip4(Ipv4Addr::from_bits(0x0a00_0000 + number))
    }

    fn path(number: u32, lifetime: Duration) -> Publication {
        let path = PathRecord { dlid: lid(number), ..PathRecord::ZERO };
        Publication::Path { endpoint: ENDPOINT, dest: dest(number), path, lifetime }
    }

    fn find(shared: &SharedCache, number: u32) -> Lookup {
        let reader = Reader::map(shared.writer.file()).unwrap();
        let now = ShmTime::now();
        let Some(endpoint) = reader.endpoint(Some(&dest(0)), &dest(number), now) else { return Lookup::Miss };
        reader.lookup(&Key::new(endpoint, &dest(number)), now)
    }

    #[test]
    fn client_finds_what_is_published_until_it_is_withdrawn() {
        let mut shared = SharedCache::create(9).unwrap();
        let mut publish = |publication| {
            shared.publish(&publication);
            [1, 2].map(|number| matches!(find(&shared, number), Lookup::Path(path) if path.dlid == lid(number)))
        };
        assert_eq!(publish(path(1, MINUTE)), [false, false], "no source");
        assert_eq!(publish(Publication::Source { address: dest(0), endpoint: Some(ENDPOINT) }), [true, false]);
        assert_eq!(publish(path(2, MINUTE)), [true, true]);
        assert_eq!(publish(Publication::Withdrawn { endpoint: ENDPOINT, dest: dest(1) }), [false, true]);
        assert_eq!(publish(path(1, 2 * CLOCK_STEP)), [false, true], "expired by the slowest clock");
        assert_eq!(publish(Publication::AllWithdrawn(ENDPOINT)), [false, false]);
        assert_eq!(publish(path(1, MINUTE)), [true, false]);
        assert_eq!(publish(Publication::Source { address: dest(0), endpoint: None }), [false, false]);
    }

    /// The client looked up the source before its endpoint closed, and looks up the path afterwards.
    #[test]
    fn path_of_a_later_endpoint_is_not_found_by_the_source_of_an_earlier_one() {
        let mut shared = SharedCache::create(9).unwrap();
        shared.publish(&Publication::Source { address: dest(0), endpoint: Some(ENDPOINT) });
        shared.publish(&path(1, MINUTE));
        let reader = Reader::map(shared.writer.file()).unwrap();
        let source = reader.endpoint(Some(&dest(0)), &dest(1), ShmTime::now()).unwrap();
        let found = || reader.lookup(&Key::new(source, &dest(1)), ShmTime::now());
        assert!(matches!(found(), Lookup::Path(_)));
        shared.publish(&Publication::AllWithdrawn(ENDPOINT));
        let endpoint = EndpointId::new(ENDPOINT.index(), 1);
        let Publication::Path { dest, path, lifetime, .. } = path(1, MINUTE) else { unreachable!() };
        shared.publish(&Publication::Path { endpoint, dest, path, lifetime });
        assert_eq!(found(), Lookup::Miss);
        assert_eq!(number(EndpointId::new(65_535, 0)), None);
    }

    // docs/deadlines.md: shared-entries
    #[test]
    fn paths_beyond_the_option_are_counted() {
        let mut shared = SharedCache::create(5000).unwrap();
        let numbers = |shared: &SharedCache| {
            ["shared_cache_entries", "shared_cache_room", "shared_cache_not_stored"].map(|name| {
                shared.numbers().iter().find(|number| number.name == name).map(|number| number.value).unwrap()
            })
        };
        shared.publish(&Publication::Source { address: dest(0), endpoint: Some(ENDPOINT) });
        (1..4000).for_each(|number| shared.publish(&path(number, MINUTE)));
        let [entries, room, lost] = numbers(&shared);
        assert!(entries + lost == 4000 && lost < 10 && room == 5000, "{entries} {lost}");
        (4000..9000).for_each(|number| shared.publish(&path(number, MINUTE)));
        let [entries, room, lost] = numbers(&shared);
        assert_eq!([entries, room, lost], [5000, 5000, 4000]);
        shared.tick(Time::ZERO + HEARTBEAT);
        assert!(matches!(find(&shared, 1), Lookup::Path(_)));
    }

    #[test]
    fn memory_is_not_used_as_soon_as_it_is_dropped() {
        let mut shared = SharedCache::create(9).unwrap();
        shared.publish(&Publication::Source { address: dest(0), endpoint: Some(ENDPOINT) });
        let reader = Reader::map(shared.writer.file()).unwrap();
        let lookup = || reader.lookup(&Key::new(0, &dest(0)), ShmTime::now());
        assert!(matches!(lookup(), Lookup::Path(_)));
        drop(shared);
        assert_eq!(lookup(), Lookup::Stopped);
    }

    #[test]
    fn heartbeat_is_sent_four_times_a_second() {
        let mut shared = SharedCache::create(9).unwrap();
        shared.tick(Time::ZERO);
        assert_eq!(shared.due(), Time::ZERO + HEARTBEAT);
        assert!(HEARTBEAT * 4 <= acm_shm::LIFETIME);
        shared.tick(Time::ZERO + HEARTBEAT / 2);
        assert_eq!(shared.due(), Time::ZERO + HEARTBEAT);
    }
}
