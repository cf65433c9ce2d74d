//! Lookups, and the places of keys.
use super::{LATER, Local, NOW, identity, key, pair, path};
use crate::{
    BUCKET, Invalid, Key, LIFETIME, Lookup, NotStored, RETRIES, Reader, Time, Writer,
    layout::Layout,
    sync::{Ordering, load, store},
};
use acm_wire::{Address, Name};
use core::{net::Ipv4Addr, time::Duration};
use ib_mad::{Lid, sa::PathRecord, wire::Reserved};

const NANO: Duration = Duration::from_nanos(1);

#[test]
fn path_is_found_until_it_expires_or_is_removed() {
    let (mut writer, reader) = pair(8);
    let at = |time| reader.lookup(&key(1), time);
    assert_eq!(at(NOW), Lookup::Miss);
    writer.insert(&key(1), &path(1), NOW + NANO).unwrap();
    assert_eq!([at(NOW), at(NOW + NANO)], [Lookup::Path(path(1)), Lookup::Miss]);
    writer.insert(&key(1), &path(2), LATER).unwrap();
    assert_eq!((at(NOW), writer.entries()), (Lookup::Path(path(2)), 1));
    assert!(writer.remove(&key(1)) && !writer.remove(&key(1)));
    assert_eq!((at(NOW), writer.entries()), (Lookup::Miss, 0));
}

#[test]
fn mapping_is_used_for_a_second_after_a_heartbeat() {
    let (mut writer, reader) = pair(16);
    writer.insert(&key(1), &path(1), LATER).unwrap();
    let at = |time| reader.lookup(&key(1), time);
    assert_eq!(at(NOW + LIFETIME), Lookup::Path(path(1)));
    assert_eq!(at(NOW + LIFETIME + NANO), Lookup::Stopped);
    writer.heartbeat(NOW + LIFETIME);
    assert_eq!(at(NOW + LIFETIME * 2), Lookup::Path(path(1)));
    // A clock with another origin, as in a time namespace.
    assert_eq!([at(NOW), at(Time::from_nanos(NOW.as_nanos() - 1))], [Lookup::Path(path(1)), Lookup::Stopped]);
}

#[test]
fn ended_mapping_is_not_used() {
    let (mut writer, reader) = pair(1);
    writer.insert(&key(1), &path(1), LATER).unwrap();
    writer.end();
    assert_eq!((reader.lookup(&key(1), NOW), reader.is_in_use(NOW)), (Lookup::Stopped, false));
}

/// Only requests that the format lists have a source.
#[test]
fn endpoint_is_found_by_local_address_or_by_the_kind_of_destination() {
    let (mut writer, reader) = pair(8);
    let [name, ip] = ["node1", "10.0.0.1"].map(Address::from_text);
    let gid = |text: &str| Address::Gid(text.parse().unwrap());
    for (source, number) in [(name, 1), (gid("fe80::"), 2), (Address::Lid(Lid::NONE), 3)] {
        writer.insert_source(&source, number).unwrap();
    }
    let endpoint = |source: Option<&Address>, dest| reader.endpoint(source, &dest, NOW);
    assert_eq!(endpoint(Some(&Address::from_text("NODE1")), ip), Some(1));
    assert_eq!([endpoint(Some(&ip), name), endpoint(None, name)], [None; 2]);
    assert_eq!([endpoint(None, gid("fe80::7")), endpoint(Some(&name), gid("fe80::7"))], [Some(2); 2]);
    assert_eq!([endpoint(None, gid("fec0::7")), endpoint(Some(&gid("fe80::")), name)], [None; 2]);
    assert_eq!(endpoint(None, Address::Lid(Lid::new(7))), Some(3));
    assert_eq!(endpoint(Some(&Address::Lid(Lid::NONE)), name), None);
    assert!(reader.is_in_use(NOW) && !reader.is_in_use(NOW + LIFETIME + NANO));
    writer.remove(&Key::new(0, &name));
    assert_eq!(endpoint(Some(&name), ip), None);
}

