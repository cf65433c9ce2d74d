//! `ib_acme vfabric` and `ib_acme groups`, compared with saquery on the same fabric.
use super::fabric::Site;
use acm_tests::{Binary, Finished, Node, Record, binary, run};
use core::net::Ipv4Addr;
use ib_mad::{Gid, Mtu, PacketLifeTime, Pkey, Rate, Status};
use nix::sys::signal::Signal;

/// Returns the cells of a table without its head and the lines below.
fn rows(finished: &Finished) -> Vec<Vec<&str>> {
    let lines = finished.stdout.lines().skip(1).filter(|line| !line.starts_with("Source: "));
    lines.map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect()
}

/// Converts saquery's codes, whose two upper bits are a selector, to the text of `ib_acme`.
fn in_words(record: &Record, [pkey, sl, mtu, rate, life]: [&str; 5]) -> [String; 5] {
    let code = |name: &str| u8::try_from(record.number(name) & 0x3f).unwrap();
    let pkey = Pkey::new(u16::try_from(record.number(pkey)).unwrap());
    let life = format!("{:.2?}", PacketLifeTime::masked(code(life)).duration()).replace('\u{b5}', "u");
    let (mtu, rate) = (Mtu::new(code(mtu)), Rate::new(code(rate)));
    [pkey.to_string(), record.number(sl).to_string(), mtu.to_string(), rate.to_string(), life]
}

// docs/deviations.md: tool-commands
#[test]
fn path_of_a_service_equals_saquerys() {
    let site = Site::with_policy();
    // An address in one of two partitions.
    let node = Node::at(&site.fabric, 1).addresses("node1 sim0 1 default\n").join();
    let socket = node.socket().display().to_string();
    let (sgid, dgid) = (site.fabric.port(1).gid.to_string(), site.fabric.port(2).gid.to_string());
    let services = ["lustre", "storage-scale", "tcp:18517", "tcp:4791"];
    let ids = ["0x00000000010603db", "0x00000000010604a7", "0x0000000001064855", "0x00000000010612b7"];
    let mut expected = Vec::new();
    for (service, id) in services.iter().zip(ids) {
        for pkey in ["0xffff", "0x8001"] {
            let query =
                ["PR", "--sgid", &sgid, "--dgid", &dgid, "--service_id", id, "--pkey", pkey, "--reversible", "1"];
            let records = site.opensm.as_ref().unwrap().saquery(&[&query[..], &["--numb_path", "1"]].concat());
            let words = in_words(&records[0], ["pkey", "sl", "mtu", "rate", "pkt_life"]);
            let head = [(*service).to_owned(), dgid.clone()];
            expected.push(head.into_iter().chain(words).collect::<Vec<_>>());
        }
    }
    let sls: Vec<&str> = expected.iter().map(|row| row[3].as_str()).collect();
    assert_eq!(sls, ["1", "1", "3", "3", "2", "2", "0", "0"], "the policy is in force");
    let ids: String = services.iter().map(|service| format!(" --service-id {service}")).collect();
    let query = format!("vfabric --to {dgid} --each-partition{ids}");
    let direct = site.at("node1", &format!("{query} --umad"));
    assert_eq!(rows(&direct), expected, "{direct}");
    assert!(direct.stdout.ends_with("Source: subnet administration, from ibsim0 port 1.\n"), "{direct}");
    let daemon = site.at("node1", &format!("{query} -S {socket}"));
    assert_eq!(rows(&daemon), expected, "{daemon}");
    // Away from the daemon's node, only the partitions of its endpoints are visible.
    let daemon = [&query.split(' ').collect::<Vec<_>>()[..], &["-S", &socket]].concat();
    let daemon = run(binary(Binary::IbAcme), &daemon);
    expected.retain(|row| row[2] == "0xffff");
    assert_eq!(rows(&daemon), expected, "{daemon}");

    // Partition and service level are those of the daemon's endpoint, or OpenSM's choice.
    let path = |option: &str| {
        let words = format!("-S {socket} -f g -d {dgid} --service-id lustre{option}");
        let found = run(binary(Binary::IbAcme), &words.split(' ').collect::<Vec<_>>()).success();
        ["  pkey: ", "  sl: "].map(|name| {
            let line = found.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{found}")).to_owned()
        })
    };
    assert_eq!([path(""), path(" --any-pkey")], [["0xffff", "1"], ["0x8001", "1"]]);

    // Evaluates the output as a wrapper of mpirun does, also as a single line. Peers are given by name.
    let shell = site.at("node1", "vfabric --umad --service-id lustre --pkey 0x8001 --to node[2-4] --shell").success();
    let all = "$VF_SERVICE_ID $VF_PKEY $VF_PARTITION $VF_PKEY_INDEX $VF_SL $VF_MTU $VF_RATE_MBPS $VF_DEVICE $VF_PORT";
    let script = format!("eval $1; echo $(printenv VF_SL) {all}");
    let output = run("sh", &["-c", &script, "sh", &shell]).success();
    assert_eq!(output, "1 0x00000000010603db 0x8001 0x0001 1 1 2048 10000 ibsim0 1\n", "{shell}");
    let nccl = site.at("node1", "vfabric --umad --service-id lustre --pkey 0x8001 --to node2 --shell --for nccl");
    let expected = "export NCCL_IB_SL=1;\nexport NCCL_IB_PKEY=1;\nexport NCCL_IB_HCA='=ibsim0:1';\n";
    assert_eq!(nccl.stdout, expected, "{nccl}");
    let json = site.at("node1", "vfabric --umad --service-id lustre --json").success();
    assert!(json.contains("\"service\": \"lustre\"") && json.contains("\"sl\": 1"), "{json}");

    // One peer without a path: status 1 and no output for eval.
    let none = site.at("node1", "vfabric --umad --pkey 0x8005 --to node2 --shell");
    assert!(none.code == Some(1) && none.stdout.is_empty(), "{none}");
    assert!(none.stderr.starts_with("ib_acme: node2: no path in 0x8005: the path: SA: "), "{none}");
    // The list of nodes has one of five: whether a description begins with this word is unknown.
    let unknown = site.at("node1", "vfabric --umad --to node9");
    assert!(unknown.code == Some(1) && unknown.stderr.contains("there are more of the nodes' names"), "{unknown}");
    let missing = run(binary(Binary::IbAcme), &["vfabric", "-S", "/none", "--to", "node2"]);
    assert!(
        missing.code == Some(1) && missing.stderr.contains("no daemon answers at /none: No such file"),
        "{missing}"
    );
    for wrong in
        ["vfabric --shell --json", "vfabric --service-id tcp:1-2", "vfabric --shell --pkey 1 --pkey 2", "groups x"]
    {
        let wrong = run(binary(Binary::IbAcme), &wrong.split(' ').collect::<Vec<_>>());
        assert!(wrong.code == Some(1) && wrong.stdout.is_empty() && !wrong.stderr.is_empty(), "{wrong}");
    }
}

