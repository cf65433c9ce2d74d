use super::*;
use crate::{Client, Options, socket::now};
use acm_shm::{Identity, Shared, Writer};
use acm_wire::client::{ClientRequest, FrameError, Reply, Resolve, next_frame};
use core::{
    net::{Ipv4Addr, Ipv6Addr},
    num::NonZeroU64,
};
use ib_mad::{Gid, Guid, Lid, ServiceId};
use proptest::prelude::*;
use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
};
use std::{
    fs::File,
    io::{IoSlice, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{
            fs::FileExt,
            net::{UnixListener, UnixStream},
        },
    },
    thread,
};

/// A time limit that no passing test reaches.
const LONG: Duration = Duration::from_secs(60);
/// Number of different addresses: more than two chunks.
const ADDRESSES: u16 = 600;

impl SharedCache {
    /// Returns a cache with a number of requests that were not sent.
    pub(crate) fn with_hits(hits: u64) -> Self {
        Self { hits, ..Self::default() }
    }
}

/// Returns an address. Each kind of address has its share.
fn address(number: u16) -> Address {
    match number % 5 {
        0 => Address::from_text(&format!("node{number}")),
        1 => Address::from_text(&format!("a-name-of-more-than-thirty-two-bytes.node{number}.example")),
        2 => Address::Ip4(Ipv4Addr::from_bits(0x0a00_0000 + u32::from(number))),
        3 => Address::Ip6(Ipv6Addr::from_bits(0xfd00 << 112 | u128::from(number))),
        _ => Address::Gid(Gid::from_parts(7, Guid::new(number.into()))),
    }
}

fn source() -> Address {
    Address::from_text("node1")
}

/// Returns the path to an address: the LID has its number.
fn path_to(number: u16) -> PathRecord {
    PathRecord { dlid: Lid::new(1 + number), ..PathRecord::ZERO }
}

/// Returns the request for the path to an address.
fn request_to(dest: Address) -> Request {
    match dest {
        Address::Gid(dgid) => Request::Route { path: PathRecord { dgid, ..PathRecord::default() }, no_delay: false },
        _ => Request::Resolve { source: Some(source()), dest, conditions: None, no_delay: false },
    }
}

/// Returns memory with the paths to the addresses with these numbers. Another endpoint has a path to each address.
fn memory(numbers: impl Iterator<Item = u16>) -> Writer<Shared> {
    let identity = Identity { generation: NonZeroU64::MIN, seed: [3, 5] };
    let mut writer = Writer::create(8 * usize::from(ADDRESSES), identity, Time::now()).unwrap();
    let later = Time::now() + LONG;
    writer.insert_source(&source(), 1).unwrap();
    writer.insert_source(&Address::Gid(Gid::from_parts(7, Guid::default())), 2).unwrap();
    let other = PathRecord { dlid: Lid::new(0xbfff), ..PathRecord::ZERO };
    for number in 0..ADDRESSES {
        writer.insert(&Key::new(3, &address(number)), &other, later).unwrap();
    }
    for number in numbers {
        let endpoint = if matches!(address(number), Address::Gid(_)) { 2 } else { 1 };
        writer.insert(&Key::new(endpoint, &address(number)), &path_to(number), later).unwrap();
    }
    keep_in_use(&mut writer);
    writer
}

/// Sends a heartbeat of the near future, so that the memory is in use for almost twice its lifetime.
fn keep_in_use(writer: &mut Writer<Shared>) {
    writer.heartbeat(Time::now() + acm_shm::LIFETIME * 9 / 10);
}

fn with(writer: &Writer<Shared>) -> SharedCache {
    SharedCache { reader: Some(Reader::map(writer.file()).unwrap()), ..SharedCache::default() }
}