/// Keys whose place in the index of a mapping is that of `key(0)`.
fn keys_of_one_bucket(writer: &Writer<Local>) -> impl Iterator<Item = Key> {
    let parts = layout_of(writer).parts(writer.memory()).unwrap();
    let bucket = |key: &Key| core::ptr::from_ref(parts.place(key.hash([3, 5])).unwrap().bucket);
    let first = bucket(&key(0));
    let keys = (0..10_000).map(|number| Key::new(7, &Address::Ip4(Ipv4Addr::from_bits(number))));
    keys.filter(|key| bucket(key) == first).collect::<Vec<_>>().into_iter()
}

fn layout_of(writer: &Writer<Local>) -> Layout {
    Layout::new(writer.room()).unwrap()
}

#[test]
fn ninth_key_of_a_bucket_is_not_stored() {
    let (mut writer, reader) = pair(1000);
    let keys: Vec<Key> = keys_of_one_bucket(&writer).take(9).collect();
    let mut insert = |number: usize, byte| writer.insert(&keys[number], &path(byte), LATER);
    (0..8).for_each(|number| insert(number, 1).unwrap());
    assert!(matches!(insert(8, 2), Err(NotStored)));
    insert(7, 3).unwrap();
    assert_eq!([7, 8].map(|number| reader.lookup(&keys[number], NOW)), [Lookup::Path(path(3)), Lookup::Miss]);
    assert!(writer.remove(&keys[3]) && writer.insert(&keys[8], &path(2), LATER).is_ok());
    assert_eq!([3, 8].map(|number| reader.lookup(&keys[number], NOW)), [Lookup::Miss, Lookup::Path(path(2))]);
    assert_eq!((writer.entries(), BUCKET), (8, 8));
    // A word of the index of which readers cannot use the entry is used again.
    writer.remove_source(7);
    (0..8).for_each(|number| writer.insert(&keys[number], &path(4), LATER).unwrap());
    assert_eq!((writer.entries(), reader.lookup(&keys[8], NOW)), (8, Lookup::Miss));
}

#[test]
fn key_without_a_free_entry_is_not_stored() {
    let (mut writer, reader) = pair(16);
    (0..16).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    assert!(matches!(writer.insert(&key(16), &path(16), LATER), Err(NotStored)));
    writer.insert(&key(15), &path(17), LATER).unwrap();
    assert_eq!(reader.lookup(&key(15), NOW), Lookup::Path(path(17)));
    assert_eq!((reader.lookup(&key(16), NOW), writer.entries()), (Lookup::Miss, 16));
    assert!(writer.remove(&key(3)));
    writer.insert(&key(16), &path(16), LATER).unwrap();
    assert_eq!((reader.lookup(&key(16), NOW), writer.entries()), (Lookup::Path(path(16)), 16));
}

/// 8 entries are examined when a new key finds no free one.
#[test]
fn entries_of_expired_keys_and_of_removed_endpoints_are_used_again() {
    let (mut writer, reader) = pair(42);
    let key = |number: u8| Key::new(u32::from(number % 3), &Address::Ip4(Ipv4Addr::from_bits(number.into())));
    let store = |writer: &mut Writer<Local>, numbers: core::ops::Range<u8>, expiry| {
        numbers.filter(|number| writer.insert(&key(*number), &path(*number), expiry).is_ok()).count()
    };
    assert_eq!(store(&mut writer, 0..42, NOW + NANO), 42);
    assert_eq!(store(&mut writer, 42..43, LATER), 0);
    writer.heartbeat(NOW + NANO);
    assert_eq!((store(&mut writer, 42..63, LATER), writer.entries()), (21, 42 - 3 * 8 + 21), "expired keys");
    assert_eq!(store(&mut writer, 63..84, LATER), 21);
    assert_eq!((store(&mut writer, 84..85, LATER), writer.entries()), (0, 42));
    assert_eq!((writer.remove_source(1), writer.entries()), (14, 28));
    assert_eq!((store(&mut writer, 84..96, LATER), writer.entries()), (12, 40), "keys of a removed endpoint");
    let found = |number: &u8| reader.lookup(&key(*number), NOW + NANO) == Lookup::Path(path(*number));
    assert_eq!((0..96).filter(found).count(), 40);
}

