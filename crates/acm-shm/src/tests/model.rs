//! Random operations, compared with a map.
use super::{NOW, identity, key, pair, path};
use crate::{Lookup, Reader, Time, WINDOW, Writer};
use core::time::Duration;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Operation {
    Insert(u8, u8, u8),
    Remove(u8),
    RemoveSource(u8),
    SetExpiry(u8, u8),
    Advance(u8),
    Replace(usize),
}

const KEYS: u8 = 42;

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::{Advance, Insert, Remove, RemoveSource, Replace, SetExpiry};
    let key = 0..KEYS;
    prop_oneof![
        20 => (key.clone(), 0..=255_u8, 0..=255_u8).prop_map(|(key, path, expiry)| Insert(key, path, expiry)),
        10 => key.clone().prop_map(Remove),
        1 => (0..4_u8).prop_map(RemoveSource),
        3 => (key, 0..=255_u8).prop_map(|(key, expiry)| SetExpiry(key, expiry)),
        3 => (0..20_u8).prop_map(Advance),
        1 => (WINDOW..60).prop_map(Replace),
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
        slots in WINDOW..60,
        operations in proptest::collection::vec(operation(), if cfg!(miri) { 1..40 } else { 1..400 }),
    ) {
        let (mut writer, mut reader) = pair(slots);
        let mut model = BTreeMap::<u8, (u8, u8)>::new();
        let (mut time, mut generation) = (0_u8, 1);
        for operation in operations {
            match operation {
                Operation::Insert(number, byte, expiry) => {
                    let is_stored = writer.insert(&key(number), &path(byte), seconds(expiry)).is_ok();
                    prop_assert!(is_stored || model.len() >= WINDOW && !model.contains_key(&number));
                    if is_stored {
                        model.insert(number, (byte, expiry));
                    }
                }
                Operation::Remove(number) => {
                    prop_assert_eq!(writer.remove(&key(number)), model.remove(&number).is_some());
                }
                Operation::RemoveSource(source) => {
                    let before = model.len();
                    model.retain(|number, _| number % 3 != source);
                    prop_assert_eq!(writer.remove_source(source.into()), before - model.len());
                }
                Operation::SetExpiry(number, expiry) => {
                    let found = model.get_mut(&number).map(|entry| entry.1 = expiry);
                    prop_assert_eq!(writer.set_expiry(&key(number), seconds(expiry)), found.is_some());
                }
                Operation::Advance(step) => {
                    time = time.saturating_add(step);
                    writer.heartbeat(seconds(time));
                }
                Operation::Replace(slots) => {
                    generation += 1;
                    let (mut next, memory) = Writer::in_process(slots, identity(generation), seconds(time)).unwrap();
                    let lost = writer.replace(&mut next);
                    prop_assert_eq!(reader.lookup(&key(0), seconds(time)), Lookup::Replaced);
                    (writer, reader) = (next, Reader::new(memory).unwrap());
                    prop_assert_eq!(writer.entries() + lost, model.len());
                    // Keys that did not fit are the only ones that are lost.
                    model.retain(|number, (_, expiry)| writer.set_expiry(&key(*number), seconds(*expiry)));
                }
            }
            prop_assert_eq!(writer.entries(), model.len());
            for number in 0..KEYS {
                let alive = model.get(&number).filter(|(_, expiry)| *expiry > time);
                let expected = alive.map_or(Lookup::Miss, |(byte, _)| Lookup::Path(path(*byte)));
                prop_assert_eq!(reader.lookup(&key(number), seconds(time)), expected, "{}", number);
            }
        }
    }
}
