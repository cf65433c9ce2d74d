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

/// Finds a field by its path, `part` names joined by dots (`flow_hop.flow_label`): first bit in the structure, width.
#[must_use]
pub fn find(fields: &[Field], path: &str) -> Option<(u32, u32)> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = fields.iter().find(|field| field.name == name)?;
    match rest {
        None => Some((field.bit_offset, field.bits)),
        Some(rest) => find(field.parts, rest).map(|(offset, bits)| (field.bit_offset + offset, bits)),
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
