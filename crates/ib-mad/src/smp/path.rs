//! The path of a directed-route datagram.
use crate::DecodeError;
use core::{cmp::Ordering, fmt, str::FromStr};

/// Output ports of a directed-route datagram, hop by hop (IBTA 14.2.2); at most [`DrPath::MAX_HOPS`].
///
/// The text form is that of `smpquery -D`: `0` is the local port; `0,1,5` leaves the local node by port 1 and the next
/// node by port 5. Paths are ordered port by port: a path precedes every longer path that starts with it.
///
/// ```
/// use ib_mad::smp::DrPath;
/// let here = DrPath::new();
/// let next: DrPath = "0,1".parse()?;
/// let far = next.then(5)?;
/// assert_eq!((here.to_string(), far.to_string(), far.ports()), ("0".into(), "0,1,5".into(), &[1, 5][..]));
/// assert!(here < next && next < far);
/// # Ok::<(), ib_mad::smp::DrPathError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DrPath {
    hops: u8,
    /// Ports as in the datagram: the first byte is unused, and zeros follow the last port.
    ports: [u8; 64],
}

/// Error of a path that is too long or cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DrPathError {
    /// A datagram has no room for more than [`DrPath::MAX_HOPS`] hops.
    #[error("a directed route has at most 63 hops")]
    TooManyHops,
    /// The text is not `0` followed by a port number for each hop.
    #[error("not a directed route: 0 and then ports, as in 0,1,5")]
    Text,
}

impl DrPath {
    /// Maximum number of hops of a datagram.
    pub const MAX_HOPS: u8 = 63;

    /// Returns the path without hops, which ends at the local port.
    #[must_use]
    pub const fn new() -> Self {
        Self { hops: 0, ports: [0; 64] }
    }

    /// Returns the number of hops.
    #[must_use]
    pub const fn hops(&self) -> u8 {
        self.hops
    }

    /// True if the path has no hops and ends at the local port.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.hops == 0
    }

    /// Returns the output port of each hop.
    #[must_use]
    pub fn ports(&self) -> &[u8] {
        self.ports.get(1..=usize::from(self.hops)).unwrap_or_default()
    }

    /// Returns the path in the form of a datagram.
    #[must_use]
    pub const fn initial_path(&self) -> [u8; 64] {
        self.ports
    }

    /// Appends a hop.
    ///
    /// # Errors
    /// [`DrPathError::TooManyHops`]; the path stays unchanged.
    pub fn push(&mut self, port: u8) -> Result<(), DrPathError> {
        let slot = self.ports.get_mut(usize::from(self.hops) + 1).ok_or(DrPathError::TooManyHops)?;
        *slot = port;
        self.hops += 1;
        Ok(())
    }

    /// Removes the last hop and returns its port; `None` if there is no hop.
    pub fn pop(&mut self) -> Option<u8> {
        let slot = self.ports.get_mut(usize::from(self.hops)).filter(|_| self.hops > 0)?;
        self.hops -= 1;
        Some(core::mem::take(slot))
    }

    /// Returns the path with another hop.
    ///
    /// # Errors
    /// [`DrPathError::TooManyHops`] if the path has 63 hops.
    pub fn then(mut self, port: u8) -> Result<Self, DrPathError> {
        self.push(port)?;
        Ok(self)
    }

    /// Reads the path of a datagram with a hop count.
    pub(super) fn from_datagram(hops: u8, ports: &[u8; 64]) -> Result<Self, DecodeError> {
        let bad = DecodeError::BadValue { what: "hop_count", value: hops.into() };
        let ports = ports.get(1..=usize::from(hops)).ok_or(bad)?;
        Self::try_from(ports).map_err(|_| bad)
    }
}

impl Default for DrPath {
    fn default() -> Self {
        Self::new()
    }
}

impl TryFrom<&[u8]> for DrPath {
    type Error = DrPathError;
    fn try_from(ports: &[u8]) -> Result<Self, DrPathError> {
        let mut own = Self::new();
        ports.iter().try_for_each(|port| own.push(*port))?;
        Ok(own)
    }
}

impl PartialOrd for DrPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for DrPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ports().cmp(other.ports())
    }
}

