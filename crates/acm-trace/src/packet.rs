//! InfiniBand packets as ERF records of type 21, as a capture of the wire holds them.
use crate::error::Damage;
use ib_mad::{
    DecodeError, Gid, Lid, Pkey, Qkey, Qpn, ServiceLevel,
    packet::{Bth, BthFlags, Deth, Grh, GrhFlow, Headers, LinkNextHeader, Lrh, OpCode, PacketLength, VlSl},
    wire::{Be16, InBytes},
};

/// ERF record type of an InfiniBand packet that starts with its local route header.
const ERF_INFINIBAND: u8 = 21;
/// ERF flag of a record with variable length.
const ERF_VARYING_LENGTH: u8 = 0x04;
const ERF_HEADER: usize = 16;
/// Lengths of the invariant and variant CRC, in bytes. Both CRCs are zero, because the packet was recorded before CRCs
/// were computed.
const INVARIANT_CRC: usize = 4;
const VARIANT_CRC: usize = 2;

/// Header fields of a datagram's packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketHeaders {
    /// LID of the sender.
    pub slid: Lid,
    /// LID of the receiver.
    pub dlid: Lid,
    /// Service level in the local route header, 0..=15.
    pub sl: ServiceLevel,
    /// P_Key in the base transport header.
    pub pkey: Pkey,
    /// Queue pair of the sender.
    pub source: Qpn,
    /// Queue pair of the receiver.
    pub dest: Qpn,
    /// Queue key in the datagram header (DETH).
    pub qkey: Qkey,
    /// The global route header, if the packet has one.
    pub global: Option<GlobalHeader>,
}

/// Fields of a global route header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalHeader {
    /// GID of the sender.
    pub sgid: Gid,
    /// GID of the receiver.
    pub dgid: Gid,
    /// Traffic class and flow label.
    pub flow: GrhFlow,
    /// Hop limit. A router forwards no packet with a hop limit of 0 or 1.
    pub hop_limit: u8,
}

/// Returns the record of a packet.
pub(crate) fn record(nanos: u64, headers: &PacketHeaders, payload: &[u8]) -> Vec<u8> {
    let global = if headers.global.is_some() { size_of::<Grh>() } else { 0 };
    let padding = payload.len().next_multiple_of(4) - payload.len();
    let transport = size_of::<Bth>() + size_of::<Deth>() + payload.len() + padding + INVARIANT_CRC;
    let packet = size_of::<Lrh>() + global + transport;
    let on_wire = packet + VARIANT_CRC;
    let length = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
    let mut bytes = Vec::with_capacity(ERF_HEADER + on_wire);
    // The time stamp: 32 bits of seconds and 32 bits of their fraction.
    let fraction = (u128::from(nanos % 1_000_000_000) << 32) / 1_000_000_000;
    let stamp = u64::try_from(fraction).unwrap_or_default() | (nanos / 1_000_000_000) << 32;
    bytes.extend_from_slice(&stamp.to_le_bytes());
    bytes.extend_from_slice(&[ERF_INFINIBAND, ERF_VARYING_LENGTH]);
    bytes.extend_from_slice(&length(ERF_HEADER + on_wire).to_be_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&length(on_wire).to_be_bytes());

    let next = if headers.global.is_some() { LinkNextHeader::GRH } else { LinkNextHeader::BTH };
    let lrh = Lrh {
        sl_next: VlSl::default().with_sl(headers.sl).with_next_header(next),
        dlid: headers.dlid,
        length: PacketLength::default().with_packet_length(length(packet / 4)),
        slid: headers.slid,
        ..Lrh::default()
    };
    bytes.extend_from_slice(ib_mad::as_bytes(&lrh));
    if let Some(global) = headers.global {
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
        pkey: headers.pkey,
        dest_qp: InBytes::new(headers.dest),
        ..Bth::default()
    };
    bytes.extend_from_slice(ib_mad::as_bytes(&bth));
    let deth = Deth { qkey: headers.qkey, src_qp: InBytes::new(headers.source), ..Deth::default() };
    bytes.extend_from_slice(ib_mad::as_bytes(&deth));
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len() + padding + INVARIANT_CRC + VARIANT_CRC, 0);
    bytes
}

/// Returns headers and payload of a record.
pub(crate) fn parse(record: &[u8]) -> Result<(PacketHeaders, &[u8]), Damage> {
    let short = || Damage::Short(record.len());
    let header: &[u8; ERF_HEADER] = record.first_chunk().ok_or_else(short)?;
    let [.., kind, _, _, _, _, _, high, low] = *header;
    if kind & 0x7f != ERF_INFINIBAND {
        return Err(Damage::Magic);
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    let packet = record.get(ERF_HEADER..).and_then(|rest| rest.get(..length)).ok_or_else(short)?;
    let parsed = Headers::parse(packet)?;
    // A whole packet has both CRCs.
    parsed.icrc.and(parsed.vcrc).ok_or_else(short)?;
    let op_code = parsed.bth.op_code.get().into();
    let deth = parsed.deth().ok_or(DecodeError::BadValue { what: "op_code", value: op_code })?;
    let lrh = parsed.lrh.copied().unwrap_or_default();
    let headers = PacketHeaders {
        slid: lrh.slid,
        dlid: lrh.dlid,
        sl: lrh.sl_next.sl(),
        pkey: parsed.bth.pkey,
        source: deth.src_qp.get(),
        dest: parsed.bth.dest_qp.get(),
        qkey: deth.qkey,
        global: parsed.grh.map(|grh| GlobalHeader {
            sgid: grh.sgid,
            dgid: grh.dgid,
            flow: grh.flow.with_ip_version(0),
            hop_limit: grh.hop_limit,
        }),
    };
    Ok((headers, parsed.payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{FlowLabel, wire::Bits as _};

    #[test]
    fn record_survives_a_round_trip_and_any_cut_is_an_error() {
        let flow = GrhFlow::default().with_traffic_class(9).with_flow_label(FlowLabel::from_raw(0xabcde));
        let global =
            GlobalHeader { sgid: "fe80::1".parse().unwrap(), dgid: "ff12::2".parse().unwrap(), flow, hop_limit: 3 };
        let headers = PacketHeaders {
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
        // Payloads are padded to a multiple of 4 bytes.
        let cases = [
            (headers, 256),
            (PacketHeaders { global: None, ..headers }, 256),
            (headers, 0),
            (headers, 17),
            (headers, 18),
            (headers, 19),
        ];
        for (headers, length) in cases {
            let payload = &payload[..length];
            let bytes = record(1_500_000_000, &headers, payload);
            let (read, found) = parse(&bytes).unwrap();
            assert_eq!((read, found), (headers, payload));
            // 1.5 s, then the length of the record and of its packet.
            assert_eq!(bytes[..8], [0, 0, 0, 0x80, 1, 0, 0, 0]);
            assert_eq!(usize::from(u16::from_be_bytes([bytes[10], bytes[11]])), bytes.len());
            assert_eq!(usize::from(u16::from_be_bytes([bytes[14], bytes[15]])), bytes.len() - ERF_HEADER);
            // The local route header counts words of 4 bytes, without the variant CRC.
            assert_eq!(
                usize::from(u16::from_be_bytes([bytes[20], bytes[21]])) * 4,
                bytes.len() - ERF_HEADER - VARIANT_CRC
            );
            for cut in 0..bytes.len() {
                assert!(parse(&bytes[..cut]).is_err(), "{cut}");
            }
        }
    }
}
