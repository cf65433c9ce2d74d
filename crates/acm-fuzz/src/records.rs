//! Records of subnet administration, through a question, its answer, and the comparison that a server makes.
use ib_mad::{
    MadRef, TransactionId,
    sa::{self, Query, SaMad, SaRecord},
};

type Body = fn(u64, &[u8]);

macro_rules! bodies {
    ($($record:ident)*) => {
        &[$(one::<sa::$record>,)*]
    };
}

const BODIES: &[Body] = bodies! {
    NodeRecord PortInfoRecord SlToVlMappingTableRecord SwitchInfoRecord LinearForwardingTableRecord
    RandomForwardingTableRecord MulticastForwardingTableRecord SmInfoRecord LinkSpeedWidthPairsTableRecord LinkRecord
    GuidInfoRecord ServiceRecord PkeyTableRecord PathRecord VlArbitrationTableRecord McMemberRecord TraceRecord
    MultiPathRecord ServiceAssociationRecord HierarchyInfoRecord CableInfoRecord PortInfoExtendedRecord InformInfoRecord
};

/// A record of the kind that the first byte says; the next eight are its component mask.
///
/// # Panics
/// If a question or an answer is read as something else than was written.
pub fn records(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    let Some((mask, rest)) = rest.split_first_chunk() else { return };
    if let Some(body) = BODIES.get(usize::from(*which) % BODIES.len()) {
        body(u64::from_be_bytes(*mask), rest);
    }
}

fn one<R: SaRecord + Copy + core::fmt::Debug>(mask: u64, bytes: &[u8]) {
    let size = size_of::<R>();
    let own = |from: usize| {
        let mut room = vec![0; size];
        let bytes = bytes.get(from..).unwrap_or_default();
        room.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        R::parse(&room).ok().copied()
    };
    let (Some(asked), Some(other)) = (own(0), own(size)) else { return };
    let tid = TransactionId::new(7);
    let query = Query::with_mask(asked, bitflags(mask));
    for request in [query.get(tid), query.get_table(tid), query.set(tid), query.delete(tid)] {
        let again = Query::<R>::from_mad(&request);
        let again = again.unwrap_or_else(|error| panic!("{error}: {request:?}"));
        assert_eq!(ib_mad::as_bytes(again.record()), ib_mad::as_bytes(&asked));
        let records = [asked, other];
        // Who asks for the largest gets no others that match.
        let matching = records.iter().filter(|record| query.matches(record)).count();
        let selected = again.select(&records).inspect(|record| assert!(query.matches(record))).count();
        assert!(selected <= matching && (selected > 0) == (matching > 0), "{selected} of {matching}");
        let text = format!("{:?}{query:?}", MadRef::new(ib_mad::as_bytes(&request)));
        assert!(text.is_ascii(), "{text}");
        answer(&request, &other);
    }
    let everything = Query::<R>::with_mask(asked, bitflags(0));
    assert!(everything.matches(&other), "nothing is asked for");
    let _ = Query::from_non_zero(asked).matches(&asked);
}

fn answer<R: SaRecord>(request: &SaMad, record: &R) {
    // There is none to a method that nobody answers.
    let Ok(answer) = request.answer_with(record) else { return };
    let found = answer.record::<R>().map(ib_mad::as_bytes);
    assert_eq!(found, Ok(ib_mad::as_bytes(record)));
}

fn bitflags<M: bitflags::Flags<Bits = u64>>(mask: u64) -> M {
    M::from_bits_retain(mask)
}
