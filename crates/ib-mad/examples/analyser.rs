//! Prints requests for path records and their responses in a capture of InfiniBand packets (pcap of ERF records,
//! gzipped): `analyser FILE`.
use flate2::read::MultiGzDecoder;
use ib_mad::{packet::Headers, sa::PathRecord};
use std::{
    fs::File,
    io::{self, Read},
};

fn main() -> io::Result<()> {
    let file = std::env::args().nth(1).unwrap_or_default();
    analyse(&file).map(|lines| lines.iter().for_each(|line| println!("{line}")))
}

pub(crate) fn analyse(file: &str) -> io::Result<Vec<String>> {
    let (mut bytes, mut lines) = (Vec::new(), Vec::new());
    MultiGzDecoder::new(File::open(file)?).read_to_end(&mut bytes)?;
    let mut rest = bytes.get(24..).unwrap_or_default();
    for number in 1.. {
        let Some(([.., a, b, c, d], behind)) = rest.split_first_chunk::<16>() else { break };
        let length = u32::from_le_bytes([*a, *b, *c, *d]).try_into().unwrap_or(usize::MAX);
        let Some((record, next)) = behind.split_at_checked(length) else { break };
        rest = next;
        // Skips packets without a management datagram, and later segments of messages.
        let Some(Ok(headers)) = record.get(16..).map(Headers::parse) else { continue };
        let Some(mad) = headers.mad().filter(|mad| !mad.is_later_segment()) else { continue };
        let Ok(PathRecord { dgid, sgid, dlid, slid, pkey, mtu, .. }) = mad.attribute_as() else { continue };
        let ((from, to), mtu) = (headers.lrh.map(|lrh| (lrh.slid, lrh.dlid)).unwrap_or_default(), mtu.value().get());
        let (method, tid) = (mad.method(), mad.header().transaction_id);
        lines.push(format!(
            "{number}\t{from}\t{to}\t{method:#04x}\t{tid}\t{dgid}\t{sgid}\t{dlid:#06x}\t{slid:#06x}\t{pkey}\t{mtu:#04x}"
        ));
    }
    Ok(lines)
}
