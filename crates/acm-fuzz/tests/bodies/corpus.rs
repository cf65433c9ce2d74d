//! The fuzz targets with captured MADs (whole, truncated, and with changed bytes), configuration files and the corpora.
use acm_fuzz as bodies;
use std::{fs, io::Read, path::Path};

/// Returns all packets of the captured MADs. The MAD is before the two check sums at the end, after the ERF header and
/// the InfiniBand headers.
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
fn captured_mads_cause_no_panic() {
    let packets = captured();
    assert!(packets.len() > 3000, "{} packets", packets.len());
    for (number, packet) in packets.iter().enumerate() {
        // The check sums have 6 bytes. The whole packet must cause no panic, either.
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
fn configuration_files_cause_no_panic() {
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

/// The corpora hold seeds, inputs that raised libFuzzer's coverage, and inputs that once failed.
#[test]
fn corpus_inputs_cause_no_panic() {
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

#[test]
fn each_target_has_a_program_for_libfuzzer() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml")).unwrap();
    for (name, _) in bodies::TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), bodies::TARGETS.len());
}
