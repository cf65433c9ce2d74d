//! `ibacm_addr.cfg`: addresses of the local node. Each line is `address device port pkey`.
use super::line::{Entries, Parsed, word};
use crate::Address;
use core::fmt;
use ib_mad::Pkey;
use nom::Parser;

/// Maximum length of a name in bytes. C programs need one more byte for the NUL, 64 in all.
pub const MAX_NAME: usize = 63;

pub(super) const AN_ADDRESS: &str = "an IP address or a name of at most 63 bytes";

/// Returns the lines of a text. Repeated and contradictory lines are no error.
#[must_use]
pub fn parse(text: &[u8]) -> Entries<'_, AddrLine<'_>> {
    Entries::new(text, line)
}

/// Reads an IP address or a name: 1 to [`MAX_NAME`] bytes without control characters.
pub(super) fn read_address(text: &str) -> Option<Address> {
    let address = Address::from_text(text);
    let fits = text.len() <= MAX_NAME && !text.contains(char::is_control);
    (address.ip().is_some() || fits).then_some(address)
}

/// Writes an address in the form that [`read_address`] reads, without the escapes of `Display`.
pub(super) fn write_address(address: &Address, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match address {
        Address::Name(name) => f.write_str(str::from_utf8(name.as_bytes()).unwrap_or("?")),
        other => write!(f, "{other}"),
    }
}

/// Reads a P_Key in hex, with or without `0x`; `None` for a value that marks an unused table entry.
#[must_use]
pub fn read_pkey(text: &str) -> Option<Pkey> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // from_str_radix accepts a sign.
    let number = if digits.starts_with('+') { None } else { u16::from_str_radix(digits, 16).ok() };
    number.map(Pkey::new).filter(|pkey| pkey.is_valid())
}

/// The partition of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PkeyChoice {
    /// `default`: the partition of the first P_Key in the port's table.
    Default,
    /// The partition of this P_Key.
    Pkey(Pkey),
}

impl PkeyChoice {
    fn read(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("default") {
            return Some(Self::Default);
        }
        read_pkey(text).map(Self::Pkey)
    }
}

impl fmt::Display for PkeyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Pkey(pkey) => write!(f, "{pkey}"),
        }
    }
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddrLine<'a> {
    /// The address: an IPv4 address, an IPv6 address or a name as in the file.
    pub address: Address,
    /// Name of the RDMA device, as in `/sys/class/infiniband`.
    pub device: &'a str,
    /// Port number on the device, from 1.
    pub port: u8,
    /// Partition of the address: a P_Key or the default.
    pub pkey: PkeyChoice,
}

impl fmt::Display for AddrLine<'_> {
    /// Writes a line that the parser reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_address(&self.address, f)?;
        write!(f, " {} {} {}", self.device, self.port, self.pkey)
    }
}

