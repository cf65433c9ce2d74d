//! Random outputs.
use super::*;
use acm_sansio::api::{IdFinding, Publication};

/// Number of variants of [`Output`].
pub(crate) const OUTPUTS: usize = 16;

/// Returns the number of the variant. A new variant does not compile without a number.
pub(crate) fn output_number(output: &Output) -> usize {
    match output {
        Output::Reply { .. } => 0,
        Output::LongReply { .. } => 1,
        Output::KernelReply { .. } => 2,
        Output::CloseClient(_) => 3,
        Output::SelectSource { .. } => 4,
        Output::SaSend(_) => 5,
        Output::SaReply { .. } => 6,
        Output::OpenEndpoint { .. } => 7,
        Output::CloseEndpoint(_) => 8,
        Output::Attach { .. } => 9,
        Output::Detach { .. } => 10,
        Output::Send { .. } => 11,
        Output::Log(_) => 12,
        Output::Provider { .. } => 13,
        Output::ShutdownDone => 14,
        Output::Publish(_) => 15,
    }
}

fn failure() -> BoxedStrategy<Failure> {
    proptest::sample::select(vec![
        Failure::BadRequest(ClientStatus::EINVAL),
        Failure::NoSource,
        Failure::NoPartition(Pkey::new(0x8005)),
        Failure::NoAddress(Pkey::new(0x8001)),
        Failure::NoRoute,
        Failure::NotAnAddress,
        Failure::NoGroup,
        Failure::NoTurn,
        Failure::NoResponse,
        Failure::PeerRefused(ClientStatus::new(99)),
        Failure::NoSharedGroup,
        Failure::Sa(SaError::TimedOut),
        Failure::Sa(SaError::Status(Status::SA_NO_RECORDS)),
        Failure::EndpointClosed,
        Failure::TooMany(Bound::Lookups),
        Failure::NotYet,
        Failure::KernelDeadline,
        Failure::ProviderRefused(ClientStatus::ENODATA),
        Failure::ProviderSilent,
        Failure::ProviderDown,
        Failure::ProviderGarbage,
    ])
    .boxed()
}

fn attempt() -> BoxedStrategy<Attempt> {
    (failure(), gid(), time(), any::<Option<u16>>())
        .prop_map(|(failure, mgid, time, found)| {
            let group = found.map(|times| MulticastAttempt { mgid, times: times.into(), time });
            let (found, sa) = (found.map(Lid::new), Some(SaAttempt { lid: Lid::new(7), time }));
            Attempt { failure, details: AttemptDetails { group, found, sa, retry_in: Some(time) } }
        })
        .boxed()
}

/// An event of every variant.
pub(crate) fn events(address: Address, mgid: Gid, attempt: Attempt, time: Duration) -> Vec<Event> {
    let (client, endpoint, port) = (ClientId::new(3, 1), EndpointId::new(2, 9), PortId(4));
    let (lid, key, number) = (Lid::new(0xc001), Pkey::new(0x8001), u64::MAX);
    let by = RequestedBy::Client(client, Account::User(7));
    let counts = serde_json::from_str("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]").unwrap();
    let failed = FailedRequest {
        by: RequestedBy::Kernel(KernelRequestId(3)),
        dest: Some(address),
        source: None,
        endpoint: Some(endpoint),
        attempt,
        served: [address; 10].into_iter().collect(),
    };
    let ibacmp = [
        ResolverEvent::Joined(endpoint, mgid, lid, Mtu::B2048, Rate::GBPS_10),
        ResolverEvent::JoinFailed(endpoint, mgid, SaError::Status(Status::new(0x700)), number),
        ResolverEvent::LookupFailed(endpoint, address, attempt, 9),
        ResolverEvent::BadDatagram(endpoint, MessageError::TooShort(7)),
        ResolverEvent::BadDatagram(endpoint, MessageError::NotAcm { base: 1, class: MgmtClass::PERF, version: 3 }),
        ResolverEvent::BadDatagram(endpoint, MessageError::Unknown { control: AcmControl::ACK, method: Method::TRAP }),
        ResolverEvent::LongDatagram(endpoint, 300),
        ResolverEvent::NoGrh(endpoint),
        ResolverEvent::NoSharedGroup(endpoint, address),
        ResolverEvent::PeerChanged(endpoint, address),
        ResolverEvent::ClaimChecked(endpoint, address, mgid),
        ResolverEvent::ClaimRefuted(endpoint, address, mgid),
        ResolverEvent::AddressConflict(endpoint, address, mgid, mgid),
        ResolverEvent::RequestSent(endpoint, address, 2),
        ResolverEvent::Refused(endpoint, address, attempt.failure),
        ResolverEvent::Located(endpoint, address, mgid, lid),
        ResolverEvent::RouteRequested(endpoint, address),
        ResolverEvent::RouteFound(endpoint, address),
        ResolverEvent::Preloaded(endpoint, address),
        ResolverEvent::PreloadRefuted(endpoint, address),
        ResolverEvent::RouteRemoved(endpoint, address),
        ResolverEvent::ServiceIds(endpoint, IdFinding::PortsDiffer),
        ResolverEvent::GroupUnsuitable(endpoint, mgid),
        ResolverEvent::Prefetched(endpoint, 9, 1),
        ResolverEvent::PrefetchFailed(endpoint, SaError::TimedOut, 60),
    ];
    let core = [
        Event::PortUp(port, lid),
        Event::PortDown(port),
        Event::NotServed(port, number),
        Event::EndpointAdded(endpoint, port, key),
        Event::EndpointRemoved(endpoint, port, key),
        Event::EndpointFailed(endpoint, number),
        Event::EndpointLost(endpoint),
        Event::NoPartition(port, address, Some(key)),
        Event::DuplicateAddress(address),
        Event::AddressAdded(endpoint, address),
        Event::AddressRemoved(endpoint, address),
        Event::ConnectionClosed(client, Account::Kernel),
        Event::ConnectionRefused(client, Account::Daemon),
        Event::BadFrame(client, FrameError::Length(3)),
        Event::Failed(Box::new(failed)),
        Event::Failures(counts, time),
        Event::Answered(by, address),
        Event::SaMoved(port, 4),
        Event::Subscribed(port, true),
        Event::NotSubscribed(port, SaError::PortDown),
        Event::BadSaResponse(port),
        Event::Provider(ProviderId(1), ProviderEvent::Hangs(ProviderFunction::Resolve, 10)),
        Event::Provider(ProviderId(1), ProviderEvent::Returned),
        Event::Provider(ProviderId(1), ProviderEvent::PortRefused(port, number)),
        Event::Provider(ProviderId(1), ProviderEvent::EndpointRefused(endpoint, number)),
        Event::Provider(ProviderId(1), ProviderEvent::AddressRefused(endpoint, address)),
    ];
    ibacmp.into_iter().map(Event::Ibacmp).chain(core).collect()
}

