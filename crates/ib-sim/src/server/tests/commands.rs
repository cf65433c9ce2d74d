//! Commands to the server.
use super::*;
use alloc::{borrow::ToOwned, format};

/// Returns the attributes of a port in the list of ports.
fn port(served: &Served, name: &str) -> String {
    let ports = served.control("ports");
    let line = ports.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.strip_prefix(name).unwrap().trim().to_owned()
}

#[test]
fn each_command_changes_its_attribute_of_the_port_only() {
    let served = Served::start(2);
    let initial = "lid 17 lmc 0 sm_lid 1 gid fe80::2:c903:0:21 pkeys 0xffff mtu 4096 rate 100 Gb/s";
    let before = port(&served, "2/1");
    assert!(before.ends_with(initial), "{before}");
    for (command, changed) in [
        ("down node2 1", "down "),
        ("init node2 1", "init "),
        ("up node2 1", "active "),
        ("lid 2 1 77", "lid 77 "),
        ("smlid node2 1 5", "sm_lid 5 "),
        ("rate node2 1 40", "rate 40 Gb/s"),
        ("pkeys node2 1 ffff,8001", "pkeys 0xffff,0x8001 "),
        ("gid node2 1 0 fe80::77", "gid fe80::77 "),
        ("lmc node2 1 3", " lmc 3 "),
        // No subnet manager serves an Ethernet port.
        ("ethernet node2 1", "lid 0 lmc 3 sm_lid 0 "),
    ] {
        assert!(!port(&served, "2/1").contains(changed), "{command}");
        assert_eq!(served.control(command), "ok\n", "{command}");
        assert!(port(&served, "2/1").contains(changed), "{command}: {}", port(&served, "2/1"));
    }
    assert_eq!(port(&served, "1/1"), port(&Served::start(1), "1/1"), "another port is unchanged");
    for command in [
        "smsl node2 1 3",
        "grh node2 1",
        "rereg node2 1",
        "set sa_delay 0",
        "link node1 node2 loss 0.5",
        "link node1 node2 clear",
        "smrestart",
        "smrestart 0xc005",
        "device remove node2",
        "device add node2",
    ] {
        assert_eq!(served.control(command), "ok\n", "{command}");
    }
}

#[test]
fn invalid_command_returns_its_error() {
    let served = Served::start(1);
    for (command, error) in [
        ("ethernet node1 1 now", "unknown command; 'help' lists them"),
        ("lmc node1 1 8", "no LMC: 8"),
        ("smsl node1 1 16", "no service level: 16"),
        ("rate node1 1 7", "no rate: 7"),
        ("pkeys node1 1 ffff,x", "no P_Keys: ffff,x"),
        ("gid node1 1 256 fe80::1", "no index"),
        ("down node1 2", "no such port: 1/2"),
        ("down node1 one", "no port: one"),
        ("down node9 1", "no such node: node9"),
        ("link node1/2 node1 loss 1", "no such port: node1/2"),
        ("device remove node9", "no such node: node9"),
        ("device paint node1", "unknown command; 'help' lists them"),
        ("umad remove node1 2", "no such port: node1/2"),
        ("hold node1 response", "response: expected attach, mad or datagram"),
        ("release node9", "no such node: node9"),
    ] {
        assert_eq!(served.control(command), format!("error: {error}\n"), "{command}");
    }
}

#[test]
fn removed_device_cannot_be_removed_again() {
    let served = Served::start(2);
    for (command, output) in [
        ("qp fail node2 1", "0"),
        ("cq fail node2 1", "0"),
        ("uevent lose node2", "ok"),
        ("uevent resume node2", "ok"),
        ("uevent forge node2 7", "ok"),
        ("umad remove node2 1", "ok"),
        ("umad remove node2 1", "error: the umad device is gone already"),
        ("umad add node2 1", "ok"),
        ("umad remove node2 1", "ok"),
        ("device add node2", "error: the device is there already"),
        ("device remove node2", "ok"),
        ("device remove node2", "error: the device is gone already"),
        ("device fail node2", "error: the device is gone"),
        ("umad remove node2 1", "error: the umad device is gone already"),
        ("umad add node2 1", "error: the device is gone"),
        ("device add node2", "ok"),
        ("umad remove node2 1", "ok"),
        ("device fail node2", "ok"),
    ] {
        assert_eq!(served.control(command), format!("{output}\n"), "{command}");
    }
}

