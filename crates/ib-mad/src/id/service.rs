//! Services, service levels, flows and transactions.
//!
//! [`ServiceRange`] reads and prints ranges of service ids as configuration files write them: by number, or by port
//! space and port.
use crate::wire::{from_str_number, small};
use crate::{ParseIdError, code, id};
use core::{fmt, str::FromStr};

id! {
    /// Service id, 8 bytes: the service requested by a connection request (IBTA A3; A11 for IP services).
    pub struct ServiceId(u64), "{:#018x}"
}
id! {
    /// Transaction id, 8 bytes: a response copies the id of its request. Linux reserves the upper half for the kernel.
    pub struct TransactionId(u64), "{:#018x}"
}
from_str_number! {
    ServiceId: u64, "service id (64 bits)";
    TransactionId: u64, "transaction id (64 bits)";
}

small! {
    /// Service level, 4 bits: selects the virtual lanes of a packet (IBTA 7.6.5).
    ServiceLevel(u8) 4 "{}";
    /// Flow label of the global route header, 20 bits (IBTA 8.3).
    FlowLabel(u32) 20 "{:#x}";
}

code! {
    /// Port space of Linux's RDMA connection manager: the two bytes above the port in a service id (`rdma/rdma_cma.h`).
    /// The service id of an IP port is `0x0000000001NNPPPP` with the IANA protocol number and the port (IBTA A11).
    pub struct PortSpace(u16) {
        /// Datagrams to groups of IP over InfiniBand.
        IPOIB = 0x0002 "ipoib",
        /// Connections by IP address; 0x06 is the protocol number of TCP.
        TCP = 0x0106 "tcp",
        /// Datagrams by IP address; 0x11 is the protocol number of UDP.
        UDP = 0x0111 "udp",
        /// Native InfiniBand services, without IP.
        IB = 0x013f "ib",
    }
}

/// Programs with a fixed port in the port space [`PortSpace::TCP`].
const PROGRAMS: [(&str, u64); 4] =
    [("lustre", 0x0106_03db), ("storage-scale", 0x0106_04a7), ("iser", 0x0106_0cbc), ("nfs-rdma", 0x0106_4e51)];

impl ServiceId {
    /// Returns the service id of a port in a port space.
    #[must_use]
    pub const fn from_port_space(space: PortSpace, port: u16) -> Self {
        Self::new((space.get() as u64) << 16 | port as u64)
    }

    /// Returns port space and port; `None` if the service id is in no port space that has a name.
    ///
    /// ```
    /// use ib_mad::{ServiceId, id::PortSpace};
    /// assert_eq!(ServiceId::new(0x0106_03db).port_space(), Some((PortSpace::TCP, 987)));
    /// ```
    #[must_use]
    pub const fn port_space(self) -> Option<(PortSpace, u16)> {
        let [0, 0, 0, 0, a, b, high, low] = self.get().to_be_bytes() else { return None };
        match PortSpace::new(u16::from_be_bytes([a, b])) {
            space @ (PortSpace::IPOIB | PortSpace::TCP | PortSpace::UDP | PortSpace::IB) => {
                Some((space, u16::from_be_bytes([high, low])))
            }
            _ => None,
        }
    }

    /// Returns the programs with a fixed service id: `lustre` (TCP port 987), `storage-scale` (1191), `iser` (3260) and
    /// `nfs-rdma` (20049).
    pub fn programs() -> impl Iterator<Item = (&'static str, Self)> {
        PROGRAMS.iter().map(|(name, id)| (*name, Self::new(*id)))
    }

    /// Returns the program that uses this service: see [`ServiceId::programs`].
    #[must_use]
    pub fn program(self) -> Option<&'static str> {
        PROGRAMS.iter().find(|(_, id)| *id == self.get()).map(|(name, _)| *name)
    }
}

