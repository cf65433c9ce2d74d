//! Prints the management datagrams of a capture, as tcpdump does: `cargo run --example decode_pcap -- FILE [-v]`.
//!
//! Reads pcap files with microseconds, of InfiniBand packets (link type 247), ERF records (197) and Ethernet (1).
use core::error::Error;
use ib_mad::{
    MadRef,
    packet::{Headers, UDP_PORT_ROCE2},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: decode_pcap FILE [-v]")?;
    let verbose = arguments.next().is_some_and(|flag| flag == "-v");
    let bytes = std::fs::read(&file)?;
    let little = match bytes.first_chunk() {
        Some([0xd4, 0xc3, 0xb2, 0xa1]) => true,
        Some([0xa1, 0xb2, 0xc3, 0xd4]) => false,
        _ => return Err(format!("{file}: not a pcap file with microseconds").into()),
    };
    let number = |at: usize| -> Option<u32> {
        let four = *bytes.get(at..)?.first_chunk()?;
        Some(if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let link_type = number(20).ok_or("the file ends in its header")?;
    let mut at = 24;
    while let Some(length) = number(at + 8) {
        let start = at + 16;
        let Some(packet) = bytes.get(start..start + usize::try_from(length)?) else { break };
        at = start + packet.len();
        let Some(headers) = headers(link_type, packet) else { continue };
        match MadRef::new(headers.payload) {
            Ok(mad) if verbose => println!("{headers}\n{mad:#}"),
            Ok(mad) => println!("{headers}: {mad}"),
            Err(error) => println!("{headers}: {error}"),
        }
    }
    Ok(())
}

fn headers(link_type: u32, packet: &[u8]) -> Option<Headers<'_>> {
    match link_type {
        197 => Headers::parse(packet.get(16..)?).ok(),
        247 => Headers::parse(packet).ok(),
        1 => {
            let ip = packet.get(14..)?;
            let udp = match packet.get(12..14)? {
                [0x08, 0x00] if *ip.get(9)? == 17 => ip.get(usize::from(ip.first()? & 15) * 4..)?,
                [0x86, 0xdd] if *ip.get(6)? == 17 => ip.get(40..)?,
                _ => return None,
            };
            let ours = udp.get(2..4)? == UDP_PORT_ROCE2.to_be_bytes();
            if ours { Headers::parse_transport(udp.get(8..)?).ok() } else { None }
        }
        _ => None,
    }
}
