//! Captures of a few packets, whole and damaged.
use super::{
    link::{erf, ethernet},
    *,
};
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
    for (header, whole) in [(24, pcap_file(false, false, 1, &[7; 64])), (4, pcapng_file(None, 1, 0))] {
        for length in 0..whole.len() {
            let result = read(&whole[..length]);
            let is_reported = match &result {
                Err(CaptureError::NotACapture) => length < header,
                Err(CaptureError::Cut { after: 0 }) => length >= header,
                // A cut between two parts of a file is not visible.
                Ok(packets) => packets.is_empty(),
                Err(_) => false,
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

/// A pcap file of packets of 60 to 109 bytes, with one second between them, and the offset of each.
fn records(number: u8) -> (Vec<u8>, Vec<usize>) {
    let (mut file, mut offsets) = (pcap_file(false, false, 1, &[])[..24].to_vec(), Vec::new());
    for index in 0..number {
        offsets.push(file.len());
        let mut one = pcap_file(false, false, 1, &vec![index; 60 + usize::from(index % 50)]);
        one[24..28].copy_from_slice(&(1_700_000_000 + u32::from(index)).to_le_bytes());
        file.extend(&one[24..]);
    }
    (file, offsets)
}

/// Returns the first byte of each packet, which is its number, and the number of invalid records.
fn numbers(file: &[u8]) -> (Vec<u8>, usize) {
    let items: Vec<_> = Capture::new(file).unwrap().collect();
    let packets: Vec<_> = items.iter().flatten().filter_map(|packet| packet.data.first().copied()).collect();
    let is_bad = |item: &&Result<_, _>| matches!(item, Err(CaptureError::Malformed { .. }));
    assert_eq!(packets.len() + items.iter().filter(is_bad).count(), items.len(), "{items:?}");
    let bad = items.len() - packets.len();
    (packets, bad)
}

#[test]
fn packets_after_a_record_with_a_damaged_length_are_read() {
    let (whole, offsets) = records(200);
    let all: Vec<u8> = (0..200).collect();
    assert_eq!(numbers(&whole), (all.clone(), 0));
    for damaged in [0, 1, 100, 198] {
        // No length, more than the longest packet, more than the file has.
        for (kept, original) in [(0_u32, 0_u32), (0x7fff_ffff, 60), (u32::MAX, u32::MAX), (0x3_ff00, 60)] {
            let (mut file, at) = (whole.clone(), offsets[damaged] + 8);
            file[at..at + 4].copy_from_slice(&kept.to_le_bytes());
            file[at + 4..at + 8].copy_from_slice(&original.to_le_bytes());
            let others = all.iter().copied().filter(|number| usize::from(*number) != damaged).collect();
            assert_eq!(numbers(&file), (others, 1), "{damaged} {kept:#x}");
        }
        // A shorter one cuts its packet, and a longer one hides the next packet.
        for (kept, first) in [(30_u32, damaged + 1), (120, damaged + 2)] {
            let (mut file, at) = (whole.clone(), offsets[damaged] + 8);
            file[at..at + 4].copy_from_slice(&kept.to_le_bytes());
            let (packets, bad) = numbers(&file);
            assert!(packets.ends_with(&all[first.min(200)..]) && packets.starts_with(&all[..damaged]), "{packets:?}");
            assert!(bad <= 1, "{bad} of {damaged} {kept}");
        }
    }
    // The last record has nothing behind it: the file seems cut.
    let (mut file, at) = (whole.clone(), offsets[199] + 8);
    file[at..at + 4].copy_from_slice(&0x3_ff00_u32.to_le_bytes());
    let last = Capture::new(&file[..]).unwrap().last();
    assert!(matches!(last, Some(Err(CaptureError::Cut { after: 199 }))), "{last:?}");
}

#[test]
fn search_for_the_next_record_has_a_bound() {
    let (whole, offsets) = records(3);
    for (zeros, expected) in [(1 << 20, 1), ((1 << 20) - 100, 3)] {
        let file = [&whole[..offsets[1]], &vec![0; zeros], &whole[offsets[1]..]].concat();
        assert_eq!(numbers(&file).0.len(), expected, "{zeros}");
    }
}

/// A reader of a byte at a time, which fails once before each.
struct Slow<'a>(&'a [u8], bool);
impl Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = to.len().min(1);
        self.0.read(&mut to[..length])
    }
}

