//! MADs between two devices.
use crate::lab::{lab, path_to, poll_for, port, wait_for};
use core::time::Duration;
use ib_device::{
    Error,
    umad::{Agent, AgentId, Expect, MadAddress, Methods, ReceiveBuffer, Rmpp, UmadPort},
};
use ib_mad::{AttributeId, MadHeader, Method, MgmtClass, TransactionId, as_bytes};
use nix::errno::Errno;

const GET: Method = Method::GET;
const GET_RESPONSE: Method = Method::new(0x81);
const GET_TABLE: Method = Method::new(0x12);
const GET_TABLE_RESPONSE: Method = Method::new(0x92);

fn open(device: &str) -> UmadPort {
    UmadPort::open(&port(device).umad.unwrap().path).unwrap()
}

fn to(device: &str) -> MadAddress {
    MadAddress::general_services(path_to(device), 0)
}

fn mad(class: MgmtClass, version: u8, method: Method, tid: u64, len: usize) -> Vec<u8> {
    let header = MadHeader::new(class, version, method, AttributeId::new(1), TransactionId::new(tid));
    let mut bytes = as_bytes(&header).to_vec();
    bytes.resize(len, 0x5a);
    bytes
}

/// A copy of a received frame.
#[derive(Debug)]
struct Frame {
    agent: AgentId,
    method: Method,
    tid: u64,
    failure: Option<Errno>,
    bytes: Vec<u8>,
    from_gid: String,
}

fn receive(umad: &UmadPort, what: &str) -> Frame {
    let mut buffer = ReceiveBuffer::default();
    wait_for(umad, what, || take(umad, &mut buffer))
}

fn take(umad: &UmadPort, buffer: &mut ReceiveBuffer) -> Option<Frame> {
    let received = umad.receive(buffer).unwrap()?;
    let header = received.mad_header().unwrap();
    Some(Frame {
        agent: received.agent(),
        method: header.method,
        tid: header.transaction_id.get(),
        failure: received.failure(),
        bytes: received.mad.to_vec(),
        from_gid: received.header.gid.to_string(),
    })
}

#[test]
fn request_and_response_reach_the_right_agents() {
    let _lab = lab();
    let (mut client, mut server) = (open("rxe0"), open("rxe1"));
    let other = client.register(&Agent::client(MgmtClass::SUBN_ADM, 2)).unwrap();
    let client_agent = client.register(&Agent::client(MgmtClass::ACM, 1)).unwrap();
    let server_agent = server.register(&Agent::client(MgmtClass::ACM, 1).serving(Methods::NONE.with(GET))).unwrap();
    assert_ne!(other, client_agent);
    let (there, back, from) = (to("rxe1"), to("rxe0"), port("rxe0").gids[0].gid.to_string());
    for tid in 1..=3 {
        let expect = Expect::Response { timeout: Duration::from_secs(20), retries: 0 };
        let request = mad(MgmtClass::ACM, 1, GET, tid, 256);
        client.send(client_agent, &there, expect, &request).unwrap();
        let frame = receive(&server, "request");
        assert_eq!((frame.agent, frame.method, frame.failure, frame.bytes.len()), (server_agent, GET, None, 256));
        assert_eq!((frame.tid & 0xffff_ffff, frame.bytes[24..].to_vec()), (tid, request[24..].to_vec()));
        assert_eq!(frame.from_gid, from);
        let response = mad(MgmtClass::ACM, 1, GET_RESPONSE, frame.tid, 100);
        server.send(server_agent, &back, Expect::Nothing, &response).unwrap();
        let frame = receive(&client, "response");
        assert_eq!((frame.agent, frame.method, frame.failure), (client_agent, GET_RESPONSE, None));
        assert_eq!((frame.tid & 0xffff_ffff, &frame.bytes[24..100]), (tid, &response[24..]));
        assert!(frame.bytes[100..].iter().all(|byte| *byte == 0), "padded with zeros");
    }
}

#[test]
fn request_without_response_times_out() {
    let _lab = lab();
    let mut client = open("rxe0");
    let agent = client.register(&Agent::client(MgmtClass::ACM, 1)).unwrap();
    let request = mad(MgmtClass::ACM, 1, GET_TABLE, 77, 256);
    let expect = Expect::Response { timeout: Duration::from_millis(50), retries: 2 };
    client.send(agent, &to("rxe1"), expect, &request).unwrap();
    let frame = receive(&client, "time-out");
    assert_eq!((frame.agent, frame.failure, frame.tid & 0xffff_ffff), (agent, Some(Errno::ETIMEDOUT), 77));
    assert_eq!((frame.method, frame.bytes.len()), (GET_TABLE, 24));
    client.send(agent, &to("rxe1"), Expect::Nothing, &request).unwrap();
    let mut buffer = ReceiveBuffer::default();
    assert!(poll_for(&client, 300, || take(&client, &mut buffer)).is_none());
}

