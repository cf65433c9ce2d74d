//! Lookups on one core, in a mapping with 100,000 keys: `cargo bench -p acm-shm`.
use acm_shm::{Identity, Key, Lookup, ReadOnly, Reader, Time, Writer};
use acm_wire::Address;
use core::{net::Ipv4Addr, num::NonZeroU64, time::Duration};
use divan::{Bencher, black_box, counter::ItemsCount};
use ib_mad::{Lid, ServiceId, sa::PathRecord};

fn main() {
    divan::main();
}

const KEYS: u32 = 100_000;
/// Lookups in one sample: short, so that few samples contain work of other programs.
const BATCH: usize = 1000;

/// Kinds of keys.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Ip4,
    ShortName,
    Query,
}
const KINDS: [Kind; 3] = [Kind::Ip4, Kind::ShortName, Kind::Query];

fn key(kind: Kind, number: u32) -> Key {
    match kind {
        Kind::Ip4 => Key::new(1, &Address::Ip4(Ipv4Addr::from_bits(0x0a00_0000 + number))),
        Kind::ShortName => Key::new(1, &Address::from_text(&format!("node{number}"))),
        Kind::Query => Key::query(1, &PathRecord { service_id: ServiceId::new(number.into()), ..PathRecord::ZERO }),
    }
}

/// A mapping with keys 0 to `KEYS` of a kind.
fn mapped(kind: Kind, keys: u32) -> (Writer<acm_shm::Shared>, Reader<ReadOnly>) {
    let identity = Identity { generation: NonZeroU64::MIN, seed: [7, 11] };
    let mut writer = Writer::create(keys as usize, identity, Time::now()).unwrap();
    for number in 0..keys {
        let path = PathRecord { dlid: Lid::new(1), ..PathRecord::ZERO };
        // One of 10,000 has no room.
        let _ = writer.insert(&key(kind, number), &path, Time::now() + Duration::from_secs(3600));
    }
    let reader = Reader::map(writer.file()).unwrap();
    (writer, reader)
}

/// Keys in a random order.
fn keys(kind: Kind, first: u32, count: u32) -> Vec<Key> {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).unwrap()
    };
    (0..KEYS).map(|_| key(kind, first + random() % count)).collect()
}

/// Measures lookups of the next keys. `lookup` returns the number of paths.
fn run(
    bencher: Bencher<'_, '_>,
    kind: Kind,
    [stored, first]: [u32; 2],
    lookup: impl Fn(&Reader<ReadOnly>, &[Key]) -> usize,
) {
    let (mut writer, reader) = mapped(kind, stored);
    let keys = keys(kind, first, stored);
    let mut batches = keys.chunks(BATCH).cycle();
    bencher.counter(ItemsCount::new(BATCH)).with_inputs(|| batches.next().unwrap()).bench_local_values(|keys| {
        writer.heartbeat(Time::now());
        lookup(&reader, keys)
    });
}

/// Looks up one key after another, and reads the clock for each.
fn single(reader: &Reader<ReadOnly>, keys: &[Key]) -> usize {
    let is_found = |key| matches!(reader.lookup(black_box(key), Time::now()), Lookup::Path(_));
    keys.iter().filter(|key| is_found(*key)).count()
}

#[divan::bench(args = KINDS, sample_count = 2000)]
fn hit(bencher: Bencher<'_, '_>, kind: Kind) {
    run(bencher, kind, [KEYS, 0], single);
}

#[divan::bench(args = KINDS, sample_count = 2000)]
fn hit_in_batches(bencher: Bencher<'_, '_>, kind: Kind) {
    run(bencher, kind, [KEYS, 0], |reader, keys| {
        let mut count = 0;
        reader.lookup_all(keys, Time::now(), |_, found| count += usize::from(matches!(found, Lookup::Path(_))));
        count
    });
}

#[divan::bench(args = KINDS, sample_count = 2000)]
fn hit_of_1000_keys(bencher: Bencher<'_, '_>, kind: Kind) {
    run(bencher, kind, [1000, 0], single);
}

#[divan::bench(args = KINDS, sample_count = 2000)]
fn miss(bencher: Bencher<'_, '_>, kind: Kind) {
    run(bencher, kind, [KEYS, 1 << 20], single);
}

#[divan::bench(args = [4096, 131_072], sample_count = 200)]
fn remove_source(bencher: Bencher<'_, '_>, keys: u32) {
    let (mut writer, _reader) = mapped(Kind::Ip4, keys);
    bencher.bench_local(|| writer.remove_source(1));
}

#[divan::bench(args = [4096, 131_072], sample_count = 20)]
fn create(bencher: Bencher<'_, '_>, room: usize) {
    let identity = Identity { generation: NonZeroU64::MAX, seed: [7, 11] };
    bencher.bench_local(|| Writer::create(room, identity, Time::now()).unwrap());
}

#[divan::bench(sample_count = 2000)]
fn insert_and_remove(bencher: Bencher<'_, '_>) {
    let (mut writer, _reader) = mapped(Kind::Ip4, KEYS);
    let keys = keys(Kind::Ip4, 1 << 20, KEYS);
    let expiry = Time::now() + Duration::from_secs(3600);
    let mut batches = keys.chunks(BATCH).cycle();
    bencher.counter(ItemsCount::new(BATCH)).with_inputs(|| batches.next().unwrap()).bench_local_values(|keys| {
        for key in keys {
            let _ = writer.insert(key, &PathRecord::ZERO, expiry);
            writer.remove(key);
        }
    });
}
