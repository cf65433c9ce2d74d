//! Ranges of service ids, as policies, partitions and listeners name them: by number, or by port space and port.
use crate::{ParseIdError, ServiceId, code};
use core::{fmt, str::FromStr};

code! {
    /// Port space of Linux's RDMA connection manager: the two bytes above the port in a service id (`rdma/rdma_cma.h`).
    pub struct PortSpace(u16) {
        /// Datagrams in the groups of IP over InfiniBand.
        IPOIB = 0x0002 "ipoib",
        /// Connections by IP address.
        TCP = 0x0106 "tcp",
        /// Datagrams by IP address.
        UDP = 0x0111 "udp",
        /// Services of InfiniBand's own, without IP.
        IB = 0x013f "ib",
    }
}

/// Programs whose port is theirs alone, in the port space [`PortSpace::TCP`].
const PROGRAMS: [(&str, u64); 2] = [("lustre", 0x0106_03db), ("storage-scale", 0x0106_04a7)];

impl ServiceId {
    /// The service of a port in a port space.
    #[must_use]
    pub const fn from_port_space(space: PortSpace, port: u16) -> Self {
        Self::new((space.get() as u64) << 16 | port as u64)
    }

    /// Port space and port; `None` for what no known port space has.
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

    /// The program that has this service: `lustre` (port 987) or `storage-scale` (port 1191).
    #[must_use]
    pub fn program(self) -> Option<&'static str> {
        PROGRAMS.iter().find(|(_, id)| *id == self.get()).map(|(name, _)| *name)
    }
}

/// Service ids from a first to a last one.
///
/// Its text is that of a program (`lustre`, `storage-scale`), of ports (`tcp:987`, `udp:7-9`, `ib:1`, `ipoib:1`), or of
/// numbers (`0x1000`, `0x1000-0x1fff`).
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
    /// From the first to the last; `None` if they are upside down.
    #[must_use]
    pub const fn new(first: ServiceId, last: ServiceId) -> Option<Self> {
        if first.get() <= last.get() { Some(Self { first, last }) } else { None }
    }

    /// One service.
    #[must_use]
    pub const fn of(id: ServiceId) -> Self {
        Self { first: id, last: id }
    }

    /// Every port of a port space.
    #[must_use]
    pub const fn of_port_space(space: PortSpace) -> Self {
        Self { first: ServiceId::from_port_space(space, 0), last: ServiceId::from_port_space(space, u16::MAX) }
    }

    /// The services that have the bits of `id` where `mask` has ones, as listeners of Linux's `ib_cm` say
    /// it. `None` if they do not follow each other: a zero of the mask stands before a one.
    #[must_use]
    pub const fn from_mask(id: ServiceId, mask: u64) -> Option<Self> {
        let open = !mask;
        if open & open.wrapping_add(1) != 0 {
            return None;
        }
        Some(Self { first: ServiceId::new(id.get() & mask), last: ServiceId::new(id.get() | open) })
    }

    /// The mask with which its first id says the same; `None` if none does.
    #[must_use]
    pub const fn mask(self) -> Option<u64> {
        let open = self.first.get() ^ self.last.get();
        if open & open.wrapping_add(1) == 0 && self.first.get() & open == 0 { Some(!open) } else { None }
    }

    /// The first.
    #[must_use]
    pub const fn first(self) -> ServiceId {
        self.first
    }

    /// The last.
    #[must_use]
    pub const fn last(self) -> ServiceId {
        self.last
    }

    /// Whether the service is in it.
    #[must_use]
    pub const fn contains(self, id: ServiceId) -> bool {
        self.first.get() <= id.get() && id.get() <= self.last.get()
    }

    /// Port space, first and last port; `None` if it is not of one known port space.
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
            (None, Some((space, port, _))) if is_one => write!(f, "{}:{port}", space.name().unwrap_or_default()),
            (None, Some((space, first, last))) => write!(f, "{}:{first}-{last}", space.name().unwrap_or_default()),
            (None, None) if is_one => write!(f, "{}", self.first),
            (None, None) => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl FromStr for ServiceRange {
    type Err = ParseIdError;
    /// Reads a program, ports or numbers, in upper or lower case. Numbers are decimal, or hex behind `0x`.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        read(text).ok_or(ParseIdError {
            what: "service (lustre, storage-scale, tcp:PORT, udp:PORT, ib:PORT, ipoib:PORT, a number, or A-B)",
        })
    }
}

