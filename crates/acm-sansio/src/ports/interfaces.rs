//! IP addresses of network interfaces. They take precedence over addresses in files.
use crate::api::port::{InterfaceAddress, PortAttributes};
use alloc::{collections::BTreeSet, vec::Vec};
use core::net::IpAddr;

/// All addresses of interfaces.
#[derive(Debug, Default)]
pub(super) struct InterfaceAddresses {
    /// In the order of the input.
    all: Vec<InterfaceAddress>,
    ips: BTreeSet<IpAddr>,
}

impl InterfaceAddresses {
    /// Replaces all addresses. Reports whether they changed.
    pub(super) fn set(&mut self, all: &[InterfaceAddress]) -> bool {
        if self.all == all {
            return false;
        }
        self.all = all.to_vec();
        self.ips = all.iter().map(|found| found.address).collect();
        true
    }

    /// Reports whether an interface has the address.
    pub(super) fn has(&self, ip: IpAddr) -> bool {
        self.ips.contains(&ip)
    }

    /// Returns the addresses on a port.
    pub(super) fn on(&self, port: &PortAttributes) -> impl Iterator<Item = &InterfaceAddress> {
        self.all.iter().filter(move |found| found.is_on(port))
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::Pkey;

    #[test]
    fn interface_finds_its_port_by_interface_id() {
        let port = |gids: &[&str]| PortAttributes {
            gids: gids.iter().map(|gid| gid.parse().unwrap()).collect(),
            ..PortAttributes::default()
        };
        let at = |gid: &str| InterfaceAddress {
            gid: gid.parse().unwrap(),
            pkey: None,
            address: "10.0.0.1".parse().unwrap(),
        };
        assert!(at("fe80::5").is_on(&port(&["fe80::5"])));
        assert!(at("fe80::5").is_on(&port(&["::", "fec0:0:0:1::5"])), "another prefix, and not the first of the table");
        assert!(!at("fe80::5").is_on(&port(&["fe80::6", "::"])));
        assert!(!at("fe80::").is_on(&port(&["fec0::"])), "without an interface id, the whole GID must match");
        assert!(at("fe80::").is_on(&port(&["fe80::"])));
        assert!(!at("::").is_on(&port(&["::"])), "an empty entry matches no interface");
    }

    #[test]
    fn identical_interface_addresses_are_no_change() {
        let (gid, address) = ("fe80::5".parse().unwrap(), "fd00::1".parse().unwrap());
        let one = InterfaceAddress { gid, pkey: None, address };
        let mut all = InterfaceAddresses::default();
        assert!(all.set(&[one]) && !all.set(&[one]));
        assert!(all.has(address) && !all.has("fd00::2".parse().unwrap()));
        let other = InterfaceAddress { pkey: Some(Pkey::new(0x8001)), ..one };
        assert!(all.set(&[other]) && all.set(&[]));
        assert!(!all.has(address));
    }
}
