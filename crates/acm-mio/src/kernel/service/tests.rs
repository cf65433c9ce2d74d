//! Datagrams of the kernel, and the responses to them.
use super::*;
use crate::testing::captured_log;
use acm_wire::netlink::{
    FLAG_ERROR, FLAG_REQUEST, IpResolveRequest, KernelResponse, MAX_REQUEST, PathUse, ResolveHeader, SetTimeout,
};
use ib_mad::{Lid, Pkey, ServiceId, wire::Host16, wire::Host32};

const PORT_ID: u32 = 77;

fn request() -> ResolveRequest {
    ResolveRequest {
        header: ResolveHeader { device_name: Text::new(b"mlx5_0"), port: 2, path_use: PathUse::ALL },
        service_id: Some(ServiceId::new(0x0106_03db)),
        dgid: Some("fe80::2".parse().unwrap()),
        sgid: Some("fe80::1".parse().unwrap()),
        traffic_class: Some(5),
        pkey: Some(Pkey::new(0x8001)),
        qos_class: Some(0x123),
    }
}

fn encode(request: &ResolveRequest, sequence: u32) -> Vec<u8> {
    let mut buffer = [0; MAX_REQUEST];
    let used = request.encode(sequence, &mut buffer).unwrap();
    buffer[..used].to_vec()
}

/// Parses a response as the kernel does. Returns its sequence number and the rest.
fn parsed_response(bytes: &[u8]) -> (u32, KernelResponse<'_>) {
    let message = messages(bytes).next().unwrap().unwrap();
    assert_eq!(message.header.port_id.get(), PORT_ID);
    assert!(!message.header.is_request());
    (message.header.sequence.get(), message.response().unwrap())
}

// docs/deviations.md: kernel-port
#[test]
fn attributes_of_a_request_reach_the_core_and_the_response_its_request() {
    let mut service = Service::new(PORT_ID);
    let found = service.parse(&encode(&request(), 9));
    let [received] = found.requests[..] else { panic!("{found:?}") };
    assert!(found.refusals.is_empty());
    assert_eq!(received.port, Some(SourcePort { device: Text::new(b"mlx5_0"), number: 2 }));
    let path = received.path;
    assert_eq!((path.service_id, path.dgid), (ServiceId::new(0x0106_03db), "fe80::2".parse().unwrap()));
    assert_eq!((path.sgid, path.traffic_class), ("fe80::1".parse().unwrap(), 5));
    assert_eq!((path.pkey.get(), path.qos_sl.qos_class(), path.dlid), (0x8001, 0x123, Lid::NONE));
    let path = PathRecord { dlid: Lid::new(7), ..path };
    let response = service.respond(received.id, Ok(path)).unwrap();
    let flags = PathFlags::PRIMARY | PathFlags::GMP | PathFlags::OUTBOUND | PathFlags::INBOUND_REVERSE;
    assert_eq!(parsed_response(response.as_bytes()), (9, KernelResponse::Path { flags, path: &path }));
    assert_eq!(service.respond(received.id, Ok(path)), None, "a second response");
}

#[test]
fn unexpected_message_is_logged_once_with_its_outcome() {
    let log = captured_log(tracing::Level::INFO, || {
        let mut service = Service::new(PORT_ID);
        for _ in 0..2 {
            service.log_once(Oddity::Type(0xffff), &"something");
            service.log_once(Oddity::Type(MessageType::Resolve.into_raw()), &"a request");
        }
    });
    let lines: Vec<&str> = log.lines().map(|line| line.rsplit("kernel: ").next().unwrap_or_default()).collect();
    assert_eq!(lines, ["something; said once", "a request; an error is answered; said once"]);
}

#[test]
fn message_of_netlink_itself_is_neither_logged_nor_answered() {
    for raw_type in [0, 1, 4, 15, 16] {
        let mut bytes = encode(&request(), 9);
        bytes[4..6].copy_from_slice(&u16::to_ne_bytes(raw_type));
        let mut service = Service::new(PORT_ID);
        let mut found = KernelDatagram::default();
        let log = captured_log(tracing::Level::INFO, || found = service.parse(&bytes));
        let is_ignored = log.is_empty() && found.requests.is_empty() && found.refusals.is_empty();
        assert_eq!(is_ignored, raw_type < 16, "{raw_type}: {log}");
    }
}

#[test]
fn unexpected_messages_are_logged_up_to_a_bound() {
    let log = captured_log(tracing::Level::INFO, || {
        let mut service = Service::new(1);
        for number in 0..70 {
            service.log_once(Oddity::Attribute(number), &format_args!("odd"));
        }
        service.log_once(Oddity::Attribute(0), &format_args!("odd"));
    });
    assert_eq!(log.matches("odd").count(), 64, "{log}");
}

#[test]
fn requests_of_one_datagram_may_be_answered_in_any_order() {
    let mut service = Service::new(PORT_ID);
    let uses = [PathUse::ALL, PathUse::UNIDIRECTIONAL, PathUse::GMP];
    let datagram: Vec<u8> = (0..30)
        .flat_map(|number| {
            let header = ResolveHeader { path_use: uses[number as usize % 3], ..request().header };
            encode(&ResolveRequest { header, ..request() }, number)
        })
        .collect();
    let requests = service.parse(&datagram).requests;
    assert_eq!(requests.len(), 30);
    for (number, request) in (0..30).zip(&requests).rev() {
        let path = if number % 2 == 0 { Ok(request.path) } else { Err(Failure::KernelDeadline) };
        let response = service.respond(request.id, path).unwrap();
        let flags = uses[number as usize % 3].response_flags();
        let expected = path.as_ref().map_or(KernelResponse::Failed, |path| KernelResponse::Path { flags, path });
        assert_eq!(parsed_response(response.as_bytes()), (number, expected));
    }
    assert!(service.pending.is_empty());
}

