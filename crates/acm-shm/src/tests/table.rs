//! Lookups, and the places of keys.
use super::{LATER, Local, NOW, identity, key, pair, path};
use crate::{
    Invalid, Key, LIFETIME, Lookup, NotStored, RETRIES, Reader, Time, WINDOW, Writer,
    layout::{home, slots},
    slots_for,
    sync::{Ordering, load, store},
};
use acm_wire::{Address, Name};
use core::{net::Ipv4Addr, time::Duration};
use ib_mad::{Lid, sa::PathRecord, wire::Reserved};

const NANO: Duration = Duration::from_nanos(1);

#[test]
fn path_is_found_until_it_expires_or_is_removed() {
    let (mut writer, reader) = pair(slots_for(8));
    let at = |time| reader.lookup(&key(1), time);
    assert_eq!(at(NOW), Lookup::Miss);
    writer.insert(&key(1), &path(1), NOW + NANO).unwrap();
    assert_eq!([at(NOW), at(NOW + NANO)], [Lookup::Path(path(1)), Lookup::Miss]);
    assert!(writer.set_expiry(&key(1), NOW + NANO * 2));
    assert_eq!(at(NOW + NANO), Lookup::Path(path(1)));
    writer.insert(&key(1), &path(2), LATER).unwrap();
    assert_eq!((at(NOW), writer.entries()), (Lookup::Path(path(2)), 1));
    assert!(writer.remove(&key(1)) && !writer.remove(&key(1)) && !writer.set_expiry(&key(1), LATER));
    assert_eq!((at(NOW), writer.entries()), (Lookup::Miss, 0));
}

