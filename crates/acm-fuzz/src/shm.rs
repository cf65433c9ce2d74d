//! The target of shared caches: a mapping with changed bytes.
use acm_shm::{Identity, Key, Lookup, Reader, Time, Writer};
use acm_wire::{Address, Name};
use core::{
    num::NonZeroU64,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use ib_mad::{Lid, Pkey, as_bytes, sa::PathRecord};
use std::sync::Arc;

const NOW: Time = Time::from_nanos(1 << 40);
const ROOM: usize = 5;

fn keys() -> [Key; 5] {
    let query = PathRecord { dlid: Lid::new(7), pkey: Pkey::new(0xffff), ..PathRecord::ZERO };
    let addresses = [
        Address::Name(Name::new(&[b'n'; 64])),
        Address::from_text("node1"),
        Address::from_text("10.0.0.1"),
        Address::from_text("fd00::1"),
    ];
    let [long, name, ip4, ip6] = addresses.map(|to| Key::new(1, &to));
    [long, name, ip4, ip6, Key::query(2, &query)]
}

/// Returns the mapping of a writer with a path for each key.
fn written() -> Option<Arc<[AtomicU64]>> {
    let identity = Identity { generation: NonZeroU64::MIN, seed: [1, 2] };
    let (mut writer, memory) = Writer::in_process(ROOM, identity, NOW)?;
    for (number, key) in (0..).zip(keys()) {
        let path = PathRecord { dlid: Lid::new(number), slid: Lid::new(9), ..PathRecord::ZERO };
        let _ = writer.insert(&key, &path, NOW + Duration::from_secs(number.into()));
    }
    Some(memory)
}

/// Returns the bytes of a valid mapping, for a seed.
#[must_use]
pub fn shm_mapping() -> Vec<u8> {
    let memory = written().unwrap_or_default();
    memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect()
}

/// Looks up keys in a mapping of a writer, of which three bytes of the input each change one byte: its position in
/// little-endian order, and the bits that change. Then does the same in a mapping of the input's bytes.
///
/// # Panics
/// If a lookup returns a path that no entry has, that has expired, or that the writer is changing.
pub fn shm(bytes: &[u8]) {
    let Some(memory) = written() else { return };
    for [low, high, change] in bytes.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([*low, *high]));
        let change = u64::from(*change) << (at % 8 * 8);
        if let Some(word) = memory.get(at / 8 % memory.len()) {
            word.fetch_xor(change.to_le(), Ordering::Relaxed);
        }
    }
    lookups(memory);
    lookups(bytes.as_chunks().0.iter().map(|word| AtomicU64::new(u64::from_ne_bytes(*word))).collect());
}

fn lookups(memory: Arc<[AtomicU64]>) {
    let words: Vec<u64> = memory.iter().map(|word| u64::from_le(word.load(Ordering::Relaxed))).collect();
    let Ok(reader) = Reader::new(memory) else { return };
    let keys = keys();
    for now in [NOW, NOW + Duration::from_millis(900), Time::from_nanos(0), Time::from_nanos(u64::MAX)] {
        let _ = reader.endpoint(Some(&Address::from_text("node1")), &Address::from_text("node2"), now);
        let mut results = Vec::new();
        reader.lookup_all(&keys, now, |key, found| {
            assert_eq!(found, reader.lookup(key, now));
            results.push(found);
        });
        assert_eq!(results.len(), keys.len());
        for found in results {
            let Lookup::Path(path) = found else { continue };
            let path = as_bytes(&path).as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
            // Whatever the room is, entries are aligned to their size.
            let mut entries = words.get(80..).unwrap_or_default().as_chunks::<16>().0.iter();
            let is_there = entries.any(|entry| {
                let [sequence, expiry, _, _, _, _, _, _, rest @ ..] = entry;
                sequence % 2 == 0 && *expiry > now.as_nanos() && rest.iter().copied().eq(path.clone())
            });
            assert!(is_there, "a path from no entry: {found:?}");
        }
    }
}
