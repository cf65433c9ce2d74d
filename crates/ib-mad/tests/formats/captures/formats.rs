//! `ib_mad::capture` with files of Wireshark's editcap, whole and damaged.
use crate::common::unpack;
use ib_mad::capture::{Capture, CapturedPacket};
use std::{
    io::Write as _,
    process::{Command, Stdio},
    thread,
};

/// Returns a capture in another format, with the arguments of editcap before its two files.
fn edited(capture: &[u8], arguments: &[&str]) -> Vec<u8> {
    let mut editcap = Command::new("editcap")
        .args(arguments)
        .args(["-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("editcap of the Debian package wireshark-common");
    let mut input = editcap.stdin.take().unwrap();
    thread::scope(|scope| {
        // It writes before it has read everything.
        scope.spawn(move || input.write_all(capture).unwrap());
        let output = editcap.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        output.stdout
    })
}

fn packets(file: &[u8]) -> Vec<CapturedPacket> {
    Capture::new(file).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn capture_is_the_same_in_each_format_of_editcap() {
    for name in ["rmpp-roce.pcap.gz", "mads-erf.pcap.gz"] {
        let whole = unpack(name);
        let expected = packets(&whole);
        assert!(expected.len() > 500, "{name}: {}", expected.len());
        for format in ["pcap", "nsecpcap", "pcapng"] {
            let seen = packets(&edited(&whole, &["-F", format]));
            assert_eq!(seen.len(), expected.len());
            for (seen, expected) in seen.iter().zip(&expected) {
                assert_eq!((seen.link_type, &seen.data), (expected.link_type, &expected.data), "{name} as {format}");
                // editcap takes the time of an ERF record, which has parts of a microsecond.
                let difference = seen.time.as_nanos().abs_diff(expected.time.as_nanos());
                assert!(difference < 1000 && (difference == 0 || seen.link_type == 197), "{name}: {difference} ns");
            }
        }
    }
}

/// As `tcpdump -s 80` writes them: the limit is in the header, and each packet has its whole length.
#[test]
fn cut_packets_are_read() {
    let whole = unpack("rmpp-roce.pcap.gz");
    let expected = packets(&whole);
    for format in ["pcap", "nsecpcap", "pcapng"] {
        let cut = packets(&edited(&whole, &["-F", format, "-s", "80"]));
        assert_eq!(cut.len(), 688, "{format}");
        for (cut, whole) in cut.iter().zip(&expected) {
            assert_eq!((cut.time, cut.link_type), (whole.time, whole.link_type));
            assert_eq!(cut.data, whole.data[..whole.data.len().min(80)]);
        }
    }
}

/// Overwrites eight bytes in each part of 20,000 bytes, and expects all packets but those.
#[test]
fn packets_around_damaged_bytes_are_read() {
    let whole = unpack("rmpp-roce.pcap.gz");
    for format in ["pcap", "pcapng"] {
        let mut file = edited(&whole, &["-F", format]);
        let expected = packets(&file);
        let damages = file.len() / 20_000;
        for damage in 1..=damages {
            file[damage * 20_000..][..8].fill(0xf0);
        }
        let (good, bad): (Vec<_>, Vec<_>) = Capture::new(&file[..]).unwrap().partition(Result::is_ok);
        let good: Vec<_> = good.into_iter().flatten().collect();
        let right = good.iter().filter(|packet| expected.contains(packet)).count();
        // A damaged length may hide one more packet.
        assert!(right >= expected.len() - 2 * damages, "{format}: {right} of {}, {bad:?}", expected.len());
        assert!(damages > 5 && right < expected.len(), "{format}: {damages}");
    }
}
