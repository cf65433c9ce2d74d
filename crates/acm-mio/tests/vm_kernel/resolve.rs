//! RESOLVE, the request for a path, of a real kernel: for ports with the link layer InfiniBand, of the module rdma_rxeib
//! that `.ci/vm-test` builds. No subnet administrator is there, and packets to it are lost.
use crate::{
    lab::{Daemon, compile, lab, run},
    netlink::Member,
};
use acm_wire::netlink::{FLAG_ERROR, KernelRequest, KernelResponse, PathUse, messages};
use ib_mad::{Gid, Lid, Pkey, ServiceId};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

const RUN: &str = "/tmp/vm_kernel/run";
const DUMP: &str = "/tmp/vm_kernel/dump";
/// The GIDs of both ports, and of a port that does not exist.
const GIDS: [&str; 3] = ["fe80::ff:fe00:1", "fe80::ff:fe00:2", "fe80::ff:fe00:99"];

/// Two ports at the ends of a cable: ib0 with LID 1 and ib1 with LID 2. Removed when dropped, because other tests have
/// no InfiniBand port.
struct Ports;

impl Ports {
    fn new() -> Self {
        run("modprobe rdma_rxeib
             ip link add i0 mtu 9000 address 02:00:00:00:00:01 type veth peer name i1 address 02:00:00:00:00:02
             ip link set i1 mtu 9000
             for end in 0 1; do ip link set i$end up; rdma link add ib$end type rxeib netdev i$end; done");
        Self
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        run("rdma link delete ib0; rdma link delete ib1; ip link delete i0; modprobe -r rdma_rxeib");
    }
}

/// Starts a daemon with a dump of the path from ib0 to ib1, which differs from all defaults.
fn daemon() -> Daemon {
    fs::create_dir_all(Path::new(DUMP).parent().unwrap()).unwrap();
    let dump = "Channel Adapter 0x000000fffe000001, base LID 1, \"node1 ib0\", port 1\n0x0002 : 5  : 4   : 3\n\
                Channel Adapter 0x000000fffe000002, base LID 2, \"node2 ib1\", port 1\n0x0001 : 5  : 4   : 3\n";
    fs::write(DUMP, dump).unwrap();
    let options = format!("route_preload opensm_full_v1\nroute_data_file {DUMP}\npath_service_ids none\n");
    let daemon = Daemon::on_devices(RUN, &options, "node1 ib0 1 default\n", "route preload: loaded");
    crate::poll::until("endpoint", || (daemon.count_in_log("ib0 port 1 pkey 0xffff opened") == 1).then_some(()));
    daemon
}

/// Makes the kernel resolve a route from ib0. Returns the output of the program.
fn resolve_route(dgid: &str) -> String {
    let program = compile("resolve_route", &["-lrdmacm"]);
    let mut command = Command::new("timeout");
    let ended = command.arg("60").arg(program).args([GIDS[0], dgid]).stdin(Stdio::null()).output().unwrap();
    String::from_utf8(ended.stdout).unwrap() + &String::from_utf8(ended.stderr).unwrap()
}

/// Returns a counter of the daemon.
fn counter(name: &str) -> u64 {
    let mut acmctl = Command::new(env!("CARGO_BIN_EXE_acmctl"));
    let status = acmctl.args(["--run-dir", RUN, "status", "--all", "--json"]).output().unwrap().stdout;
    let status: serde_json::Value = serde_json::from_slice(&status).unwrap();
    let metrics = status["metrics"].as_array().unwrap();
    let value = metrics.iter().find(|metric| metric["name"] == name).and_then(|metric| metric["value"].as_u64());
    value.unwrap_or_else(|| panic!("no {name} in\n{status:#}"))
}

#[test]
fn kernel_takes_the_daemons_path_where_no_sa_responds() {
    let _lab = lab();
    let _ports = Ports::new();
    // The kernel has no other source of the path.
    let alone = resolve_route(GIDS[1]);
    assert_eq!(alone, "RDMA_CM_EVENT_ADDR_RESOLVED, status 0\nRDMA_CM_EVENT_ROUTE_ERROR, status -110\n");

    let daemon = daemon();
    let member = Member::new();
    let resolved = resolve_route(GIDS[1]);
    let (bytes, from_kernel) = member.receive().expect("the kernel's request");
    let message = messages(&bytes).next().unwrap().unwrap();
    let Ok(KernelRequest::Resolve(request)) = message.request() else { panic!("{message:?}") };
    assert!(from_kernel && message.header.is_request());
    let [sgid, dgid] = [GIDS[0], GIDS[1]].map(|gid| gid.parse::<Gid>().unwrap());
    assert_eq!((request.header.device_name.as_text(), request.header.port), (&b"ib0"[..], 1));
    assert_eq!((request.sgid, request.dgid, request.pkey), (Some(sgid), Some(dgid), Some(Pkey::DEFAULT_FULL)));
    assert_eq!(request.header.path_use, PathUse::ALL);
    // RDMA_PS_TCP, port 7174.
    assert_eq!((request.service_id, request.traffic_class), (Some(ServiceId::new(0x0106_1c06)), Some(0)));

    let (bytes, from_kernel) = member.receive().expect("the daemon's response");
    let response = messages(&bytes).next().unwrap().unwrap();
    assert!(!from_kernel);
    assert_eq!(response.header.sequence, message.header.sequence);
    let Ok(KernelResponse::Path { path, .. }) = response.response() else { panic!("{response:?}") };
    assert_eq!((path.sgid, path.dgid, path.slid, path.dlid), (sgid, dgid, Lid::new(1), Lid::new(2)));
    assert_eq!(
        resolved,
        "RDMA_CM_EVENT_ADDR_RESOLVED, status 0\nRDMA_CM_EVENT_ROUTE_RESOLVED, status 0\n\
         path slid 1 dlid 2 sl 5 mtu 4 rate 3 pkey 0xffff\n"
    );
    assert_eq!((counter("preload_used"), counter("kernel_late")), (1, 0));
    drop(daemon);
}

#[test]
fn kernel_gets_an_error_where_neither_dump_nor_sa_has_the_path() {
    let _lab = lab();
    let _ports = Ports::new();
    let daemon = daemon();
    let member = Member::new();
    let ended = resolve_route(GIDS[2]);
    assert_eq!(ended, "RDMA_CM_EVENT_ADDR_RESOLVED, status 0\nRDMA_CM_EVENT_ROUTE_ERROR, status -110\n");
    let (_, from_kernel) = member.receive().expect("the kernel's request");
    assert!(from_kernel);
    let (bytes, from_kernel) = member.receive().expect("the daemon's response");
    let response = *messages(&bytes).next().unwrap().unwrap().header;
    assert!(!from_kernel);
    assert_eq!(response.flags.get() & FLAG_ERROR, FLAG_ERROR);
    assert_eq!(daemon.count_in_log("failing request of the kernel for GID fe80::ff:fe00:99"), 1);
}
