//! Target of RMPP transfers: a sender, a receiver, and a network that loses, duplicates and reorders datagrams.
use arbitrary::Unstructured;
use core::time::Duration;
use ib_mad::opa::{OPA_BASE_VERSION, OPA_MAD_SIZE};
use ib_mad::rmpp::{OpaSegmenter, Reassembler, ReassemblerLimits, Received, Segmenter, SegmenterLimits, Sent};
use ib_mad::{AttributeId, Method, TransactionId, mad::MAD_SIZE, sa::SaMad};
use std::collections::VecDeque;

/// Upper bound of the steps of a transfer: each receives a datagram or waits for a deadline.
const MAX_STEPS: usize = 4000;

/// Passes `bytes` as datagrams to a receiver and a sender, then transfers a message over a network whose faults come
/// from `bytes`.
///
/// # Panics
/// If another message than the sent one arrives, or if a transfer without losses fails.
pub fn transfers(bytes: &[u8]) {
    arbitrary_datagrams(bytes);
    let _ = any_transfer(&mut Unstructured::new(bytes));
}

fn arbitrary_datagrams(bytes: &[u8]) {
    let mut receiver = Reassembler::new(vec![0; 3000], ReassemblerLimits::default());
    let mut sender = Segmenter::new(message(1, 1000), SegmenterLimits::default()).ok();
    for (number, chunk) in (0..).zip(bytes.chunks(256).chain([bytes])) {
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

fn message(base_version: u8, data: usize) -> Vec<u8> {
    let mut request = SaMad::request(Method::GET_TABLE_RESP, AttributeId::new(0x35), TransactionId::new(9));
    request.header.base_version = base_version;
    request.sa.attribute_offset = 8.into();
    let mut message = ib_mad::as_bytes(&request).get(..56).unwrap_or_default().to_vec();
    message.extend((0..data).map(|number| u8::try_from(number % 251).unwrap_or_default()));
    message
}

/// A transfer with datagrams of either size.
fn any_transfer(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let limits = SegmenterLimits::default();
    if u.arbitrary()? {
        let whole = message(OPA_BASE_VERSION, u.int_in_range(0..=6000)?);
        transfer::<OPA_MAD_SIZE>(u, &whole, OpaSegmenter::omni_path(&whole, limits).ok())
    } else {
        let whole = message(1, u.int_in_range(0..=6000)?);
        transfer::<MAD_SIZE>(u, &whole, Segmenter::new(&whole, limits).ok())
    }
}

fn transfer<const SIZE: usize>(
    u: &mut Unstructured<'_>,
    whole: &[u8],
    sender: Option<Segmenter<&Vec<u8>, SIZE>>,
) -> arbitrary::Result<()> {
    let Some(mut sender) = sender else { panic!("no sender of a message with headers") };
    let lossy = u.ratio(1, 2)?;
    let window = u.int_in_range(1..=64)?;
    let mut receiver = Reassembler::new(vec![0; 8000], ReassemblerLimits { window, ..ReassemblerLimits::default() });
    let (mut segments, mut acks) = (VecDeque::new(), VecDeque::new());
    let mut now = Duration::ZERO;
    let mut done = (false, false);
    for _ in 0..MAX_STEPS {
        while let Some(segment) = sender.poll_send(now) {
            send(u, lossy, &mut segments, segment.to_vec())?;
        }
        if let Some(segment) = receive(u, lossy, &mut segments)? {
            match receiver.handle(now, &segment) {
                Ok(Received::More(Some(ack)) | Received::Done(Some(ack))) => send(u, lossy, &mut acks, ack.to_vec())?,
                Ok(Received::Failed(_, Some(ack))) => send(u, lossy, &mut acks, ack.to_vec())?,
                Ok(_) => {}
                Err(error) => panic!("{error}: a segment of the sender"),
            }
            done.1 |= receiver.message().is_some();
        } else if let Some(ack) = receive(u, lossy, &mut acks)? {
            match sender.handle(now, &ack) {
                Ok(Sent::Done) => done.0 = true,
                Ok(Sent::More) => {}
                Ok(Sent::Failed(status, _)) => {
                    assert!(lossy, "{status:?} without losses");
                    return Ok(());
                }
                Err(error) => panic!("{error}: an acknowledgement of the receiver"),
            }
        } else if done.0 {
            break;
        } else {
            let Some(at) = sender.poll_timeout() else { break };
            now = now.max(at);
            if let Sent::Failed(status, _) = sender.handle_timeout(now) {
                assert!(lossy, "{status:?} without losses");
                return Ok(());
            }
        }
    }
    if done.1 {
        let received = receiver.message().unwrap_or_default();
        assert_eq!(received.get(56..), whole.get(56..), "another message");
    }
    assert!(lossy || done == (true, true), "{done:?} without losses");
    Ok(())
}

type Network = VecDeque<Vec<u8>>;

fn send(u: &mut Unstructured<'_>, lossy: bool, network: &mut Network, datagram: Vec<u8>) -> arbitrary::Result<()> {
    match if lossy { u.int_in_range(0..=9)? } else { 9 } {
        0 => {}
        1 => network.extend([datagram.clone(), datagram]),
        _ => network.push_back(datagram),
    }
    Ok(())
}

fn receive(u: &mut Unstructured<'_>, lossy: bool, network: &mut Network) -> arbitrary::Result<Option<Vec<u8>>> {
    let reordered = lossy && u.ratio(1, 8)?;
    Ok(if reordered { network.pop_back() } else { network.pop_front() })
}
