//! Datagrams between two devices.
use crate::lab::{LIMIT_MS, lab, path_to, path_to_gid, poll_for, port, wait_for};
use ib_device::{
    Error,
    verbs::{Completion, CompletionStatus, Context, SendId, UdConfig, UdQueuePair},
};
use ib_mad::{Gid, Lid, Qkey, Qpn};
use nix::errno::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs;

struct Node {
    context: Context,
    pair: UdQueuePair,
}

/// A completion with a copy of its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Datagram { from: Option<Gid>, to: Option<Gid>, qpn: Qpn, payload: Vec<u8> },
    Sent(SendId),
    SendFailed(SendId, CompletionStatus),
    ReceiveFailed(CompletionStatus),
    TooLong(u32, Qpn),
}

impl Node {
    fn new(device: &str, change: impl FnOnce(&mut UdConfig)) -> Self {
        let context = Context::open(device).unwrap();
        let mut config = UdConfig { recv_depth: 8, send_depth: 4, ..UdConfig::new(1, 0) };
        change(&mut config);
        let pair = UdQueuePair::new(&context, config).unwrap();
        Self { context, pair }
    }

    fn poll(&mut self) -> Option<Seen> {
        Some(match self.pair.poll().unwrap()? {
            Completion::Received(datagram) => Seen::Datagram {
                from: datagram.source_gid(),
                to: datagram.destination_gid(),
                qpn: datagram.src_qpn,
                payload: datagram.payload.to_vec(),
            },
            Completion::Sent(id) => Seen::Sent(id),
            Completion::SendFailed { id, status } => Seen::SendFailed(id, status),
            Completion::ReceiveFailed(status) => Seen::ReceiveFailed(status),
            Completion::TooLong { len, src_qpn, .. } => Seen::TooLong(len, src_qpn),
        })
    }

    /// Waits for the next completion by the completion channel only.
    fn next(&mut self, quiet_ms: u16) -> Option<Seen> {
        if let Some(seen) = self.poll() {
            return Some(seen);
        }
        let context = self.context.clone();
        poll_for(context.completion_fd(), quiet_ms, || {
            while let Some(key) = context.next_completion().unwrap() {
                assert_eq!(key, self.pair.key());
                if let Some(seen) = self.poll() {
                    return Some(seen);
                }
            }
            None
        })
    }

    fn datagram(&mut self) -> Seen {
        loop {
            let seen = self.next(LIMIT_MS).expect("a datagram");
            if matches!(seen, Seen::Datagram { .. }) {
                return seen;
            }
        }
    }

    fn send(&mut self, to: &ib_mad::AddressVector, qpn: Qpn, payload: &[u8]) -> SendId {
        self.pair.send(to, qpn, Qkey::GSI, payload).unwrap()
    }
}

fn gid(device: &str) -> Gid {
    port(device).gids[0].gid
}

