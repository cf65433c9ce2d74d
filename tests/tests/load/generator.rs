//! Random steps of hostile users beside an honest one: see acm-tests' module `hostile`.
use acm_tests::hostile::{Attack, Kind, Setting, attack};
use std::path::Path;

/// Under a minute, with fixed seeds. `.ci/hostile` takes an hour, with other seeds.
#[test]
fn honest_user_is_served_beside_random_attacks_of_1000_users() {
    let setting = Setting { program: Path::new(env!("CARGO_BIN_EXE_acm-hostile")).to_owned(), part: 4, turn: None };
    let rounds = Attack { setting, steps: 1500, kinds: Kind::ALL.to_vec(), tries: 12 };
    let result = attack(&rounds, 1..=2, |seed, amounts| {
        println!("seed {seed}: {} bytes, {} descriptors", amounts.memory, amounts.descriptors);
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
