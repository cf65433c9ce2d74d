use super::*;

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

#[test]
fn cold_lookups_are_counted_within_a_minute() {
    let mut cold = ColdLookups::default();
    assert_eq!([0, 1, 59].map(|second| cold.count(at(second))), [1, 2, 3]);
    assert_eq!([60, 61, 119, 120].map(|second| cold.count(at(second))), [1, 2, 3, 1]);
}

#[test]
fn number_of_cold_lookups_grows_with_the_fabric() {
    assert_eq!([0, 300, 2048, 2080, 10_000, 49_151].map(cold_lookups), [64, 64, 64, 65, 312, 1535]);
}

/// A node that has just started may estimate the number of ports by its own LID.
#[test]
fn tables_of_10_000_nodes_that_have_seen_only_their_own_lid_do_not_overload_the_administrator() {
    // At first, each node requests its table with the same probability at any time of its spread.
    let table = Duration::from_micros(10_000).as_nanos();
    let load = |least| {
        let permille = |ports| 1_000_000 * table / prefetch_spread(ports, least).below(ports).as_nanos();
        (1..=10_000).map(permille).sum::<u128>() / 1000
    };
    assert_eq!([PREFETCH_LATER, PREFETCH_SOON].map(load), [819, 11_203]);
}
