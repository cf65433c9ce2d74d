//! Captures of a few packets, whole and damaged.
use super::*;
use std::{string::ToString as _, vec};

/// A pcap file with one packet, in either byte order, with microseconds or nanoseconds.
fn pcap_file(big: bool, nanos: bool, link_type: u32, data: &[u8]) -> Vec<u8> {
    let word = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let half = |number: u16| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let length = word(u32::try_from(data.len()).unwrap());
    let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let words = [word(0), word(0), word(65_535), word(link_type), word(7), word(5), length, length];
    [&word(magic)[..], &half(2), &half(4), &words.concat(), data].concat()
}

/// A pcapng file with one interface and one enhanced packet of 4 bytes.
fn pcapng_file(resolution: Option<u8>, link_type: u16, ticks: u64) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(12 + body.len()).unwrap().to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let mut interface = [&link_type.to_le_bytes()[..], &[0; 6]].concat();
    if let Some(resolution) = resolution {
        interface.extend([9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0]);
    }
    let high = u32::try_from(ticks >> 32).unwrap().to_le_bytes();
    let low = u32::try_from(ticks & 0xffff_ffff).unwrap().to_le_bytes();
    let packet = [&[0; 4][..], &high, &low, &[4, 0, 0, 0, 4, 0, 0, 0], &[1, 2, 3, 4]].concat();
    [block(0x0a0d_0d0a, &section), block(1, &interface), block(0x77, &[0; 4]), block(6, &packet)].concat()
}

fn read(file: &[u8]) -> Result<Vec<CapturedPacket>, CaptureError> {
    Capture::new(file)?.collect()
}

#[test]
fn pcap_is_read_in_either_byte_order_and_resolution() {
    for (big, nanos) in [(false, false), (false, true), (true, false), (true, true)] {
        let packets = read(&pcap_file(big, nanos, 247, &[1, 2, 3])).unwrap();
        let time = Duration::new(7, if nanos { 5 } else { 5000 });
        assert_eq!(packets, [CapturedPacket { time, link_type: 247, data: vec![1, 2, 3] }], "{big} {nanos}");
    }
}

#[test]
fn pcapng_has_the_time_in_the_resolution_of_the_interface() {
    let of = |resolution, ticks| {
        let packets = read(&pcapng_file(resolution, 247, ticks)).unwrap();
        assert_eq!((packets.len(), packets[0].link_type, &packets[0].data[..]), (1, 247, &[1, 2, 3, 4][..]));
        packets[0].time
    };
    assert_eq!(of(None, 5_000_007), Duration::new(5, 7000));
    assert_eq!(of(Some(9), 5_000_000_007), Duration::new(5, 7));
    assert_eq!(of(Some(0x80 | 10), 1024 + 512), Duration::from_millis(1500));
    // A second has no 10^40 ticks.
    assert_eq!(of(Some(40), u64::MAX), Duration::ZERO);
}

#[test]
fn cut_file_is_an_error_with_the_number_of_whole_packets() {
    for whole in [pcap_file(false, false, 1, &[7; 64]), pcapng_file(None, 1, 0)] {
        for length in 0..whole.len() {
            let result = read(&whole[..length]);
            let is_reported = match &result {
                Err(CaptureError::NotACapture) => length < 4,
                Err(CaptureError::Cut { after: 0 } | CaptureError::Malformed { .. }) => length >= 4,
                // A cut between two parts of a file is not visible.
                Ok(packets) => packets.is_empty(),
                Err(CaptureError::Io(_) | CaptureError::Cut { .. }) => false,
            };
            assert!(is_reported, "{length} of {}: {result:?}", whole.len());
        }
    }
    let whole = pcap_file(false, false, 1, &[7; 64]);
    let mut capture = Capture::new(&whole[..100]).unwrap();
    assert_eq!(capture.next().unwrap().unwrap_err().to_string(), "the capture is cut off after packet 0");
    assert!(capture.next().is_none());
}

