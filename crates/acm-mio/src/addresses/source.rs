//! Selects the local address of a path by the routing table.
//!
//! The kernel responds to RTM_GETROUTE within `send`, and takes no lock that others hold for long (Linux 4.14 and
//! later). A connected UDP socket would show the same address, but needs a port, and users can hold all of them.
use super::message::{HEADER, attributes, bytes, ip};
use crate::netlink::{NetlinkSocket, Received};
use core::net::IpAddr;
use netlink_packet_core::NetlinkBuffer;
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    route::{RouteAttribute, RouteHeader, RouteMessage, RouteType},
};
use nix::sys::socket::SockProtocol;

/// Number of a message with a route (`linux/rtnetlink.h`).
const RTM_NEWROUTE: u16 = 24;
/// Number of the attribute with the local address that the kernel prefers for the route.
const RTA_PREFSRC: u16 = 7;
/// Length of the fixed part of a route's message in bytes.
const ROUTE_HEADER: usize = 12;
/// Size of the receive buffer in bytes. A route with all its metrics and next hops is shorter.
const LONGEST: usize = 8 << 10;
/// Maximum number of interfaces that are tried for a link-local destination.
const MOST_TRIED: usize = 16;

/// Returns the local address that the kernel would send from to `dest`; `None` without a route.
///
/// A link-local destination has a route on every interface, and requests of clients do not contain the interface.
/// Therefore the first interface in `link_local` that has a route to the destination is used.
pub(crate) fn select_source(dest: IpAddr, link_local: impl Iterator<Item = u32>) -> Option<IpAddr> {
    let socket = NetlinkSocket::open(SockProtocol::NetlinkRoute).ok()?;
    match dest {
        IpAddr::V6(address) if address.is_unicast_link_local() => {
            link_local.take(MOST_TRIED).find_map(|interface| source_to(&socket, dest, Some(interface)))
        }
        IpAddr::V6(_) | IpAddr::V4(_) => source_to(&socket, dest, None),
    }
}

fn source_to(socket: &NetlinkSocket, dest: IpAddr, interface: Option<u32>) -> Option<IpAddr> {
    socket.send(&request(dest, interface), 0).ok()?;
    let mut buffer = [0; LONGEST];
    loop {
        match socket.receive(&mut buffer) {
            Received::Datagram { from_kernel: false, .. } => {}
            Received::Datagram { length, .. } => return source_in(buffer.get(..length)?),
            Received::Nothing | Received::Lost => return None,
        }
    }
}

fn request(dest: IpAddr, interface: Option<u32>) -> Vec<u8> {
    let (address_family, bits) = match dest {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    };
    let mut route = RouteMessage::default();
    route.header = RouteHeader { address_family, destination_prefix_length: bits, ..RouteHeader::default() };
    route.attributes.push(RouteAttribute::Destination(dest.into()));
    route.attributes.extend(interface.map(RouteAttribute::Oif));
    bytes(RouteNetlinkMessage::GetRoute(route), 0, 0)
}

/// Returns the preferred local address in the kernel's response; `None` if the kernel would not send along the route.
fn source_in(datagram: &[u8]) -> Option<IpAddr> {
    let message = NetlinkBuffer::new_checked(datagram).ok()?;
    if message.message_type() != RTM_NEWROUTE {
        return None;
    }
    let payload = datagram.get(HEADER..usize::try_from(message.length()).ok()?)?;
    let header = RouteHeader::parse(payload).ok()?;
    // IPv4 responds with an error instead of a route that refuses, IPv6 with the route.
    if !matches!(header.kind, RouteType::Unicast | RouteType::Local | RouteType::Anycast | RouteType::Multicast) {
        return None;
    }
    let mut attributes = attributes(payload.get(ROUTE_HEADER..)?).map_while(|attribute| attribute);
    let (_, source) = attributes.find(|(kind, _)| *kind == RTA_PREFSRC)?;
    ip(header.address_family, source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::{
        iter::empty,
        net::{Ipv4Addr, Ipv6Addr},
    };

    #[test]
    fn loopback_address_is_its_own_source() {
        for local in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            assert_eq!(select_source(local, empty()), Some(local));
        }
    }

    #[test]
    fn broadcast_address_is_no_destination() {
        assert_eq!(select_source(IpAddr::V4(Ipv4Addr::BROADCAST), empty()), None);
    }

    #[test]
    fn damaged_response_has_no_source() {
        let mut response = request(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        // The number of the message, the type of the route, and the number of the attribute.
        for (at, byte) in [(4, 24), (HEADER + 7, 1), (HEADER + ROUTE_HEADER + 2, 7)] {
            response[at] = byte;
        }
        assert_eq!(source_in(&response), Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        for length in 0..response.len() {
            assert_eq!(source_in(&response[..length]), None, "{length} bytes");
        }
        for kind in [0, 3, 6, 7, 8, 9] {
            response[HEADER + 7] = kind;
            assert_eq!(source_in(&response), None, "a route of type {kind}");
        }
    }

    #[test]
    fn link_local_destination_needs_an_interface() {
        let dest = "fe80::1".parse().unwrap();
        assert_eq!(select_source(dest, empty()), None);
        // No interface has this index.
        assert_eq!(select_source(dest, [u32::MAX].into_iter()), None);
    }

    #[test]
    fn at_most_16_interfaces_are_tried() {
        let mut tried = 0;
        let no_interfaces = core::iter::repeat_with(|| {
            tried += 1;
            u32::MAX
        });
        assert_eq!(select_source("fe80::1".parse().unwrap(), no_interfaces), None);
        assert_eq!(tried, 16);
    }
}
