//! Conversions between messages and the types of the simulator.
use super::{
    codes::{Kind, Role},
    messages::{DatagramIn, DatagramOut, Hello, MAGIC, PortInfo, VERSION, Welcome},
};
use crate::{
    datagram::Source,
    id::NodeId,
    port::{Port, possible_state},
};
use alloc::vec::Vec;
use ib_mad::{
    AddressVector, DecodeError, FlowLabel, Gid, GlobalRoute, Pkey, Qpn, Rate, ServiceLevel, Wire,
    id::Lmc,
    packet::Grh,
    wire::{Be16, Be32, Reserved, Text},
};

/// Returns the kind of a message.
///
/// # Errors
/// [`DecodeError::TooShort`] for less than two bytes.
pub fn kind(message: &[u8]) -> Result<Kind, DecodeError> {
    Kind::parse(message).copied()
}

impl Hello {
    /// Creates a hello of this version.
    #[must_use]
    pub fn new(role: Role, port: u8, node: &str) -> Self {
        Self {
            kind: Kind::HELLO,
            version: Be16::new(VERSION),
            magic: Be32::new(MAGIC),
            role,
            port,
            node: Text::new(node.as_bytes()),
            ..Self::default()
        }
    }
}

/// Creates a [`PortInfo`] message with its tables.
#[must_use]
pub fn port_info(number: u8, port: &Port, change: u8) -> Vec<u8> {
    // A longer table is cut, so that it fits in a message.
    let gids = port.gids.get(..1024).unwrap_or(&port.gids);
    let pkeys = port.pkeys.get(..1024).unwrap_or(&port.pkeys);
    let info = PortInfo {
        kind: Kind::PORT_INFO,
        port: number,
        change,
        state: port.state,
        lmc: port.lmc.get(),
        mtu: port.mtu,
        rate: port.rate,
        lid: port.lid,
        sm_lid: port.sm_lid,
        sm_sl: port.sm_sl.get(),
        subnet_timeout: port.subnet_timeout,
        gid_count: Be16::new(u16::try_from(gids.len()).unwrap_or(u16::MAX)),
        pkey_count: Be16::new(u16::try_from(pkeys.len()).unwrap_or(u16::MAX)),
        ethernet: port.ethernet.into(),
        grh_required: port.grh_required.into(),
        reserved: Reserved::default(),
        guid: port.guid,
    };
    let mut message = ib_mad::as_bytes(&info).to_vec();
    message.extend(gids.iter().flat_map(|gid| gid.get()));
    message.extend(pkeys.iter().flat_map(|pkey| pkey.get().to_be_bytes()));
    message
}

/// Reads a [`PortInfo`] message: the port's number, its attributes, the number of the change.
///
/// # Errors
/// [`DecodeError`] if a table is cut or the state is undefined.
pub fn read_port_info(message: &[u8]) -> Result<(u8, Port, u8), DecodeError> {
    let (info, mut rest) = PortInfo::parse_prefix(message)?;
    let mut gids = Vec::new();
    for _ in 0..info.gid_count.get() {
        let (gid, behind) = Gid::parse_prefix(rest)?;
        gids.push(*gid);
        rest = behind;
    }
    let mut pkeys = Vec::new();
    for _ in 0..info.pkey_count.get() {
        let (pkey, behind) = Pkey::parse_prefix(rest)?;
        pkeys.push(*pkey);
        rest = behind;
    }
    let state = possible_state(info.state)
        .ok_or(DecodeError::BadValue { what: "PortInfo state", value: info.state.get().into() })?;
    let port = Port {
        guid: info.guid,
        state,
        lid: info.lid,
        lmc: Lmc::masked(info.lmc),
        gids,
        pkeys,
        mtu: info.mtu,
        rate: info.rate,
        sm_lid: info.sm_lid,
        sm_sl: ServiceLevel::masked(info.sm_sl),
        subnet_timeout: info.subnet_timeout,
        ethernet: info.ethernet != 0,
        grh_required: info.grh_required != 0,
    };
    Ok((info.port, port, info.change))
}