/// Parses the printed groups, each with its lines.
fn printed_groups(finished: &Finished) -> Vec<(Gid, Vec<&str>)> {
    let mut groups: Vec<(Gid, Vec<&str>)> = Vec::new();
    for line in finished.stdout.lines() {
        match (line.strip_prefix("  "), groups.last_mut()) {
            (Some(line), Some((_, lines))) => lines.push(line),
            _ => groups.extend(line.split("  ").next().and_then(|gid| Some((gid.parse().ok()?, vec![line])))),
        }
    }
    groups
}

/// ibsim forwards only the first datagram of a response, which holds three groups.
#[test]
fn list_of_groups_that_is_incomplete_fails() {
    let site = Site::with_policy();
    for number in 1..=4 {
        let join = format!("groups join rdmacm:239.9.9.{number} --pkey 0xffff --create --stay");
        let _ = site.at("node2", &join).success();
    }
    let cut = site.at("node1", "groups");
    assert!(cut.code == Some(1) && cut.stderr.contains("there are more"), "{cut}");
    assert_eq!(printed_groups(&cut).len(), 3, "{cut}");
}

// docs/deviations.md: tool-commands
#[test]
fn groups_equal_saquerys() {
    let site = Site::with_policy();
    let opensm = site.opensm.as_ref().unwrap();
    let gid = site.fabric.port(2).gid;
    let is_member = |mgid: &str| {
        let records = opensm.saquery(&["MCMemberRecord", "--gid", &gid.to_string()]);
        records.iter().any(|record| record.get("MGID") == mgid && record.number("JoinState") == 1)
    };

    // Creates a group by its use. The group ends with its last member.
    let (group, mgid) = ("rdmacm:239.1.2.3", "ff12:4001:8001::f01:203");
    let none = site.at("node2", &format!("groups join {group} --pkey 0x8001"));
    assert!(none.code == Some(1) && none.stderr.contains("there is no such group"), "{none}");
    let create = format!("groups join {group} --pkey 0x8001 --create --mtu 1024 --rate 5 --qkey 0x1234567 --sl 2");
    let mut joined = site.start("node2", &create);
    joined.wait_for("Until SIGINT", 1);
    assert!(is_member(mgid));
    let listed = site.at("node1", "groups --sm-key 1 --pkey 1");
    let found = printed_groups(&listed);
    let (_, lines) = found.iter().find(|(gid, _)| gid.to_string() == mgid).unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(lines[0], format!("{mgid}  RDMA CM 239.1.2.3"));
    assert!(lines[1].contains("P_Key 0x8001, Q_Key 0x01234567, SL 2, MTU 1024, 5 Gb/s"), "{listed}");
    assert_eq!(lines[2..], [format!("node2  {gid}  full member")], "{listed}");

    // The parameters of groups: one that exists, one that does not and has no broadcast group's, and new ones.
    let of = |words: &str| site.at("node1", &format!("vfabric --umad {words}"));
    let found = of(&format!("--mgid {group} --pkey 0x8001"));
    let row = |name: &'static str, values: [&'static str; 5]| [&["any", name][..], &values].concat();
    assert_eq!(rows(&found), [row("ff12:4001:8001::f01:203", ["0x8001", "2", "1024", "5 Gb/s", "4.10us"])], "{found}");
    let found = of("--mgid rdmacm:239.1.2.4 --mgid broadcast");
    let values = ["0xffff", "0", "2048", "10 Gb/s", "1.07s"];
    let new = [row("ff12:4001:ffff::f01:204 (new)", values), row("ff12:401b:ffff::ffff:ffff", values)];
    assert_eq!(rows(&found), new, "{found}");
    let found = of("--mgid ff12::1");
    assert!(found.code == Some(1) && found.stdout.contains("any to ff12::1: there is no such group\n"), "{found}");
    let shell = of(&format!("--mgid {mgid} --shell")).success();
    assert!(
        shell.contains("VF_PKEY=0x8001;") && shell.contains("VF_SL=2;") && shell.contains("VF_MTU=1024;"),
        "{shell}"
    );
    let one = site.at("node1", &format!("groups --mgid {mgid}")).success();
    assert!(one.starts_with(&format!("{mgid}  RDMA CM ")) && !one.contains("broadcast"), "{one}");

    // All groups as saquery lists them. saquery lists groups without members only without a key.
    let every = site.at("node1", "groups");
    let found = printed_groups(&every);
    let records = opensm.saquery(&["--smkey", "0", "-g"]);
    assert!(!records.is_empty() && found.len() == records.len(), "{every}\n{records:?}");
    for record in records {
        let mgid: Gid = record.get("MGID").parse().unwrap();
        let (_, lines) = found.iter().find(|(gid, _)| *gid == mgid).unwrap_or_else(|| panic!("{mgid}: {every}"));
        let whole = opensm.saquery(&["--smkey", "0", "MCMemberRecord", "--mgid", &mgid.to_string()]).remove(0);
        let [pkey, sl, mtu, rate, life] = in_words(&whole, ["pkey", "SL", "mtu", "rate", "pkt_life"]);
        let (mlid, qkey) = (whole.number("mlid"), whole.number("qkey"));
        let expected = format!(
            "MLID {mlid:#06x}, P_Key {pkey}, Q_Key {qkey:#010x}, SL {sl}, MTU {mtu}, {rate}, lifetime {life}, scope link"
        );
        assert_eq!(lines[1], expected);
    }
    let broadcast = Gid::ipoib_ipv4(Pkey::DEFAULT_FULL, 2, Ipv4Addr::BROADCAST);
    assert!(found.iter().any(|(gid, lines)| *gid == broadcast && lines[0].ends_with("  IP broadcast")), "{every}");

    joined.signal(Signal::SIGTERM);
    let end = joined.wait();
    assert!(end.code == Some(0) && end.stdout.ends_with(&format!("left {mgid}\n")), "{end}");
    assert!(!is_member(mgid));

    // An existing group: a member that stays, a second join of the member, and a leave.
    let broadcast = broadcast.to_string();
    let stays = site.at("node2", "groups join broadcast --stay").success();
    assert!(stays.contains("ibsim0 port 1 joined ") && is_member(&broadcast), "{stays}");
    for (node, is_in) in [("node2", true), ("node3", false)] {
        let listed = site.at(node, "groups --group broadcast").success();
        assert_eq!(listed.contains(&format!("  {node}  fe80::")), is_in, "{listed}");
    }
    let repeated = site.at("node2", "groups join broadcast").success();
    assert!(repeated.ends_with("It was one already, and stays one\n") && is_member(&broadcast), "{repeated}");
    let left = site.at("node2", "groups leave broadcast").success();
    assert_eq!(left, format!("ibsim0 port 1 left {broadcast}\n"));
    assert!(!is_member(&broadcast));
    let repeated = site.at("node2", "groups leave broadcast");
    assert!(repeated.code == Some(1) && repeated.stderr.contains("ibsim0 port 1 is no full member of "), "{repeated}");
    // With the parameters of the broadcast group.
    let like = site.at("node2", "groups join 239.1.2.3 --create --stay").success();
    assert!(like.contains("Q_Key 0x00000b1b, SL 0, MTU 2048, 10 Gb/s"), "{like}");
    // OpenSM accepts only its own key.
    let wrong = site.at("node1", "groups --sm-key 7 --timeout 20");
    assert!(wrong.code == Some(1) && wrong.stderr.contains("a wrong SM_Key either"), "{wrong}");
}