fn line(input: &[u8]) -> Parsed<'_, AddrLine<'_>> {
    (
        word(AN_ADDRESS, read_address),
        word("a device's name", |text| (!text.contains(char::is_control)).then_some(text)),
        word("a port number, 1 to 255", |text| text.parse().ok().filter(|port| *port != 0)),
        word("a P_Key in hex, or default", PkeyChoice::read),
    )
        .map(|(address, device, port, pkey)| AddrLine { address, device, port, pkey })
        .parse(input)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::files::{LineErrorKind, Location};
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;
    use std::{
        format,
        string::{String, ToString},
        vec::Vec,
    };

    /// Written by Debian's ib_acme; see testdata/config/README.md.
    const SAMPLE: &[u8] = include_bytes!("../../testdata/ibacm_addr.cfg");

    #[test]
    fn sample_of_ib_acme_is_read() {
        let seen: Vec<_> = parse(SAMPLE).map(Result::unwrap).collect();
        let line = |name, port| AddrLine {
            address: Address::from_text(name),
            device: "softib0",
            port,
            pkey: PkeyChoice::Default,
        };
        let at = |line| Location { line, column: 1 };
        assert_eq!(seen, [(at(25), line("vm", 1)), (at(26), line("vm-1", 1)), (at(27), line("vm-2", 2))]);
        // The examples in comments of the sample, without the `# `.
        let examples = SAMPLE.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"# "));
        let examples: Vec<_> = examples
            .filter(|line| line.starts_with(b"node31"))
            .flat_map(parse)
            .map(|line| line.unwrap().1.pkey)
            .collect();
        let pkey = PkeyChoice::Pkey(Pkey::new(0xff));
        assert_eq!(examples, [PkeyChoice::Default, pkey, pkey]);
    }

    #[test]
    fn each_kind_of_address_and_pkey_is_read() {
        let text = "10.0.0.1 mlx5_0 1 DEFAULT # mine\nfe80::1\tmlx5_0\t255\tffff\r\n10.0.0.300 d 2 0x8001 more\nfe80::2%ib0 d 1 1";
        let seen: Vec<_> = parse(text.as_bytes()).map(|line| line.unwrap().1).collect();
        assert_eq!(seen[0].address, Address::Ip4(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!((seen[1].address, seen[1].port), (Address::Ip6("fe80::1".parse().unwrap()), 255));
        assert_eq!(seen[1].pkey, PkeyChoice::Pkey(Pkey::DEFAULT_FULL));
        assert_eq!((seen[2].address, seen[2].device), (Address::Name(crate::Name::new(b"10.0.0.300")), "d"));
        assert_eq!(seen[2].pkey, PkeyChoice::Pkey(Pkey::new(0x8001)));
        assert_eq!(seen[3].address, Address::Ip6("fe80::2".parse().unwrap()));
    }

    #[test]
    fn repeated_lines_are_all_returned() {
        let text = b"a d 1 default\nA d 1 default\na d 1 default\nb d 1 default";
        assert_eq!(parse(text).filter(Result::is_ok).count(), 4);
    }

    #[test]
    fn errors_have_a_location() {
        let long = "n".repeat(64);
        assert!(read_address(&long[1..]).is_some());
        for (text, column) in [
            ("a d 0 default", 5),
            ("a d 256 default", 5),
            ("a d 257 default", 5),
            ("a d x default", 5),
            ("a d 1 0x10000", 7),
            ("a d 1 0x8000", 7),
            ("a d 1 +1", 7),
            ("a d 1 node", 7),
            ("a\u{1} d 1 default", 1),
            (&format!("{long} d 1 default"), 1),
        ] {
            let error = parse(text.as_bytes()).next().unwrap().unwrap_err();
            assert_eq!((error.line, error.column), (1, column), "{text}");
            assert!(matches!(error.kind, LineErrorKind::Bad { .. }), "{text}");
        }
        for (text, column) in [("a", 2), ("a d ", 5), ("a d 1", 6)] {
            let error = parse(text.as_bytes()).next().unwrap().unwrap_err();
            assert_eq!(error.column, column, "{text}");
            assert!(matches!(error.kind, LineErrorKind::Missing { .. }), "{text}");
        }
    }

    fn addresses() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-zA-Z0-9_.-]{1,63}",
            any::<[u8; 4]>().prop_map(|ip| Ipv4Addr::from(ip).to_string()),
            any::<[u8; 16]>().prop_map(|ip| Ipv6Addr::from(ip).to_string()),
        ]
    }

    proptest! {
        #[test]
        fn printed_line_is_read_back(
            address in addresses(),
            device in "[!-~]{1,80}",
            port in 1_u8..,
            pkey in any::<Option<u16>>(),
        ) {
            // Addresses do not begin with #, because such a line is a comment.
            let pkey = pkey.map(Pkey::new).filter(|pkey| pkey.is_valid());
            let pkey = pkey.map_or(PkeyChoice::Default, PkeyChoice::Pkey);
            let line = AddrLine { address: read_address(&address).unwrap(), device: &device, port, pkey };
            let text = line.to_string();
            let seen: Vec<_> = parse(text.as_bytes()).map(|line| line.unwrap().1).collect();
            prop_assert_eq!(seen, [line]);
        }

        #[test]
        fn any_bytes_do_not_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            crate::files::fuzz::addr(&text);
        }

        #[test]
        fn damaged_lines_do_not_panic(
            text in "([a-f.:0-9]{1,9}[ \t]+[a-z]{0,3} [0-9]{0,4} (default|0x[0-9]{1,5})?\r?\n){0,9}",
        ) {
            crate::files::fuzz::addr(text.as_bytes());
        }
    }
}