fn event() -> BoxedStrategy<Event> {
    (address(), gid(), attempt(), time(), any::<proptest::sample::Index>())
        .prop_map(|(address, mgid, attempt, time, index)| {
            let all = events(address, mgid, attempt, time);
            all[index.index(all.len())].clone()
        })
        .boxed()
}

fn vector() -> BoxedStrategy<AddressVector> {
    let grh = (gid(), any::<(u8, u32, u8, u8)>()).prop_map(|(dgid, (index, flow, hop_limit, class))| GlobalRoute {
        dgid,
        sgid_index: index,
        flow_label: small(flow),
        hop_limit,
        traffic_class: class,
    });
    (any::<(u16, u8, u8, Option<u8>)>(), proptest::option::of(grh))
        .prop_map(|((dlid, sl, path_bits, rate), grh)| AddressVector {
            dlid: Lid::new(dlid),
            sl: small(sl),
            path_bits,
            static_rate: rate.map(Rate::new),
            grh,
        })
        .boxed()
}

/// Random outputs of one variant.
pub(crate) fn output_of(number: usize) -> BoxedStrategy<Output> {
    let ids = any::<(u32, u32)>();
    let endpoint = |(index, generation)| EndpointId::new(index, generation);
    let client = |(index, generation)| ClientId::new(index, generation);
    let port = any::<u32>().prop_map(PortId);
    let to = any::<(u16, u8, u16)>().prop_map(|(lid, sl, pkey_index)| SaAddress {
        lid: Lid::new(lid),
        sl: small(sl),
        pkey_index,
    });
    match number {
        0 => (ids, vec(any::<u8>(), 0..=160))
            .prop_map(move |(id, bytes)| Output::Reply {
                client: client(id),
                reply: Reply::from_bytes(&bytes).unwrap(),
            })
            .boxed(),
        1 => (ids, bytes(2000)).prop_map(move |(id, bytes)| Output::LongReply { client: client(id), bytes }).boxed(),
        2 => (any::<u32>(), prop_oneof![structure::<PathRecord>().prop_map(Ok), failure().prop_map(Err)])
            .prop_map(|(id, path)| Output::KernelReply { id: KernelRequestId(id), path })
            .boxed(),
        3 => ids.prop_map(move |id| Output::CloseClient(client(id))).boxed(),
        4 => any::<(u32, u32, IpAddr)>()
            .prop_map(|(index, generation, dest)| Output::SelectSource {
                request: RequestId::new(index, generation),
                dest,
            })
            .boxed(),
        5 => (port, ids, to, structure::<SaMad>(), time(), any::<u32>())
            .prop_map(|(port, (index, generation), to, mad, timeout, retries)| {
                let id = SaRequestId::new(index, generation);
                Output::SaSend(SaSend { port, id, to, mad, timeout, retries })
            })
            .boxed(),
        6 => (port, to, structure()).prop_map(|(port, to, mad)| Output::SaReply { port, to, mad }).boxed(),
        7 => (ids, port, any::<(u16, u16)>())
            .prop_map(move |(id, port, (pkey_index, pkey))| Output::OpenEndpoint {
                endpoint: endpoint(id),
                port,
                pkey_index,
                pkey: Pkey::new(pkey),
            })
            .boxed(),
        8 => ids.prop_map(move |id| Output::CloseEndpoint(endpoint(id))).boxed(),
        9 => (ids, gid(), any::<u16>())
            .prop_map(move |(id, mgid, lid)| Output::Attach { endpoint: endpoint(id), mgid, mlid: Lid::new(lid) })
            .boxed(),
        10 => (ids, gid(), any::<u16>())
            .prop_map(move |(id, mgid, lid)| Output::Detach { endpoint: endpoint(id), mgid, mlid: Lid::new(lid) })
            .boxed(),
        11 => (ids, vector(), any::<(u32, u32)>(), structure::<AcmMad>())
            .prop_map(move |(id, way, (qpn, qkey), mad)| {
                let to = SendTo { way, qpn: small(qpn), qkey: Qkey::new(qkey) };
                Output::Send { endpoint: endpoint(id), to, mad }
            })
            .boxed(),
        12 => event().prop_map(Output::Log).boxed(),
        13 => (any::<u8>(), proptest::option::of(any::<(u32, u32)>()), call())
            .prop_map(|(provider, call, what)| Output::Provider {
                provider: ProviderId(provider),
                call: call.map(|(index, generation)| CallId::new(index, generation)),
                what,
            })
            .boxed(),
        15 => publication().prop_map(Output::Publish).boxed(),
        _ => Just(Output::ShutdownDone).boxed(),
    }
}

