//! A message in segments: a sender and a receiver, and a network that loses, doubles and changes the order.
use arbitrary::Unstructured;
use core::time::Duration;
use ib_mad::rmpp::{Reassembler, ReassemblerLimits, Received, Segmenter, SegmenterLimits, Sent};
use ib_mad::{AttributeId, Method, TransactionId, sa::SaMad};
use std::collections::VecDeque;

/// What one side hears at a time.
const MOST: usize = 4000;

/// Random datagrams to a receiver and a sender, then a transfer over a network that these bytes make.
///
/// # Panics
/// If a message arrives that was not sent, or a network that loses nothing loses one.
pub fn transfers(bytes: &[u8]) {
    strangers(bytes);
    let _ = transfer(&mut Unstructured::new(bytes));
}

fn strangers(bytes: &[u8]) {
    let mut receiver = Reassembler::new(vec![0; 3000], ReassemblerLimits::default());
    let mut sender = Segmenter::new(message(1000), SegmenterLimits::default()).ok();
    for (number, chunk) in (0..).zip(bytes.chunks(256)) {
        let now = Duration::from_secs(number);
        let _ = receiver.handle(now, chunk);
        let _ = receiver.handle_timeout(now);
        if let Some(sender) = &mut sender {
            let _ = sender.poll_send(now);
            let _ = sender.handle(now, chunk);
            let _ = sender.handle_timeout(now);
        }
    }
    assert!(receiver.message().is_none_or(|message| message.len() <= 3000));
}

fn message(data: usize) -> Vec<u8> {
    let mut request = SaMad::request(Method::GET_TABLE_RESP, AttributeId::new(0x35), TransactionId::new(9));
    request.sa.attribute_offset = 8.into();
    let mut message = ib_mad::as_bytes(&request).get(..56).unwrap_or_default().to_vec();
    message.extend((0..data).map(|number| u8::try_from(number % 251).unwrap_or_default()));
    message
}

fn transfer(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let data = u.int_in_range(0..=6000)?;
    let lossy = u.ratio(1, 2)?;
    let whole = message(data);
    let limits = SegmenterLimits::default();
    let Ok(mut sender) = Segmenter::new(whole.clone(), limits) else { return Ok(()) };
    let window = u.int_in_range(1..=64)?;
    let mut receiver = Reassembler::new(vec![0; 8000], ReassemblerLimits { window, ..ReassemblerLimits::default() });
    let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
    let mut now = Duration::ZERO;
    let mut done = (false, false);
    for _ in 0..MOST {
        while let Some(segment) = sender.poll_send(now) {
            put(u, lossy, &mut there, segment)?;
        }
        if let Some(segment) = take(u, lossy, &mut there)? {
            match receiver.handle(now, &segment) {
                Ok(Received::More(Some(answer)) | Received::Done(Some(answer))) => put(u, lossy, &mut back, answer)?,
                Ok(Received::Failed(_, Some(answer))) => put(u, lossy, &mut back, answer)?,
                Ok(_) => {}
                Err(error) => panic!("{error}: a segment of ours"),
            }
            done.1 |= receiver.message().is_some();
        } else if let Some(answer) = take(u, lossy, &mut back)? {
            match sender.handle(now, &answer) {
                Ok(Sent::Done) => done.0 = true,
                Ok(Sent::More) => {}
                Ok(Sent::Failed(status, _)) => {
                    assert!(lossy, "{status:?} though nothing is lost");
                    return Ok(());
                }
                Err(error) => panic!("{error}: an answer of ours"),
            }
        } else if done.0 {
            break;
        } else {
            let Some(at) = sender.poll_timeout() else { break };
            now = now.max(at);
            if let Sent::Failed(status, _) = sender.handle_timeout(now) {
                assert!(lossy, "{status:?} though nothing is lost");
                return Ok(());
            }
        }
    }
    if done.1 {
        let came = receiver.message().unwrap_or_default();
        assert_eq!(came.get(56..), whole.get(56..), "another message");
    }
    assert!(lossy || done == (true, true), "{done:?} though nothing is lost");
    Ok(())
}

type Network = VecDeque<[u8; 256]>;

fn put(u: &mut Unstructured<'_>, lossy: bool, network: &mut Network, datagram: [u8; 256]) -> arbitrary::Result<()> {
    match if lossy { u.int_in_range(0..=9)? } else { 9 } {
        0 => {}
        1 => network.extend([datagram; 2]),
        _ => network.push_back(datagram),
    }
    Ok(())
}

fn take(u: &mut Unstructured<'_>, lossy: bool, network: &mut Network) -> arbitrary::Result<Option<[u8; 256]>> {
    let from_the_end = lossy && u.ratio(1, 8)?;
    Ok(if from_the_end { network.pop_back() } else { network.pop_front() })
}
