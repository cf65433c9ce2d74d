extern crate std;
use super::*;
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    DecodeError, Gid, Lid, Pkey, ServiceId, Wire, as_bytes,
    sa::PathRecord,
    wire::{Host16, Host32, Text},
};
use proptest::prelude::*;
use std::{string::ToString, vec, vec::Vec};

const DGID: &str = "fe80::2:c903:0:21";

fn full() -> ResolveRequest {
    ResolveRequest {
        header: ResolveHeader { device_name: Text::new(b"mlx5_0"), port: 1, path_use: PathUse::ALL },
        service_id: Some(ServiceId::new(0x0000_0000_0106_03db)),
        dgid: Some(DGID.parse().unwrap()),
        sgid: Some("fe80::2:c903:0:11".parse().unwrap()),
        traffic_class: Some(5),
        pkey: Some(Pkey::DEFAULT_FULL),
        qos_class: None,
    }
}

fn encode(request: &ResolveRequest) -> Vec<u8> {
    let mut buffer = [0xaa; MAX_REQUEST];
    let used = request.encode(7, &mut buffer).unwrap();
    buffer[..used].to_vec()
}

fn only(datagram: &[u8]) -> NlMessage<'_> {
    let mut all = messages(datagram);
    let message = all.next().unwrap().unwrap();
    assert_eq!(all.next(), None);
    message
}

