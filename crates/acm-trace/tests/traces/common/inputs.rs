//! Random inputs.
use super::*;

/// Number of variants of [`Input`].
pub(crate) const INPUTS: usize = 26;

/// Returns the number of the variant. A new variant does not compile without a number.
pub(crate) fn input_number(input: &Input<'_>) -> usize {
    match input {
        Input::ClientOpened { .. } => 0,
        Input::ClientMessage { .. } => 1,
        Input::ClientClosed(_) => 2,
        Input::KernelRequest { .. } => 3,
        Input::KernelAddressRequest { .. } => 4,
        Input::KernelTimeout(_) => 5,
        Input::SourceSelected { .. } => 6,
        Input::SaResponse { .. } => 7,
        Input::SaReport { .. } => 8,
        Input::SaFailed { .. } => 9,
        Input::Datagram { .. } => 10,
        Input::EndpointOpened { .. } => 11,
        Input::EndpointLost(_) => 12,
        Input::EndpointFailed(_) => 13,
        Input::PortUp { .. } => 14,
        Input::PortDown(_) => 15,
        Input::ClientReregister(_) => 16,
        Input::AddressAdded { .. } => 17,
        Input::AddressRemoved { .. } => 18,
        Input::Preloaded(_) => 19,
        Input::Configure(_) => 20,
        Input::Interfaces(_) => 21,
        Input::Provider { .. } => 22,
        Input::Shutdown => 23,
        Input::Flush(_) => 24,
        Input::Attached { .. } => 25,
    }
}

/// Random inputs of one variant.
pub(crate) fn input_of(number: usize) -> BoxedStrategy<OwnedInput> {
    let ids = any::<(u32, u32)>();
    let request = |(index, generation)| SaRequestId::new(index, generation);
    match number {
        1 => (ids, bytes(700))
            .prop_map(|((index, generation), message)| {
                let client = ClientId::new(index, generation);
                OwnedInput::ClientMessage { client, message }
            })
            .boxed(),
        7 => (ids, bytes(300)).prop_map(move |(id, mad)| OwnedInput::SaResponse { id: request(id), mad }).boxed(),
        8 => (any::<u32>(), any::<(u16, u32)>(), bytes(300))
            .prop_map(|(port, (lid, qpn), mad)| {
                let (port, lid, qpn) = (PortId(port), Lid::new(lid), small(qpn));
                OwnedInput::SaReport { port, lid, qpn, mad }
            })
            .boxed(),
        10 => (ids, any::<(u16, u8, u32)>(), proptest::option::of(gid()), bytes(300))
            .prop_map(|((index, generation), (lid, path_bits, qpn), gid, payload)| {
                // A datagram to a group has a global route header.
                let group = gid.filter(|_| path_bits % 2 == 0).map(|gid| Gid::from_parts(u64::MAX, gid.interface_id()));
                let source = DatagramSource { lid: Lid::new(lid), path_bits, qpn: small(qpn), gid, group };
                OwnedInput::Datagram { endpoint: EndpointId::new(index, generation), source, payload }
            })
            .boxed(),
        other => other_input_of(other).prop_map(OwnedInput::Other).boxed(),
    }
}

