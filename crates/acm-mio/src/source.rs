//! Selects the local address of a path by the routing table.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV6};
use std::net::UdpSocket;

/// Destination port of the socket. Any port except 0 is possible, because no datagram is sent.
const DISCARD: u16 = 9;
/// Maximum number of interfaces that are tried for a link-local destination.
const MOST_TRIED: usize = 16;

/// Returns the local address of a UDP socket connected to `dest`; `None` without a route.
///
/// A link-local destination has a route on every interface, and requests of clients do not contain the interface.
/// Therefore the first interface in `link_local` to which the socket can be connected is used.
pub(crate) fn select(dest: IpAddr, link_local: impl Iterator<Item = u32>) -> Option<IpAddr> {
    match dest {
        IpAddr::V6(ip) if ip.is_unicast_link_local() => {
            link_local.take(MOST_TRIED).find_map(|interface| local_end(ip, interface))
        }
        IpAddr::V6(ip) => local_end(ip, 0),
        IpAddr::V4(ip) => {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
            socket.connect((ip, DISCARD)).ok()?;
            Some(socket.local_addr().ok()?.ip())
        }
    }
}

fn local_end(dest: Ipv6Addr, interface: u32) -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(SocketAddrV6::new(dest, DISCARD, 0, interface)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::iter::empty;

    #[test]
    fn loopback_address_is_its_own_source() {
        for local in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            assert_eq!(select(local, empty()), Some(local));
        }
    }

    #[test]
    fn link_local_destination_needs_an_interface() {
        let dest = "fe80::1".parse().unwrap();
        assert_eq!(select(dest, empty()), None);
        // No interface has this index.
        assert_eq!(select(dest, [u32::MAX].into_iter()), None);
    }

    #[test]
    fn at_most_16_interfaces_are_tried() {
        let mut tried = 0;
        let no_interfaces = core::iter::repeat_with(|| {
            tried += 1;
            u32::MAX
        });
        assert_eq!(select("fe80::1".parse().unwrap(), no_interfaces), None);
        assert_eq!(tried, 16);
    }
}
