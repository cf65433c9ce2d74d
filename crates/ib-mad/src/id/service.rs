//! Services, service levels, flows, transactions.
use super::{from_str_number, small};
use crate::{code, id};

id! {
    /// Service id: what a connection asks for, 8 bytes (IBTA A3, A11 for the IP ones).
    pub struct ServiceId(u64), "{:#018x}"
}
id! {
    /// Transaction id: an answer carries its request's, 8 bytes. Linux keeps the upper half for itself.
    pub struct TransactionId(u64), "{:#018x}"
}
from_str_number! {
    ServiceId: u64, "service id (64 bits)";
    TransactionId: u64, "transaction id (64 bits)";
}

small! {
    /// Service level, 4 bits: which virtual lanes a packet takes (IBTA 7.6.5).
    ServiceLevel(u8) 4 "{}";
    /// Flow label of the global route header, 20 bits (IBTA 8.3).
    FlowLabel(u32) 20 "{:#x}";
}

code! {
    /// Protocol of a service id of the RDMA IP connection manager: an IANA protocol number (IBTA A11).
    pub struct IpProtocol(u8) {
        /// TCP: connections.
        TCP = 6 "TCP",
        /// UDP: datagrams.
        UDP = 17 "UDP",
        /// No IP protocol: Linux's port space for InfiniBand's own services, 0x013f.
        IB = 0x3f "IB",
    }
}

impl ServiceId {
    /// The service of an IP port, `0x0000000001NNPPPP` with the protocol's number and the port (IBTA A11).
    ///
    /// ```
    /// use ib_mad::{IpProtocol, ServiceId};
    /// assert_eq!(ServiceId::from_ip_port(IpProtocol::TCP, 987).to_string(), "0x00000000010603db");
    /// ```
    #[must_use]
    pub const fn from_ip_port(protocol: IpProtocol, port: u16) -> Self {
        Self::new(1 << 24 | (protocol.get() as u64) << 16 | port as u64)
    }

    /// Protocol and port of an IP port's service; `None` for every other.
    #[must_use]
    pub const fn ip_port(self) -> Option<(IpProtocol, u16)> {
        match self.get().to_be_bytes() {
            [0, 0, 0, 0, 1, protocol, high, low] => Some((IpProtocol::new(protocol), u16::from_be_bytes([high, low]))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The ports of Lustre and of IBM Storage Scale.
    #[test]
    fn known_services() {
        assert_eq!(ServiceId::new(0x0106_03db).ip_port(), Some((IpProtocol::TCP, 987)));
        assert_eq!(ServiceId::from_ip_port(IpProtocol::TCP, 1191), ServiceId::new(0x0106_04a7));
        assert_eq!(ServiceId::new(0x1000_0000_0106_04a7).ip_port(), None);
        assert_eq!(ServiceId::new(0x0206_04a7).ip_port(), None);
    }

    proptest! {
        #[test]
        fn ports_come_back(protocol in any::<u8>(), port in any::<u16>()) {
            let protocol = IpProtocol::new(protocol);
            prop_assert_eq!(ServiceId::from_ip_port(protocol, port).ip_port(), Some((protocol, port)));
        }
    }
}