fn publication() -> BoxedStrategy<Publication> {
    let endpoint = any::<(u32, u32)>().prop_map(|(index, generation)| EndpointId::new(index, generation));
    (0..4, endpoint, address(), structure::<PathRecord>(), any::<Option<u32>>())
        .prop_map(|(number, endpoint, dest, path, seconds)| match number {
            0 => Publication::Source { address: dest, endpoint: seconds.map(|_| endpoint) },
            1 => {
                let lifetime = Duration::from_secs(seconds.unwrap_or(1).into());
                Publication::Path { endpoint, dest, path, lifetime }
            }
            2 => Publication::Withdrawn { endpoint, dest },
            _ => Publication::AllWithdrawn(endpoint),
        })
        .boxed()
}

fn call() -> BoxedStrategy<ProviderCall> {
    let ids = any::<(u32, u32)>();
    let endpoint = ids.prop_map(|(index, generation)| EndpointId::new(index, generation));
    let request = ids.prop_map(|(index, generation)| ExternalRequestId::new(index, generation));
    let port = any::<u32>().prop_map(PortId);
    let on_endpoint = (endpoint.clone(), address(), any::<bool>()).prop_map(|(endpoint, address, adds)| match adds {
        true => ProviderCall::AddAddress { endpoint, address },
        false => ProviderCall::RemoveAddress { endpoint, address },
    });
    let answer = prop_oneof![
        structure::<SaMad>().prop_map(|mad| Ok(Box::new(mad))),
        Just(Err(SaError::TimedOut)),
        Just(Err(SaError::Status(Status::BUSY))),
    ];
    prop_oneof![
        (port.clone(), attributes())
            .prop_map(|(port, attributes)| ProviderCall::OpenPort { port, attributes: Box::new(attributes) }),
        port.clone().prop_map(ProviderCall::ClosePort),
        (endpoint.clone(), port.clone(), any::<u16>()).prop_map(|(endpoint, port, pkey)| ProviderCall::OpenEndpoint {
            endpoint,
            port,
            pkey: Pkey::new(pkey)
        }),
        endpoint.clone().prop_map(ProviderCall::CloseEndpoint),
        on_endpoint,
        (request.clone(), endpoint.clone(), address(), bytes(200), any::<bool>()).prop_map(
            |(request, endpoint, source, message, is_query)| match is_query {
                true => ProviderCall::Query { request, endpoint, source, message },
                false => ProviderCall::Resolve { request, endpoint, source, message },
            }
        ),
        port.clone().prop_map(ProviderCall::Reregister),
        port.prop_map(ProviderCall::ManagerChanged),
        (request, endpoint).prop_map(|(request, endpoint)| ProviderCall::QueryCounters { request, endpoint }),
        (any::<u64>(), answer).prop_map(|(id, answer)| match answer {
            Ok(mad) => ProviderCall::SaResponse { id: ExternalSaId(id), mad },
            Err(error) => ProviderCall::SaFailed { id: ExternalSaId(id), error },
        }),
    ]
    .boxed()
}

pub(crate) fn output() -> BoxedStrategy<Output> {
    (0..OUTPUTS).prop_flat_map(output_of).boxed()
}