#[test]
fn packet_is_read_without_a_byte_of_the_next_one() {
    let (whole, offsets) = records(2);
    let mut capture = Capture::new(Slow(&whole, false)).unwrap();
    assert_eq!(capture.next().unwrap().unwrap().data[0], 0);
    assert_eq!(capture.input.peek(0).unwrap().len(), 0, "of {offsets:?}");
    assert_eq!(capture.next().unwrap().unwrap().data.len(), 61);
    assert!(capture.next().is_none());
}

#[test]
fn blocks_after_a_damaged_block_are_read() {
    let whole = pcapng_file(None, 247, 5);
    let (head, good) = whole.split_at(whole.len() - 36);
    // The first length, both lengths, and the second length.
    for (at, value) in [(4, 3_u32), (4, 0xffff_fff0), (4, 40), (4, 1024), (32, 0), (32, 40)] {
        let mut bad = good.to_vec();
        bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let file = [head, good, &bad, good, good].concat();
        assert_eq!(numbers(&file), (vec![1; 3], 1), "{at} {value:#x}");
    }
    // A block of 40 bytes that has lost one.
    let file = [head, good, &good[..20], &good[21..], good, good].concat();
    assert_eq!(numbers(&file), (vec![1; 3], 1));
}

#[test]
fn interface_is_read_with_any_option() {
    let whole = pcapng_file(None, 247, 5_000_000);
    let packet = &whole[whole.len() - 36..];
    let section = &whole[..28];
    let file = |body: &[u8]| {
        let length = u32::try_from(12 + body.len()).unwrap().to_le_bytes();
        [section, &[1, 0, 0, 0], &length, body, &length, packet].concat()
    };
    let seconds = |options: &[u8]| {
        let packets = read(&file(&[&[247, 0, 9, 9, 0, 0, 0, 0], options].concat())).unwrap();
        assert_eq!(packets[0].link_type, 247);
        packets[0].time
    };
    // A zone of 4 bytes, a name that is not UTF-8, an option without its end.
    assert_eq!(seconds(&[10, 0, 4, 0, 1, 0, 0, 0]), Duration::from_secs(5));
    assert_eq!(seconds(&[2, 0, 1, 0, 0xff, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0]), Duration::from_millis(5));
    assert_eq!(seconds(&[9, 0, 200, 0]), Duration::from_secs(5));
    // An offset of 3 s, and of -4 s.
    assert_eq!(seconds(&[14, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0]), Duration::from_secs(8));
    assert_eq!(seconds(&[14, 0, 8, 0, 0xfc, 255, 255, 255, 255, 255, 255, 255]), Duration::from_secs(1));
    // A description without its fields keeps its number.
    let short = Capture::new(&file(&[247, 0, 0, 0])[..]).unwrap().next().unwrap();
    assert_eq!(short.unwrap_err().to_string(), "after packet 0: no such interface");
}

#[test]
fn second_section_has_its_own_byte_order_and_interfaces() {
    let first = pcapng_file(None, 247, 5);
    let big = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let second = big(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 0x1_0000, u32::MAX, u32::MAX, 28]);
    let interface = big(&[1, 20, 1 << 16, 0, 20]);
    let packet = big(&[6, 36, 0, 0, 7, 4, 4, 0x0900_0000, 36]);
    let packets = read(&[first, second.clone(), interface, packet.clone()].concat()).unwrap();
    assert_eq!(packets.iter().map(|packet| packet.link_type).collect::<Vec<_>>(), [247, 1]);
    assert_eq!((packets[1].time, packets[1].data[0]), (Duration::from_micros(7), 9));
    assert!(read(&[pcapng_file(None, 247, 5), second, packet].concat()).is_err(), "no interface in this section");
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
