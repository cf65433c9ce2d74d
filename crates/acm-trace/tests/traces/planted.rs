//! Names and addresses in every kind of packet, and the anonymized copy, which contains none of them.
use crate::common::{
    inputs::{INPUTS, input_number, input_of},
    outputs::{OUTPUTS, events, output_number, output_of},
    read, trace,
};
use acm_sansio::{
    Account, ClientId, EndpointId, Event, Input, KernelRequestId, Output, PortId, RequestId, SaRequestId,
    api::{
        CallId, DatagramSource, ExternalRequestId, ExternalSaId, ProviderCall, ProviderId, ProviderMessage,
        Publication, SaAddress, SaSend, SendTo,
    },
    port::InterfaceAddress,
    preload::{Hosts, Preload},
};
use acm_trace::{Entry, Fact, Mask, OwnedInput, anonymize};
use acm_wire::{
    Address,
    client::{EntryFlags, EpHead, Reply, conditional_request, ep_reply, perf_address_request, resolve_request},
};
use core::{mem::offset_of, net::IpAddr, time::Duration};
use ib_mad::{
    AddressVector, AttributeId, Gid, Lid, Method, MgmtClass, Qkey, Qpn, ServiceLevel, TransactionId,
    acm::AcmMad,
    sa::{NodeRecord, PathRecord, SaMad, ServiceRecord},
    smp::NodeDescription,
    wire::Text,
};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

const CLIENT: ClientId = ClientId::new(1, 0);
const ENDPOINT: EndpointId = EndpointId::new(1, 0);
const PROVIDER: ProviderId = ProviderId(1);
const TID: [u8; 8] = [7; 8];

/// The name, as in a packet and as a node description begins with it.
const NAME: &str = "plantedhost-17";

