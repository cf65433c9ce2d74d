//! Prints frames of `/dev/infiniband/umadN` that are on standard input in hex, one on each line:
//! `cargo run --example decode_umad < frames`. At a terminal it prints a frame of its own.
use ib_mad::{
    Lid, Method, TransactionId, as_bytes,
    smp::{NodeInfo, Smp},
    umad::{Frame, Layout, UmadHeader},
    wire::Host32,
};
use std::io::{IsTerminal, stdin};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    if stdin().is_terminal() {
        let header = UmadHeader { timeout_ms: Host32::new(100), lid: Lid::new(4), ..UmadHeader::default() };
        let mad = Smp::request(Method::GET, 0, TransactionId::new(7), &NodeInfo::ZERO);
        let bytes = [as_bytes(&header), as_bytes(&mad)].concat();
        println!("{}", Frame::parse(&bytes, Layout::WithPkeyIndex)?);
        return Ok(());
    }
    for line in stdin().lines() {
        let line = line?;
        let digits: Vec<u8> = line.bytes().filter(u8::is_ascii_hexdigit).collect();
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|two| Ok(u8::from_str_radix(core::str::from_utf8(two)?, 16)?))
            .collect::<Result<_, Box<dyn core::error::Error>>>()?;
        println!("{}", Frame::parse(&bytes, Layout::WithPkeyIndex)?);
    }
    Ok(())
}
