//! RMPP segments of a long response, for a simulation of umad that has no RMPP.
use core::time::Duration;
use ib_mad::{
    Method, MgmtClass, Wire,
    mad::MadHeader,
    rmpp::{Reassembler, ReassemblerLimits, Received, Segmenter, SegmenterLimits},
    sa::SaMad,
    umad::UmadHeader,
};
use std::sync::OnceLock;

/// Bytes of the longest frame of one datagram.
const LONGEST: usize = size_of::<UmadHeader>() + size_of::<SaMad>();

/// Returns the frames of the segments, if `IB_SIM_SEGMENTS` is 1 and the frame is a long response of subnet
/// administration.
///
/// The segments are acknowledged here: the simulation loses none.
pub(crate) fn of_frame(frame: &[u8]) -> Option<Vec<Vec<u8>>> {
    static WANTED: OnceLock<bool> = OnceLock::new();
    let is_wanted = || *WANTED.get_or_init(|| std::env::var_os("IB_SIM_SEGMENTS").is_some_and(|value| value == "1"));
    (frame.len() > LONGEST && is_wanted()).then(|| segments(frame))?
}

fn segments(frame: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (header, message) = frame.split_at_checked(size_of::<UmadHeader>())?;
    let (mad, _) = MadHeader::parse_prefix(message).ok()?;
    if (mad.mgmt_class, mad.method) != (MgmtClass::SUBN_ADM, Method::GET_TABLE_RESP) {
        return None;
    }
    let mut sender = Segmenter::new(message, SegmenterLimits::default()).ok()?;
    let mut receiver = Reassembler::new(vec![0; message.len()], ReassemblerLimits::default());
    let mut frames = Vec::new();
    while let Some(segment) = sender.poll_send(Duration::ZERO) {
        frames.push([header, &segment].concat());
        if let Ok(Received::More(Some(ack)) | Received::Done(Some(ack))) = receiver.handle(Duration::ZERO, &segment) {
            sender.handle(Duration::ZERO, &ack).ok()?;
        }
    }
    Some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{
        TransactionId, as_bytes,
        sa::{PathRecord, Query, TableWriter, table_length},
    };

    #[test]
    fn long_table_becomes_segments_that_make_the_table_again() {
        let request = Query::<PathRecord>::new().request(Method::GET_TABLE, TransactionId::new(7));
        let mut table = TableWriter::new(&request, vec![0; table_length::<PathRecord>(300)]).unwrap();
        (0..300).for_each(|_| table.push(&PathRecord::default()).unwrap());
        let table = table.finish();
        let header = as_bytes(&UmadHeader { qpn: 1.into(), ..UmadHeader::default() }).to_vec();
        let frames = segments(&[&header, table.as_bytes()].concat()).unwrap();
        assert_eq!(frames.len(), 96);
        let mut receiver = Reassembler::new(vec![0; 65_536], ReassemblerLimits::default());
        for frame in &frames {
            assert_eq!((frame.len(), &frame[..64]), (LONGEST, &header[..]));
            receiver.handle(Duration::ZERO, &frame[64..]).unwrap();
        }
        assert_eq!(receiver.message().map(<[u8]>::len), Some(table_length::<PathRecord>(300)));
        assert_eq!(segments(&[&header, as_bytes(&request)].concat()), None, "no response");
        assert_eq!(of_frame(&[&header, table.as_bytes()].concat()), None, "the variable is not set");
    }
}
