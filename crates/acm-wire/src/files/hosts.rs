//! `ibacm_hosts.data` in the format `acm_hosts`: addresses of other nodes. Each line is `name-or-ip GID`.
use super::{
    addr::{AN_ADDRESS, read_address, write_address},
    line::{Entries, Parsed, word},
};
use crate::Address;
use core::fmt;
use ib_mad::Gid;
use nom::Parser;

/// Returns the lines of a text.
#[must_use]
pub fn parse(text: &[u8]) -> Entries<'_, HostLine> {
    Entries::new(text, line)
}

/// An address and the port that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostLine {
    /// The address: an IPv4 address, an IPv6 address or a name as in the file.
    pub address: Address,
    /// GID of the port: neither zero nor a multicast GID.
    pub gid: Gid,
}

impl fmt::Display for HostLine {
    /// Writes a line that the parser reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_address(&self.address, f)?;
        write!(f, " {}", self.gid)
    }
}

fn line(input: &[u8]) -> Parsed<'_, HostLine> {
    (
        word(AN_ADDRESS, read_address),
        word("the GID of a port, written as an IPv6 address", |text| {
            text.parse().ok().filter(|gid: &Gid| !gid.is_zero() && !gid.is_multicast())
        }),
    )
        .map(|(address, gid)| HostLine { address, gid })
        .parse(input)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::files::{LineErrorKind, Location};
    use proptest::prelude::*;
    use std::{string::ToString, vec::Vec};

    // docs/deviations.md: preload-lines
    #[test]
    fn lines_are_read() {
        let text = b"# hosts\nnode1 fe80::2:c903:0:11 # rack 1\r\n\t10.0.0.2\tFE80:0000:0000:0000:0002:C903:0000:0021\nfd00::3 fe80::31\nfe80::4%ib0 fe80::4";
        let seen: Vec<_> = parse(text).map(Result::unwrap).collect();
        assert_eq!(seen[0].0, Location { line: 2, column: 1 });
        assert_eq!(seen[0].1.to_string(), "node1 fe80::2:c903:0:11");
        assert_eq!(
            (seen[1].0, seen[1].1.to_string()),
            (Location { line: 3, column: 2 }, "10.0.0.2 fe80::2:c903:0:21".into())
        );
        assert_eq!(seen[2].1.address, Address::Ip6("fd00::3".parse().unwrap()));
        assert_eq!(seen[3].1.address, Address::Ip6("fe80::4".parse().unwrap()));
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn errors_have_a_location() {
        for text in ["node1 ::", "node1 ff15::1", "node1 10.0.0.1", "node1 fe80::/64"] {
            let error = parse(text.as_bytes()).next().unwrap().unwrap_err();
            assert!(error.column == 7 && matches!(error.kind, LineErrorKind::Bad { .. }), "{text}");
        }
        let error = parse(b"node1").next().unwrap().unwrap_err();
        assert!(error.column == 6 && matches!(error.kind, LineErrorKind::Missing { .. }));
    }

    proptest! {
        #[test]
        fn printed_line_is_read_back(name in "[a-z][a-zA-Z0-9_.-]{0,62}", gid in any::<[u8; 16]>()) {
            let gid = Gid::new(gid);
            prop_assume!(!gid.is_multicast() && !gid.is_zero());
            let line = HostLine { address: read_address(&name).unwrap(), gid };
            let text = line.to_string();
            prop_assert_eq!(parse(text.as_bytes()).map(|line| line.unwrap().1).collect::<Vec<_>>(), [line]);
        }

        #[test]
        fn any_bytes_do_not_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            crate::files::fuzz::hosts(&text);
        }
    }
}
