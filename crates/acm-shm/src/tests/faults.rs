//! A writer that is killed before any of its stores.
use super::{LATER, Local, NOW, identity, key, pair, path};
use crate::{LIFETIME, Lookup, Reader, Writer, fault::kill_after, layout::Layout};
use core::time::Duration;

/// Number of keys in the tests.
const KEYS: u8 = 13;

type Action = fn(Writer<Local>);

fn states(reader: &Reader<Local>) -> Vec<Lookup> {
    (0..KEYS).map(|number| reader.lookup(&key(number), NOW)).collect()
}

/// A writer with keys 0 to 11, of which 3 and 4 are removed.
fn start() -> (Writer<Local>, Reader<Local>) {
    let (mut writer, reader) = pair(13);
    for number in 0..12 {
        writer.insert(&key(number), &path(number), LATER).unwrap();
    }
    writer.remove(&key(3));
    writer.remove(&key(4));
    (writer, reader)
}

/// Kills the writer before each store of `action`. Returns the number of stores, and of lookups of an entry that the
/// writer was changing.
fn kill(action: Action) -> (usize, usize) {
    let (writer, after) = start();
    let before = states(&after);
    action(writer);
    let after = states(&after);
    let mut busy = 0;
    for stores in 0.. {
        let (writer, reader) = start();
        let ended = kill_after(stores, || action(writer));
        let now = states(&reader);
        for (number, now) in now.iter().enumerate() {
            let (before, after) = (&before[number], &after[number]);
            let is_changed = before != after;
            match now {
                Lookup::Busy => busy += 1,
                Lookup::Miss if is_changed => {}
                now => assert!(now == before || now == after, "{number} after {stores} stores: {now:?}"),
            }
            assert!(is_changed || now == before || *before == Lookup::Miss, "{number} is lost: {now:?}");
        }
        let stopped = NOW + LIFETIME + Duration::from_nanos(2);
        assert_eq!(reader.lookup(&key(0), stopped), Lookup::Stopped);
        if ended.is_some() {
            assert_eq!(now, after);
            return (stores, busy);
        }
    }
    unreachable!()
}

#[test]
fn killed_writer_leaves_the_old_the_new_or_no_path() {
    // A counter of two stores; expiry, meta, epoch, head of the destination, path; its end if it is long.
    const SHORT: usize = 2 + 3 + 4 + 8;
    const LONG: usize = SHORT + 4;
    assert!(key(5).is_long() && !key(12).is_long());
    let actions: [(&str, Action, usize); 7] = [
        ("insert", |mut writer| writer.insert(&key(12), &path(50), LATER).unwrap(), SHORT + 1),
        ("replace a path", |mut writer| writer.insert(&key(5), &path(51), LATER).unwrap(), LONG),
        ("remove", |mut writer| assert!(writer.remove(&key(5))), 2),
        ("remove an endpoint", |mut writer| assert_eq!(writer.remove_source(2), 4), 1),
        (
            "use entries of a removed endpoint",
            |mut writer| use_again(&mut writer),
            1 + (SHORT + 1) + 2 * (LONG + 1) + 3 * 2,
        ),
        ("end", |mut writer| writer.end(), 1),
        ("heartbeat", |mut writer| writer.heartbeat(NOW + Duration::from_nanos(1)), 1),
    ];
    for (name, action, all) in actions {
        let (stores, busy) = kill(action);
        assert_eq!(stores, all, "{name}");
        // The entry of a new key is found only after it is complete.
        assert_eq!(busy > 0, name == "replace a path", "{name}: {busy} lookups of an entry during its change");
    }
}

/// Stores keys in entries whose keys were removed with their endpoint.
fn use_again(writer: &mut Writer<Local>) {
    writer.remove_source(2);
    [12, 3, 4].iter().for_each(|number| writer.insert(&key(*number), &path(*number), LATER).unwrap());
}

#[test]
fn killed_writer_leaves_no_header_or_a_whole_one() {
    let layout = Layout::new(16).unwrap();
    let memory: Local = (0..layout.words()).map(|_| Default::default()).collect();
    for stores in 0.. {
        let writer = kill_after(stores, || Writer::new(memory.clone(), layout, identity(9), NOW));
        assert_eq!(Reader::new(memory.clone()).is_ok(), writer.is_some());
        if writer.is_some() {
            assert_eq!(stores, 8);
            return;
        }
    }
}