fn datagram_type(datagram: &[u8]) -> u16 {
    messages(datagram).next().unwrap().unwrap().header.raw_type.get()
}

#[test]
fn request_that_cannot_be_served_is_refused() {
    let mut service = Service::new(PORT_ID);
    let mut unknown_operation = encode(&request(), 2);
    unknown_operation[4..6].copy_from_slice(&0x1005_u16.to_ne_bytes());
    // The traffic class becomes attribute 31, which is mandatory as well.
    let mut mandatory = encode(&request(), 3);
    let at = mandatory.windows(2).rposition(|bytes| bytes == (1_u16 << 13 | 6).to_ne_bytes()).unwrap();
    mandatory[at..at + 2].copy_from_slice(&(1_u16 << 13 | 31).to_ne_bytes());
    let mut optional = encode(&request(), 4);
    optional[at..at + 2].copy_from_slice(&31_u16.to_ne_bytes());
    let mut cut = encode(&request(), 5);
    cut.truncate(60);
    cut[..4].copy_from_slice(&60_u32.to_ne_bytes());
    for (sequence, datagram) in [(2, &unknown_operation), (3, &mandatory), (5, &cut)] {
        let found = service.parse(datagram);
        assert!(found.requests.is_empty(), "{sequence}");
        let [refused] = found.refusals[..] else { panic!("{sequence}: {found:?}") };
        assert_eq!((refused.sequence.get(), refused.raw_type.get()), (sequence, datagram_type(datagram)));
        assert_eq!((refused.length.get(), refused.flags.get(), refused.port_id.get()), (16, FLAG_ERROR, PORT_ID));
    }
    let found = service.parse(&optional);
    assert_eq!((found.requests.len(), found.requests[0].path.traffic_class), (1, 0), "an optional one is ignored");
    assert_eq!(service.logged.len(), 3, "each kind is logged: {:?}", service.logged);
    service.parse(&unknown_operation);
    assert_eq!(service.logged.len(), 3, "and once");
}

// docs/deviations.md: kernel-ip
#[test]
fn request_for_an_address_is_answered_with_its_gid() {
    let mut service = Service::new(PORT_ID);
    for (sequence, address) in [(1, "10.0.0.1"), (2, "fd00::1")] {
        let mut buffer = [0; MAX_REQUEST];
        let ip = IpResolveRequest { interface_index: 5, address: address.parse().unwrap() };
        let used = ip.encode(sequence, &mut buffer).unwrap();
        let found = service.parse(&buffer[..used]);
        let [received] = found.addresses[..] else { panic!("{found:?}") };
        assert_eq!((received.interface, received.address), (5, ip.address));
        assert!(found.requests.is_empty() && found.refusals.is_empty());
        let path = PathRecord { dgid: "fe80::2".parse().unwrap(), ..PathRecord::default() };
        let (expected, result) = match sequence {
            1 => (KernelResponse::Gid(path.dgid), Ok(path)),
            _ => (KernelResponse::Failed, Err(Failure::NoSource)),
        };
        let response = service.respond(received.id, result).unwrap();
        assert_eq!(parsed_response(response.as_bytes()), (sequence, expected));
    }
    assert!(service.pending.is_empty());
}

#[test]
fn time_out_of_the_kernel_is_followed_within_its_bounds() {
    let timeout = |ms| Service::timeout(as_bytes(&SetTimeout::new(1, 1, Duration::from_millis(ms))));
    assert_eq!(
        [99, 100, 5000, 200_000, 200_001].map(|ms| timeout(ms).map(|timeout| timeout.as_millis())),
        [None, Some(100), Some(5000), Some(200_000), None]
    );
    assert_eq!(Service::timeout(&encode(&request(), 1)), None);
    assert_eq!(Service::timeout(&[1; 9]), None);
}

#[test]
fn messages_that_are_no_requests_get_no_response() {
    let mut service = Service::new(PORT_ID);
    let requests = service.parse(&encode(&request(), 1)).requests;
    let path = service.respond(requests[0].id, Ok(PathRecord::default())).unwrap();
    let failed = error_response(&NlHeader::default(), 1);
    let timeout = SetTimeout::new(1, 1, Duration::from_secs(1));
    // NLMSG_ERROR: the kernel reports an error about a response.
    let acknowledgement = NlHeader { length: Host32::new(16), raw_type: Host16::new(2), ..NlHeader::default() };
    let mut foreign = encode(&request(), 2);
    foreign[4..6].copy_from_slice(&(5_u16 << 10).to_ne_bytes());
    let silent: [&[u8]; 7] =
        [path.as_bytes(), as_bytes(&failed), as_bytes(&timeout), as_bytes(&acknowledgement), &foreign, &[], &[1; 9]];
    for datagram in silent {
        assert_eq!(service.parse(datagram), KernelDatagram::default(), "{datagram:?}");
    }
    let flagged = NlHeader {
        flags: Host16::new(FLAG_REQUEST | FLAG_ERROR),
        ..*messages(&encode(&request(), 3)).next().unwrap().unwrap().header
    };
    assert_eq!(service.parse(as_bytes(&NlHeader { length: Host32::new(16), ..flagged })), KernelDatagram::default());
}

#[test]
fn request_without_a_device_has_no_port() {
    let header = ResolveHeader { device_name: Text::default(), ..request().header };
    let found = Service::new(PORT_ID).parse(&encode(&ResolveRequest { header, ..request() }, 1));
    assert_eq!(found.requests[0].port, None);
}