#[test]
fn record_longer_than_its_limits_is_read() {
    // A limit of 0 or 2 bytes, and an original length of 1.
    for (limit, original) in [(0_u32, 3_u32), (2, 3), (65_535, 1)] {
        let mut file = pcap_file(false, false, 247, &[1, 2, 3]);
        file[16..20].copy_from_slice(&limit.to_le_bytes());
        file[36..40].copy_from_slice(&original.to_le_bytes());
        let record = file[24..].to_vec();
        file.extend(record);
        let packets = read(&file).unwrap();
        assert_eq!(packets.iter().map(|packet| &packet.data[..]).collect::<Vec<_>>(), [&[1, 2, 3][..]; 2]);
    }
    // More microseconds than a second has.
    let mut file = pcap_file(false, false, 247, &[1]);
    file[28..32].copy_from_slice(&3_000_001_u32.to_le_bytes());
    assert_eq!(read(&file).unwrap()[0].time, Duration::new(10, 1000));
}

#[test]
fn bad_packet_block_is_an_item_and_the_next_one_follows() {
    let whole = pcapng_file(None, 247, 5);
    let packet = whole.len() - 36;
    let (head, good) = whole.split_at(packet);
    // The interface, and the length of the data.
    for (at, value, expected) in [(8, 9_u32, "no such interface"), (20, 5, "a block that ends before its packet does")]
    {
        let mut bad = good.to_vec();
        bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let file = [head, good, &bad, good, good].concat();
        let seen: Vec<_> = Capture::new(&file[..]).unwrap().collect();
        assert_eq!(seen.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, true]);
        assert!(matches!(seen[1], Err(CaptureError::Malformed { after: 1, what }) if what == expected), "{seen:?}");
    }
}

#[test]
fn packets_of_older_block_types_are_read() {
    let whole = pcapng_file(None, 247, 5);
    let head = &whole[..whole.len() - 36];
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(12 + body.len()).unwrap().to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    // Interface 0 with 7 lost packets, 5 ticks, 3 bytes of 9.
    let of_2004 = [&[0, 0, 7, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0][..], &[1, 2, 3, 0]].concat();
    // 3 bytes, and 9 bytes of which 4 are kept.
    let (simple, cut) = ([3, 0, 0, 0, 1, 2, 3, 0], [9, 0, 0, 0, 1, 2, 3, 4]);
    let file = [head, &block(2, &of_2004), &block(3, &simple), &block(3, &cut)].concat();
    let packets = read(&file).unwrap();
    assert_eq!(packets.iter().map(|packet| packet.data.len()).collect::<Vec<_>>(), [3, 3, 4]);
    assert_eq!((packets[0].time, packets[1].time), (Duration::from_micros(5), Duration::ZERO));
}

#[test]
fn other_files_are_no_captures() {
    assert!(matches!(read(b"\x1f\x8b\x08\x00 gzipped"), Err(CaptureError::NotACapture)));
    assert!(matches!(read(b""), Err(CaptureError::NotACapture)));
}

#[test]
fn erf_record_is_read_behind_its_extension_headers() {
    let record = |kind: u8, extensions: &[u8]| [&[0; 8][..], &[kind], &[0; 7], extensions, b"packet"].concat();
    assert_eq!(erf(&record(21, &[])), Some(&b"packet"[..]));
    let two = [0x80, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7];
    assert_eq!(erf(&record(0x80 | 21, &two)), Some(&b"packet"[..]));
    assert_eq!(erf(&record(2, &[])), None, "Ethernet in an ERF record");
    assert_eq!(erf(&record(0x80 | 21, &[0x80; 2])), None, "cut");
}

#[test]
fn ethernet_payload_is_behind_the_vlan_tags() {
    let frame = |tags: &[u8]| [&[0; 12][..], tags, &[0x89, 0x15, 7]].concat();
    for tags in [&[][..], &[0x81, 0, 0, 9], &[0x88, 0xa8, 0, 9, 0x81, 0, 0, 9]] {
        assert_eq!(ethernet(&frame(tags)), Some(([0x89, 0x15], &[7][..])));
    }
    assert_eq!(ethernet(&[0; 13]), None);
}