fn read(text: &str) -> Option<ServiceRange> {
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

    /// The ports of Lustre and of IBM Storage Scale, and what a policy of OpenSM would say of them.
    #[test]
    fn texts() {
        for (text, first, last, again) in [
            ("lustre", 0x0106_03db, 0x0106_03db, "lustre"),
            ("0x00000000010603DB", 0x0106_03db, 0x0106_03db, "lustre"),
            ("TCP:1191", 0x0106_04a7, 0x0106_04a7, "storage-scale"),
            ("0x00000000010604A7", 0x0106_04a7, 0x0106_04a7, "storage-scale"),
            ("tcp:988", 0x0106_03dc, 0x0106_03dc, "tcp:988"),
            ("udp:0-65535", 0x0111_0000, 0x0111_ffff, "udp:0-65535"),
            ("ib:65535", 0x013f_ffff, 0x013f_ffff, "ib:65535"),
            ("ipoib:1", 0x0002_0001, 0x0002_0001, "ipoib:1"),
            ("7", 7, 7, "0x0000000000000007"),
            ("0x1000-0x1fff", 0x1000, 0x1fff, "0x0000000000001000-0x0000000000001fff"),
            // From one port space to another.
            ("0x106ffff-0x1110000", 0x0106_ffff, 0x0111_0000, "0x000000000106ffff-0x0000000001110000"),
        ] {
            let range: ServiceRange = text.parse().unwrap();
            assert_eq!((range.first().get(), range.last().get(), range.to_string().as_str()), (first, last, again));
            assert_eq!(again.parse(), Ok(range));
        }
        for bad in ["", "lustr", "tcp:", "tcp:65536", "tcp:9-8", "tcp:1-2-3", "sctp:5", "9-8", "0x", "-5", "1-", ":"] {
            assert!(bad.parse::<ServiceRange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn masks() {
        let range = |text: &str| text.parse::<ServiceRange>().unwrap();
        assert_eq!(ServiceRange::of_port_space(PortSpace::TCP).mask(), Some(!0xffff));
        assert_eq!((range("lustre").mask(), range("0-0xffffffffffffffff").mask()), (Some(!0), Some(0)));
        // 1 to 2 have no bit in common that others have not.
        assert_eq!((range("1-2").mask(), range("1-3").mask(), range("4-7").mask()), (None, None, Some(!3)));
        assert_eq!(ServiceRange::from_mask(ServiceId::new(0x1234), !0xff), Some(range("0x1200-0x12ff")));
        assert_eq!(ServiceRange::from_mask(ServiceId::new(0x1234), !0xf0), None);
    }

    proptest! {
        #[test]
        fn ports_come_back(space in any::<u16>(), port in any::<u16>()) {
            let space = PortSpace::new(space);
            let found = ServiceId::from_port_space(space, port).port_space();
            prop_assert_eq!(found, space.name().map(|_| (space, port)));
        }

        #[test]
        fn texts_come_back(first in any::<u64>(), more in 0_u64..0x2_0000, bits in 0_u32..64) {
            let (first, last) = (first >> bits, (first >> bits).saturating_add(more));
            let range = ServiceRange::new(ServiceId::new(first), ServiceId::new(last)).unwrap();
            prop_assert_eq!(range.to_string().parse(), Ok(range));
            prop_assert!(range.contains(range.first()) && range.contains(range.last()));
            prop_assert_eq!(range.contains(ServiceId::new(last.wrapping_add(1))), last == u64::MAX && first == 0);
        }

        #[test]
        fn masks_come_back(id in any::<u64>(), open in 0_u32..64) {
            let mask = u64::MAX << open;
            let range = ServiceRange::from_mask(ServiceId::new(id), mask).unwrap();
            prop_assert!(range.contains(ServiceId::new(id)));
            prop_assert_eq!(range.mask(), Some(mask));
        }
    }
}
