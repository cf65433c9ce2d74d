//! The core under random operations, with invariants after each: on stable Rust what libFuzzer does with more patience.
use acm_fuzz::Operation;
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// A thousand sequences. A failing one shrinks and is kept in `proptest-regressions`.
    #[test]
    fn whatever_happens(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
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

/// The sequences are worth something: they are of every kind, and reach every refusal, check and repetition.
#[test]
fn operations_reach_everything_that_is_counted() {
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
    assert_eq!(kinds.len(), 32, "{kinds:?}");
    let missed = counted.iter().filter(|(name, value)| **value == 0 && !RARE.contains(name));
    let missed: Vec<&str> = missed.map(|(name, _)| *name).collect();
    assert!(missed.is_empty(), "never seen: {missed:?}\n{counted:#?}");
}

/// A claim about what is in use, and then the one answer that fits it, before anything else happens: by chance one in
/// some thousand sequences. Scenarios have it: `acm-sim` spoofing, renewal.
///
/// More requests than a provider is called with at a time need more lookups than there may be here: `acm-sim` providers.
const RARE: [&str; 2] = ["claims_refuted", "provider_no_turn"];

/// A fixed stream of bytes that looks random.
fn random() -> impl Iterator<Item = u8> {
    let mut state = 5_u64;
    core::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(state.to_be_bytes()[0])
    })
}