#[test]
fn keys_of_an_endpoint_are_removed_together() {
    let (mut writer, reader) = pair(21);
    (0..21).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    assert_eq!((writer.remove_source(1), writer.remove_source(1), writer.entries()), (7, 0, 14));
    for number in 0..21 {
        let is_removed = number % 3 == 1;
        assert_eq!(reader.lookup(&key(number), NOW) == Lookup::Miss, is_removed, "{number}");
    }
    assert!(!writer.remove(&key(1)));
    writer.insert(&key(1), &path(9), LATER).unwrap();
    assert_eq!((reader.lookup(&key(1), NOW), writer.entries()), (Lookup::Path(path(9)), 15));
    // Sources stay, and the endpoints 1 and 64 have one epoch.
    assert_eq!((writer.remove_source(0), writer.remove_source(64), writer.entries()), (0, 1, 14));
    assert_eq!([0, 1].map(|number| reader.lookup(&key(number), NOW)), [Lookup::Path(path(0)), Lookup::Miss]);
}

#[test]
fn keys_are_compared_in_full() {
    let long = |last| Address::Name(Name::new(&[&[b'a'; 63][..], &[last]].concat()));
    let query = PathRecord { dlid: Lid::new(7), preference: 1, ..PathRecord::ZERO };
    let ip = Ipv4Addr::new(0, 7, 0, 0);
    let mut keys = vec![Key::query(1, &query), Key::query(1, &PathRecord { preference: 2, ..query })];
    keys.extend([long(b'x'), long(b'y'), long(0)].map(|name| Key::new(1, &name)));
    // The same bytes as an address of each kind and as names.
    keys.extend([Address::Lid(Lid::new(7)), Address::Ip4(ip)].map(|to| Key::new(1, &to)));
    keys.extend(["a", "a\u{1}", ""].map(|name| Key::new(1, &Address::Name(Name::new(name.as_bytes())))));
    keys.extend([2, 0, u32::MAX].map(|source| Key::new(source, &Address::Ip4(ip))));
    let (mut writer, reader) = pair(16);
    for (number, key) in (0..).zip(&keys) {
        assert_eq!(reader.lookup(key, NOW), Lookup::Miss, "{key:?}");
        writer.insert(key, &path(number), LATER).unwrap();
    }
    for (number, key) in (0..).zip(&keys) {
        assert_eq!(reader.lookup(key, NOW), Lookup::Path(path(number)), "{key:?}");
    }
    // Case of names, and reserved bytes of queries, are no difference.
    assert_eq!(Key::new(1, &long(b'Y')), keys[3]);
    assert_eq!(Key::query(1, &PathRecord { reserved: Reserved([1; 6]), ..query }), keys[0]);
}

/// Names that differ in the last byte, after longer and shorter names in the same entries.
#[test]
fn names_of_each_length_are_told_apart_and_leave_no_entry_behind() {
    let name =
        |length: usize, last| Key::new(1, &Address::Name(Name::new(&[&b"a".repeat(length - 1)[..], &[last]].concat())));
    let (mut writer, reader) = pair(2);
    let mut now = NOW;
    // Those with one word after the first 32 bytes often: each that is left behind fills a part of a bucket.
    for length in (1..=64).rev().chain(1..=64).chain((33..=40).cycle().take(400)) {
        let keys = [name(length, b'x'), name(length, b'y')];
        // These take the entries of expired names of another length.
        for (number, key) in (1..).zip(&keys) {
            writer.insert(key, &path(number), now + NANO).unwrap();
        }
        assert_eq!(keys.each_ref().map(|key| reader.lookup(key, now)), [1, 2].map(|number| Lookup::Path(path(number))));
        assert!(writer.remove(&keys[0]) && writer.entries() == 1, "{length}");
        assert_eq!(keys.each_ref().map(|key| reader.lookup(key, now)), [Lookup::Miss, Lookup::Path(path(2))]);
        writer.insert(&keys[0], &path(3), now + NANO).unwrap();
        now = now + NANO;
        writer.heartbeat(now);
    }
}

#[test]
fn entry_in_change_is_read_again_a_limited_number_of_times() {
    let (mut writer, reader) = pair(1000);
    let keys: Vec<Key> = keys_of_one_bucket(&writer).take(3).collect();
    (0..).zip(&keys[..2]).for_each(|(byte, key)| writer.insert(key, &path(byte), LATER).unwrap());
    let word = &layout_of(&writer).parts(writer.memory()).unwrap().entries[0][0];
    assert_eq!(load(word), 2);
    store(word, 3, Ordering::Relaxed);
    assert_eq!(reader.lookup(&keys[0], NOW), Lookup::Busy);
    assert_eq!(reader.lookup(&keys[1], NOW), Lookup::Path(path(1)), "another entry");
    assert_eq!(reader.lookup(&keys[2], NOW), Lookup::Miss, "no entry has a key with this hash");
    assert_eq!(RETRIES, 16);
}