#[test]
fn stats_reset_returns_the_old_counters() {
    let served = Served::start(1);
    join(&mut served.client("node1"));
    assert_eq!((served.statistic("sa_joins "), served.statistic("sa_errors ")), (1, 0));
    assert!(served.control("stats reset").contains("sa_joins 1\n"));
    assert_eq!(served.statistic("sa_joins "), 0);
}

#[test]
fn leave_deletes_the_memberships_of_a_port() {
    let served = Served::start(2);
    let mut clients = ["node1", "node2"].map(|node| served.client(node));
    clients.iter_mut().for_each(|client| {
        join(client);
    });
    assert_eq!(served.control("leave node1 1"), "ok\n");
    assert!(served.control("groups").ends_with(" members 2/1:0x1\n"));
    assert_eq!(served.control("leave all 1"), "ok\n");
    assert!(!served.control("groups").contains("2/1"));
}

#[test]
fn lists_show_programs_groups_and_queue_pairs() {
    let served = Served::start(2);
    let mut client = served.client("node2");
    let nodes = served.control("nodes");
    let programs: Vec<&str> = nodes.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(programs, ["0", "1"], "{nodes}");
    assert_eq!((served.control("groups"), served.control("qps")), (String::new(), String::new()));
    let mlid = join(&mut client);
    let qpn = client.open_qp(1, Qkey::GSI, 0).unwrap();
    // The response to the join arrives after the queue pair was opened.
    assert_eq!(join(&mut client), mlid);
    let group = served.control("groups");
    let expected = format!("{} mlid {:#x} pkey 0xffff ", mgid(), mlid.get());
    assert!(group.starts_with(&expected) && group.ends_with(" members 2/1:0x1\n"), "{group}");
    assert_eq!(served.control("qps"), format!("2/1 {qpn}\n"));
    assert_eq!(served.statistic("refused "), 0);
}

#[test]
fn tree_returns_the_folder_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::bind(&folder.path().join("socket"), Subnet::new(SubnetConfig::default(), 1)).unwrap();
    assert_eq!(server.command("tree"), "error: served without files (serve --tree)\n");
    let tree = folder.path().join("tree");
    server.set_tree(&tree).unwrap();
    assert_eq!(server.command("tree"), format!("{}\n", tree.display()));
}

#[test]
fn held_messages_are_handled_at_their_release() {
    let served = Served::start(2);
    let mut client = served.client("node1");
    let qpn = client.open_qp(1, Qkey::GSI, 0).unwrap();
    for kind in ["attach", "mad"] {
        assert_eq!(served.control(&format!("hold node1 {kind}")), "ok\n");
    }
    client.attach(qpn, mgid(), Lid::new(0xc001)).unwrap();
    client.attach(qpn, mgid(), Lid::new(0xc002)).unwrap();
    // The response shows that the server has read the requests before.
    client.close_qp(Qpn::of::<9>()).unwrap();
    wait(&mut client, |message| {
        assert_eq!(
            message,
            Message::Refused { request: Kind::QP_CLOSE, refusal: Refusal::NO_SUCH_QP, qpn: Qpn::of::<9>() }
        );
    });
    assert_eq!(served.control("held"), "1 attach 2\n1 mad 0\n");
    join(&mut served.client("node2"));
    assert_eq!(served.control("release node1"), "ok\n");
    for mlid in [0xc001, 0xc002].map(Lid::new) {
        wait(&mut client, |message| assert_eq!(message, Message::Attached { qpn, mgid: mgid(), mlid }));
    }
    assert_eq!(served.control("held"), "");
    join(&mut client);
    // A program that has ended sends nothing.
    served.control("hold node1 attach");
    client.attach(qpn, mgid(), Lid::new(0xc003)).unwrap();
    drop(client);
    served.control("release node1");
}
