//! Target of the attributes of subnet administration: requests, responses, and matching as a server does it.
use ib_mad::{
    MadRef, Method, TransactionId,
    notice::{ClassPortInfo, InformInfo, SaNotice},
    sa::*,
};

type Body = fn(u64, &[u8]);

macro_rules! bodies {
    ($($record:ident)*) => {
        &[$(check_record::<$record>,)*]
    };
}

const BODIES: &[Body] = bodies! {
    NodeRecord PortInfoRecord SlToVlMappingTableRecord SwitchInfoRecord LinearForwardingTableRecord
    RandomForwardingTableRecord MulticastForwardingTableRecord SmInfoRecord LinkSpeedWidthPairsTableRecord LinkRecord
    GuidInfoRecord ServiceRecord PkeyTableRecord PathRecord VlArbitrationTableRecord McMemberRecord TraceRecord
    MultiPathRecord ServiceAssociationRecord HierarchyInfoRecord CableInfoRecord PortInfoExtendedRecord InformInfoRecord
    InformInfo SaNotice ClassPortInfo
};
const _: () = assert!(BODIES.len() == SaAttribute::COMPONENTS.len(), "an attribute of ib-mad is missing here");

/// Encodes and decodes requests and responses of a record. The first byte selects the record's type, and the next eight
/// bytes are the component mask.
///
/// # Panics
/// If a request or a response is decoded to another record than was encoded.
pub fn records(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    let Some((mask, rest)) = rest.split_first_chunk() else { return };
    if let Some(body) = BODIES.get(usize::from(*which) % BODIES.len()) {
        body(u64::from_be_bytes(*mask), rest);
    }
}

fn check_record<R: SaRecord + Copy + core::fmt::Debug>(mask: u64, bytes: &[u8]) {
    let size = size_of::<R>();
    let record_at = |from: usize| {
        let mut buffer = vec![0; size];
        let bytes = bytes.get(from..).unwrap_or_default();
        buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        R::parse(&buffer).ok().copied()
    };
    let (Some(requested), Some(other)) = (record_at(0), record_at(size)) else { return };
    let tid = TransactionId::new(7);
    let query = Query::with_mask(requested, bitflags(mask));
    for request in [
        query.request(Method::GET, tid),
        query.request(Method::GET_TABLE, tid),
        query.request(Method::SET, tid),
        query.request(Method::DELETE, tid),
    ] {
        let decoded = Query::<R>::from_mad(&request);
        let decoded = decoded.unwrap_or_else(|error| panic!("{error}: {request:?}"));
        assert_eq!(ib_mad::as_bytes(decoded.record()), ib_mad::as_bytes(&requested));
        let records = [requested, other];
        // A request for the largest value selects only the best of the matching records.
        let matching = records.iter().filter(|record| query.matches(record)).count();
        let selected = decoded.select(&records).inspect(|record| assert!(query.matches(record))).count();
        assert!(selected <= matching && (selected > 0) == (matching > 0), "{selected} of {matching}");
        let text = format!("{:?}{query:?}", MadRef::new(ib_mad::as_bytes(&request)));
        assert!(text.is_ascii(), "{text}");
        check_response(&request, &other);
    }
    let unmasked = Query::<R>::with_mask(requested, bitflags(0));
    assert!(unmasked.matches(&other), "an empty mask matches all records");
    let _ = Query::from_non_zero(requested).matches(&requested);
}

fn check_response<R: SaRecord>(request: &SaMad, record: &R) {
    // `answer_with` fails for methods that have no response.
    let Ok(response) = request.answer_with(record) else { return };
    let found = response.record::<R>().map(ib_mad::as_bytes);
    assert_eq!(found, Ok(ib_mad::as_bytes(record)));
}

fn bitflags<M: bitflags::Flags<Bits = u64>>(mask: u64) -> M {
    M::from_bits_retain(mask)
}