fn find_all(shared: &mut SharedCache, requests: impl Iterator<Item = Request>) -> Vec<Option<PathRecord>> {
    let mut found = Vec::new();
    shared.find_all(requests, |response| found.push(response.map(|response| response.path)));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Lists of up to four chunks, with repeated addresses, and with conditions, which the memory does not answer.
    #[test]
    fn each_of_many_requests_gets_the_path_to_its_own_address_or_none(
        numbers in prop::collection::vec((0..ADDRESSES, prop::bool::weighted(0.1)), 0..1000),
        cached in prop::collection::vec(any::<bool>(), usize::from(ADDRESSES)),
    ) {
        let is_cached = |number: u16| cached[usize::from(number)];
        let mut writer = memory((0..ADDRESSES).filter(|number| is_cached(*number)));
        let mut shared = with(&writer);
        let conditions = PathRecord { service_id: ServiceId::new(7), ..PathRecord::default() };
        let requests: Vec<_> = numbers
            .iter()
            .map(|(number, has_conditions)| match (request_to(address(*number)), has_conditions) {
                (Request::Resolve { source, dest, no_delay, .. }, true) => {
                    Request::Resolve { source, dest, conditions: Some(conditions), no_delay }
                }
                (Request::Route { path, no_delay }, true) => {
                    Request::Route { path: PathRecord { dgid: path.dgid, ..conditions }, no_delay }
                }
                (plain, _) => plain,
            })
            .collect();
        let expected: Vec<_> = numbers
            .iter()
            .map(|(number, has_conditions)| (is_cached(*number) && !has_conditions).then(|| path_to(*number)))
            .collect();
        keep_in_use(&mut writer);
        prop_assert_eq!(find_all(&mut shared, requests.iter().copied()), expected.clone());
        let hits = expected.iter().flatten().count() as u64;
        prop_assert_eq!(shared.hits(), hits);
        keep_in_use(&mut writer);
        let single: Vec<_> = requests.iter().map(|request| shared.find(request).map(|found| found.path)).collect();
        prop_assert_eq!(single, expected);
        prop_assert_eq!(shared.hits(), 2 * hits);
    }
}

/// Returns the socket of a daemon, which the folder has.
fn listening() -> (tempfile::TempDir, Service, UnixListener) {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::Unix(folder.path().join("s"));
    let listener = UnixListener::bind(folder.path().join("s")).unwrap();
    (folder, service, listener)
}

