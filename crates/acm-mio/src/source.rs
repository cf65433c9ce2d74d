//! Which local address the routing table gives for a destination.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::net::UdpSocket;

/// Any port but 0: nothing is sent.
const DISCARD: u16 = 9;

/// The local name of a UDP socket that is connected to `dest`; `None` without a route.
pub(crate) fn select(dest: IpAddr) -> Option<IpAddr> {
    let any = match dest {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((dest, DISCARD)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_reaches_itself() {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(select(local), Some(local));
        // A link-local address without an interface has no route.
        assert_eq!(select("fe80::1".parse().unwrap()), None);
    }
}
