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
use core::{net::IpAddr, time::Duration};
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

/// Byte sequences that must not be in the copy: the address as text, and its bytes as they are, in hexadecimal digits
/// and as numbers in JSON.
fn needles(address: &Address) -> Vec<Vec<u8>> {
    let text = address.to_string();
    let bytes = match address.ip() {
        Some(IpAddr::V4(ip)) => ip.octets().to_vec(),
        Some(IpAddr::V6(ip)) => ip.octets().to_vec(),
        None => text.clone().into_bytes(),
    };
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let numbers = serde_json::to_string(&bytes).unwrap();
    vec![text.into(), hex.into(), numbers[1..numbers.len() - 1].into(), bytes]
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
    record.service_data8[..NAME.len()].copy_from_slice(text.as_bytes());
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
    for address in [NAME, "203.0.113.77", "2001:db8:77::dead:beef"].map(Address::from_text) {
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