/// The responses need many datagrams, and one query returns the names of all members.
#[test]
fn group_with_24_members_needs_three_queries() {
    const NODES: u32 = 24;
    let site = Site::simulated(NODES);
    let joined = site.everywhere("groups join ip:ff02::7 --create --stay").success();
    assert_eq!(joined.matches(" joined ff12:601b:ffff::7 ").count(), 24, "{joined}");
    let listed = site.at("node1", "groups --sm-key 1");
    let found = printed_groups(&listed);
    assert_eq!(found.len(), 1, "{listed}");
    assert_eq!(found[0].1[0], "ff12:601b:ffff::7  IP ff02::7");
    let expected: Vec<String> = (1..=NODES)
        .map(|number| format!("node{number} ibsim0  {}  full member", site.fabric.port(number).gid))
        .collect();
    let mut members = found[0].1[2..].to_vec();
    members.sort_by_key(|line| expected.iter().position(|expected| expected == line));
    assert_eq!(members, expected, "{listed}");
    // One query each for groups, members and nodes, for any number of members.
    let queries = |words: &str| {
        let before = site.fabric.statistic("sa_other") + site.fabric.statistic("sa_joins");
        assert!(site.at("node1", words).code == Some(0));
        site.fabric.statistic("sa_other") + site.fabric.statistic("sa_joins") - before
    };
    assert_eq!(queries("groups --sm-key 1"), 3);
    // All names need one query for one node, and one for all nodes.
    assert_eq!(queries("vfabric --umad --to node[1-24]"), 2);
    // Without the key, a port gets only its own membership.
    let local = site.at("node3", "groups").success();
    assert!(local.contains("node3 ibsim0") && !local.contains("node4"), "{local}");
    assert!(local.ends_with("Other members are listed only with the SM_Key: --sm-key KEY\n"), "{local}");
    let json = site.at("node3", "groups --json --group ip:ff02::7").success();
    for text in ["\"all_members\": false", "\"use\": \"IP ff02::7\"", "\"node\": \"node3 ibsim0\"", "\"scope\": 2"] {
        assert!(json.contains(text), "{text}: {json}");
    }
}

