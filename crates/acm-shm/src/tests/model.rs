//! Random operations, compared with a map.
use super::{NOW, key, pair, path};
use crate::{BUCKET, Lookup, Time};
use core::time::Duration;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Operation {
    Insert(u8, u8, u8),
    Remove(u8),
    RemoveSource(u8),
    Advance(u8),
}

const KEYS: u8 = 42;

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::{Advance, Insert, Remove, RemoveSource};
    let key = 0..KEYS;
    prop_oneof![
        20 => (key.clone(), 0..=255_u8, 0..=255_u8).prop_map(|(key, path, expiry)| Insert(key, path, expiry)),
        10 => key.prop_map(Remove),
        1 => (0..4_u8).prop_map(RemoveSource),
        3 => (0..20_u8).prop_map(Advance),
    ]
}

fn seconds(number: u8) -> Time {
    NOW + Duration::from_secs(number.into())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 100 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn lookups_are_those_of_a_map(
        room in 1_usize..60,
        operations in proptest::collection::vec(operation(), if cfg!(miri) { 1..40 } else { 1..400 }),
    ) {
        let (mut writer, reader) = pair(room);
        let mut model = BTreeMap::<u8, (u8, u8)>::new();
        let mut time = 0_u8;
        for operation in operations {
            let live = |(_, expiry): &(u8, u8)| *expiry > time;
            match operation {
                Operation::Insert(number, byte, expiry) => {
                    let others = model.iter().filter(|(other, entry)| **other != number && live(entry)).count();
                    let is_stored = writer.insert(&key(number), &path(byte), seconds(expiry)).is_ok();
                    prop_assert!(is_stored || !model.get(&number).is_some_and(live));
                    // In a larger mapping, all of an insertion's entries and words may have other keys.
                    prop_assert!(is_stored || room > BUCKET || others >= room);
                    if is_stored {
                        model.insert(number, (byte, expiry));
                    }
                }
                Operation::Remove(number) => {
                    let is_removed = writer.remove(&key(number));
                    let before = model.remove(&number);
                    // The entry of an expired key may have been used again.
                    prop_assert!(is_removed && before.is_some() || !is_removed && !before.as_ref().is_some_and(live));
                }
                Operation::RemoveSource(source) => {
                    let of_source = |number: &u8| number % 3 == source && source != 0;
                    let (all, live) = (
                        model.keys().filter(|number| of_source(number)).count(),
                        model.iter().filter(|(number, entry)| of_source(number) && live(entry)).count(),
                    );
                    model.retain(|number, _| !of_source(number));
                    prop_assert!((live..=all).contains(&writer.remove_source(source.into())));
                }
                Operation::Advance(step) => {
                    time = time.saturating_add(step);
                    writer.heartbeat(seconds(time));
                }
            }
            let live = model.values().filter(|(_, expiry)| *expiry > time).count();
            prop_assert!((live..=model.len()).contains(&writer.entries()));
            for number in 0..KEYS {
                let alive = model.get(&number).filter(|(_, expiry)| *expiry > time);
                let expected = alive.map_or(Lookup::Miss, |(byte, _)| Lookup::Path(path(*byte)));
                prop_assert_eq!(reader.lookup(&key(number), seconds(time)), expected, "{}", number);
            }
        }
    }
}