/// Joins a multicast group on a network device, so that the kernel receives its packets while the socket lives.
fn join_ip(group: Gid, netdev: &str) -> Socket {
    let index = fs::read_to_string(format!("/sys/class/net/{netdev}/ifindex")).unwrap();
    let socket = Socket::new(Domain::IPV6, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    socket.join_multicast_v6(&group.into(), index.trim().parse().unwrap()).unwrap();
    socket
}

#[test]
fn unicast_datagrams_arrive_in_both_directions() {
    let _lab = lab();
    let wide = |config: &mut UdConfig| config.max_payload = 1024;
    let (mut one, mut other) = (Node::new("rxe0", wide), Node::new("rxe1", wide));
    assert_ne!(one.pair.qpn(), other.pair.qpn());
    let (there, back) = (path_to("rxe1"), path_to("rxe0"));
    let (from, to) = (back.grh.map(|grh| grh.dgid), there.grh.map(|grh| grh.dgid));
    // Short payloads are sent inline, the longest from registered memory. There are more than buffers of either kind.
    for (round, len) in [0, 1, 256, 1024].into_iter().cycle().take(40).enumerate() {
        let payload = vec![round as u8; len];
        let id = one.send(&there, other.pair.qpn(), &payload);
        assert_eq!(one.next(LIMIT_MS), Some(Seen::Sent(id)));
        let qpn = one.pair.qpn();
        assert_eq!(other.datagram(), Seen::Datagram { from, to, qpn, payload: payload.clone() });
        other.send(&back, qpn, &payload);
        let Seen::Datagram { payload: echo, .. } = one.datagram() else { unreachable!() };
        assert_eq!(echo, payload, "round {round}");
    }
}

#[test]
fn send_is_refused_beyond_length_address_and_queue_limits() {
    let _lab = lab();
    let mut one = Node::new("rxe0", |config| config.send_depth = 1);
    let mut other = Node::new("rxe1", |_| {});
    let to = path_to("rxe1");
    let long = one.pair.send(&to, other.pair.qpn(), Qkey::GSI, &[0; 257]).unwrap_err();
    assert!(matches!(long, Error::Length { got: 257, max: 256, .. }), "{long}");
    let without_grh = one.pair.send(&Default::default(), other.pair.qpn(), Qkey::GSI, &[0]).unwrap_err();
    assert_eq!(without_grh.errno(), Some(Errno::EINVAL));
    // A slot is free as soon as its send completed, also if the completion was not reported yet.
    let mut sent = Vec::new();
    for round in 0..8u8 {
        match one.pair.send(&to, other.pair.qpn(), Qkey::GSI, &[round]) {
            Ok(id) => sent.push((id, round)),
            Err(Error::SendQueueFull { depth: 1 }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    for (id, round) in sent {
        assert_eq!(one.next(LIMIT_MS), Some(Seen::Sent(id)));
        let Seen::Datagram { payload, .. } = other.datagram() else { unreachable!() };
        assert_eq!(payload, [round]);
    }
}

#[test]
fn full_cache_of_address_handles_replaces_the_oldest() {
    let _lab = lab();
    let mut one = Node::new("rxe0", |config| config.address_handles = 2);
    let mut other = Node::new("rxe1", |_| {});
    let mut to = path_to("rxe1");
    for flow in 0..6 {
        to.grh.as_mut().unwrap().flow_label = ib_mad::FlowLabel::masked(flow % 3);
        one.send(&to, other.pair.qpn(), &[flow as u8]);
        let Seen::Datagram { payload, .. } = other.datagram() else { unreachable!() };
        assert_eq!(payload, [flow as u8]);
        assert!(matches!(one.next(LIMIT_MS), Some(Seen::Sent(_))));
        if flow == 3 {
            one.pair.clear_address_handles();
        }
    }
}

#[test]
fn multicast_reaches_attached_queue_pairs_only() {
    let _lab = lab();
    let group: Gid = "ff0e::4001:ffff:3:400".parse().unwrap();
    let (mut one, mut other) = (Node::new("rxe0", |_| {}), Node::new("rxe1", |_| {}));
    let _joined = join_ip(group, "v1");
    let mlid = Lid::new(0xc001);
    other.pair.attach(group, mlid).unwrap();
    other.pair.attach(group, mlid).unwrap();
    one.send(&path_to_gid(group), Qpn::MULTICAST, b"who has node7?");
    let (from, to, qpn) = (Some(gid("rxe0")), Some(group), one.pair.qpn());
    let payload = b"who has node7?".to_vec();
    assert_eq!(other.datagram(), Seen::Datagram { from, to, qpn, payload });
    other.pair.detach(group).unwrap();
    other.pair.detach(group).unwrap();
    one.send(&path_to_gid(group), Qpn::MULTICAST, b"lost");
    assert_eq!(other.next(300), None);
    assert_eq!(other.pair.attach(gid("rxe1"), mlid).unwrap_err().errno(), Some(Errno::EINVAL));
}

#[test]
fn failed_queue_pair_recovers_with_the_same_number_and_groups() {
    let _lab = lab();
    let group: Gid = "ff0e::4001:ffff:3:400".parse().unwrap();
    let (mut one, mut other) = (Node::new("rxe0", |_| {}), Node::new("rxe1", |_| {}));
    let _joined = join_ip(group, "v1");
    other.pair.attach(group, Lid::new(0xc001)).unwrap();
    let qpn = other.pair.qpn();
    let (there, back) = (path_to("rxe1"), path_to("rxe0"));
    for round in 0..30u8 {
        other.pair.flush().unwrap();
        let sent = other.pair.send(&back, one.pair.qpn(), Qkey::GSI, &[round]);
        // A send on the failed queue pair is either refused or completed.
        if let Ok(id) = sent {
            assert!(
                matches!(other.next(LIMIT_MS), Some(Seen::SendFailed(failed, _) | Seen::Sent(failed)) if failed == id)
            );
        }
        while other.poll().is_some() {}
        assert_eq!(other.pair.qpn(), qpn);
        one.send(&there, qpn, &[round]);
        assert!(matches!(other.datagram(), Seen::Datagram { payload, .. } if payload == [round]));
        one.send(&path_to_gid(group), Qpn::MULTICAST, &[round, 1]);
        assert!(matches!(other.datagram(), Seen::Datagram { payload, .. } if payload == [round, 1]));
        while one.poll().is_some() {}
    }
}

#[test]
fn too_long_packet_is_reported_and_does_no_harm() {
    let _lab = lab();
    let mut one = Node::new("rxe0", |config| config.max_payload = 1024);
    let mut other = Node::new("rxe1", |_| {});
    let there = path_to("rxe1");
    // 1024 bytes is the MTU of this link.
    for (round, len) in [1024, 257, 1024, 1000].into_iter().cycle().take(20).enumerate() {
        let round = round as u8;
        one.send(&there, other.pair.qpn(), &vec![round; len]);
        assert_eq!(other.next(LIMIT_MS), Some(Seen::TooLong(len as u32, one.pair.qpn())));
        one.send(&there, other.pair.qpn(), &[round]);
        assert!(matches!(other.datagram(), Seen::Datagram { payload, .. } if payload == [round]));
        while one.poll().is_some() {}
    }
}

#[test]
fn queue_pair_keeps_number_and_groups_with_another_pkey_index() {
    let _lab = lab();
    let group: Gid = "ff0e::4001:ffff:3:400".parse().unwrap();
    let (mut one, mut other) = (Node::new("rxe0", |_| {}), Node::new("rxe1", |_| {}));
    let _joined = join_ip(group, "v1");
    other.pair.attach(group, Lid::new(0xc001)).unwrap();
    let qpn = other.pair.qpn();
    // The completion queue is full of completions that were not polled: the restart must make room.
    let there = path_to("rxe1");
    for round in 0..8 {
        let id = one.send(&there, qpn, &[round]);
        assert_eq!(one.next(LIMIT_MS), Some(Seen::Sent(id)));
    }
    // Soft-RoCE accepts every index and ignores it.
    for index in [1, 0] {
        other.pair.set_pkey_index(index).unwrap();
        assert_eq!((other.pair.qpn(), other.pair.config().pkey_index), (qpn, index));
        one.send(&there, qpn, b"back");
        assert!(matches!(other.datagram(), Seen::Datagram { payload, .. } if payload == b"back"));
        one.send(&path_to_gid(group), Qpn::MULTICAST, b"group");
        assert!(matches!(other.datagram(), Seen::Datagram { payload, .. } if payload == b"group"));
        while one.poll().is_some() {}
    }
    let missing = UdQueuePair::new(&other.context, UdConfig::new(9, 0)).unwrap_err();
    assert_eq!(missing.errno(), Some(Errno::EINVAL));
}

#[test]
fn completions_name_their_queue_pair() {
    let _lab = lab();
    let mut one = Node::new("rxe0", |_| {});
    let context = Context::open("rxe1").unwrap();
    let config = UdConfig { recv_depth: 4, send_depth: 4, ..UdConfig::new(1, 0) };
    let mut pairs: Vec<_> = (0..3).map(|_| UdQueuePair::new(&context, config).unwrap()).collect();
    let there = path_to("rxe1");
    for target in [2, 0, 1] {
        one.send(&there, pairs[target].qpn(), &[target as u8]);
        let key = wait_for(context.completion_fd(), "completion", || context.next_completion().unwrap());
        assert_eq!(key, pairs[target].key());
        let Some(Completion::Received(datagram)) = pairs[target].poll().unwrap() else { panic!("no datagram") };
        assert_eq!(datagram.payload, [target as u8]);
    }
    // The queue pair is dropped with a completion that was not polled.
    one.send(&there, pairs[0].qpn(), &[9]);
    pairs.remove(0);
    assert!(pairs.iter_mut().all(|pair| pair.poll().unwrap().is_none()));
}
