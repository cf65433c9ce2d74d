//! InfiniBand packets as a capture of the wire holds them: ERF records of type 21.
use crate::error::Damage;
use ib_mad::{
    DecodeError, Gid, Lid, Pkey, Qkey, Qpn, ServiceLevel,
    packet::{Bth, BthFlags, Deth, Grh, GrhFlow, Headers, LinkNextHeader, Lrh, OpCode, PacketLength, VlSl},
    wire::{Be16, InBytes},
};

/// Type of an ERF record that holds an InfiniBand packet from its local route header on.
const ERF_INFINIBAND: u8 = 21;
/// ERF's flag for records as long as their packets.
const ERF_VARYING_LENGTH: u8 = 0x04;
const ERF_HEADER: usize = 16;
/// Invariant and variant check. They are zero: nothing was on a wire when they would have been made.
const INVARIANT_CHECK: usize = 4;
const VARIANT_CHECK: usize = 2;

/// What stands in the headers of a datagram's packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// LID that it comes from.
    pub slid: Lid,
    /// LID that it goes to.
    pub dlid: Lid,
    /// Service level in the local route header, 0..=15.
    pub sl: ServiceLevel,
    /// P_Key in the base transport header.
    pub pkey: Pkey,
    /// Queue pair that it comes from.
    pub source: Qpn,
    /// Queue pair that it goes to.
    pub dest: Qpn,
    /// Queue key in the datagram header (DETH).
    pub qkey: Qkey,
    /// The global route header; `None` if there is none.
    pub global: Option<Global>,
}

/// What stands in a global route header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global {
    /// GID that the packet comes from.
    pub sgid: Gid,
    /// GID that it goes to.
    pub dgid: Gid,
    /// Traffic class and flow label.
    pub flow: GrhFlow,
    /// Hop limit; with 0 or 1 no router forwards the packet.
    pub hop_limit: u8,
}

/// The record of a packet.
pub(crate) fn record(nanos: u64, way: &Way, payload: &[u8]) -> Vec<u8> {
    let global = if way.global.is_some() { size_of::<Grh>() } else { 0 };
    let padding = payload.len().next_multiple_of(4) - payload.len();
    let transport = size_of::<Bth>() + size_of::<Deth>() + payload.len() + padding + INVARIANT_CHECK;
    let packet = size_of::<Lrh>() + global + transport;
    let on_wire = packet + VARIANT_CHECK;
    let length = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
    let mut bytes = Vec::with_capacity(ERF_HEADER + on_wire);
    // 32 bits of seconds and 32 of their fraction.
    let fraction = (u128::from(nanos % 1_000_000_000) << 32) / 1_000_000_000;
    let stamp = u64::try_from(fraction).unwrap_or_default() | (nanos / 1_000_000_000) << 32;
    bytes.extend_from_slice(&stamp.to_le_bytes());
    bytes.extend_from_slice(&[ERF_INFINIBAND, ERF_VARYING_LENGTH]);
    bytes.extend_from_slice(&length(ERF_HEADER + on_wire).to_be_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&length(on_wire).to_be_bytes());

    let next = if way.global.is_some() { LinkNextHeader::GRH } else { LinkNextHeader::BTH };
    let lrh = Lrh {
        sl_next: VlSl::default().with_sl(way.sl).with_next_header(next),
        dlid: way.dlid,
        length: PacketLength::default().with_packet_length(length(packet / 4)),
        slid: way.slid,
        ..Lrh::default()
    };
    bytes.extend_from_slice(ib_mad::as_bytes(&lrh));
    if let Some(global) = way.global {
        let grh = Grh {
            flow: global.flow.with_ip_version(6),
            payload_length: Be16::new(length(transport)),
            next_header: Grh::NEXT_HEADER_IBA,
            hop_limit: global.hop_limit,
            sgid: global.sgid,
            dgid: global.dgid,
        };
        bytes.extend_from_slice(ib_mad::as_bytes(&grh));
    }
    let bth = Bth {
        op_code: OpCode::UD_SEND_ONLY,
        flags: BthFlags::default().with_pad_count(u8::try_from(padding).unwrap_or_default()),
        pkey: way.pkey,
        dest_qp: InBytes::new(way.dest),
        ..Bth::default()
    };
    bytes.extend_from_slice(ib_mad::as_bytes(&bth));
    let deth = Deth { qkey: way.qkey, src_qp: InBytes::new(way.source), ..Deth::default() };
    bytes.extend_from_slice(ib_mad::as_bytes(&deth));
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len() + padding + INVARIANT_CHECK + VARIANT_CHECK, 0);
    bytes
}