impl FromStr for DrPath {
    type Err = DrPathError;
    fn from_str(text: &str) -> Result<Self, DrPathError> {
        let mut ports = text.split(',');
        let mut own = Self::new();
        if ports.next() != Some("0") {
            return Err(DrPathError::Text);
        }
        for port in ports {
            let digits = port.bytes().all(|byte| byte.is_ascii_digit());
            let port = port.parse().ok().filter(|_| digits).ok_or(DrPathError::Text)?;
            own.push(port)?;
        }
        Ok(own)
    }
}

impl fmt::Display for DrPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0")?;
        self.ports().iter().try_for_each(|port| write!(f, ",{port}"))
    }
}
impl fmt::Debug for DrPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{
        Mad, MadRef, Method, TransactionId, as_bytes,
        smp::{DrSmp, NodeInfo, PortInfo},
    };
    use proptest::prelude::*;
    use std::{string::ToString as _, vec::Vec};

    proptest! {
        #[test]
        fn path_is_read_back_from_text_and_datagram(ports in proptest::collection::vec(any::<u8>(), 0..=70)) {
            let path = DrPath::try_from(&ports[..]);
            if ports.len() > 63 {
                prop_assert_eq!(path, Err(DrPathError::TooManyHops));
                return Ok(());
            }
            let path = path.unwrap();
            prop_assert_eq!((path.ports(), usize::from(path.hops())), (&ports[..], ports.len()));
            prop_assert_eq!(path.to_string().parse(), Ok(path));
            let smp = DrSmp::request(Method::GET, &path, 0, TransactionId::new(1), &NodeInfo::ZERO);
            prop_assert_eq!(smp.path(), Ok(path));
            prop_assert_eq!(&smp.initial_path.0[1..=ports.len()], &ports[..]);
            let mut shorter = path;
            let last = shorter.pop();
            prop_assert_eq!(last, ports.last().copied());
            if let Some(last) = last {
                prop_assert!(shorter < path);
                prop_assert_eq!(shorter.then(last), Ok(path));
                let before = DrPath::try_from(&ports[..ports.len() - 1]).unwrap();
                prop_assert_eq!(shorter, before, "the removed port is zero again");
            }
        }

        #[test]
        fn paths_are_ordered_by_their_ports(
            one in proptest::collection::vec(0_u8..3, 0..5),
            other in proptest::collection::vec(0_u8..3, 0..5),
        ) {
            let path = |ports: &Vec<u8>| DrPath::try_from(&ports[..]).unwrap();
            prop_assert_eq!(path(&one).cmp(&path(&other)), one.cmp(&other));
            prop_assert_eq!(path(&one) == path(&other), one == other);
        }
    }

    #[test]
    fn malformed_or_too_long_path_is_rejected() {
        for text in ["", "1", "1,5", "0,", ",0", "0,256", "0,+1", "0,-1", "0, 1", "0,1,x", "00"] {
            assert_eq!(text.parse::<DrPath>(), Err(DrPathError::Text), "{text:?}");
        }
        let long = ["0"; 65].join(",");
        assert_eq!(long.parse::<DrPath>(), Err(DrPathError::TooManyHops));
        assert_eq!(long[2..].parse::<DrPath>().unwrap().hops(), 63);
        let mut full: DrPath = long[2..].parse().unwrap();
        assert_eq!((full.push(1), full.hops()), (Err(DrPathError::TooManyHops), 63));
    }

    #[test]
    fn set_request_has_its_path_and_attribute() {
        let path: DrPath = "0,1,5".parse().unwrap();
        let port = PortInfo { gid_prefix: 5.into(), ..PortInfo::default() };
        let smp = DrSmp::request(Method::SET, &path, 3, TransactionId::new(9), &port);
        assert_eq!((smp.method, smp.hop_count, smp.hop_pointer, smp.attribute_modifier.get()), (Method::SET, 2, 0, 3));
        assert_eq!(MadRef::new(as_bytes(&smp)).unwrap().attribute_as::<PortInfo>(), Ok(&port));
        let mut mad = Mad::from(smp);
        assert_eq!(mad.datagram::<DrSmp>().unwrap().path(), Ok(path));
        // A hop count for which a datagram has no room.
        mad.datagram_mut::<DrSmp>().unwrap().hop_count = 64;
        let bad = DecodeError::BadValue { what: "hop_count", value: 64 };
        assert_eq!(mad.datagram::<DrSmp>().unwrap().path(), Err(bad));
    }
}
