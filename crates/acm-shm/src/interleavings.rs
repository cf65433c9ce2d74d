//! Interleavings of a writer and a reader, of one sequence counter and of a mapping, by the model checker loom:
//! `RUSTFLAGS="--cfg loom" cargo test --release -p acm-shm --lib`.
use crate::{
    Identity, Key, Lookup, Reader, Time, Writer, seqlock,
    sync::{AtomicU64, Ordering, load, store},
};
use acm_wire::Address;
use core::num::NonZeroU64;
use ib_mad::{Lid, sa::PathRecord};
use loom::{model::Builder, thread};
use std::sync::Arc;

/// A slot in small: the sequence counter, and two words that belong together.
type Small = [AtomicU64; 3];

/// Runs a model with up to three preemptions of a thread.
fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn put(slot: &Small, value: u64) {
    seqlock::write(&slot[0], || {
        store(&slot[1], value, Ordering::Relaxed);
        store(&slot[2], value, Ordering::Relaxed);
    });
}

fn get(slot: &Small) -> Option<[u64; 2]> {
    seqlock::read(&slot[0], || [load(&slot[1]), load(&slot[2])])
}

#[test]
fn reader_gets_words_of_one_change() {
    check(|| {
        let slot: Arc<Small> = Arc::new([0, 0, 0].map(AtomicU64::new));
        let written = slot.clone();
        let writer = thread::spawn(move || (1..=2).for_each(|value| put(&written, value)));
        if let Some([left, right]) = get(&slot) {
            assert_eq!(left, right);
        }
        writer.join().unwrap();
        assert_eq!(get(&slot), Some([2, 2]));
    });
}

/// A removal is one store without the counter. The slot then gets another key.
#[test]
fn slot_of_a_removed_key_is_used_again() {
    check(|| {
        let slot: Arc<Small> = Arc::new([0, 1, 1].map(AtomicU64::new));
        let written = slot.clone();
        let writer = thread::spawn(move || {
            store(&written[1], 0, Ordering::Relaxed);
            put(&written, 2);
        });
        if let Some(words) = get(&slot) {
            assert!([[1, 1], [0, 1], [2, 2]].contains(&words), "{words:?}");
        }
        writer.join().unwrap();
    });
}

/// A removal is visible to a lookup that begins after a message of the writer.
#[test]
fn removal_is_visible_after_a_message() {
    check(|| {
        let slot: Arc<Small> = Arc::new([0, 1, 1].map(AtomicU64::new));
        let message = Arc::new(AtomicU64::new(0));
        let (written, sent) = (slot.clone(), message.clone());
        let writer = thread::spawn(move || {
            store(&written[1], 0, Ordering::Relaxed);
            sent.store(1, Ordering::Release);
        });
        if message.load(Ordering::Acquire) == 1 {
            assert_eq!(get(&slot), Some([0, 1]));
        }
        writer.join().unwrap();
    });
}

const NOW: Time = Time::from_nanos(1_000_000_000_000);
const LATER: Time = Time::from_nanos(2_000_000_000_000);

/// The path of an endpoint is not found by a lookup that begins after a message of the writer, in a whole mapping.
#[test]
fn path_of_a_removed_endpoint_is_not_found_after_a_message() {
    check(|| {
        let identity = Identity { generation: NonZeroU64::MIN, seed: [1, 2] };
        let (mut writer, memory) = Writer::in_process(1, identity, NOW).unwrap();
        let key = Key::new(1, &Address::Lid(Lid::new(9)));
        writer.insert(&key, &PathRecord::ZERO, LATER).unwrap();
        let reader = Reader::new(memory).unwrap();
        let message = Arc::new(AtomicU64::new(0));
        let sent = message.clone();
        let thread = thread::spawn(move || {
            assert_eq!(writer.remove_source(1), 1);
            sent.store(1, Ordering::Release);
        });
        let is_after = message.load(Ordering::Acquire) == 1;
        let found = reader.lookup(&key, NOW);
        assert!(found == Lookup::Miss || found == Lookup::Path(PathRecord::ZERO) && !is_after, "{found:?}");
        thread.join().unwrap();
        assert_eq!(reader.lookup(&key, NOW), Lookup::Miss);
    });
}

/// A path that is published again after the removal of its endpoint: the reader compares the epoch in the entry with
/// that of the endpoint, which it reads afterwards.
#[test]
fn path_with_the_new_epoch_is_found() {
    check(|| {
        let slot: Arc<Small> = Arc::new([0, 0, 0].map(AtomicU64::new));
        let epoch = Arc::new(AtomicU64::new(0));
        let (written, changed) = (slot.clone(), epoch.clone());
        let writer = thread::spawn(move || {
            store(&changed, 1, Ordering::Release);
            put(&written, 1);
        });
        if let Some([1, path]) = get(&slot) {
            assert_eq!((path, load(&epoch)), (1, 1));
        }
        writer.join().unwrap();
    });
}
