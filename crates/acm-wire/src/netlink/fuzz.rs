//! Body of a fuzz target. For any bytes, reading terminates, and a parsed request is the same after encoding and
//! parsing.
use super::{KernelRequest, MAX_REQUEST, NlMessage, SetTimeout, messages};
use ib_mad::as_bytes;

/// Reads the bytes as a datagram of requests and responses.
pub(crate) fn datagram(bytes: &[u8]) {
    let mut seen = 0;
    for message in messages(bytes).flatten() {
        seen += as_bytes(message.header).len() + message.payload.len();
        let _response = message.response();
        if let Ok(request) = message.request() {
            check_round_trip(&message, request);
        }
    }
    assert!(seen <= bytes.len(), "messages overlap");
}

fn check_round_trip(message: &NlMessage<'_>, request: KernelRequest) {
    let mut buffer = [0; MAX_REQUEST];
    let sequence = message.header.sequence.get();
    let timeout;
    let bytes = match request {
        KernelRequest::Resolve(resolve) => resolve.encode(sequence, &mut buffer).map(|used| buffer.get(..used)),
        KernelRequest::IpResolve(ip) => ip.encode(sequence, &mut buffer).map(|used| buffer.get(..used)),
        KernelRequest::SetTimeout(time) => {
            timeout = SetTimeout::new(sequence, 0, time);
            Ok(Some(as_bytes(&timeout)))
        }
    };
    let again = bytes.ok().flatten().and_then(|bytes| messages(bytes).next()).and_then(Result::ok);
    let again = again.map(|message| (message.header.sequence.get(), message.request()));
    assert!(again == Some((sequence, Ok(request))), "{request:?} became {again:?}");
}
