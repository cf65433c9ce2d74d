//! The core with random operations and checks of its invariants after each operation. libFuzzer runs the same for
//! longer.
use acm_fuzz::Operation;
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// Runs 1,000 sequences. A failing sequence is shrunk and kept in `proptest-regressions`.
    #[test]
    fn invariants_hold_after_each_operation(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        acm_fuzz::core(&operations(&bytes));
    }
}

fn operations(bytes: &[u8]) -> Vec<Operation> {
    let mut input = Unstructured::new(bytes);
    let mut operations = Vec::new();
    while !input.is_empty() {
        match Operation::arbitrary(&mut input) {
            Ok(operation) => operations.push(operation),
            Err(_) => break,
        }
    }
    operations
}

/// Random sequences contain each kind of operation, and increment each counter that is not in [`RARE`].
#[test]
fn random_operations_increment_each_counter() {
    let mut random = random();
    let mut kinds = BTreeSet::new();
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..1000 {
        let bytes: Vec<u8> = random.by_ref().take(3000).collect();
        let operations = operations(&bytes);
        kinds.extend(operations.iter().map(|operation| {
            format!("{operation:?}").chars().take_while(char::is_ascii_alphabetic).collect::<String>()
        }));
        for (name, value) in acm_fuzz::core(&operations) {
            *counted.entry(name).or_default() += value;
        }
    }
    assert_eq!(kinds.len(), 34, "{kinds:?}");
    let missed = counted.iter().filter(|(name, value)| **value == 0 && !RARE.contains(name));
    let missed: Vec<&str> = missed.map(|(name, _)| *name).collect();
    assert!(missed.is_empty(), "never seen: {missed:?}\n{counted:#?}");
}

/// Counters that random sequences seldom or never increment.
///
/// `claims_confirmed` and `claims_refuted` need a claim about a path in use and a response to the check, which happens
/// in one of some thousand sequences. `acm-sim`'s tests `spoofing` and `claims` cover them. `provider_no_turn` needs
/// more requests than the limit of lookups allows here. `acm-sim`'s tests `providers` cover it. `missing_objects` and
/// `missing_destinations` count defects. `paths_refuted` needs a query of a client that finds no path like a cached
/// one; `acm-sim`'s tests `partitions` cover it. `paths_compared` and `paths_unlike` need a path by a group's
/// parameters, and the time until it is compared; `acm-sim`'s tests `compared` cover them.
const RARE: [&str; 8] = [
    "claims_confirmed",
    "claims_refuted",
    "provider_no_turn",
    "missing_objects",
    "missing_destinations",
    "paths_refuted",
    "paths_compared",
    "paths_unlike",
];

/// Returns a fixed stream of pseudo-random bytes.
fn random() -> impl Iterator<Item = u8> {
    let mut state = 5_u64;
    core::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(state.to_be_bytes()[0])
    })
}