/// A range of service ids.
///
/// Its text form is `rdma` ([`RDMA`](Self::RDMA)), a program (`lustre`, `storage-scale`, `iser`, `nfs-rdma`), ports (`tcp:987`, `udp:7-9`, `ib:1`,
/// `ipoib:1`), or numbers (`0x1000`, `0x1000-0x1fff`).
///
/// ```
/// use ib_mad::{ServiceId, id::ServiceRange};
/// let range: ServiceRange = "tcp:18515-18520".parse()?;
/// assert!(range.contains(ServiceId::new(0x0106_4854)));
/// assert_eq!(range.to_string(), "tcp:18515-18520");
/// assert_eq!("0x10603db".parse::<ServiceRange>()?.to_string(), "lustre");
/// # Ok::<(), ib_mad::ParseIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceRange {
    first: ServiceId,
    last: ServiceId,
}

impl ServiceRange {
    /// All services of the connection manager, in every port space, as fabric managers name them in one rule:
    /// 0x0000000001000000 to 0x0000000001ffffff.
    pub const RDMA: Self = Self { first: ServiceId::new(0x0100_0000), last: ServiceId::new(0x01ff_ffff) };

    /// Returns the service id that a path query has for this range: the only one, or the first of
    /// [`RDMA`](Self::RDMA). `None` for another range, because its services may have different paths.
    #[must_use]
    pub fn for_query(self) -> Option<ServiceId> {
        (self.first == self.last || self == Self::RDMA).then_some(self.first)
    }

    /// Returns the range from `first` to `last`, both included; `None` if `first` is greater.
    #[must_use]
    pub const fn new(first: ServiceId, last: ServiceId) -> Option<Self> {
        if first.get() <= last.get() { Some(Self { first, last }) } else { None }
    }

    /// Returns the range of one service id.
    #[must_use]
    pub const fn of(id: ServiceId) -> Self {
        Self { first: id, last: id }
    }

    /// Returns the first service id.
    #[must_use]
    pub const fn first(self) -> ServiceId {
        self.first
    }

    /// Returns the last service id.
    #[must_use]
    pub const fn last(self) -> ServiceId {
        self.last
    }

    /// True if the range contains the service id.
    #[must_use]
    pub const fn contains(self, id: ServiceId) -> bool {
        self.first.get() <= id.get() && id.get() <= self.last.get()
    }

    /// Returns port space, first and last port; `None` unless the whole range is in one port space that has a name.
    #[must_use]
    pub fn ports(self) -> Option<(PortSpace, u16, u16)> {
        let ((space, first), (other, last)) = (self.first.port_space()?, self.last.port_space()?);
        (space == other).then_some((space, first, last))
    }
}

impl From<ServiceId> for ServiceRange {
    fn from(id: ServiceId) -> Self {
        Self::of(id)
    }
}

impl fmt::Display for ServiceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_one = self.first == self.last;
        match (self.first.program().filter(|_| is_one), self.ports()) {
            (Some(program), _) => f.write_str(program),
            _ if *self == Self::RDMA => f.write_str("rdma"),
            (None, Some((space, port, _))) if is_one => write!(f, "{}:{port}", space.name().unwrap_or_default()),
            (None, Some((space, first, last))) => write!(f, "{}:{first}-{last}", space.name().unwrap_or_default()),
            (None, None) if is_one => write!(f, "{}", self.first),
            (None, None) => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl FromStr for ServiceRange {
    type Err = ParseIdError;
    /// Reads `rdma`, a program, ports or numbers, in upper or lower case. Numbers are decimal, or hex with the prefix `0x`.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        read(text).ok_or(ParseIdError {
            what: "service (rdma, lustre, storage-scale, iser, nfs-rdma, tcp:PORT, udp:PORT, ib:PORT, ipoib:PORT, a number, or A-B)",
        })
    }
}

