//! Inputs, by chance.
use super::*;

/// Every variant of an input, in their order.
pub(crate) const INPUTS: usize = 24;

/// Which one it is. A new one does not compile here.
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
    }
}

/// Inputs of one variant.
pub(crate) fn input_of(number: usize) -> BoxedStrategy<Told> {
    let ids = any::<(u32, u32)>();
    let request = |(index, generation)| SaRequestId::new(index, generation);
    let endpoint = |(index, generation)| EndpointId::new(index, generation);
    let client = |(index, generation)| ClientId::new(index, generation);
    let port = any::<u32>().prop_map(PortId);
    match number {
        0 => (ids, account()).prop_map(move |(id, account)| Told::ClientOpened { client: client(id), account }).boxed(),
        1 => {
            (ids, bytes(700)).prop_map(move |(id, message)| Told::ClientMessage { client: client(id), message }).boxed()
        }
        2 => ids.prop_map(move |id| Told::ClientGone(client(id))).boxed(),
        3 => (any::<u32>(), any::<Option<u32>>(), structure())
            .prop_map(|(id, port, wanted)| Told::KernelRequest {
                id: KernelRequestId(id),
                port: port.map(PortId),
                wanted,
            })
            .boxed(),
        4 => any::<(u32, IpAddr, IpAddr)>()
            .prop_map(|(id, source, dest)| Told::KernelAddressRequest { id: KernelRequestId(id), source, dest })
            .boxed(),
        5 => time().prop_map(Told::KernelTimeout).boxed(),
        6 => any::<(u32, u32, Option<IpAddr>)>()
            .prop_map(|(index, generation, source)| Told::SourceSelected {
                request: RequestId::new(index, generation),
                source,
            })
            .boxed(),
        7 => (ids, bytes(300)).prop_map(move |(id, mad)| Told::SaAnswer { id: request(id), mad }).boxed(),
        8 => (port, any::<(u16, u32)>(), bytes(300))
            .prop_map(|(port, (lid, qpn), mad)| Told::SaReport { port, lid: Lid::new(lid), qpn: small(qpn), mad })
            .boxed(),
        9 => (ids, any::<bool>())
            .prop_map(move |(id, timed_out)| {
                let failure = if timed_out { SendFailure::TimedOut } else { SendFailure::NotSent };
                Told::SaFailed { id: request(id), failure }
            })
            .boxed(),
        10 => (ids, any::<(u16, u8, u32)>(), proptest::option::of(gid()), bytes(300))
            .prop_map(move |(id, (lid, path_bits, qpn), gid, payload)| {
                let source = DatagramSource { lid: Lid::new(lid), path_bits, qpn: small(qpn), gid };
                Told::Datagram { endpoint: endpoint(id), source, payload }
            })
            .boxed(),
        11 => (ids, any::<u32>())
            .prop_map(move |(id, qpn)| Told::EndpointOpened { endpoint: endpoint(id), qpn: small::<Qpn>(qpn) })
            .boxed(),
        12 => ids.prop_map(move |id| Told::EndpointLost(endpoint(id))).boxed(),
        13 => ids.prop_map(move |id| Told::EndpointFailed(endpoint(id))).boxed(),
        14 => (port, attributes()).prop_map(|(port, attributes)| Told::PortUp { port, attributes }).boxed(),
        15 => port.prop_map(Told::PortDown).boxed(),
        16 => port.prop_map(Told::ClientReregister).boxed(),
        17 => (port, pkey(), address())
            .prop_map(|(port, pkey, address)| Told::AddressAdded { port, pkey, address })
            .boxed(),
        18 => (port, pkey(), address())
            .prop_map(|(port, pkey, address)| Told::AddressRemoved { port, pkey, address })
            .boxed(),
        19 => preload().prop_map(Told::Preloaded).boxed(),
        20 => config().prop_map(|config| Told::Configure(config.into())).boxed(),
        21 => vec((gid(), pkey(), any::<IpAddr>()), 0..4)
            .prop_map(|all| {
                let one = |(gid, pkey, address)| InterfaceAddress { gid, pkey, address };
                Told::Interfaces(all.into_iter().map(one).collect())
            })
            .boxed(),
        22 => (any::<u8>(), said())
            .prop_map(|(provider, said)| Told::Provider { provider: ProviderId(provider), said })
            .boxed(),
        _ => Just(Told::Shutdown).boxed(),
    }
}

pub(crate) fn input() -> BoxedStrategy<Told> {
    (0..INPUTS).prop_flat_map(input_of).boxed()
}

fn said() -> BoxedStrategy<Said> {
    let call = any::<(u32, u32)>().prop_map(|(index, generation)| CallId::new(index, generation));
    let request = any::<(u32, u32)>().prop_map(|(index, generation)| ExternalRequestId::new(index, generation));
    let endpoint = any::<(u32, u32)>().prop_map(|(index, generation)| EndpointId::new(index, generation));
    prop_oneof![
        (call, any::<bool>()).prop_map(|(call, is_ok)| Said::Returned { call, is_ok }),
        (request.clone(), bytes(200)).prop_map(|(request, message)| Said::Answered { request, message: Hex(message) }),
        (request, vec(any::<u64>(), 0..9)).prop_map(|(request, values)| Said::Counters { request, values }),
        (any::<u64>(), endpoint, bytes(300)).prop_map(|(id, endpoint, mad)| Said::SaAsked {
            id: ExternalSaId(id),
            endpoint,
            mad: Hex(mad)
        }),
        proptest::sample::select(vec![Counter::Error, Counter::RouteCache]).prop_map(Said::Counted),
    ]
    .boxed()
}
