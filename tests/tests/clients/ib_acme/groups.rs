//! `ib_acme groups`: kinds of membership, parameters of new groups, and the port that leaves.
use super::fabric::Site;
use acm_tests::until;
use nix::sys::signal::Signal;

/// Returns the members of all groups as the fabric has them: node, port and join state.
fn members(site: &Site) -> Vec<String> {
    let groups = site.fabric.control("groups");
    let members = groups.lines().filter_map(|line| line.split_once(" members")).map(|(_, members)| members.trim());
    members.map(str::to_owned).collect()
}

#[test]
fn send_only_member_joins_and_leaves_as_such() {
    let site = Site::simulated(2);
    let created = site.at("node1", "groups join broadcast --create --stay").success();
    assert!(created.contains(" as full member\n"), "{created}");
    let joined = site.at("node2", "groups join broadcast --send-only --stay").success();
    assert!(joined.contains(" as send-only non-member\n"), "{joined}");
    assert_eq!(members(&site), ["1/1:0x1 2/1:0x4"]);
    let other_kind = site.at("node2", "groups leave broadcast");
    assert!(other_kind.code == Some(1) && other_kind.stderr.contains("is no full member of "), "{other_kind}");
    let left = site.at("node2", "groups leave broadcast --send-only").success();
    assert!(left.starts_with("ibsim0 port 1 left "), "{left}");
    assert_eq!(members(&site), ["1/1:0x1"]);
}

/// Node1 joins node2's port to the group, and ends that membership.
fn joins_for_another_port(site: &Site) {
    let member = site.fabric.port(2).gid;
    let group = "ff12:401b:ffff::fe";
    let created = site.at("node1", &format!("groups join {group} --create --stay"));
    assert!(created.success().starts_with("ibsim0 port 1 joined "));
    let joined = site.at("node1", &format!("groups join {group} --for {member} --stay")).success();
    let text = format!("port {member} joined {group} as full member\n");
    assert!(joined.starts_with(&text), "{joined}");
    assert!(
        joined.ends_with(&format!("\nIt stays one until: ib_acme groups leave {group} --for {member}\n")),
        "{joined}"
    );
    let of_node2 = site.at("node2", &format!("groups join {group} --stay")).success();
    assert!(of_node2.ends_with("\nIt was one already, and stays one\n"), "{of_node2}");
    let left = site.at("node1", &format!("groups leave {group} --for {member}")).success();
    assert_eq!(left, format!("port {member} left {group}\n"));
    let again = site.at("node1", &format!("groups leave {group} --for {member}"));
    let text = format!("port {member} is no full member of {group}");
    assert!(again.code == Some(1) && again.stderr.contains(&text), "{again}");
    // The reason of the SA.
    let unknown = site.at("node1", &format!("groups join {group} --for fe80::77 --stay"));
    let text = format!("join {group}: SA: ");
    assert!(unknown.code == Some(1) && unknown.stderr.contains(&text), "{unknown}");
}

#[test]
fn other_port_joins_and_leaves_by_proxy() {
    let site = Site::simulated(2);
    joins_for_another_port(&site);
    assert_eq!(members(&site), ["1/1:0x1"]);
    // The port is not in the partition of the group.
    site.fabric.control("pkeys 2 1 8001");
    let member = site.fabric.port(2).gid;
    let refused = site.at("node1", &format!("groups join ff12:401b:ffff::fe --for {member} --stay"));
    assert!(refused.code == Some(1) && refused.stderr.contains("SA: request invalid"), "{refused}");
}

#[test]
fn opensm_accepts_joins_by_proxy() {
    joins_for_another_port(&Site::with_policy());
}

#[test]
fn new_group_of_ip_has_the_q_key_of_the_broadcast_group() {
    let site = Site::simulated(1);
    let created = |words: &str| {
        let text = site.at("node1", &format!("groups join {words} --create --stay")).success();
        text.split("Q_Key ")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap_or_else(|| panic!("{text}"))
            .to_owned()
    };
    assert_eq!(created("239.1.2.3"), "0x00000b1b", "without a broadcast group");
    assert_eq!(created("broadcast --qkey 0x1234567"), "0x01234567");
    assert_eq!(created("239.1.2.4"), "0x01234567");
    assert_eq!(created("rdmacm:239.1.2.4"), "0x01234567");
    assert_eq!(created("239.1.2.5 --qkey 0x7654321"), "0x07654321");
    assert_eq!(created("acm"), "0x80010000", "this group is not of IP");
}

#[test]
fn port_that_joined_leaves_although_another_one_is_active_now() {
    let site = Site::simulated_with(1, &["--ports=2"]);
    site.fabric.control("down 1 1");
    let mut joined = site.start("node1", "groups join 239.1.2.3 --create");
    joined.wait_for("ibsim0 port 2 joined ", 1);
    joined.wait_for("Until SIGINT", 1);
    assert_eq!(members(&site), ["1/2:0x1"]);
    site.fabric.control("up 1 1");
    until("port 1 as the first active one", || {
        site.at("node1", "groups leave broadcast").stderr.contains("ibsim0 port 1 is no ").then_some(())
    });
    joined.signal(Signal::SIGTERM);
    assert_eq!(joined.wait().code, Some(0));
    assert_eq!(members(&site), [] as [&str; 0]);
}

#[test]
fn each_signal_ends_the_membership() {
    let site = Site::simulated(1);
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut joined = site.start("node1", "groups join 239.1.2.3 --create");
        joined.wait_for("Until SIGINT", 1);
        assert_eq!(members(&site), ["1/1:0x1"]);
        joined.signal(signal);
        let end = joined.wait();
        assert!(end.code == Some(0) && members(&site).is_empty(), "{signal}: {end}");
    }
}

#[test]
fn group_of_another_scope_is_joined_listed_and_left() {
    let (site, mgid) = (Site::simulated(1), "ff15:401b:ffff::f01:203");
    for (words, start) in [
        ("groups join ip:239.1.2.3 --scope 5 --create --stay", format!("ibsim0 port 1 joined {mgid} as ")),
        ("groups --group ip:239.1.2.3 --scope 5", format!("{mgid}  IP 239.1.2.3\n")),
        ("groups leave ip:239.1.2.3 --scope 5", format!("ibsim0 port 1 left {mgid}\n")),
    ] {
        let output = site.at("node1", words).success();
        assert!(output.starts_with(&start), "{words}: {output}");
    }
    assert!(members(&site).is_empty());
}
