//! Log lines of libraries, and addresses as text.
use acm_wire::Address;
use core::{fmt::Write as _, net::Ipv6Addr};
use ib_mad::acm::AcmAddressType;

/// `ACM_EP_INFO_PATH`: the type of a path record in place of an address.
const PATH: u8 = 0x10;

/// Splits the text of a library into lines of printable ASCII. Other bytes become hexadecimal, such as `\x1b`. Empty
/// lines are removed.
pub fn lines(text: &[u8]) -> impl Iterator<Item = String> {
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii_end);
    lines.filter(|line| !line.is_empty()).map(|line| {
        line.iter().fold(String::with_capacity(line.len()), |mut text, byte| {
            match byte {
                b'\t' => text.push(' '),
                b' '..=b'~' => text.push(char::from(*byte)),
                other => {
                    let _ = write!(text, "\\x{other:02x}");
                }
            }
            text
        })
    })
}

/// Returns the text of an address or a path record for `acm_format_name`, without the terminating 0. Missing bytes are
/// zero.
#[must_use]
pub fn name(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut info = [0; 64];
    for (to, from) in info.iter_mut().zip(bytes) {
        *to = *from;
    }
    if kind == PATH {
        return path(&info).into_bytes();
    }
    match Address::decode(AcmAddressType::new(kind), &info) {
        Some(Address::Name(name)) => name.as_bytes().to_vec(),
        Some(Address::Ip4(ip)) => ip.to_string().into_bytes(),
        Some(Address::Ip6(ip)) => ip.to_string().into_bytes(),
        Some(Address::Gid(gid)) => Ipv6Addr::from(gid.get()).to_string().into_bytes(),
        Some(Address::Lid(lid)) => format!("LID({})", lid.get()).into_bytes(),
        None => b"Unknown".to_vec(),
    }
}

/// Returns the text of a path record: its LIDs, or the destination's GID if there is no DLID.
fn path(record: &[u8; 64]) -> String {
    let [.., gid, rest] = [record.get(..8), record.get(8..24), record.get(40..44)];
    let lid = |at: usize| rest.and_then(|rest| rest.get(at..at + 2)?.try_into().ok()).map_or(0, u16::from_be_bytes);
    let (dlid, slid) = (lid(0), lid(2));
    if dlid != 0 {
        return format!("SLID({slid}) DLID({dlid})");
    }
    let gid: [u8; 16] = gid.and_then(|gid| gid.try_into().ok()).unwrap_or_default();
    Ipv6Addr::from(gid).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_printable_lines() {
        let all = |text: &[u8]| lines(text).collect::<Vec<_>>();
        assert_eq!(all(b"acmp_open_dev: mlx5_0\n"), ["acmp_open_dev: mlx5_0"]);
        assert_eq!(all(b"one\r\n\n  two \x1b[2J\xff\ttab\n"), ["one", "  two \\x1b[2J\\xff tab"]);
        assert_eq!(all(b"\n\n"), [""; 0]);
    }

    #[test]
    fn addresses_have_the_text_of_ibacm() {
        let text = |kind, bytes: &[u8]| String::from_utf8(name(kind, bytes)).unwrap();
        assert_eq!(text(1, b"node1\0junk"), "node1");
        assert_eq!(text(1, &[b'a'; 70]).len(), 64);
        assert_eq!(text(2, &[10, 0, 0, 7]), "10.0.0.7");
        assert_eq!(text(3, &[0xfe, 0x80]), "fe80::");
        assert_eq!(text(4, &[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]), "fe80::9");
        assert_eq!(text(5, &[1, 2]), "LID(258)");
        assert_eq!((text(0, &[]), text(99, b"x")), ("Unknown".to_owned(), "Unknown".to_owned()));
        let mut record = [0; 64];
        record[8..10].copy_from_slice(&[0xfe, 0x80]);
        record[23] = 3;
        assert_eq!(text(0x10, &record), "fe80::3");
        record[40..44].copy_from_slice(&[0, 7, 1, 0]);
        assert_eq!(text(0x10, &record), "SLID(256) DLID(7)");
    }
}
