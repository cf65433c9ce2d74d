//! The daemon in the kernel's NETLINK_RDMA group: requests of a program in the kernel's place, and of the kernel.
use crate::{
    lab::{Daemon, compile, lab, output, run},
    poll::until,
};
use acm_wire::netlink::{
    FLAG_ERROR, KernelResponse, LOCAL_SERVICE_GROUP, MAX_REQUEST, MessageType, NlHeader, PathUse, ResolveHeader,
    ResolveRequest, messages,
};
use ib_mad::{Gid, Pkey, sa::PathRecord, wire::Text};
use nix::sys::{
    socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvmsg, sendto, setsockopt,
        socket, sockopt,
    },
    time::{TimeVal, TimeValLike},
};
use std::{
    io::IoSliceMut,
    os::fd::{AsRawFd, OwnedFd},
    process::Command,
};

const RUN: &str = "/tmp/vm_kernel/run";
const GROUP: u32 = 1 << (LOCAL_SERVICE_GROUP - 1);
const ADDRESSES: &str = "node1 sim0 1 default\n";

/// A member of the group, which may send requests and receives every message.
pub(crate) struct Member(OwnedFd);

impl Member {
    pub(crate) fn new() -> Self {
        let flags = SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRDMA).unwrap();
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, GROUP)).unwrap();
        setsockopt(&fd, sockopt::ReceiveTimeout, &TimeVal::milliseconds(3000)).unwrap();
        Self(fd)
    }

    fn ask(&self, sequence: u32, request: &ResolveRequest) {
        let mut buffer = [0; MAX_REQUEST];
        let used = request.encode(sequence, &mut buffer).unwrap();
        let to = NetlinkAddr::new(0, GROUP);
        sendto(self.0.as_raw_fd(), &buffer[..used], &to, MsgFlags::empty()).unwrap();
    }

    /// Receives the next message of the group. Returns it, and whether the kernel sent it; `None` after 3 s.
    pub(crate) fn receive(&self) -> Option<(Vec<u8>, bool)> {
        loop {
            let mut buffer = [0; 4096];
            let mut room = [IoSliceMut::new(&mut buffer)];
            let got = recvmsg::<NetlinkAddr>(self.0.as_raw_fd(), &mut room, None, MsgFlags::empty()).ok()?;
            let (length, from_kernel) = (got.bytes, got.address.unwrap().pid() == 0);
            let raw_type = messages(&buffer[..length]).next().unwrap().unwrap().header.raw_type.get();
            // The real kernel reports that it does not serve requests.
            if raw_type >= 16 {
                return Some((buffer[..length].to_vec(), from_kernel));
            }
        }
    }

    /// Receives the next response. Returns its sequence number, and the path if there is one.
    fn response(&self) -> Option<(u32, Option<PathRecord>)> {
        let (bytes, from_kernel) = self.receive()?;
        let message = messages(&bytes).next().unwrap().unwrap();
        assert!(!from_kernel && !message.header.is_request());
        let path = match message.response().unwrap() {
            KernelResponse::Path { flags, path } => {
                assert_eq!(flags, PathUse::ALL.response_flags());
                Some(*path)
            }
            KernelResponse::Failed => None,
            KernelResponse::Gid(_) => panic!("not asked for"),
        };
        Some((message.header.sequence.get(), path))
    }
}

/// Returns a request for the path to a GID.
fn request(dgid: Gid) -> ResolveRequest {
    ResolveRequest {
        header: ResolveHeader { device_name: Text::new(b"sim0"), port: 1, path_use: PathUse::ALL },
        dgid: Some(dgid),
        pkey: Some(Pkey::DEFAULT_FULL),
        traffic_class: Some(0),
        ..ResolveRequest::default()
    }
}

/// Returns the GIDs of nodes 1 and 2 of the embedded fabric, from a response of the daemon.
fn gids() -> (Gid, Gid) {
    let path = crate::librdmacm::resolve(&format!("{RUN}/ibacm.sock"), "node1", "node2").unwrap();
    (path.sgid, path.dgid)
}

fn fabric() -> String {
    format!("sim:{RUN}/fabric.sock?node=node2")
}

