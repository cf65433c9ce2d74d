use super::*;

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
