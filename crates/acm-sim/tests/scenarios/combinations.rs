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

/// The table was fetched before.
#[test]
fn table_of_all_paths_follows_the_lids_that_datagrams_show() {
    assert_true("nodes 4 seed 8 prefetch\n+76134 swap 1 4");
}

/// The node uses none of the addresses that the peer announces.
// docs/deviations.md: claim
#[test]
fn path_by_gid_follows_the_lid_of_its_peer() {
    assert_true("nodes 4\n+0 look 4 gid1\n+0 look 4 lid2\n+1000 swap 1 2\n+11000 look 4 gid1\n+0 look 4 gid2");
}

/// The subscriptions to notices come after the joins, so that no notice about the group arrives.
// docs/deviations.md: join-retry
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

/// The port of node 2 has another GUID, and the node sends nothing from the old GID any more.
// docs/deviations.md: claim
#[test]
fn path_to_a_lid_whose_port_has_another_gid_is_replaced() {
    assert_true("nodes 3\n+0 bounce 3 21\n+28 look 3 lid2\n+2 guid 2\n+15100 look 3 lid2");
    // The SA is silent, and the own port is down: the path is not served when it is used at last.
    for pause in [100, 200, 332] {
        assert_true(&format!(
            "nodes 5\n+0 look 2 lid4\n+0 look 5 lid2\n+843 mute 9166\n+0 guid 2\n+{pause} bounce 5 9234"
        ));
    }
    assert_true("nodes 3\n+0 look 1 six3\n+9900 manager\n+0 busy 8283\n+0 guid 3\n+15100 look 1 six3");
}

/// A request waits for the path to its sender while the address is removed. The response proves only the time of the
/// request.
#[test]
fn address_that_is_removed_before_the_response_to_a_request_is_not_served() {
    assert_true("nodes 6\n+1000 stop 6 10863\n+0 remove six6\n+4193 look 2 six6\n+25000 look 2 six6");
}

/// The SA has the path to the new LID at once. It does not show that the address is still there.
#[test]
fn address_that_is_removed_while_the_lid_changes_is_not_served() {
    for protocol in ["", " acm"] {
        assert_true(&format!("nodes 5{protocol}\n+0 look 5 six3\n+9891 swap 1 3\n+0 remove six3"));
        assert_true(&format!("nodes 5{protocol}\n+0 look 5 six3\n+9891 swap 1 3\n+0 move six3 2\n+15100 look 5 six3"));
    }
}

/// The host is asked at its old queue pair. Meanwhile it shows the new one, without the address.
#[test]
fn address_that_is_removed_while_the_queue_pair_changes_is_not_served() {
    assert_true(
        "nodes 5\n+0 move six2 4\n+307 look 2 six2\n+83488 bounce 2 8207\n+0 swap 4 5\n+0 remove six2\n+3114 device 4",
    );
    assert_true("nodes 3\n+0 look 2 six1\n+20000 device 1\n+0 remove six1\n+15100 look 2 six1");
}

/// Nothing notifies node 1, and node 3 sends no witnesses any more.
// docs/deviations.md: witness
#[test]
fn host_that_leaves_the_partition_is_not_served_after_15_s() {
    for dest in ["ip3", "gid3", "lid3"] {
        assert_true(&format!("nodes 3\n+0 look 1 {dest}\n+30000 leave 3 40000\n+15100 look 1 {dest}"));
    }
}

/// The group was deleted before any witness, so that neither the new owner's announcement nor a witness of it arrives.
/// The responses of a host show that it sends witnesses.
#[test]
fn host_that_a_lookup_found_and_that_never_sends_a_witness_is_doubted() {
    assert_true(
        "nodes 3 seed 5167\n+0 mute 3335\n+0 move ip1 3\n+409 delete\n+0 look 1 ip1\n+2361 move ip1 2\n+16325 look 1 ip1",
    );
    assert_true("nodes 4 seed 10460 prefetch\n+0 look 4 node1\n+0 delete\n+31 guid 1\n+20543 look 4 node1");
}

/// No datagram of the host has arrived, so that nothing shows that it sends witnesses.
#[test]
fn group_that_is_deleted_before_any_witness_is_joined_again() {
    assert_true("nodes 3\n+0 delete\n+0 look 1 gid2\n+1000 swap 2 3\n+16000 look 1 gid2");
    assert_true("nodes 6 seed 10742 prefetch loss 10\n+0 delete\n+15266 swap 6 5\n+57593 look 3 gid5");
}

/// The owner was asked at the LID that it had before, and was silent. The subnet administrator has its new LID.
#[test]
fn address_of_a_silent_host_is_in_doubt_at_the_new_lid_of_the_host() {
    assert_true(
        "nodes 7 seed 2000056 no-witness\n+0 look 7 ip4\n+12179 device 4\n+1082 delete\n+0 move ip4 6\n+0 busy 1353\n\
         +0 rotate",
    );
}

/// The node's own LID has changed, so that no path is cached, and the address is in doubt. A host that sends witnesses and
/// is silent proves nothing.
#[test]
fn address_of_a_silent_host_that_sends_witnesses_is_asked_of_the_group() {
    for event in ["remove six2", "move six2 1"] {
        assert_true(&format!(
            "nodes 4\n+0 look 4 six2\n+9000 {event}\n+0 swap 4 3\n+0 stop 2 20000\n+17000 look 4 six2"
        ));
    }
    assert_true(
        "nodes 4 seed 3000939\n+0 look 4 six2\n+7075 swap 1 2\n+2298 remove six2\n+0 swap 4 3\n+17855 device 2\n\
         +0 look 4 six2",
    );
}

/// The host denies the address at its new LID, while nobody is at the old one. The subnet administrator, which has the new
/// LID, is silent.
#[test]
fn refusal_at_the_new_lid_of_a_host_ends_the_binding() {
    for seed in [1, 3] {
        assert_true(&format!(
            "nodes 3 seed {seed} acm\n+0 device 2\n+1000 look 1 six2\n+5000 mute 30000\n+0 remove six2\n+0 swap 2 3\n\
             +16500 look 1 six2"
        ));
    }
}

/// The host was restarted and has another LID. The subnet administrator confirms the LID, and only the datagram that showed
/// it has the queue pair.
#[test]
fn host_that_moved_is_asked_at_its_new_queue_pair() {
    assert_true(
        "nodes 6 seed 4000167 no-witness\n+0 device 2\n+0 look 3 six4\n+0 move six4 6\n+1579 restart 6\n+0 manager\n\
         +25 delete\n+0 move six4 5\n+7590 swap 2 6",
    );
}
