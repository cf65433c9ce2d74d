//! Description of a structure's fields, and functions that read and print fields by it.
use core::fmt;

/// A field of a wire structure: its name, its bits, and how it is printed.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name of the field, as in the specification.
    pub name: &'static str,
    /// First bit, counted from the most significant bit of the first byte of the enclosing structure or word.
    pub bit_offset: u32,
    /// Width of all elements together, in bits.
    pub bits: u32,
    /// Number of elements of an array; 1 for any other field.
    pub count: u32,
    /// True if the field is reserved: it is neither interpreted nor shown.
    pub reserved: bool,
    /// Byte order of a number.
    pub order: ByteOrder,
    /// True if every value is shown as a decimal number.
    pub is_number: bool,
    /// Fields of one element, for a bit-packed word or a nested structure, with offsets from the start of the element.
    pub parts: &'static [Self],
    /// Prints one element of an array. For any other field, prints the whole field and ignores the index. `bytes` are
    /// those of the enclosing structure or word.
    pub show_element: fn(bytes: &[u8], index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result,
    /// Getter and setter of a part of a bit-packed word; `None` for a field of whole bytes.
    pub access: Option<Access>,
}

impl Field {
    /// Returns the width of one element, in bits.
    #[must_use]
    pub const fn width(&self) -> u32 {
        match self.bits.checked_div(self.count) {
            Some(width) => width,
            None => 0,
        }
    }

    /// Prints the field; `bytes` are those of the enclosing structure or word.
    ///
    /// # Errors
    /// Errors of the formatter only.
    pub fn show(&self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => (self.show_element)(bytes, 0, f),
            count => {
                list(usize::try_from(count).unwrap_or_default(), f, |index, f| (self.show_element)(bytes, index, f))
            }
        }
    }
}

/// Prints the elements of an array.
pub(super) fn list(
    count: usize,
    f: &mut fmt::Formatter<'_>,
    show: impl Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for index in 0..count {
        f.write_str(if index > 0 { " " } else { "" })?;
        show(index, f)?;
    }
    f.write_str("]")
}

/// Getter and setter of a part of a bit-packed word, as numbers.
///
/// Both take the bytes of the word. With too few bytes, the getter returns `None` and the setter changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Calls the getter and returns its value as a number.
    pub get: fn(word: &[u8]) -> Option<u64>,
    /// Converts the number to the part's type and calls the setter.
    pub set: fn(word: &mut [u8], value: u64),
}

/// Byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Most significant byte first; used in packets.
    Network,
    /// The machine's byte order; used only between a program and the local kernel.
    Host,
}

/// Prints a structure field by field, `name=value, ...`. Every structure is printed by this function.
///
/// # Errors
/// Errors of the formatter only.
pub fn dissect(fields: &[Field], bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut separator = "";
    for field in fields.iter().filter(|field| !field.reserved) {
        write!(f, "{separator}{}=", field.name)?;
        field.show(bytes, f)?;
        separator = ", ";
    }
    Ok(())
}

/// Finds a field by its path and returns its first bit in the structure and its width in bits.
///
/// A path consists of names joined by dots. A name with an index selects one element of an array:
/// `flow_hop.flow_label`, `guids[3]`, `entries[0].vl`.
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

/// Returns the unsigned number in `bits` bits from `bit_offset`, most significant bit first.
///
/// Returns `None` if the number is wider than 64 bits or ends past `bytes`.
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

/// Writes the low bits of a number into `bits` bits from `bit_offset`, most significant bit first.
///
/// Returns `None` and changes nothing if the number is wider than 64 bits or ends past `bytes`.
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
    fn find_returns_offset_and_width_of_a_path() {
        assert_eq!(find(PathRecord::FIELDS, "flow_hop.flow_label"), Some((44 * 8 + 4, 20)));
        assert_eq!(find(GuidInfo::FIELDS, "guids[3]"), Some((192, 64)));
        assert_eq!(find(GuidInfo::FIELDS, "guids"), Some((0, 512)));
        for bad in ["guids[8]", "guids[", "guids[x]", "guid", "guids[0].x", ""] {
            assert_eq!(find(GuidInfo::FIELDS, bad), None, "{bad}");
        }
    }

    #[test]
    fn bits_across_bytes_are_written_and_read() {
        let mut bytes = [0xff; 4];
        assert_eq!(write_bits(&mut bytes, 6, 12, 0x123), Some(()));
        assert_eq!(bytes, [0xfc, 0x48, 0xff, 0xff]);
        assert_eq!(read_bits(&bytes, 6, 12), Some(0x123));
        assert_eq!(write_bits(&mut bytes, 30, 3, 0), None);
        assert_eq!(bytes, [0xfc, 0x48, 0xff, 0xff]);
    }
}