fn read(text: &str) -> Option<ServiceRange> {
    if text.eq_ignore_ascii_case("rdma") {
        return Some(ServiceRange::RDMA);
    }
    if let Some((_, id)) = PROGRAMS.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)) {
        return Some(ServiceRange::of(ServiceId::new(*id)));
    }
    if let Some((head, ports)) = text.split_once(':') {
        let spaces = [PortSpace::IPOIB, PortSpace::TCP, PortSpace::UDP, PortSpace::IB];
        let named = |space: &PortSpace| space.name().is_some_and(|name| head.eq_ignore_ascii_case(name));
        let space = spaces.into_iter().find(named)?;
        let port = |text: &str| text.parse::<u16>().ok().map(|port| ServiceId::from_port_space(space, port));
        let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
        return ServiceRange::new(port(first)?, port(last)?);
    }
    let id = |text: &str| text.parse::<ServiceId>().ok();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    ServiceRange::new(id(first)?, id(last)?)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    /// Covers the ports of Lustre and IBM Storage Scale, and the formats of OpenSM's policies.
    #[test]
    fn service_range_is_read_and_printed() {
        for (text, first, last, again) in [
            ("lustre", 0x0106_03db, 0x0106_03db, "lustre"),
            ("0x00000000010603DB", 0x0106_03db, 0x0106_03db, "lustre"),
            ("TCP:1191", 0x0106_04a7, 0x0106_04a7, "storage-scale"),
            ("tcp:3260", 0x0106_0cbc, 0x0106_0cbc, "iser"),
            ("NFS-RDMA", 0x0106_4e51, 0x0106_4e51, "nfs-rdma"),
            ("0x00000000010604A7", 0x0106_04a7, 0x0106_04a7, "storage-scale"),
            ("tcp:988", 0x0106_03dc, 0x0106_03dc, "tcp:988"),
            ("udp:0-65535", 0x0111_0000, 0x0111_ffff, "udp:0-65535"),
            ("ib:65535", 0x013f_ffff, 0x013f_ffff, "ib:65535"),
            ("ipoib:1", 0x0002_0001, 0x0002_0001, "ipoib:1"),
            ("RDMA", 0x0100_0000, 0x01ff_ffff, "rdma"),
            ("0x1000000-0x1ffffff", 0x0100_0000, 0x01ff_ffff, "rdma"),
            ("7", 7, 7, "0x0000000000000007"),
            ("0x1000-0x1fff", 0x1000, 0x1fff, "0x0000000000001000-0x0000000000001fff"),
            // From one port space to another.
            ("0x106ffff-0x1110000", 0x0106_ffff, 0x0111_0000, "0x000000000106ffff-0x0000000001110000"),
        ] {
            let range: ServiceRange = text.parse().unwrap();
            assert_eq!((range.first().get(), range.last().get(), range.to_string().as_str()), (first, last, again));
            assert_eq!(again.parse(), Ok(range));
        }
        for (text, id) in [("rdma", Some(0x0100_0000)), ("lustre", Some(0x0106_03db)), ("tcp:1-2", None)] {
            assert_eq!(text.parse::<ServiceRange>().unwrap().for_query(), id.map(ServiceId::new));
        }
        for bad in ["", "lustr", "tcp:", "tcp:65536", "tcp:9-8", "tcp:1-2-3", "sctp:5", "9-8", "0x", "-5", "1-", ":"] {
            assert!(bad.parse::<ServiceRange>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn port_space_and_port_are_read_back(space in any::<u16>(), port in any::<u16>()) {
            let space = PortSpace::new(space);
            let found = ServiceId::from_port_space(space, port).port_space();
            prop_assert_eq!(found, space.name().map(|_| (space, port)));
        }

        #[test]
        fn printed_service_range_is_read_back(first in any::<u64>(), more in 0_u64..0x2_0000, bits in 0_u32..64) {
            let (first, last) = (first >> bits, (first >> bits).saturating_add(more));
            let range = ServiceRange::new(ServiceId::new(first), ServiceId::new(last)).unwrap();
            prop_assert_eq!(range.to_string().parse(), Ok(range));
            prop_assert!(range.contains(range.first()) && range.contains(range.last()));
            prop_assert_eq!(range.contains(ServiceId::new(last.wrapping_add(1))), last == u64::MAX && first == 0);
        }
    }
}