#[test]
fn kernel_refuses_a_get_without_a_serving_agent() {
    let _lab = lab();
    let mut client = open("rxe0");
    let agent = client.register(&Agent::client(MgmtClass::ACM, 1)).unwrap();
    let expect = Expect::Response { timeout: Duration::from_secs(20), retries: 0 };
    client.send(agent, &to("rxe1"), expect, &mad(MgmtClass::ACM, 1, GET, 78, 256)).unwrap();
    let frame = receive(&client, "response");
    assert_eq!((frame.agent, frame.failure, frame.tid & 0xffff_ffff), (agent, None, 78));
    // "Method and attribute not supported" (IBTA 13.4.7).
    assert_eq!((frame.method, &frame.bytes[4..6]), (GET_RESPONSE, &[0, 0x0c][..]));
}

#[test]
fn method_has_one_agent_until_it_is_unregistered() {
    let _lab = lab();
    let (one, other) = (open("rxe0"), open("rxe0"));
    let serving = Agent::client(MgmtClass::ACM, 1).serving(Methods::NONE.with(GET));
    let agent = one.register(&serving).unwrap();
    assert_eq!(other.register(&serving).unwrap_err().errno(), Some(Errno::EINVAL));
    other.register(&serving.serving(Methods::NONE.with(Method::SET))).unwrap();
    one.unregister(agent).unwrap();
    assert_eq!(one.unregister(agent).unwrap_err().errno(), Some(Errno::EINVAL));
    other.register(&serving).unwrap();
    drop(other);
    one.register(&serving).unwrap();
    one.register(&Agent::client(MgmtClass::SUBN_ADM, 2).with_rmpp(Rmpp::Program)).unwrap();
}

#[test]
fn send_without_grh_and_short_mad_are_refused() {
    let _lab = lab();
    let mut client = open("rxe0");
    let agent = client.register(&Agent::client(MgmtClass::ACM, 1)).unwrap();
    let without_grh = MadAddress::general_services(ib_mad::AddressVector::default(), 0);
    let request = mad(MgmtClass::ACM, 1, GET, 1, 256);
    let refused = client.send(agent, &without_grh, Expect::Nothing, &request).unwrap_err();
    assert_eq!(refused.errno(), Some(Errno::EINVAL));
    let short = client.send(agent, &to("rxe1"), Expect::Nothing, &request[..35]).unwrap_err();
    assert!(matches!(short, Error::Length { got: 35, .. }), "{short}");
    let missing = UmadPort::open("/dev/infiniband/umad99".as_ref()).unwrap_err();
    assert_eq!(missing.errno(), Some(Errno::ENOENT));
}

#[test]
fn long_response_arrives_in_one_piece_by_rmpp() {
    let _lab = lab();
    let (mut client, mut server) = (open("rxe0"), open("rxe1"));
    let class = Agent::client(MgmtClass::SUBN_ADM, 2).with_rmpp(Rmpp::Kernel);
    let client_agent = client.register(&class).unwrap();
    let server_agent = server.register(&class.serving(Methods::NONE.with(GET_TABLE))).unwrap();
    let mut buffer = ReceiveBuffer::default();
    // The first response is longer than the initial buffer. The shorter second one must not contain bytes of the first.
    let (there, back) = (to("rxe1"), to("rxe0"));
    for (tid, len) in [(5, 56 + 200 * 150), (6, 56 + 200 * 2)] {
        let mut request = mad(MgmtClass::SUBN_ADM, 2, GET_TABLE, tid, 256);
        request[24..36].fill(0);
        let expect = Expect::Response { timeout: Duration::from_secs(20), retries: 0 };
        client.send(client_agent, &there, expect, &request).unwrap();
        let frame = receive(&server, "request");
        let mut response = mad(MgmtClass::SUBN_ADM, 2, GET_TABLE_RESPONSE, frame.tid, len);
        // RMPP version 1, type DATA, flag "active"; the SA header follows at 36.
        response[24..36].copy_from_slice(&[1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for (at, byte) in response[56..].iter_mut().enumerate() {
            *byte = (at % 251) as u8;
        }
        let expect = Expect::Response { timeout: Duration::from_secs(20), retries: 1 };
        server.send(server_agent, &back, expect, &response).unwrap();
        let frame = wait_for(&client, "table", || take(&client, &mut buffer));
        assert_eq!((frame.method, frame.failure, frame.tid & 0xffff_ffff), (GET_TABLE_RESPONSE, None, tid));
        assert!(frame.bytes.len() >= len, "{} of {len}", frame.bytes.len());
        assert_eq!(&frame.bytes[56..len], &response[56..]);
    }
}