#[test]
fn mapping_is_used_for_a_second_after_a_heartbeat() {
    let (mut writer, reader) = pair(WINDOW);
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
fn replaced_mapping_is_not_used_and_its_paths_are_in_the_next() {
    let (mut writer, reader) = pair(slots_for(20));
    (0..20).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    let (mut next, memory) = Writer::in_process(WINDOW, identity(2), NOW).unwrap();
    assert_eq!(writer.replace(&mut next), 4);
    let new = Reader::new(memory).unwrap();
    assert_eq!([reader.generation(), new.generation(), next.generation().get()], [1, 2, 2]);
    let found = |number| new.lookup(&key(number), NOW) == Lookup::Path(path(number));
    assert_eq!((0..20).filter(|number| found(*number)).count(), 16);
    assert!((0..20).all(|number| reader.lookup(&key(number), NOW) == Lookup::Replaced));
}

/// Only requests that the format lists have a source.
#[test]
fn endpoint_is_found_by_local_address_or_by_the_kind_of_destination() {
    let (mut writer, reader) = pair(slots_for(8));
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

#[test]
fn key_without_a_free_slot_is_not_stored() {
    let (mut writer, reader) = pair(WINDOW);
    (0..16).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    assert_eq!(writer.insert(&key(16), &path(16), LATER), Err(NotStored));
    writer.insert(&key(15), &path(17), LATER).unwrap();
    assert_eq!(reader.lookup(&key(15), NOW), Lookup::Path(path(17)));
    assert_eq!((reader.lookup(&key(16), NOW), writer.entries()), (Lookup::Miss, 16));
}

/// 16 slots are one window: all keys have the same home.
#[test]
fn removal_hides_no_other_key_and_its_slot_is_used_again() {
    let (mut writer, reader) = pair(WINDOW);
    let home = |writer: &Writer<Local>| slots(writer.memory())[0].each_ref().map(load);
    (0..16).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    assert_eq!(home(&writer)[0], 0xffff);
    for removed in 0..15 {
        writer.remove(&key(removed));
        assert_eq!(home(&writer)[0], 0xfffe << removed & 0xffff);
        assert_eq!(reader.lookup(&key(15), NOW), Lookup::Path(path(15)));
    }
    writer.insert(&key(20), &path(20), LATER).unwrap();
    assert_eq!([home(&writer)[0], home(&writer)[3]], [0x8001, key(20).meta()]);
    let [first, last] = [20, 15].map(|number| reader.lookup(&key(number), NOW));
    assert_eq!([first, last], [Lookup::Path(path(20)), Lookup::Path(path(15))]);
    (0..14).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    assert_eq!(writer.insert(&key(14), &path(14), LATER), Err(NotStored));
}

#[test]
fn keys_of_an_endpoint_are_removed_together() {
    let (mut writer, reader) = pair(slots_for(21));
    (0..21).for_each(|number| writer.insert(&key(number), &path(number), LATER).unwrap());
    assert_eq!((writer.remove_source(1), writer.remove_source(1), writer.entries()), (7, 0, 14));
    for number in 0..21 {
        let is_removed = number % 3 == 1;
        assert_eq!(reader.lookup(&key(number), NOW) == Lookup::Miss, is_removed, "{number}");
    }
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
    let (mut writer, reader) = pair(WINDOW);
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

#[test]
fn slot_in_change_is_read_again_a_limited_number_of_times() {
    let (mut writer, reader) = pair(WINDOW);
    writer.insert(&key(1), &path(1), LATER).unwrap();
    writer.insert(&key(2), &path(2), LATER).unwrap();
    let word = &writer.memory()[17];
    assert_eq!(load(word), 2);
    store(word, 3, Ordering::Relaxed);
    assert_eq!(reader.lookup(&key(1), NOW), Lookup::Busy);
    assert_eq!(reader.lookup(&key(2), NOW), Lookup::Path(path(2)), "in the next slot");
    assert_eq!(reader.lookup(&key(3), NOW), Lookup::Busy, "the slot may have this key");
    assert_eq!(RETRIES, 16);
}

/// The format in words. A change needs another version of the format.
#[test]
fn words_are_those_of_the_format() {
    let (mut writer, memory) = Writer::in_process(17, identity(9), Time::from_nanos(77)).unwrap();
    let long = Address::Name(Name::new(b"Node-123456789-123456789-123456789-12345.example"));
    writer.insert(&Key::new(2, &long), &path(6), Time::from_nanos(88)).unwrap();
    let words: Vec<u64> = memory.iter().map(load).collect();
    assert_eq!(words.len(), 16 + 17 * 24);
    let magic = u64::from_le_bytes(*b"ibacmshm");
    assert_eq!(words[..16], [magic, 1, 9, 3, 5, 17, 6, 0, 77, 0, 0, 0, 0, 0, 0, 0]);
    let text = |at: usize| {
        u64::from_le_bytes(*b"node-123456789-123456789-123456789-12345.example"[at..].first_chunk().unwrap())
    };
    let mut slot = [0; 24];
    slot[..8].copy_from_slice(&[1, 2, 88, 2 << 32 | 48 << 8 | 1, text(0), text(8), text(16), text(24)]);
    slot[8..16].fill(0x0606_0606_0606_0606);
    slot[16..18].copy_from_slice(&[text(32), text(40)]);
    let used = 16 + 24 * home(&Key::new(2, &long), [3, 5], 17);
    assert_eq!(words[used..used + 24], slot);
    assert_eq!(words.iter().filter(|word| **word != 0).count(), 8 + 18);
}

/// `PYTHONHASHSEED=0 python3 -c 'print(hash(bytes.fromhex("02040000010000000a00000200000000")) % 2**64)'`, of a
/// Python whose `sys.hash_info.algorithm` is siphash13.
#[test]
fn hash_is_that_of_other_software() {
    let key = Key::new(1, &Address::Ip4(Ipv4Addr::new(10, 0, 0, 2)));
    const PYTHON: u64 = 2_601_151_166_781_446_308;
    assert_eq!(key.hash([0, 0]), PYTHON);
    assert_eq!(home(&key, [0, 0], 1015), usize::try_from((u128::from(PYTHON) * 1000) >> 64).unwrap());
}

#[test]
fn invalid_headers_are_rejected() {
    let defects: [(usize, u64, Invalid); 6] = [
        (0, 1, Invalid::Magic),
        (1, 2, Invalid::Version(2)),
        (5, 15, Invalid::Header),
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
    assert!(Writer::in_process(15, identity(1), NOW).is_none());
    assert!(Writer::in_process(usize::MAX, identity(1), NOW).is_none());
}