/// The format in words. A change needs another version of the format.
#[test]
fn words_are_those_of_the_format() {
    let (mut writer, memory) = Writer::in_process(5, identity(9), Time::from_nanos(77)).unwrap();
    let long = Address::Name(Name::new(b"Node-123456789-123456789-123456789-12345.example"));
    let key = Key::new(2, &long);
    for _ in 0..2 {
        writer.insert(&key, &path(6), Time::from_nanos(88)).unwrap();
        writer.remove_source(2 + 63);
    }
    writer.insert(&key, &path(6), Time::from_nanos(88)).unwrap();
    writer.insert(&Key::new(0, &Address::Lid(Lid::new(1))), &path(7), Time::from_nanos(99)).unwrap();
    let words: Vec<u64> = memory.iter().map(load).collect();
    // 4 buckets for 5 keys.
    assert_eq!(words.len(), 80 + 4 * 8 + 5 * 16 + 5 * 4);
    let magic = u64::from_le_bytes(*b"ibacmshm");
    assert_eq!(words[..16], [magic, 2, 9, 3, 5, 5, 6, 0, 77, 0, 0, 0, 0, 0, 0, 0]);
    let mut epochs = [0; 64];
    epochs[3] = 2;
    assert_eq!(words[16..80], epochs);
    let hash = key.hash([3, 5]);
    let word = 80 + 8 * usize::try_from((u128::from(hash) * 4) >> 64).unwrap();
    assert!(words[word..word + 8].contains(&(hash << 32 | 1)));
    let text = |at: usize| {
        u64::from_le_bytes(*b"node-123456789-123456789-123456789-12345.example"[at..].first_chunk().unwrap())
    };
    let mut entry = [0x0606_0606_0606_0606; 16];
    entry[..8].copy_from_slice(&[6, 88, 2 << 32 | 48 << 8 | 1, 2, text(0), text(8), text(16), text(24)]);
    assert_eq!(words[112..128], entry);
    assert_eq!(words[128..132], [2, 99, 2 << 8 | 5, 0]);
    assert_eq!(words[192..200], [text(32), text(40), 0, 0, 0, 0, 0, 0]);
    assert_eq!(words.iter().filter(|word| **word != 0).count(), 8 + 1 + 2 + 16 + (3 + 1 + 8) + 2);
}

/// `PYTHONHASHSEED=0 python3 -c 'print(hash(bytes.fromhex("02040000010000000a00000200000000")) % 2**64)'`, of a
/// Python whose `sys.hash_info.algorithm` is siphash13.
#[test]
fn hash_is_that_of_other_software() {
    let key = Key::new(1, &Address::Ip4(Ipv4Addr::new(10, 0, 0, 2)));
    const PYTHON: u64 = 2_601_151_166_781_446_308;
    assert_eq!(key.hash([0, 0]), PYTHON);
}

#[test]
fn invalid_headers_are_rejected() {
    let defects: [(usize, u64, Invalid); 6] = [
        (0, 1, Invalid::Magic),
        (1, 1, Invalid::Version(1)),
        (5, 0, Invalid::Header),
        (5, 18, Invalid::Header),
        (5, u64::MAX, Invalid::Header),
        (6, 1, Invalid::Header),
    ];
    for (at, value, error) in defects {
        let (_, memory) = Writer::in_process(17, identity(1), NOW).unwrap();
        store(&memory[at], value, Ordering::Relaxed);
        assert_eq!(Reader::new(memory).unwrap_err(), error);
    }
    for words in [0, 1, 15] {
        let memory: Local = (0..words).map(|_| Default::default()).collect();
        assert_eq!(Reader::new(memory).unwrap_err(), Invalid::Magic);
    }
    assert!(Writer::in_process(0, identity(1), NOW).is_none());
    assert!(Writer::in_process(usize::MAX, identity(1), NOW).is_none());
}
