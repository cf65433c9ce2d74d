//! Addresses that the RDMA IP connection manager (librdmacm) puts at the start of the private data (IBTA A11).
use super::{CmReq, CmSidrReq};
use crate::{
    ServiceId, Wire, bits, wire,
    wire::{Be16, Octets},
};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

bits! {
    /// Version of IP, in the upper half of a byte.
    pub struct CmaIpVersion [1] {
        /// Version of IP: 4 or 6.
        ip_version / with_ip_version: u8 = 4,
        _: 4,
    }
}

wire! {
    /// Addresses of a connection between IP ports (IBTA A11.3; `struct cma_hdr` in Linux), 36 bytes at the start of the
    /// private data of a request. The destination port is in the service id.
    ///
    /// ```text
    ///  0  version | IP version 4, 0 | source port (2)
    ///  4  source address (16)
    /// 20  destination address (16)                     IPv4 in the last 4 bytes of each
    /// ```
    pub struct CmaHeader [36] {
        /// Version of this header, 0.
        pub cma_version: u8,
        /// Version of IP of both addresses.
        pub ip_version: CmaIpVersion,
        /// Port of the requester.
        pub port: Be16,
        /// Address of the requester.
        pub src_addr: Octets<16>,
        /// Address of the destination.
        pub dst_addr: Octets<16>,
    }
}

impl CmaHeader {
    /// Returns the header for the addresses of both ends. If only one address is IPv4, it is mapped into IPv6.
    ///
    /// ```
    /// use ib_mad::{Method, Mad, ServiceId, TransactionId, cm::{CmReq, CmaHeader}, id::PortSpace, wire::Octets};
    /// let header = CmaHeader::new("10.0.0.1:40000".parse()?, "10.0.0.2".parse()?);
    /// let request = CmReq {
    ///     service_id: ServiceId::from_port_space(PortSpace::TCP, 7471),
    ///     private_data: Octets::of(&header),
    ///     ..CmReq::default()
    /// };
    /// let mad = Mad::request(Method::SEND, 0, TransactionId::new(1), &request);
    /// // The responder:
    /// let received = mad.attribute_as::<CmReq>()?;
    /// assert_eq!(received.cma().and_then(CmaHeader::source), Some("10.0.0.1:40000".parse()?));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(source: SocketAddr, destination: IpAddr) -> Self {
        let (ip_version, addresses) = match (source.ip(), destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                (4, [source, destination].map(|own| own.to_ipv6_compatible()))
            }
            (source, destination) => (6, [source, destination].map(mapped)),
        };
        let ip_version = CmaIpVersion::default().with_ip_version(ip_version);
        let [src_addr, dst_addr] = addresses.map(|own| Octets(own.octets()));
        Self { cma_version: 0, ip_version, port: Be16::new(source.port()), src_addr, dst_addr }
    }

    /// Returns address and port of the requester; `None` if the version of IP is unknown.
    #[must_use]
    pub fn source(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.address(&self.src_addr)?, self.port.get()))
    }

    /// Returns the address of the destination; `None` if the version of IP is unknown.
    #[must_use]
    pub fn destination(&self) -> Option<IpAddr> {
        self.address(&self.dst_addr)
    }

    fn address(&self, bytes: &Octets<16>) -> Option<IpAddr> {
        match self.ip_version.ip_version() {
            4 => bytes.0.last_chunk::<4>().map(|own| Ipv4Addr::from(*own).into()),
            6 => Some(Ipv6Addr::from(bytes.0).into()),
            _ => None,
        }
    }
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(own) => own.to_ipv6_mapped(),
        IpAddr::V6(own) => own,
    }
}

/// Returns the header at the start of the private data, if the service is an IP port.
fn header(service: ServiceId, private_data: &[u8]) -> Option<&CmaHeader> {
    if is_ip_port(service) { CmaHeader::parse(private_data).ok() } else { None }
}

/// True for `0x0000000001NNPPPP`, the service ids of IP ports: protocol number and port (IBTA A11).
const fn is_ip_port(service: ServiceId) -> bool {
    service.get() >> 24 == 1
}

macro_rules! cma {
    ($($message:ident)*) => {$(
        impl $message {
            /// Returns the addresses of both ends, if the service is an IP port. The program's private data follows
            /// this header.
            #[must_use]
            pub fn cma(&self) -> Option<&CmaHeader> {
                header(self.service_id, &self.private_data.0)
            }
        }
    )*};
}
cma! { CmReq CmSidrReq }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{as_bytes, id::PortSpace};
    use proptest::prelude::*;

    #[test]
    fn cma_header_has_ipv4_and_ipv6_addresses() {
        let header = CmaHeader::new("10.0.0.1:258".parse().unwrap(), "10.0.0.2".parse().unwrap());
        let mut bytes = [0; 36];
        (bytes[1], bytes[2], bytes[3]) = (0x40, 1, 2);
        bytes[16..20].copy_from_slice(&[10, 0, 0, 1]);
        bytes[32..].copy_from_slice(&[10, 0, 0, 2]);
        assert_eq!(as_bytes(&header), bytes);
        let header = CmaHeader::new("[fe80::1]:258".parse().unwrap(), "10.0.0.2".parse().unwrap());
        assert_eq!((as_bytes(&header)[1], as_bytes(&header)[4], as_bytes(&header)[19]), (0x60, 0xfe, 1));
        assert_eq!(header.destination(), "::ffff:10.0.0.2".parse().ok());
        let other = CmaHeader { ip_version: CmaIpVersion::default().with_ip_version(5), ..header };
        assert_eq!((other.source(), other.destination()), (None, None));
    }

    #[test]
    fn only_requests_for_ip_services_have_a_cma_header() {
        let mut request = CmSidrReq { service_id: ServiceId::new(0x1000), ..CmSidrReq::default() };
        assert_eq!(request.cma(), None);
        request.service_id = ServiceId::from_port_space(PortSpace::UDP, 7);
        assert_eq!(request.cma(), Some(&CmaHeader::default()));
    }

    proptest! {
        #[test]
        fn addresses_are_read_back(source: SocketAddr, destination: IpAddr) {
            let header = CmaHeader::new(source, destination);
            let same = |one: IpAddr, other: IpAddr| mapped(one) == mapped(other);
            let seen = header.source().unwrap();
            prop_assert!(same(seen.ip(), source.ip()) && seen.port() == source.port());
            prop_assert!(same(header.destination().unwrap(), destination));
        }
    }
}