/// Headers and payload of a record.
pub(crate) fn parse(record: &[u8]) -> Result<(Way, &[u8]), Damage> {
    let short = || Damage::Short(record.len());
    let header: &[u8; ERF_HEADER] = record.first_chunk().ok_or_else(short)?;
    let [.., kind, _, _, _, _, _, high, low] = *header;
    if kind & 0x7f != ERF_INFINIBAND {
        return Err(Damage::Magic);
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    let packet = record.get(ERF_HEADER..).and_then(|rest| rest.get(..length)).ok_or_else(short)?;
    let headers = Headers::parse(packet)?;
    // A packet that is whole has both of its check sums.
    headers.icrc.and(headers.vcrc).ok_or_else(short)?;
    let op_code = headers.bth.op_code.get().into();
    let deth = headers.deth().ok_or(DecodeError::BadValue { what: "op_code", value: op_code })?;
    let lrh = headers.lrh.copied().unwrap_or_default();
    let way = Way {
        slid: lrh.slid,
        dlid: lrh.dlid,
        sl: lrh.sl_next.sl(),
        pkey: headers.bth.pkey,
        source: deth.src_qp.get(),
        dest: headers.bth.dest_qp.get(),
        qkey: deth.qkey,
        global: headers.grh.map(|grh| Global {
            sgid: grh.sgid,
            dgid: grh.dgid,
            flow: grh.flow.with_ip_version(0),
            hop_limit: grh.hop_limit,
        }),
    };
    Ok((way, headers.payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{FlowLabel, wire::Bits as _};

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let flow = GrhFlow::default().with_traffic_class(9).with_flow_label(FlowLabel::from_raw(0xabcde));
        let global = Global { sgid: "fe80::1".parse().unwrap(), dgid: "ff12::2".parse().unwrap(), flow, hop_limit: 3 };
        let way = Way {
            slid: Lid::new(5),
            dlid: Lid::new(0xc000),
            sl: ServiceLevel::from_raw(7),
            pkey: Pkey::DEFAULT_FULL,
            source: Qpn::from_raw(0x48),
            dest: Qpn::MULTICAST,
            qkey: Qkey::GSI,
            global: Some(global),
        };
        let payload: [u8; 256] = core::array::from_fn(|index| u8::try_from(index % 256).unwrap());
        // Payloads of any length, which are padded to words.
        let cases = [(way, 256), (Way { global: None, ..way }, 256), (way, 0), (way, 17), (way, 18), (way, 19)];
        for (way, length) in cases {
            let payload = &payload[..length];
            let bytes = record(1_500_000_000, &way, payload);
            let (read, found) = parse(&bytes).unwrap();
            assert_eq!((read, found), (way, payload));
            // Seconds and half of one; the length of the record and of the packet in it.
            assert_eq!(bytes[..8], [0, 0, 0, 0x80, 1, 0, 0, 0]);
            assert_eq!(usize::from(u16::from_be_bytes([bytes[10], bytes[11]])), bytes.len());
            assert_eq!(usize::from(u16::from_be_bytes([bytes[14], bytes[15]])), bytes.len() - ERF_HEADER);
            // The link's own length counts words, without the variant check.
            assert_eq!(
                usize::from(u16::from_be_bytes([bytes[20], bytes[21]])) * 4,
                bytes.len() - ERF_HEADER - VARIANT_CHECK
            );
            for cut in 0..bytes.len() {
                assert!(parse(&bytes[..cut]).is_err(), "{cut}");
            }
        }
    }
}
