//! Random steps of hostile users beside an honest one: see acm-tests' module `hostile`.
use acm_tests::hostile::{Attack, Kind, Round, Scene, Setting, Step, attack};
use std::path::Path;

fn setting() -> Setting {
    Setting { program: Path::new(env!("CARGO_BIN_EXE_acm-hostile")).to_owned(), part: 4, turn: None }
}

/// About a minute, with fixed seeds. `.ci/hostile` takes an hour, with other seeds.
#[test]
fn honest_user_is_served_beside_random_attacks_of_1000_users() {
    let rounds = Attack { setting: setting(), steps: 1500, kinds: Kind::ALL.to_vec(), tries: 12 };
    let result = attack(&rounds, 1..=2, |seed, amounts| {
        println!("seed {seed}: {} bytes, {} descriptors", amounts.memory, amounts.descriptors);
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// None of these connections can be taken back: their responses are not read, and use memory of the daemon.
#[test]
fn new_user_is_served_beside_1000_users_whose_connections_are_not_read() {
    let steps = (0..1000).map(|user| format!("{user} deaf {}", if user < 838 { 22 } else { 7 }).parse());
    let steps: Vec<Step> = steps.collect::<Result<_, _>>().unwrap();
    if let Err(failure) = Scene::start(&setting()).round(&steps, Round::default()) {
        panic!("{failure}");
    }
}