/// Requests the memory, and waits for it.
fn request(service: &Service) -> io::Result<Reader<ReadOnly>> {
    let deadline = Deadline::after(Some(PAUSE));
    let socket = send_request(service)?;
    while socket::wait([(&socket, false)].into_iter(), deadline)? {
        if let Some(file) = socket.receive_file()? {
            return Reader::map(file).map_err(io::Error::other);
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[test]
fn each_lookup_is_reported_once() {
    let mut writer = memory(0..5);
    let mut shared = with(&writer);
    assert_eq!(shared.take_report(), None);
    keep_in_use(&mut writer);
    assert_eq!(find_all(&mut shared, (0..8).map(|number| request_to(address(number)))).iter().flatten().count(), 5);
    assert!(shared.find(&request_to(address(1))).is_some() && shared.find(&request_to(address(6))).is_none());
    let report = Header::new(Opcode::new(SHARED_CACHE_USE), ClientStatus::SUCCESS, 16, 6_u64.to_be_bytes());
    assert_eq!(shared.take_report(), Some(report));
    assert_eq!((shared.take_report(), shared.hits()), (None, 6));
}

/// The daemon has stopped, or has other memory now.
#[test]
fn ended_memory_answers_nothing_and_is_dropped() {
    let mut writer = memory(0..5);
    let request = request_to(address(1));
    let [mut first, mut second] = [with(&writer), with(&writer)];
    keep_in_use(&mut writer);
    assert!(first.find(&request).is_some() && !first.is_due());
    writer.end();
    assert_eq!((first.find(&request), find_all(&mut second, [request].into_iter())), (None, vec![None]));
    assert!(first.reader.is_none() && second.reader.is_none());
    assert!(first.is_due() && second.is_due(), "the client requests other memory");
}

/// Returns a copy of the memory, in another version of its format.
fn in_version(writer: &Writer<Shared>, change: impl Fn(u64) -> u64) -> OwnedFd {
    // The second word of the header.
    const VERSION: core::ops::Range<usize> = 8..16;
    let original = File::from(writer.file().try_clone_to_owned().unwrap());
    let mut bytes = vec![0; usize::try_from(original.metadata().unwrap().len()).unwrap()];
    original.read_exact_at(&mut bytes, 0).unwrap();
    let version = u64::from_ne_bytes(bytes[VERSION].try_into().unwrap());
    bytes[VERSION].copy_from_slice(&change(version).to_ne_bytes());
    let copy = File::from(memfd_create("copy", MemfdFlags::ALLOW_SEALING).unwrap());
    copy.write_all_at(&bytes, 0).unwrap();
    fcntl_add_seals(&copy, SealFlags::SHRINK).unwrap();
    copy.into()
}

/// Responds to a request for the memory.
fn send_memory(stream: &UnixStream, writer: &Writer<Shared>) {
    send_file(stream, writer.file());
}

fn send_file(stream: &UnixStream, file: BorrowedFd<'_>) {
    let head = Header::new(Opcode::new(SHARED_CACHE).ack(), ClientStatus::SUCCESS, 16, [0; 8]);
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = [file];
    assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
    let bytes = IoSlice::new(ib_mad::as_bytes(&head));
    assert_eq!(sendmsg(stream.as_fd(), &[bytes], &mut control, SendFlags::empty()).unwrap(), 16);
}

/// Accepts a connection with a request for the memory.
fn accept_request(listener: &UnixListener) -> UnixStream {
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = [0; 16];
    stream.read_exact(&mut request).unwrap();
    assert_eq!(request[1], SHARED_CACHE);
    stream
}

#[test]
fn memory_is_requested_without_waiting_and_used_when_it_arrives() {
    let (_folder, service, listener) = listening();
    let mut writer = memory(0..5);
    let (mut shared, before) = (SharedCache::default(), Time::now());
    shared.request(&service);
    assert!(shared.next_attempt >= Some(before + PAUSE), "the next attempt is not before");
    let stream = accept_request(&listener);
    assert_eq!(shared.find(&request_to(address(1))), None, "not yet received");
    assert!(shared.requested.is_some());
    send_memory(&stream, &writer);
    keep_in_use(&mut writer);
    assert_eq!(shared.find(&request_to(address(1))).map(|found| found.path), Some(path_to(1)));
    assert!(shared.requested.is_none() && !shared.is_due());
}

#[test]
fn blocking_client_waits_once_for_memory_that_does_not_arrive() {
    let (_folder, service, listener) = listening();
    let mut shared = SharedCache::default();
    shared.request(&service);
    shared.wait();
    let is_over = shared.requested.as_ref().map(|(_, wait_until)| wait_until.left().is_none());
    assert_eq!(is_over, Some(true), "it may arrive later");
    let mut writer = memory(0..5);
    send_memory(&accept_request(&listener), &writer);
    keep_in_use(&mut writer);
    shared.wait();
    assert!(shared.find(&request_to(address(1))).is_some());
}

/// The library of a program and the daemon are updated one after the other, in either order.
#[test]
fn requests_are_sent_to_a_daemon_with_another_version_of_the_format() {
    let (_folder, service, listener) = listening();
    // The version of the memory, less that of this client.
    for (difference, is_read) in [(0, true), (-1, false), (1, false)] {
        let mut writer = memory(0..5);
        let mut shared = SharedCache::default();
        shared.request(&service);
        let stream = accept_request(&listener);
        keep_in_use(&mut writer);
        send_file(&stream, in_version(&writer, |version| version.wrapping_add_signed(difference)).as_fd());
        let found = shared.find(&request_to(address(1)));
        assert_eq!((found.is_some(), shared.reader.is_some(), shared.requested.is_some()), (is_read, is_read, false));
        assert_eq!(shared.hits(), u64::from(is_read));
    }
}

#[test]
fn daemon_without_memory_is_asked_again_after_a_pause() {
    let (_folder, service, listener) = listening();
    let mut shared = SharedCache::default();
    shared.request(&service);
    // The daemon closes the connection, as C ibacm does.
    drop(accept_request(&listener));
    assert_eq!(shared.find(&request_to(address(1))), None);
    assert!(shared.requested.is_none() && shared.reader.is_none());
    shared.next_attempt = Some(Time::now() + LONG);
    assert!(!shared.is_due());
    shared.next_attempt = Some(Time::now());
    assert!(shared.is_due());
    let tcp: Service = "localhost:6125".parse().unwrap();
    assert_eq!(request(&tcp).unwrap_err().kind(), io::ErrorKind::Unsupported, "no descriptor can be sent over TCP");
}

/// The responses to requests carry the numbers of their addresses plus 1000 as LIDs.
#[test]
fn client_gets_each_path_from_memory_or_by_request_in_the_order_of_the_addresses() {
    let (_folder, service, listener) = listening();
    let is_cached = |number: u16| !number.is_multiple_of(3);
    let number_of = |dest: &Address| (0..ADDRESSES).find(|number| address(*number) == *dest).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(acm_shm::LIFETIME / 4)).unwrap();
        let mut writer = memory((0..ADDRESSES).filter(|number| is_cached(*number)));
        let (mut received, mut requests, mut lookups) = (Vec::new(), 0, 0);
        let mut bytes = [0; 4096];
        loop {
            let length = match next_frame(&received) {
                Ok(Some(frame)) => {
                    requests += 1;
                    let dest = match ClientRequest::parse(&frame) {
                        ClientRequest::Resolve(Ok(Resolve::Address { dest, .. })) => dest,
                        ClientRequest::Resolve(Ok(Resolve::Route(route))) => Address::Gid(route.path.dgid),
                        other => panic!("{other:?}"),
                    };
                    let path = PathRecord { dlid: Lid::new(1000 + number_of(&dest)), ..PathRecord::ZERO };
                    let mut reply = Reply::resolved(frame.tid(), &path, None);
                    reply.mark_shared();
                    stream.write_all(&reply).unwrap();
                    if requests == 1 {
                        send_memory(&accept_request(&listener), &writer);
                    }
                    frame.length()
                }
                Ok(None) => {
                    keep_in_use(&mut writer);
                    match now(stream.read(&mut bytes)).unwrap() {
                        Some(0) => return (requests, lookups),
                        count => received.extend_from_slice(&bytes[..count.unwrap_or(0)]),
                    }
                    0
                }
                Err(FrameError::Opcode(SHARED_CACHE_USE)) if received.len() >= 16 => {
                    lookups += u64::from_be_bytes(received[8..16].try_into().unwrap());
                    16
                }
                Err(error) => panic!("{error}"),
            };
            received.drain(..length);
        }
    });
    let numbers: Vec<u16> = (0..1500).map(|number| number * 7 % ADDRESSES).collect();
    let dests: Vec<_> = numbers.iter().map(|number| address(*number)).collect();
    let mut client = Client::with_options(service, Options::default().with_timeout(LONG).with_depth(64)).unwrap();
    // The first request is sent in any case.
    let mut sent = 0;
    while client.shared_cache_hits() == 0 {
        sent += 1;
        client.resolve(Some(&source()), &address(1)).unwrap();
    }
    let paths = client.resolve_all(Some(&source()), &dests);
    let lids = paths.iter().map(|found| found.as_ref().unwrap().path.dlid.get());
    let expected = numbers.iter().map(|number| if is_cached(*number) { 1 + number } else { 1000 + number });
    assert_eq!(lids.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let hits = numbers.iter().filter(|number| is_cached(**number)).count() as u64;
    assert_eq!(client.shared_cache_hits(), hits + 1);
    drop(client);
    assert_eq!(server.join().unwrap(), (sent - 1 + 1500 - hits, hits + 1));
}

#[test]
fn only_requests_with_nothing_but_source_and_destination_are_plain() {
    let resolve = |source: Option<&str>, dest: Address, conditions| {
        let source = source.map(Address::from_text);
        plain(&Request::Resolve { source, dest, conditions, no_delay: true }).map(|(_, dest)| dest)
    };
    let name = Address::from_text("node2");
    assert_eq!(resolve(Some("node1"), name, None), Some(name));
    assert_eq!(resolve(None, Address::from_text("10.0.0.2"), None), None, "the routing table chooses the source");
    let conditions = PathRecord { service_id: ServiceId::new(7), ..PathRecord::default() };
    assert_eq!(resolve(Some("node1"), name, Some(conditions)), None);
    assert_eq!(resolve(Some("node1"), Address::Lid(Lid::new(7)), None), None, "the daemon refuses it");
    let route = |path| plain(&Request::Route { path, no_delay: false }).map(|(_, dest)| dest);
    let (dlid, dgid) = (Lid::new(7), "fe80::7".parse().unwrap());
    assert_eq!(route(PathRecord { dlid, ..PathRecord::default() }), Some(Address::Lid(dlid)));
    assert_eq!(route(PathRecord { dgid, ..PathRecord::default() }), Some(Address::Gid(dgid)));
    for path in [PathRecord { dlid, dgid, ..conditions }, PathRecord { dgid, ..conditions }, PathRecord::default()] {
        assert_eq!(route(path), None);
    }
    assert_eq!(plain(&Request::QuerySa { path: PathRecord { dgid, ..PathRecord::default() } }), None);
}
