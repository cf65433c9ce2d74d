//! The fuzz bodies on stable Rust: captured MADs, whole, cut short and with each byte changed.
use acm_fuzz as bodies;
use std::{fs, io::Read, path::Path};

/// Every packet of the captured MADs: behind the ERF header and the InfiniBand headers, the last 256 bytes.
fn captured() -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures/mads-erf.pcap.gz");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    let mut reader = pcap_file::pcap::PcapReader::new(bytes.as_slice()).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet() {
        packets.push(packet.unwrap().data.to_vec());
    }
    packets
}

#[test]
fn captured_mads() {
    let packets = captured();
    assert!(packets.len() > 3000, "{} packets", packets.len());
    for (number, packet) in packets.iter().enumerate() {
        // The MAD stands before the two checksums (6 bytes); what stands around it does no harm either.
        let end = packet.len() - 6;
        let mad = &packet[end - 256..end];
        bodies::mad(mad);
        bodies::mad(packet);
        bodies::multicast(mad);
        bodies::client_stream(mad);
        bodies::netlink(mad);
        bodies::mad(&mad[..number % 257]);
        let mut changed = mad.to_vec();
        changed[number % 256] ^= 1 << (number % 8);
        bodies::mad(&changed);
    }
}

#[test]
fn configuration_files() {
    for dir in ["config", "prdump"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(dir);
        for entry in fs::read_dir(path).unwrap() {
            let text = fs::read(entry.unwrap().path()).unwrap();
            for which in 0..4 {
                bodies::files(&[&[which], text.as_slice()].concat());
                bodies::files(&[&[which], &text[..text.len() / 3]].concat());
            }
        }
    }
}

/// Every target has a corpus, and nothing in it fails: seeds, what showed libFuzzer something new, and what once failed.
#[test]
fn every_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let (mut targets, mut bytes) = (Vec::new(), 0);
    for entry in fs::read_dir(&folder).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let (_, body) = bodies::TARGETS.iter().find(|(target, _)| *target == name).unwrap();
        let mut count = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let input = fs::read(entry.unwrap().path()).unwrap();
            bytes += input.len();
            count += 1;
            body(&input);
        }
        assert!(count > 0, "{name}");
        targets.push(name);
    }
    targets.sort();
    assert_eq!(targets, bodies::TARGETS.map(|(name, _)| name));
    assert!(bytes < 3_000_000, "{bytes}");
}

/// Each has a program for libFuzzer.
#[test]
fn every_target_is_built() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml")).unwrap();
    for (name, _) in bodies::TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), bodies::TARGETS.len());
}
