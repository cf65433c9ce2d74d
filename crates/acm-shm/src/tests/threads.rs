//! A writer and readers at the same time, for miri and ThreadSanitizer.
use super::{LATER, NOW, key, pair, path};
use crate::{Lookup, Reader};
use core::sync::atomic::{AtomicBool, Ordering};
use ib_mad::as_bytes;
use std::{sync::Barrier, thread};

const ROUNDS: u32 = if cfg!(miri) { 60 } else { 50_000 };
/// Keys that come and go, also all keys of endpoint 1.
const CHANGING: u8 = 6;

#[test]
fn readers_find_whole_paths_of_their_key_during_changes() {
    let (mut writer, reader) = pair(9);
    for number in 0..9 {
        writer.insert(&key(number), &path(number << 4), LATER).unwrap();
    }
    let is_done = AtomicBool::new(false);
    let all_started = Barrier::new(3);
    let read = |reader: Reader<_>| {
        let mut found = 0;
        all_started.wait();
        loop {
            // One pass follows the last change, when unchanged keys are found in any case.
            let is_last = is_done.load(Ordering::Relaxed);
            for number in 0..9 {
                match reader.lookup(&key(number), NOW) {
                    Lookup::Path(path) => {
                        let bytes = as_bytes(&path);
                        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a torn path: {bytes:?}");
                        assert_eq!(bytes[0] >> 4, number, "a path of another key");
                        found += 1;
                    }
                    Lookup::Miss | Lookup::Busy => {
                        assert!(number < CHANGING || number % 3 == 1, "{number} does not change")
                    }
                    other => panic!("{other:?}"),
                }
            }
            if is_last {
                return found;
            }
        }
    };
    thread::scope(|scope| {
        let readers = [0, 1].map(|_| {
            let reader = Reader::new(reader.memory().clone()).unwrap();
            scope.spawn(|| read(reader))
        });
        all_started.wait();
        for round in 0..ROUNDS {
            let number = u8::try_from(round % u32::from(CHANGING)).unwrap();
            let low = u8::try_from(round / 7 % 16).unwrap();
            if round % 1000 == 999 {
                writer.remove_source(1);
            } else if round / 5 % 3 == 0 {
                writer.remove(&key(number));
            } else {
                writer.insert(&key(number), &path(number << 4 | low), LATER).unwrap();
            }
        }
        is_done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() > 0));
    });
}
