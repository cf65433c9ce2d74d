//! Builds the query for paths between two ports and prints its bytes: `cargo run --example build_path_query`.
use ib_mad::{
    MadRef, Method, Pkey, Selector, TransactionId, as_bytes,
    sa::{PathRecord, Query},
};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let query = Query::<PathRecord>::new()
        .sgid("fe80::2:c903:0:10".parse()?)
        .dgid("fe80::2:c903:0:20".parse()?)
        .pkey(Pkey::DEFAULT_FULL)
        .mtu(Selector::Exactly, ib_mad::Mtu::B2048)
        .request(Method::GET_TABLE, TransactionId::new(1));
    println!("{}", MadRef::new(as_bytes(&query))?);
    for line in as_bytes(&query).chunks(32) {
        println!("{}", line.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
    Ok(())
}
