//! Searches for a datagram to which a subnet administrator responds wrongly: `fuzzer RUNS`. Each run draws a plausible
//! datagram from bytes. Here the bytes come from a counter; in a fuzz target they come from the fuzzer.
use arbitrary::Unstructured;
use ib_mad::{
    Mad, MadRef, Status, as_bytes,
    sa::{NodeRecord, Query, SaMad},
};

fn main() {
    let runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(10_000);
    println!("{} of {runs} were answered", (0..runs).filter(|run| fuzz(*run)).count());
}

/// Runs the body of a fuzz target once; true if the administrator responded.
pub(crate) fn fuzz(run: u64) -> bool {
    let noise = (run + 1..).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[1]).take(600);
    let request = Mad::plausible(&mut Unstructured::new(&noise.collect::<Vec<u8>>())).expect("there are enough bytes");
    let Some(answer) = SaMad::parse(as_bytes(&request)).ok().and_then(administrator) else { return false };
    let seen = MadRef::new(as_bytes(&answer)).expect("the response is whole");
    assert!(seen.is_response(), "{request} was answered by {seen}");
    assert_eq!(seen.header().transaction_id, request.header.transaction_id, "{request}");
    assert!(seen.records::<NodeRecord>().is_ok() || !seen.status().is_ok(), "{request} was answered by {seen}");
    true
}

/// Responds to a request: the code under test.
fn administrator(request: &SaMad) -> Option<SaMad> {
    let nodes = [3, 4].map(|lid| NodeRecord { lid: lid.into(), ..NodeRecord::default() });
    match Query::<NodeRecord>::from_mad(request) {
        Ok(query) => request.answer_one(query.select(&nodes)).ok(),
        Err(_) => request.answer(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED).ok(),
    }
}
