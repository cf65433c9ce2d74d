//! Combinations of events, each of which alone holds: after them every answer is right, and no answer is wrong for long.
use acm_sim::truth::{Sequence, play};

/// Plays a sequence, which has no finding.
fn assert_true(text: &str) {
    let sequence: Sequence = text.parse().unwrap();
    let findings: Vec<String> = play(&sequence).iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{text}\n{findings:#?}");
}

/// The port is down when the new owner announces the address. The path to the old owner is right, only the address is
/// no longer there.
#[test]
fn address_that_moves_while_a_port_is_down_is_found_at_its_new_owner() {
    assert_true("nodes 4\n+0 look 2 ip1\n+1000 bounce 2 1500\n+100 move ip1 4");
}

#[test]
fn address_that_moves_while_the_subnet_manager_restarts_is_found_at_its_new_owner() {
    for event in ["manager", "register 2", "register 4"] {
        assert_true(&format!("nodes 4\n+0 look 2 ip1\n+1000 {event}\n+0 move ip1 4"));
        assert_true(&format!("nodes 4\n+0 look 2 ip1\n+1000 move ip1 4\n+300 {event}"));
    }
}

/// A claim that arrives during the check of another one is checked after it.
#[test]
fn address_that_moves_three_times_within_seconds_is_found_at_its_last_owner() {
    for pause in [100, 400, 700, 1000] {
        assert_true(&format!(
            "nodes 4\n+0 look 4 ip2\n+1000 move ip2 1\n+{pause} move ip2 2\n+{pause} move ip2 3\n+15000 look 4 ip2"
        ));
    }
}

/// The node uses none of the addresses that the peer announces.
// docs/deviations.md: compared-places
#[test]
fn path_by_gid_follows_the_lid_of_its_peer() {
    assert_true("nodes 4\n+0 look 4 gid1\n+0 look 4 lid2\n+1000 swap 1 2\n+11000 look 4 gid1\n+0 look 4 gid2");
}

/// The subscriptions to notices come after the joins, so that no notice about the group arrives.
// docs/deviations.md: repeated-join
#[test]
fn node_whose_group_is_deleted_before_it_gets_notices_is_found() {
    assert_true("nodes 3\n+20 delete");
    assert_true("nodes 3\n+0 look 1 ip2\n+20 delete\n+2000 delete");
}

#[test]
fn lid_that_changes_while_a_port_is_down_is_not_served_three_minutes_later() {
    for pause in [0, 300, 520] {
        assert_true(&format!("nodes 3\n+0 look 2 ip1\n+1000 swap 1 3\n+{pause} bounce 2 300"));
    }
}

/// With `route_prot acm` no subnet administrator confirms the LID.
#[test]
fn two_lids_that_change_within_300_ms_are_followed_without_the_subnet_administrator() {
    for pause in [100, 300] {
        let looks = "\n+0 look 1 ip2\n+0 look 1 node3\n+0 look 2 ip3\n+0 look 3 six2\n+0 look 4 ip3";
        assert_true(&format!("nodes 5 acm{looks}\n+1000 swap 2 5\n+{pause} swap 3 4\n+11000 look 1 ip2{looks}"));
        assert_true(&format!(
            "nodes 5 acm{looks}\n+1000 rotate\n+{pause} rotate\n+0 manager\n+11000 look 1 ip2{looks}"
        ));
    }
}
