//! The table of a structure's fields, and what is done with it.
use core::fmt;

/// One field of a wire structure: what it is called, where its bits are, how it shows.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in the specification's words.
    pub name: &'static str,
    /// First bit, counted from the most significant bit of the first byte of what the field stands in.
    pub bit_offset: u32,
    /// Width in bits, of all elements together.
    pub bits: u32,
    /// Elements of an array; 1 for everything else.
    pub count: u32,
    /// Not to be interpreted, and not shown.
    pub reserved: bool,
    /// Order of the bytes of a number.
    pub order: ByteOrder,
    /// The fields inside one element of a bit-packed word or a nested structure. Offsets count from that element.
    pub parts: &'static [Self],
    /// Shows the field; the bytes are those of the structure or word that it stands in.
    pub show: fn(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result,
    /// Shows one element of an array; whatever the index, the whole of everything else.
    pub show_element: fn(bytes: &[u8], index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result,
    /// The typed getter and setter of a part of a bit-packed word; `None` for a field that is a place in memory.
    pub access: Option<Access>,
}

impl Field {
    /// Width in bits of one element.
    #[must_use]
    pub const fn width(&self) -> u32 {
        match self.bits.checked_div(self.count) {
            Some(width) => width,
            None => 0,
        }
    }
}

/// How a part of a bit-packed word is read and changed: its getter and its setter, as numbers.
///
/// Both take the bytes of the word, and do nothing if they are too few.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What the getter gives.
    pub get: fn(word: &[u8]) -> Option<u64>,
    /// Hands a number to the setter, by way of the part's type.
    pub set: fn(word: &mut [u8], value: u64),
}

/// Order of the bytes of a number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Most significant byte first: everything that leaves the node.
    Network,
    /// The machine's own: only between programs and the kernel of one node.
    Host,
}

/// Prints a structure field by field, `name=value, ...`: the one dissector of all structures.
///
/// # Errors
/// Only what the formatter returns.
pub fn dissect(fields: &[Field], bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut separator = "";
    for field in fields.iter().filter(|field| !field.reserved) {
        write!(f, "{separator}{}=", field.name)?;
        (field.show)(bytes, f)?;
        separator = ", ";
    }
    Ok(())
}

/// Finds a field by its path: first bit in the structure, width.
///
/// A path is names joined by dots, each with an index if one element of an array is meant: `flow_hop.flow_label`,
/// `guids[3]`, `entries[0].vl`.
#[must_use]
pub fn find(fields: &[Field], path: &str) -> Option<(u32, u32)> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (name, index) = match first.split_once('[') {
        None => (first, None),
        Some((name, index)) => (name, Some(index.strip_suffix(']')?.parse::<u32>().ok()?)),
    };
    let field = fields.iter().find(|field| field.name == name)?;
    let width = field.width();
    let (offset, bits) = match index {
        None => (field.bit_offset, field.bits),
        Some(index) if index < field.count => (field.bit_offset + index * width, width),
        Some(_) => return None,
    };
    match rest {
        None => Some((offset, bits)),
        Some(rest) => find(field.parts, rest).map(|(inner, bits)| (offset + inner, bits)),
    }
}

/// The unsigned number in `bits` bits from `bit_offset` on, most significant bit first.
///
/// `None` if it is wider than 64 bits or not all in `bytes`.
#[must_use]
pub fn read_bits(bytes: &[u8], bit_offset: u32, bits: u32) -> Option<u64> {
    if bits > 64 {
        return None;
    }
    (bit_offset..bit_offset.checked_add(bits)?).try_fold(0, |value: u64, bit| {
        let byte = bytes.get(usize::try_from(bit / 8).ok()?)?;
        Some(value << 1 | u64::from(byte >> (7 - bit % 8) & 1))
    })
}

/// Puts the low bits of a number into `bits` bits from `bit_offset` on, most significant bit first.
///
/// `None`, and nothing changed, if that is wider than 64 bits or not all in `bytes`.
pub fn write_bits(bytes: &mut [u8], bit_offset: u32, bits: u32, value: u64) -> Option<()> {
    read_bits(bytes, bit_offset, bits)?;
    for (shift, bit) in (0..bits).rev().zip(bit_offset..) {
        let byte = bytes.get_mut(usize::try_from(bit / 8).ok()?)?;
        let mask = 0x80 >> (bit % 8);
        *byte = if value >> shift & 1 == 1 { *byte | mask } else { *byte & !mask };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Wire, sa::PathRecord, smp::GuidInfo};

    #[test]
    fn paths() {
        assert_eq!(find(PathRecord::FIELDS, "flow_hop.flow_label"), Some((44 * 8 + 4, 20)));
        assert_eq!(find(GuidInfo::FIELDS, "guids[3]"), Some((192, 64)));
        assert_eq!(find(GuidInfo::FIELDS, "guids"), Some((0, 512)));
        for bad in ["guids[8]", "guids[", "guids[x]", "guid", "guids[0].x", ""] {
            assert_eq!(find(GuidInfo::FIELDS, bad), None, "{bad}");
        }
    }

    #[test]
    fn bits_across_bytes() {
        let mut bytes = [0xff; 4];
        assert_eq!(write_bits(&mut bytes, 6, 12, 0x123), Some(()));
        assert_eq!(bytes, [0xfc, 0x48, 0xff, 0xff]);
        assert_eq!(read_bits(&bytes, 6, 12), Some(0x123));
        assert_eq!(write_bits(&mut bytes, 30, 3, 0), None);
        assert_eq!(bytes, [0xfc, 0x48, 0xff, 0xff]);
    }
}