#[test]
fn errors_of_the_fabric_are_one_line_each() {
    let site = Site::simulated(2);
    let fails = |words: &str, texts: &[&str]| {
        let finished = site.at("node1", words);
        assert!(finished.code == Some(1) && finished.stdout.is_empty(), "{words}: {finished}");
        assert_eq!(finished.stderr.lines().count(), 1, "{words}: {finished}");
        texts.iter().for_each(|text| assert!(finished.stderr.contains(text), "{words}: no {text:?}: {finished}"));
    };
    fails("groups --device none --port 2", &["none port 2 is no active InfiniBand port; these are: ibsim0 port 1"]);
    fails("groups --group broadcast", &["there is no such group"]);
    fails("vfabric --to node2 -S /none", &["no daemon answers at /none"]);
    let denied = Status::SA_REQUEST_DENIED.get();
    site.fabric.control(&format!("set sa_status {denied:#x}"));
    fails("groups join broadcast", &["ffff:ffff: SA: request denied; this port may not do that"]);
    site.fabric.control("set sa_status 0x0");
    site.fabric.control("set sa_mute on");
    site.fabric.control("stats reset");
    fails(
        "groups join broadcast --timeout 10",
        &["subnet administration (LID 1) does not answer: does the subnet manager run"],
    );
    assert_eq!(["mad_retries", "mad_timeouts"].map(|name| site.fabric.statistic(name)), [3, 1]);
    site.fabric.control("init 1 1");
    fails("groups", &["no active InfiniBand port (ibsim0 port 1: "]);
}