/// Random inputs of one variant without borrowed bytes.
fn other_input_of(number: usize) -> BoxedStrategy<Input<'static>> {
    let ids = any::<(u32, u32)>();
    let request = |(index, generation)| SaRequestId::new(index, generation);
    let endpoint = |(index, generation)| EndpointId::new(index, generation);
    let client = |(index, generation)| ClientId::new(index, generation);
    let port = any::<u32>().prop_map(PortId);
    match number {
        0 => {
            (ids, account()).prop_map(move |(id, account)| Input::ClientOpened { client: client(id), account }).boxed()
        }
        2 => ids.prop_map(move |id| Input::ClientClosed(client(id))).boxed(),
        3 => (any::<u32>(), any::<Option<u32>>(), structure())
            .prop_map(|(id, port, path)| Input::KernelRequest { id: KernelRequestId(id), port: port.map(PortId), path })
            .boxed(),
        4 => any::<(u32, IpAddr, IpAddr)>()
            .prop_map(|(id, source, dest)| Input::KernelAddressRequest { id: KernelRequestId(id), source, dest })
            .boxed(),
        5 => time().prop_map(Input::KernelTimeout).boxed(),
        6 => any::<(u32, u32, Option<IpAddr>)>()
            .prop_map(|(index, generation, source)| Input::SourceSelected {
                request: RequestId::new(index, generation),
                source,
            })
            .boxed(),
        9 => (ids, any::<bool>())
            .prop_map(move |(id, timed_out)| {
                let failure = if timed_out { SendFailure::TimedOut } else { SendFailure::NotSent };
                Input::SaFailed { id: request(id), failure }
            })
            .boxed(),
        11 => (ids, any::<u32>())
            .prop_map(move |(id, qpn)| Input::EndpointOpened { endpoint: endpoint(id), qpn: small::<Qpn>(qpn) })
            .boxed(),
        12 => ids.prop_map(move |id| Input::EndpointLost(endpoint(id))).boxed(),
        13 => ids.prop_map(move |id| Input::EndpointFailed(endpoint(id))).boxed(),
        14 => (port, attributes()).prop_map(|(port, attributes)| Input::PortUp { port, attributes }).boxed(),
        15 => port.prop_map(Input::PortDown).boxed(),
        16 => port.prop_map(Input::ClientReregister).boxed(),
        17 => (port, pkey(), address())
            .prop_map(|(port, pkey, address)| Input::AddressAdded { port, pkey, address })
            .boxed(),
        18 => (port, pkey(), address())
            .prop_map(|(port, pkey, address)| Input::AddressRemoved { port, pkey, address })
            .boxed(),
        19 => preload().prop_map(Input::Preloaded).boxed(),
        20 => config().prop_map(|config| Input::Configure(config.into())).boxed(),
        21 => vec((gid(), pkey(), any::<IpAddr>()), 0..4)
            .prop_map(|all| {
                let one = |(gid, pkey, address)| InterfaceAddress { gid, pkey, address };
                Input::Interfaces(all.into_iter().map(one).collect())
            })
            .boxed(),
        22 => (any::<u8>(), provider_message())
            .prop_map(|(provider, message)| Input::Provider { provider: ProviderId(provider), message })
            .boxed(),
        25 => (ids, gid(), any::<u16>())
            .prop_map(move |(id, mgid, mlid)| Input::Attached { endpoint: endpoint(id), mgid, mlid: Lid::new(mlid) })
            .boxed(),
        24 => vec(ids, 0..4)
            .prop_map(|ids| {
                Input::Flush(ids.into_iter().map(|(index, generation)| DestId::new(index, generation)).collect())
            })
            .boxed(),
        _ => Just(Input::Shutdown).boxed(),
    }
}

pub(crate) fn input() -> BoxedStrategy<OwnedInput> {
    (0..INPUTS).prop_flat_map(input_of).boxed()
}

fn provider_message() -> BoxedStrategy<ProviderMessage> {
    let call = any::<(u32, u32)>().prop_map(|(index, generation)| CallId::new(index, generation));
    let request = any::<(u32, u32)>().prop_map(|(index, generation)| ExternalRequestId::new(index, generation));
    let endpoint = any::<(u32, u32)>().prop_map(|(index, generation)| EndpointId::new(index, generation));
    prop_oneof![
        (call, any::<bool>()).prop_map(|(call, is_ok)| ProviderMessage::Returned { call, is_ok }),
        (request.clone(), bytes(200))
            .prop_map(|(request, message)| ProviderMessage::ResolveResponse { request, message }),
        (request, vec(any::<u64>(), 0..9)).prop_map(|(request, values)| ProviderMessage::Counters { request, values }),
        (any::<u64>(), endpoint, bytes(300)).prop_map(|(id, endpoint, mad)| ProviderMessage::SaRequest {
            id: ExternalSaId(id),
            endpoint,
            mad
        }),
        proptest::sample::select(vec![Counter::Error, Counter::RouteCache]).prop_map(ProviderMessage::IncrementCounter),
    ]
    .boxed()
}