impl DatagramOut {
    /// Creates the header of a datagram's message.
    #[must_use]
    pub fn new(from: Qpn, datagram: &crate::datagram::Datagram<'_>) -> Self {
        let to = datagram.to;
        let route = to.grh.unwrap_or_default();
        Self {
            kind: Kind::DATAGRAM_OUT,
            dlid: to.dlid,
            from: Be32::new(from.get()),
            to: Be32::new(datagram.qpn.get()),
            qkey: datagram.qkey,
            sl: to.sl.get(),
            path_bits: to.path_bits,
            global: to.grh.is_some().into(),
            sgid_index: route.sgid_index,
            flow_label: Be32::new(route.flow_label.get()),
            hop_limit: route.hop_limit,
            traffic_class: route.traffic_class,
            static_rate: to.static_rate.unwrap_or_default(),
            reserved: Reserved::default(),
            dgid: route.dgid,
        }
    }

    /// Returns the datagram with this header and payload.
    #[must_use]
    pub fn datagram<'a>(&self, payload: &'a [u8]) -> crate::datagram::Datagram<'a> {
        let to = AddressVector {
            dlid: self.dlid,
            sl: ServiceLevel::masked(self.sl),
            path_bits: self.path_bits,
            static_rate: (self.static_rate != Rate::default()).then_some(self.static_rate),
            grh: (self.global != 0).then(|| GlobalRoute {
                dgid: self.dgid,
                sgid_index: self.sgid_index,
                hop_limit: self.hop_limit,
                traffic_class: self.traffic_class,
                flow_label: FlowLabel::masked(self.flow_label.get()),
            }),
        };
        crate::datagram::Datagram { to, qpn: Qpn::masked(self.to.get()), qkey: self.qkey, payload }
    }
}

impl DatagramIn {
    /// Creates the header of a received datagram's message.
    #[must_use]
    pub fn new(to: Qpn, source: &Source, grh: Option<&Grh>) -> Self {
        Self {
            kind: Kind::DATAGRAM_IN,
            slid: source.slid,
            to: Be32::new(to.get()),
            from: Be32::new(source.qpn.get()),
            pkey_index: Be16::new(source.pkey_index),
            sl: source.sl.get(),
            path_bits: source.path_bits,
            global: grh.is_some().into(),
            reserved: Reserved::default(),
            grh: grh.copied().unwrap_or_default(),
        }
    }

    /// Returns the sender of the datagram.
    #[must_use]
    pub fn source(&self) -> Source {
        Source {
            slid: self.slid,
            qpn: Qpn::masked(self.from.get()),
            sl: ServiceLevel::masked(self.sl),
            path_bits: self.path_bits,
            pkey_index: self.pkey_index.get(),
        }
    }

    /// Returns the global route header, if there is one.
    #[must_use]
    pub fn grh(&self) -> Option<&Grh> {
        (self.global != 0).then_some(&self.grh)
    }
}

impl Welcome {
    /// Returns the node's number.
    #[must_use]
    pub fn node_id(&self) -> NodeId {
        NodeId::new(self.node.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::SubnetConfig;
    use proptest::prelude::*;

    #[test]
    fn port_survives_its_message_and_a_cut_message_is_an_error() {
        let port =
            SubnetConfig { pkeys: alloc::vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)], ..SubnetConfig::default() }
                .node(3)
                .unwrap()
                .ports
                .remove(0);
        let message = port_info(1, &port, 11);
        assert_eq!(read_port_info(&message), Ok((1, port, 11)));
        assert!((0..message.len()).all(|end| read_port_info(&message[..end]).is_err()));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = kind(&bytes);
            if let Ok((number, port, change)) = read_port_info(&bytes) {
                let again = port_info(number, &port, change);
                prop_assert_eq!(read_port_info(&again), Ok((number, port, change)));
            }
        }

        #[test]
        fn datagram_survives_its_header(bytes in any::<[u8; 44]>(), payload in any::<[u8; 8]>()) {
            let header = DatagramOut::parse(&bytes).unwrap();
            let datagram = header.datagram(&payload);
            let again = DatagramOut::new(Qpn::masked(header.from.get()), &datagram);
            prop_assert_eq!(again.datagram(&payload), datagram);
        }
    }
}