/// Returns a message with the given attributes (raw type, value), each padded.
fn raw(message_type: MessageType, fixed: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    bytes.extend(fixed);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for (kind, value) in attributes {
        bytes.extend(u16::try_from(4 + value.len()).unwrap().to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(*value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    let header = NlHeader {
        length: Host32::new(bytes.len().try_into().unwrap()),
        raw_type: Host16::new(message_type.into_raw()),
        flags: Host16::new(FLAG_REQUEST),
        ..NlHeader::default()
    };
    bytes[..16].copy_from_slice(as_bytes(&header));
    bytes
}

/// Offsets and numbers are from linux/rdma_netlink.h. Observed requests of the kernel had 140 to 152 bytes and
/// attribute types 0x2003 to 0x2007.
#[test]
#[cfg(target_endian = "little")]
fn requests_have_the_kernels_layout() {
    let bytes = encode(&full());
    assert_eq!(bytes.len(), 152);
    assert_eq!(bytes[..16], [152, 0, 0, 0, 0, 0x10, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[16..23], *b"mlx5_0\0");
    assert_eq!(bytes[80..84], [1, 0, 0, 0]);
    assert_eq!(bytes[84..96], [12, 0, 3, 0x20, 0xdb, 3, 6, 1, 0, 0, 0, 0]);
    assert_eq!(bytes[96..102], [20, 0, 4, 0x20, 0xfe, 0x80]);
    assert_eq!(bytes[116..122], [20, 0, 5, 0x20, 0xfe, 0x80]);
    assert_eq!(bytes[136..144], [5, 0, 6, 0x20, 5, 0, 0, 0]);
    assert_eq!(bytes[144..152], [6, 0, 7, 0x20, 0xff, 0xff, 0, 0]);
    let none = ResolveRequest { service_id: None, ..full() };
    assert_eq!(encode(&none).len(), 140);

    let ip = IpResolveRequest { interface_index: 3, address: "10.0.0.1".parse().unwrap() };
    let mut buffer = [0; 28];
    assert_eq!(ip.encode(1, &mut buffer), Ok(28));
    assert_eq!(buffer[4..6], [2, 0x10]);
    assert_eq!(buffer[16..], [3, 0, 0, 0, 8, 0, 9, 0x20, 10, 0, 0, 1]);
}

#[test]
#[cfg(target_endian = "little")]
fn responses_have_the_kernels_layout() {
    let request = encode(&full());
    let header = only(&request).header;
    let path = PathRecord { dlid: Lid::new(0x1234), ..PathRecord::default() };
    let response = PathResponse::new(header, 4242, PathUse::ALL.response_flags(), path);
    let bytes = as_bytes(&response);
    assert_eq!(bytes[..16], [92, 0, 0, 0, 0, 0x10, 0, 0, 7, 0, 0, 0, 0x92, 0x10, 0, 0]);
    assert_eq!(bytes[16..28], [76, 0, 1, 0, 0x2b, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[28 + 40..28 + 42], [0x12, 0x34]);
    assert_eq!(PathUse::UNIDIRECTIONAL.response_flags().bits(), 0x0a);
    assert_eq!(PathUse::GMP.response_flags().bits(), 0x2b);
    assert_eq!(as_bytes(&error_response(header, 4242)), [16, 0, 0, 0, 0, 0x10, 0, 1, 7, 0, 0, 0, 0x92, 0x10, 0, 0]);
    let response = IpResponse::new(header, 1, DGID.parse().unwrap());
    assert_eq!(as_bytes(&response)[16..22], [20, 0, 4, 0, 0xfe, 0x80]);
    let set = SetTimeout::new(1, 2, Duration::from_secs(3));
    assert_eq!(as_bytes(&set)[..8], [24, 0, 0, 0, 1, 0x10, 1, 0]);
    assert_eq!(as_bytes(&set)[16..], [8, 0, 2, 0, 0xb8, 0x0b, 0, 0]);
}

#[test]
fn responses_are_read_as_written() {
    let request = encode(&full());
    let header = only(&request).header;
    assert!(header.is_request());
    let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
    let response = PathResponse::new(header, 1, PathFlags::PRIMARY, path);
    let message = only(as_bytes(&response));
    assert_eq!(message.response(), Ok(KernelResponse::Path { flags: PathFlags::PRIMARY, path: &path }));
    assert!(!message.header.is_request() && message.header.sequence == header.sequence);
    let failed = error_response(header, 1);
    assert_eq!(only(as_bytes(&failed)).response(), Ok(KernelResponse::Failed));
    assert_eq!(only(as_bytes(&failed)).request(), Err(KernelMessageError::ErrorResponse));
    let other = raw(MessageType::Resolve, &[], &[(4, &[0; 16])]);
    assert_eq!(only(&other).response(), Err(KernelMessageError::Missing(AttributeType::PATH_RECORD)));

    let ip = IpResolveRequest { interface_index: 3, address: "fd00::1".parse().unwrap() };
    let mut buffer = [0; MAX_REQUEST];
    let used = ip.encode(1, &mut buffer).unwrap();
    let message = only(&buffer[..used]);
    assert_eq!(message.request(), Ok(KernelRequest::IpResolve(ip)));
    let gid: Gid = DGID.parse().unwrap();
    assert_eq!(only(as_bytes(&IpResponse::new(message.header, 1, gid))).response(), Ok(KernelResponse::Gid(gid)));
}

#[test]
fn unknown_attribute_is_rejected_only_if_mandatory() {
    let fixed = [0; 66];
    let ask = |attributes: &[(u16, &[u8])]| only(&raw(MessageType::Resolve, &fixed, attributes)).request();
    let dgid = [1; 16];
    let expected = KernelRequest::Resolve(ResolveRequest { dgid: Some(Gid::new(dgid)), ..ResolveRequest::default() });
    assert_eq!(ask(&[(99, b"new"), (0x2004, &dgid), (10, &[0; 16])]), Ok(expected));
    // Netlink's own flags are ignored.
    assert_eq!(ask(&[(0xc004, &dgid)]), Ok(expected));
    assert_eq!(
        ask(&[(0x2004, &dgid), (0x2063, b"new")]),
        Err(KernelMessageError::UnknownMandatory(AttributeType::new(99)))
    );
    assert_eq!(ask(&[(0x2009, &[0; 4])]), Err(KernelMessageError::UnknownMandatory(AttributeType::IPV4)));
    assert_eq!(ask(&[(4, &[9; 16]), (4, &dgid)]), Ok(expected));
    assert_eq!(ask(&[]), Ok(KernelRequest::Resolve(ResolveRequest::default())));
    assert_eq!(
        only(&raw(MessageType::IpResolve, &[0; 4], &[(99, b"")])).request(),
        Err(KernelMessageError::Missing(AttributeType::IPV4))
    );
    assert_eq!(
        only(&raw(MessageType::SetTimeout, &[], &[])).request(),
        Err(KernelMessageError::Missing(AttributeType::TIMEOUT))
    );
}

#[test]
fn wrong_lengths_are_rejected() {
    let sizes = [(3, 8), (4, 16), (5, 16), (6, 1), (7, 2), (8, 2)];
    for (kind, size) in sizes {
        let value = [0; 17];
        for length in 0..=17 {
            let got = only(&raw(MessageType::Resolve, &[0; 66], &[(kind, &value[..length])])).request();
            match got {
                Ok(_) => assert_eq!(length, size, "{kind}"),
                Err(KernelMessageError::Malformed(DecodeError::TooShort { need, got, .. })) => {
                    assert!(need == size && got == length && length < size);
                }
                Err(KernelMessageError::Malformed(DecodeError::BadValue { .. })) => assert!(length > size),
                Err(error) => panic!("{error}"),
            }
        }
    }
    // An attribute that ends after its message, or is shorter than its header.
    for length in [3_u16, 0, 200] {
        let mut bytes = encode(&full());
        bytes[96..98].copy_from_slice(&length.to_ne_bytes());
        let error = DecodeError::BadValue { what: "nlattr.length", value: length.into() };
        assert_eq!(only(&bytes).request(), Err(KernelMessageError::Malformed(error)));
    }
    // A message that ends after its datagram, or is shorter than its header.
    for length in [15_u32, 0, 153, u32::MAX] {
        let mut bytes = encode(&full());
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        let error = DecodeError::BadValue { what: "nlmsghdr.length", value: length.into() };
        assert_eq!(messages(&bytes).collect::<Vec<_>>(), [Err(error)]);
    }
    let mut small = [0; 151];
    assert_eq!(full().encode(1, &mut small), Err(NoRoom { need: 152, got: 151 }));
    assert_eq!(full().encode(1, &mut []), Err(NoRoom { need: 84, got: 0 }));
}

#[test]
fn each_message_of_a_datagram_is_read_by_itself() {
    let other = raw(MessageType::Other { client: 5, operation: 1 }, b"x", &[]);
    let unknown = raw(MessageType::Other { client: 4, operation: 9 }, &[], &[]);
    // The length of a message need not be a multiple of 4; the next message starts at the next multiple of 4.
    let mut odd = encode(&full());
    odd[..4].copy_from_slice(&150_u32.to_ne_bytes());
    let datagram = [odd.clone(), other, unknown, odd[..150].to_vec()].concat();
    let seen: Vec<_> = messages(&datagram).map(|message| message.unwrap().request()).collect();
    assert_eq!(
        seen,
        [
            Ok(KernelRequest::Resolve(full())),
            Err(KernelMessageError::OtherClient { client: 5, operation: 1 }),
            Err(KernelMessageError::UnknownOperation { operation: 9 }),
            Ok(KernelRequest::Resolve(full())),
        ]
    );
    assert_eq!(seen[1].unwrap_err().to_string(), "a message of netlink client 5, operation 1");
    let cut: Vec<_> = messages(&datagram[..datagram.len() - 149]).collect();
    assert!(cut.len() == 4 && cut[..3].iter().all(Result::is_ok) && cut[3].is_err());
}

fn requests() -> impl Strategy<Value = ResolveRequest> {
    let header = (any::<[u8; 32]>(), any::<u8>(), any::<u8>()).prop_map(|(name, port, path_use)| ResolveHeader {
        device_name: Text::new(&name),
        port,
        path_use: PathUse::new(path_use),
    });
    let gids = any::<(Option<[u8; 16]>, Option<[u8; 16]>)>();
    let numbers = any::<(Option<u64>, Option<u8>, Option<u16>, Option<u16>)>();
    (header, gids, numbers).prop_map(|(header, (dgid, sgid), (service_id, traffic_class, pkey, qos_class))| {
        ResolveRequest {
            header,
            service_id: service_id.map(ServiceId::new),
            dgid: dgid.map(Gid::new),
            sgid: sgid.map(Gid::new),
            traffic_class,
            pkey: pkey.map(Pkey::new),
            qos_class,
        }
    })
}

proptest! {
    #[test]
    fn resolve_request_survives_a_round_trip(request in requests(), cut in 0_usize..160) {
        let bytes = encode(&request);
        prop_assert_eq!(only(&bytes).request(), Ok(KernelRequest::Resolve(request)));
        // A truncated message is an error.
        let cut = cut.min(bytes.len() - 1);
        prop_assert!(messages(&bytes[..cut]).all(|message| message.is_err()));
        let mut buffer = vec![0; cut];
        prop_assert!(request.encode(7, &mut buffer).is_err());
    }

    #[test]
    fn ip_resolve_request_survives_a_round_trip(interface_index: u32, address: IpAddr, sequence: u32) {
        let request = IpResolveRequest { interface_index, address };
        let mut buffer = [0; MAX_REQUEST];
        let used = request.encode(sequence, &mut buffer).unwrap();
        let message = only(&buffer[..used]);
        prop_assert_eq!(message.request(), Ok(KernelRequest::IpResolve(request)));
        prop_assert_eq!(message.header.sequence.get(), sequence);
    }

    #[test]
    fn set_timeout_survives_a_round_trip(ms: u32) {
        let time = Duration::from_millis(ms.into());
        prop_assert_eq!(only(as_bytes(&SetTimeout::new(1, 2, time))).request(), Ok(KernelRequest::SetTimeout(time)));
    }

    #[test]
    fn path_response_survives_a_round_trip(path in any::<[u8; 32]>(), flags: u32, sequence: u32) {
        let path = [path, path].concat();
        let path = PathRecord::parse(&path).unwrap();
        let request = NlHeader { sequence: Host32::new(sequence), raw_type: Host16::new(0x1000), ..NlHeader::default() };
        let flags = PathFlags::from_bits_retain(flags);
        let response = PathResponse::new(&request, 1, flags, *path);
        prop_assert_eq!(only(as_bytes(&response)).response(), Ok(KernelResponse::Path { flags, path }));
    }

    #[test]
    fn message_type_survives_a_round_trip(raw: u16) {
        prop_assert_eq!(MessageType::from_raw(raw).into_raw(), raw);
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzz::datagram(&bytes);
    }

    #[test]
    fn damaged_requests_do_not_panic(
        request in requests(),
        damage in proptest::collection::vec((0_usize..160, any::<u8>()), 0..4),
        operation in 0_u16..3,
    ) {
        let mut bytes = encode(&request);
        bytes[4..6].copy_from_slice(&(0x1000 | operation).to_ne_bytes());
        let length = bytes.len();
        damage.iter().for_each(|(position, byte)| bytes[position % length] = *byte);
        fuzz::datagram(&bytes);
    }
}