#[test]
fn program_in_the_kernels_place_gets_responses() {
    let _lab = lab();
    let _daemon = Daemon::start(RUN, &["--fabric", "embedded", "--kernel", "any"], ADDRESSES);
    let _peer = Daemon::start("/tmp/vm_kernel/run2", &["--fabric", &fabric()], "node2 sim0 1 default\n");
    let (sgid, dgid) = gids();
    let member = Member::new();
    member.ask(7, &ResolveRequest { sgid: Some(sgid), ..request(dgid) });
    let (sequence, path) = member.response().unwrap();
    let path = path.expect("a path");
    assert_eq!((sequence, path.sgid, path.dgid, path.pkey), (7, sgid, dgid, Pkey::DEFAULT_FULL));
    assert!(path.dlid.is_unicast() && path.slid.is_unicast() && path.dlid != path.slid);
    // Failed requests have a response as well: a GID without a node, a device that is not served.
    let nobody: Gid = "fe80::dead".parse().unwrap();
    member.ask(8, &request(nobody));
    assert_eq!(member.response().unwrap(), (8, None));
    let header = ResolveHeader { device_name: Text::new(b"rxe2"), ..request(dgid).header };
    member.ask(9, &ResolveRequest { header, ..request(dgid) });
    assert_eq!(member.response().unwrap(), (9, None));
    // A burst: each request has a response with its number.
    for sequence in 100..300 {
        member.ask(sequence, &request(dgid));
    }
    let mut received: Vec<u32> = (100..300)
        .map(|_| {
            let (sequence, found) = member.response().expect("a response to each");
            assert_eq!(found, Some(path));
            sequence
        })
        .collect();
    received.sort_unstable();
    assert!(received.into_iter().eq(100..300));
}

#[test]
fn requests_of_programs_are_ignored_unless_any_is_chosen() {
    let _lab = lab();
    let daemon = Daemon::start(RUN, &["--fabric", "embedded", "--kernel", "on"], ADDRESSES);
    assert_eq!(daemon.count_in_log("NETLINK_RDMA opened"), 1);
    let member = Member::new();
    member.ask(7, &request("fe80::1".parse().unwrap()));
    assert_eq!(member.response(), None);
}

/// The kernel requests the GID of a gateway, its only request for a device that is not InfiniBand.
#[test]
fn request_of_the_kernel_itself_gets_a_response() {
    let _lab = lab();
    let daemon = Daemon::start(RUN, &["--fabric", "embedded", "--kernel", "on"], ADDRESSES);
    run("modprobe tun");
    let program = compile("ip_resolve", &["-lrdmacm"]);
    let member = Member::new();
    let ended = output(&program, &[]);
    let (bytes, from_kernel) = member.receive().expect("the kernel's request");
    let request: NlHeader = *messages(&bytes).next().unwrap().unwrap().header;
    assert!(from_kernel && request.is_request(), "{request:?}");
    assert_eq!(request.message_type(), MessageType::IpResolve);
    let (bytes, from_kernel) = member.receive().expect("the daemon's response");
    let response = *messages(&bytes).next().unwrap().unwrap().header;
    assert!(!from_kernel);
    assert_eq!(
        (response.sequence, response.raw_type, response.flags.get()),
        (request.sequence, request.raw_type, FLAG_ERROR)
    );
    until("line in the log", || (daemon.count_in_log("failing request of the kernel") >= 1).then_some(()));
    eprintln!("output of rdma_resolve_addr: {}", ended.trim());
}

/// systemd passes the netlink socket before the unix socket.
#[test]
fn sockets_passed_by_systemd_are_served() {
    let _lab = lab();
    let pass = format!(
        "import os, socket, sys
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20); netlink.bind((0, {GROUP}))
path = '/tmp/vm_kernel/passed.sock'
if os.path.exists(path): os.unlink(path)
clients = socket.socket(socket.AF_UNIX); clients.bind(path); clients.listen()
os.dup2(netlink.fileno(), 13); os.dup2(clients.fileno(), 14)
os.dup2(13, 3); os.dup2(14, 4); os.close(13); os.close(14)
os.environ.update(LISTEN_FDS='2', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])"
    );
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", &pass, env!("CARGO_BIN_EXE_acm-mio")]);
    let arguments = ["--systemd", "--fabric", "embedded", "--kernel", "any"];
    let daemon = Daemon::spawn(command, RUN, &arguments, ADDRESSES);
    assert_eq!(daemon.count_in_log("NETLINK_RDMA passed by systemd"), 1);
    let path = crate::librdmacm::resolve("/tmp/vm_kernel/passed.sock", "node1", "node1").unwrap();
    let member = Member::new();
    member.ask(3, &request(path.dgid));
    let (sequence, path_of_response) = member.response().unwrap();
    assert_eq!((sequence, path_of_response.map(|path| path.dlid)), (3, Some(path.dlid)));
}

/// A daemon without the privilege to join the group.
#[test]
fn missing_privilege_is_one_warning() {
    let _lab = lab();
    run(&format!("mkdir -p {RUN} /tmp/vm_kernel{RUN}; chmod 777 {RUN}; chmod -R 777 /tmp/vm_kernel"));
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_acm-mio")]);
    let daemon = Daemon::spawn(command, RUN, &["--fabric", "embedded", "--kernel", "on"], ADDRESSES);
    assert_eq!(daemon.count_in_log("CAP_NET_ADMIN"), 1);
    assert!(crate::librdmacm::resolve(&format!("{RUN}/ibacm.sock"), "node1", "node1").is_ok());
}
