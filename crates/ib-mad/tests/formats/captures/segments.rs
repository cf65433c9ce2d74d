//! Tests of RMPP messages in captures.
use crate::common::{headers, mad, packets};
use core::time::Duration;
use ib_mad::rmpp::{Reassembler, ReassemblerLimits, Received, RmppType, Segmenter, SegmenterLimits, Sent};
use std::collections::BTreeMap;

/// Reassembles the segments of Linux and segments the message again.
#[test]
fn messages_are_segmented_as_linux_segments_them() {
    let (link_type, packets) = packets("rmpp-roce.pcap.gz");
    let mut transfers: BTreeMap<(Vec<u8>, u8, u64), Vec<Vec<u8>>> = BTreeMap::new();
    for packet in &packets {
        let Some(mad) = mad(link_type, packet) else { continue };
        if mad.rmpp().is_some_and(|rmpp| rmpp.flags.active() && rmpp.rmpp_type == RmppType::DATA) {
            let source = packet[..14].to_vec();
            let key = (source, mad.method().get(), mad.header().transaction_id.get());
            transfers.entry(key).or_default().push(mad.as_bytes().to_vec());
        }
    }
    let mut whole = 0;
    for segments in transfers.values() {
        let mut buffer = vec![0; 64 * 1024];
        let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
        let mut done = false;
        for segment in segments {
            done |= matches!(receiver.handle(Duration::ZERO, segment), Ok(Received::Done(_)));
        }
        if !done {
            continue;
        }
        let message = receiver.message().unwrap().to_vec();
        let mut sender = Segmenter::new(&message, SegmenterLimits::default()).unwrap();
        for number in 1..=sender.segments() {
            let ours = sender.poll_send(Duration::ZERO).unwrap();
            let linux = segments.iter().find(|segment| segment[28..32] == number.to_be_bytes()).unwrap();
            // The upper five bits of the flags are the response time, which Linux sets.
            let mut expected = linux.clone();
            expected[26] &= 7;
            let last = number == sender.segments();
            if !last && number != 1 {
                expected[32..36].fill(0);
            }
            assert_eq!(ours[..36], expected[..36], "segment {number}");
            if !last {
                assert_eq!(ours[..], expected[..], "segment {number}");
            }
            let mut ack = ours;
            ack[25] = RmppType::ACK.get();
            ack[28..32].copy_from_slice(&number.to_be_bytes());
            ack[32..36].copy_from_slice(&(number + 1).to_be_bytes());
            let status = sender.handle(Duration::ZERO, &ack).unwrap();
            assert_eq!(status, if last { Sent::Done } else { Sent::More });
        }
        whole += 1;
    }
    assert!(whole > 0, "{} transfers, none whole", transfers.len());
}

/// Packets of Linux's Soft-RoCE; also checks that a changed byte of the payload is detected.
#[test]
fn icrc_of_linux_packets_is_correct() {
    let mut right = 0;
    for file in ["rmpp-roce.pcap.gz", "cm-roce.pcap.gz"] {
        let (link_type, packets) = packets(file);
        for packet in &packets {
            let Some(own) = headers(link_type, packet) else { continue };
            assert_eq!((own.padding.len(), own.icrc_is_right()), (0, Some(true)));
            assert!(own.mad().is_none_or(|mad| mad.as_bytes().len() == 256));
            let mut other = packet.clone();
            // An acknowledgement has no payload; change a byte of its header.
            let at = packet.len() - 5 - right % own.payload.len().max(1);
            other[at] ^= 1;
            assert_eq!(headers(link_type, &other).unwrap().icrc_is_right(), Some(false), "byte {at}");
            right += 1;
        }
    }
    assert_eq!(right, 733);
}