/// Byte sequences that must not be in the copy: each part of a name or an address that does not stay, as text, as bytes,
/// in hexadecimal digits and as numbers in JSON. The first 8 bits of an IPv4 address and the first 16 bits of an IPv6
/// address stay.
fn needles(address: &Address) -> Vec<Vec<u8>> {
    let text = address.to_string();
    let (bytes, part) = match address.ip() {
        Some(IpAddr::V4(ip)) => (ip.octets()[1..].to_vec(), 3),
        Some(IpAddr::V6(ip)) => (ip.octets()[2..].to_vec(), 4),
        None => (text.clone().into_bytes(), 7),
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let numbers = |bytes: &[u8]| serde_json::to_string(bytes).unwrap().trim_matches(['[', ']']).to_owned();
    let parts = bytes.windows(part).flat_map(|part| [hex(part).into(), numbers(part).into(), part.to_vec()]);
    let groups: Vec<_> = text.split(':').skip(1).collect();
    parts.chain(groups.windows(2).map(|pair| pair.join(":").into())).chain([text.clone().into()]).collect()
}

fn is_in(trace: &[u8], needles: &[Vec<u8>]) -> bool {
    needles.iter().any(|needle| trace.windows(needle.len()).any(|part| part == needle))
}

fn copy(original: &[u8]) -> Vec<u8> {
    let (copy, notes) = anonymize(original, Vec::new(), &Mask::new([3; 16])).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    copy
}

/// Every kind of input that may contain this address.
fn inputs(address: &Address) -> Vec<OwnedInput> {
    let port = PortId(1);
    let message = |message: Vec<u8>| OwnedInput::ClientMessage { client: CLIENT, message };
    let from_provider = |message| OwnedInput::Other(Input::Provider { provider: PROVIDER, message });
    let request = resolve_request(Some(address), address, EntryFlags::default(), TID).to_vec();
    let mut hosts = Hosts::builder();
    hosts.host(address, Gid::new([9; 16]));
    let mut inputs = vec![
        message(request.clone()),
        message(
            conditional_request(Some(address), address, &PathRecord::default(), EntryFlags::default(), TID).to_vec(),
        ),
        message(perf_address_request(address, TID).to_vec()),
        datagram(address),
        OwnedInput::Other(Input::AddressAdded { port, pkey: None, address: *address }),
        OwnedInput::Other(Input::AddressRemoved { port, pkey: None, address: *address }),
        OwnedInput::Other(Input::Preloaded(Preload::Hosts(hosts.finish().into()))),
        from_provider(ProviderMessage::ResolveResponse { request: ExternalRequestId::new(1, 0), message: request }),
    ];
    if let Some(ip) = address.ip() {
        let id = KernelRequestId(1);
        inputs.extend([
            OwnedInput::Other(Input::ClientOpened { client: CLIENT, account: Account::Peer(ip) }),
            OwnedInput::Other(Input::KernelAddressRequest { id, source: ip, dest: ip }),
            OwnedInput::Other(Input::SourceSelected { request: RequestId::new(1, 0), source: Some(ip) }),
            OwnedInput::Other(Input::Interfaces(vec![InterfaceAddress {
                gid: Gid::new([9; 16]),
                pkey: None,
                address: ip,
            }])),
        ]);
    } else {
        // Bytes that are no address by their type, and a name behind a zero.
        let mut unknown = resolve_request(None, address, EntryFlags::default(), TID).to_vec();
        unknown[16 + 4] = 0x77;
        unknown.copy_within(24..24 + NAME.len(), 24 + 1);
        unknown[24] = 0;
        let mut cut = unknown.clone();
        cut.truncate(24 + 1 + NAME.len());
        inputs.extend([message(unknown), message(cut)]);
        let (id, endpoint) = (ExternalSaId(1), ENDPOINT);
        inputs.extend(records(NAME).into_iter().flat_map(|mad| {
            let mad = ib_mad::as_bytes(&mad).to_vec();
            let response = OwnedInput::SaResponse { id: SaRequestId::new(1, 0), mad: mad.clone() };
            let report = OwnedInput::SaReport { port, lid: Lid::new(1), qpn: Qpn::of::<1>(), mad: mad.clone() };
            [response, report, from_provider(ProviderMessage::SaRequest { id, endpoint, mad })]
        }));
    }
    inputs
}

fn datagram(address: &Address) -> OwnedInput {
    let source = DatagramSource { lid: Lid::new(1), path_bits: 0, qpn: Qpn::of::<9>(), gid: None, group: None };
    OwnedInput::Datagram { endpoint: ENDPOINT, source, payload: ib_mad::as_bytes(&multicast(address)).to_vec() }
}

fn multicast(address: &Address) -> AcmMad {
    let mut mad = AcmMad { method: Method::GET, mgmt_class: MgmtClass::ACM, ..AcmMad::default() };
    let (kind, bytes) = address.encode();
    (mad.src_type, mad.dest_type, mad.src.0, mad.dest.0) = (kind, kind, bytes, bytes);
    mad
}

/// Records of the SA with text.
fn records(text: &str) -> [SaMad; 2] {
    let text_of = |text: &str| Text::new(text.as_bytes());
    let mut node = SaMad::request(Method::GET_RESP, AttributeId::NODE_RECORD, TransactionId::new(1));
    let node_description = NodeDescription { node_string: text_of(text) };
    let record = NodeRecord { node_description, ..NodeRecord::default() };
    node.data.0[..size_of::<NodeRecord>()].copy_from_slice(ib_mad::as_bytes(&record));
    let mut service = SaMad::request(Method::GET_RESP, AttributeId::SERVICE_RECORD, TransactionId::new(1));
    let mut record = ServiceRecord { service_name: text_of(text), ..ServiceRecord::default() };
    record.service_data8[..text.len()].copy_from_slice(text.as_bytes());
    service.data.0[..size_of::<ServiceRecord>()].copy_from_slice(ib_mad::as_bytes(&record));
    [node, service]
}

/// Every kind of output that may contain this address.
fn outputs(address: &Address) -> Vec<Output> {
    let call = |what| Output::Provider { provider: PROVIDER, call: Some(CallId::new(1, 0)), what };
    let (endpoint, source, request) = (ENDPOINT, *address, ExternalRequestId::new(1, 0));
    let to = SendTo { way: AddressVector::default(), qpn: Qpn::MULTICAST, qkey: Qkey::GSI };
    let message = resolve_request(Some(address), address, EntryFlags::default(), TID).to_vec();
    let resolved = Reply::resolved(TID, &PathRecord::default(), Some(address));
    let mut outputs = vec![
        Output::Reply { client: CLIENT, reply: resolved },
        Output::LongReply { client: CLIENT, bytes: listed(address) },
        Output::Send { endpoint, to, mad: multicast(address) },
        Output::Publish(Publication::Source { address: source, endpoint: None }),
        Output::Publish(Publication::Withdrawn { endpoint, dest: source }),
        Output::Publish(Publication::Path {
            endpoint,
            dest: source,
            path: PathRecord::default(),
            lifetime: Duration::ZERO,
        }),
        call(ProviderCall::AddAddress { endpoint, address: source }),
        call(ProviderCall::RemoveAddress { endpoint, address: source }),
        call(ProviderCall::Resolve { request, endpoint, source, message: message.clone() }),
        call(ProviderCall::Query { request, endpoint, source, message }),
    ];
    let attempt = acm_sansio::Failure::NoTurn.into();
    let with_address = events(*address, Gid::new([9; 16]), attempt, Duration::from_secs(1));
    outputs.extend(with_address.into_iter().filter(|event| event.dest().is_some()).map(Output::Log));
    if let Some(ip) = address.ip() {
        outputs.push(Output::SelectSource { request: RequestId::new(1, 0), dest: ip });
        outputs.push(Output::Log(Event::ConnectionClosed(CLIENT, Account::Peer(ip))));
    } else {
        outputs.extend(records(NAME).into_iter().flat_map(|mad| {
            let (id, port) = (SaRequestId::new(1, 0), PortId(1));
            let to = SaAddress { lid: Lid::new(1), sl: ServiceLevel::ZERO, pkey_index: 0 };
            let send = SaSend { port, id, to, mad, timeout: Duration::from_secs(1), retries: 1 };
            let response = ProviderCall::SaResponse { id: ExternalSaId(1), mad: mad.into() };
            [Output::SaSend(send), Output::SaReply { port, to, mad }, call(response)]
        }));
    }
    outputs
}

/// The listing of an endpoint with this address.
fn listed(address: &Address) -> Vec<u8> {
    let mut bytes = Vec::new();
    ep_reply(TID, 0, &EpHead::default(), [*address].iter(), |part| bytes.extend_from_slice(part));
    bytes
}

#[test]
fn no_kind_of_packet_keeps_a_name_or_an_ip_address() {
    for address in [NAME, "203.119.113.77", "2001:db8:7766:5544:3322:1199:dead:beef"].map(Address::from_text) {
        let needles = needles(&address);
        let facts = inputs(&address).into_iter().map(Fact::Input);
        let facts = facts.chain(outputs(&address).into_iter().map(|output| Fact::Output(output.into())));
        for fact in facts {
            let original = trace([&fact]);
            assert!(is_in(&original, &needles), "{address} is planted in {fact:?}");
            assert!(!is_in(&copy(&original), &needles), "the copy has {address} of {fact:?}");
        }
    }
}

/// Returns the response of a table: records at this distance, in units of 8 bytes, with one name each.
fn table(attribute: AttributeId, distance: u16, names: &[String]) -> Vec<u8> {
    let mut head = SaMad::request(Method::GET_RESP, attribute, TransactionId::new(1));
    head.sa.attribute_offset = distance.into();
    let mut bytes = ib_mad::as_bytes(&head)[..offset_of!(SaMad, data)].to_vec();
    for name in names {
        let [node, service] = records(name);
        let (mad, size) = match attribute {
            AttributeId::NODE_RECORD => (node, size_of::<NodeRecord>()),
            _ => (service, size_of::<ServiceRecord>()),
        };
        bytes.extend_from_slice(&mad.data.0[..size]);
        bytes.resize(bytes.len() + (usize::from(distance) * 8).saturating_sub(size), 0);
    }
    bytes
}

/// Everything with a list of names or addresses: no element of it stays, wherever it is in the list.
#[test]
fn no_record_of_a_table_keeps_a_name_or_an_ip_address() {
    let names: Vec<String> = ('a'..='g').map(|letter| format!("{letter}-planted{letter}host")).collect();
    let addresses = |texts: &[String]| texts.iter().map(|text| Address::from_text(text)).collect::<Vec<_>>();
    let ip4: Vec<String> = (1..8).map(|number| format!("203.{}.{}.77", 10 * number, 113 + number)).collect();
    let ip6: Vec<String> =
        (1..8).map(|number| format!("2001:db{number}:7766:554{number}:3322:1199:dead:bee{number}")).collect();
    let all = addresses(&[&names[..], &ip4, &ip6].concat());
    let needles = |addresses: &[Address]| addresses.iter().flat_map(needles).collect::<Vec<_>>();
    let check = |fact: Fact, addresses: &[Address]| {
        let original = trace([&fact]);
        for address in addresses {
            assert!(is_in(&original, &needles(&[*address])), "{address} is planted in {fact:?}");
        }
        assert!(!is_in(&copy(&original), &needles(addresses)), "{fact:?}");
    };
    let input = |input| Fact::Input(OwnedInput::Other(input));
    // An attribute offset of 0 is that of one record.
    let kinds = [(AttributeId::NODE_RECORD, 14), (AttributeId::NODE_RECORD, 20), (AttributeId::SERVICE_RECORD, 22)];
    for (attribute, distance) in kinds.into_iter().chain([(AttributeId::SERVICE_RECORD, 0)]) {
        for count in 1..=names.len() {
            let (mad, planted) = (table(attribute, distance, &names[..count]), addresses(&names[..count]));
            let (id, port, lid) = (ExternalSaId(1), PortId(1), Lid::new(1));
            let message = ProviderMessage::SaRequest { id, endpoint: ENDPOINT, mad: mad.clone() };
            check(input(Input::Provider { provider: PROVIDER, message }), &planted);
            check(Fact::Input(OwnedInput::SaReport { port, lid, qpn: Qpn::of::<1>(), mad: mad.clone() }), &planted);
            check(Fact::Input(OwnedInput::SaResponse { id: SaRequestId::new(1, 0), mad }), &planted);
        }
    }
    let mut hosts = Hosts::builder();
    all.iter().for_each(|address| hosts.host(address, Gid::new([9; 16])));
    check(input(Input::Preloaded(Preload::Hosts(hosts.finish().into()))), &all);
    let ips: Vec<_> = all.iter().filter_map(Address::ip).collect();
    let interface = |ip: &IpAddr| InterfaceAddress { gid: Gid::new([9; 16]), pkey: None, address: *ip };
    check(input(Input::Interfaces(ips.iter().map(interface).collect())), &all[names.len()..]);
    let mut listing = Vec::new();
    ep_reply(TID, 0, &EpHead::default(), all.iter(), |part| listing.extend_from_slice(part));
    check(Fact::Output(Output::LongReply { client: CLIENT, bytes: listing }.into()), &all);
    for pair in all.windows(2) {
        let message = resolve_request(Some(&pair[0]), &pair[1], EntryFlags::default(), TID).to_vec();
        check(Fact::Input(OwnedInput::ClientMessage { client: CLIENT, message }), pair);
        let mut mad = multicast(&pair[0]);
        (mad.dest_type, mad.dest.0) = pair[1].encode();
        let to = SendTo { way: AddressVector::default(), qpn: Qpn::MULTICAST, qkey: Qkey::GSI };
        check(Fact::Output(Output::Send { endpoint: ENDPOINT, to, mad }.into()), pair);
    }
}

/// GIDs, LIDs, GUIDs and P_Keys stay: a copy without them could not be replayed.
#[test]
fn kinds_of_packets_without_a_name_are_copied_unchanged() {
    let names = Address::from_text(NAME);
    let ip = Address::from_text("10.0.0.1");
    let with_name: Vec<usize> =
        [names, ip].iter().flat_map(inputs).map(|input| input_number(&input.as_input())).collect();
    let mut runner = TestRunner::deterministic();
    let mut unchanged = 0;
    for number in (0..INPUTS).filter(|number| !with_name.contains(number)) {
        let original = trace([&Fact::Input(input_of(number).new_tree(&mut runner).unwrap().current())]);
        assert_eq!(facts(&copy(&original)), facts(&original));
        unchanged += 1;
    }
    let with_name: Vec<usize> = [names, ip].iter().flat_map(outputs).map(|output| output_number(&output)).collect();
    for number in (0..OUTPUTS).filter(|number| !with_name.contains(number)) {
        let output = output_of(number).new_tree(&mut runner).unwrap().current();
        let original = trace([&Fact::Output(output.into())]);
        assert_eq!(facts(&copy(&original)), facts(&original));
        unchanged += 1;
    }
    assert_eq!(unchanged, 14 + 7, "a new kind belongs to one of the two tests");
}

fn facts(trace: &[u8]) -> Vec<String> {
    let fact = |entry| match entry {
        Entry::Fact(dated) => Some(format!("{:?}", dated.fact)),
        _ => None,
    };
    read(trace).into_iter().filter_map(fact).collect()
}
