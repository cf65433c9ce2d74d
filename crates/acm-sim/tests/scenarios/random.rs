//! Transaction ids are not predictable from earlier ones.
use acm_sansio::{Account, Output};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use ib_mad::{Method, sa::PathRecord};
use std::collections::BTreeSet;

/// Returns SplitMix64's output for a state.
fn mix(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

/// Returns the state for an output of SplitMix64.
fn unmix(number: u64) -> u64 {
    let unshift = |number: u64, by: u32| {
        let mut found = number;
        for _ in 0..64 / by {
            found = number ^ found >> by;
        }
        found
    };
    let state = unshift(number, 31).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let state = unshift(state, 27).wrapping_mul(0x96de_1b17_3f11_9089);
    unshift(state, 30)
}

/// Returns the differences between neighbouring states. A generator with a constant step gives a single difference.
fn steps(states: &[u64]) -> BTreeSet<u64> {
    states.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect()
}

/// Returns the transaction ids of a node's multicast requests in order.
fn transaction_ids(seed: u64, count: u32) -> Vec<u64> {
    let mut world = World::new(WorldConfig { nodes: 1, seed, ..WorldConfig::default() });
    let [source, ..] = World::addresses(0);
    for number in 0..count {
        let unknown = Address::from_text(&format!("dead{number}"));
        world.request_as(0, Account::User(1), &resolve_request(Some(&source), &unknown, EntryFlags::NO_DELAY, [1; 8]));
    }
    world.run_for(core::time::Duration::from_millis(u64::from(count) * 10));
    let mut seen = Vec::new();
    for (_, _, output) in &world.transcript {
        if let Output::Send { mad, .. } = output
            && mad.method == Method::GET
            && !seen.contains(&mad.transaction_id.get())
        {
            seen.push(mad.transaction_id.get());
        }
    }
    seen
}

/// Shows that the attack of this file works against a weak generator.
#[test]
fn splitmix64_is_predictable() {
    let sequence: Vec<u64> =
        (1..100_u64).map(|n| mix(n.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(42))).collect();
    let states: Vec<u64> = sequence.iter().map(|number| unmix(*number)).collect();
    assert_eq!(steps(&states).len(), 1);
    assert_eq!(mix(states[0].wrapping_add(0x9e37_79b9_7f4a_7c15)), sequence[1]);
}

// docs/deviations.md: transaction-ids
#[test]
fn multicast_transaction_ids_are_not_predictable() {
    let ids = transaction_ids(1, 200);
    assert_eq!(ids.len(), 200, "all ids differ");
    let states: Vec<u64> = ids.iter().map(|number| unmix(*number)).collect();
    assert_eq!(steps(&states).len(), 199, "not SplitMix64");
    assert_eq!(steps(&ids).len(), 199, "not a counter");
    // A linear congruential generator modulo 2^64 keeps the lowest bit constant or alternating.
    let low: BTreeSet<u64> = ids.windows(4).map(|four| four.iter().fold(0, |bits, id| bits << 1 | id & 1)).collect();
    assert_eq!(low.len(), 16, "each sequence of four lowest bits occurs");
}

/// These ids have 32 bits: the kernel uses the upper half.
// docs/deviations.md: transaction-ids
#[test]
fn sa_transaction_ids_are_not_predictable() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    for traffic_class in 1..=200 {
        let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
        world.route(0, &record).unwrap();
    }
    let of = |output: &Output| match output {
        Output::SaSend(send) => Some(send.mad.header.transaction_id.get()),
        _ => None,
    };
    let ids: Vec<u64> = world.transcript[since..].iter().filter_map(|(_, _, output)| of(output)).collect();
    assert!(ids.len() >= 200 && ids.iter().all(|id| id >> 32 == 0), "{ids:x?}");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "all ids differ");
    assert_eq!(steps(&ids).len(), ids.len() - 1, "not a counter");
    for bit in 0..32 {
        let set = ids.iter().filter(|id| *id >> bit & 1 == 1).count();
        // The average is 100, the standard deviation 7.
        assert!((65..=135).contains(&set), "bit {bit}: {set} of {}", ids.len());
    }
}

#[test]
fn multicast_transaction_ids_use_all_bits() {
    let ids = transaction_ids(3, 400);
    for bit in 0..64 {
        let set = ids.iter().filter(|id| *id >> bit & 1 == 1).count();
        // The average is 200, the standard deviation 10.
        assert!((150..=250).contains(&set), "bit {bit}: {set} of 400");
    }
}

#[test]
fn nodes_with_consecutive_seeds_share_no_transaction_ids() {
    let [one, two] = [1, 2].map(|seed| transaction_ids(seed, 100));
    assert!(one.iter().all(|id| !two.contains(id)));
    let apart: BTreeSet<u64> = one.iter().zip(&two).map(|(one, two)| one ^ two).collect();
    assert_eq!(apart.len(), 100);
}
