//! librdmacm as a client of the daemon at /run/ibacm.sock.
use crate::lab::{Daemon, compile, lab, output};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, ResolveResponse, next_response, resolve_request},
};
use ib_mad::{Wire, as_bytes, sa::PathRecord};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::Path,
};

const TWO_NODES: [&str; 2] =
    ["node1 sim0 1 default\n10.1.0.1 sim0 1 default\n", "node2 sim0 1 default\n10.1.0.9 sim0 1 default\n"];

/// Requests a path from a daemon, as any client does.
pub(crate) fn resolve(socket: &str, source: &str, dest: &str) -> Result<PathRecord, ClientStatus> {
    let mut stream = UnixStream::connect(socket).unwrap();
    let (source, dest) = (Address::from_text(source), Address::from_text(dest));
    stream.write_all(&resolve_request(Some(&source), &dest, EntryFlags::empty(), [1; 8])).unwrap();
    let mut answer = [0; 160];
    let length = stream.read(&mut answer).unwrap();
    let frame = next_response(&answer[..length]).unwrap().expect("a whole answer at once");
    ResolveResponse::parse(&frame).map(|answer| answer.path)
}

/// Starts both daemons, the one with the fabric last, so that it is dropped last. librdmacm uses its socket.
fn two_nodes() -> [Daemon; 2] {
    let own = Daemon::start("/run", &["--fabric", "embedded"], TWO_NODES[0]);
    let far = Daemon::start("/tmp/vm_kernel/run2", &["--fabric", "sim:/run/fabric.sock?node=node2"], TWO_NODES[1]);
    [far, own]
}

/// Returns the value of the line `key value` in a program's output.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {key} in {text}"))
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

#[test]
fn rdma_getaddrinfo_uses_the_daemons_path() {
    let _lab = lab();
    let _daemons = two_nodes();
    let program = compile("getaddrinfo", &["-lrdmacm"]);
    let expected = resolve("/run/ibacm.sock", "10.1.0.1", "10.1.0.9").unwrap();
    // Without a source the daemon selects it, and has to return it: librdmacm crashes otherwise.
    for arguments in [&["10.1.0.9"][..], &["10.1.0.9", "10.1.0.1"]] {
        let text = output(&program, arguments);
        let route = bytes(value(&text, "route"));
        // Flags, reserved, path record: 72 bytes each.
        assert_eq!(route.len(), 72, "one path: {text}");
        let path = PathRecord::parse(&route[8..]).unwrap();
        assert_eq!(as_bytes(path), as_bytes(&expected), "{arguments:?}: {text}");
        // The path is used: the destination is the path's GID and no longer an IP address.
        assert_eq!(value(&text, "family"), "27", "AF_IB: {text}");
        assert_eq!(bytes(value(&text, "dst")), expected.dgid.get(), "{text}");
        assert_eq!(bytes(value(&text, "src")), expected.sgid.get(), "{text}");
    }
}

#[test]
fn address_without_a_node_stays_an_ip_address() {
    let _lab = lab();
    let _daemons = two_nodes();
    let program = compile("getaddrinfo", &["-lrdmacm"]);
    let text = output(&program, &["10.1.0.77", "10.1.0.1"]);
    assert_eq!((value(&text, "family"), value(&text, "route")), ("2", ""), "{text}");
}

/// A whole connection by IP address over Soft-RoCE, after the daemon has refused the request for a path.
#[test]
fn connection_is_established_where_the_daemon_has_no_path() {
    let _lab = lab();
    // This daemon does not have 10.1.0.2, which is an address of this machine.
    let daemon = Daemon::start("/run", &["--fabric", "embedded"], TWO_NODES[0]);
    let mut server =
        std::process::Command::new("timeout").args(["60", "rdma_server", "-s", "10.1.0.2"]).spawn().unwrap();
    let client = Path::new("rdma_client");
    let text = crate::poll::until("server that listens", || {
        let run =
            std::process::Command::new("timeout").args(["60"]).arg(client).args(["-s", "10.1.0.2"]).output().unwrap();
        run.status.success().then(|| String::from_utf8(run.stdout).unwrap())
    });
    assert!(text.contains("rdma_client: end 0"), "{text}");
    assert!(server.wait().unwrap().success());
    assert!(daemon.count_in_log("failing request of ") >= 1, "{}", daemon.log());
}
