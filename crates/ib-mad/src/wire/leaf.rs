//! Iteration over the values of a structure.
use super::{ByteOrder, Field, read_bits};
use core::fmt;

/// One value of a structure: a field without inner fields, or one element of an array of such fields.
#[derive(Clone, Copy)]
pub struct Leaf<'a> {
    /// The field of the value.
    pub field: &'static Field,
    /// Index in the array; 0 for any other field.
    pub index: u32,
    /// Bytes of the structure or word that encloses the field.
    pub(super) bytes: &'a [u8],
}

impl<'a> Leaf<'a> {
    /// Returns the bytes from the start of the value on.
    pub(super) fn inner(&self) -> &'a [u8] {
        let start = (self.field.bit_offset + self.index * self.field.width()) / 8;
        usize::try_from(start).ok().and_then(|start| self.bytes.get(start..)).unwrap_or_default()
    }

    /// Returns the name of the field.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.field.name
    }

    /// Returns the value as an unsigned number; `None` if it is wider than 64 bits.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let width = self.field.width();
        let number = read_bits(self.bytes, self.field.bit_offset + self.index * width, width)?;
        let is_swapped = self.field.order == ByteOrder::Host && cfg!(target_endian = "little");
        Some(if is_swapped { number.swap_bytes() >> u64::BITS.saturating_sub(width) } else { number })
    }
}

impl fmt::Display for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.field.show_element)(self.bytes, self.index.try_into().unwrap_or(usize::MAX), f)
    }
}

impl fmt::Debug for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={self}", self.name())
    }
}

/// Returns the values of a structure in byte order, including those of nested structures. Reserved fields are left out.
///
/// ```
/// use ib_mad::{Wire, perf::PortCounters, wire::leaves};
/// let counters = PortCounters { port_rcv_pkts: 7.into(), ..PortCounters::default() };
/// let mut all = leaves(PortCounters::FIELDS, ib_mad::as_bytes(&counters));
/// // Half a byte of `link_errors`, and a counter.
/// assert!(all.any(|leaf| leaf.name() == "local_link_integrity_errors" && leaf.number() == Some(0)));
/// assert!(all.any(|leaf| format!("{leaf:?}") == "port_rcv_pkts=7"));
/// ```
#[must_use]
pub fn leaves<'a>(fields: &'static [Field], bytes: &'a [u8]) -> Leaves<'a> {
    let mut own = Leaves { levels: [Level::NONE; DEPTH], depth: 0 };
    own.enter(Level { fields, bytes, index: 0 });
    own
}

/// Maximum nesting of structures, including the outermost structure.
const DEPTH: usize = 6;

/// Iterator over the values of a structure; see [`leaves`].
#[derive(Clone, Debug)]
pub struct Leaves<'a> {
    levels: [Level<'a>; DEPTH],
    /// Number of entered levels.
    depth: usize,
}

/// Position in one structure.
#[derive(Clone, Copy, Debug)]
struct Level<'a> {
    /// Fields that are still to be visited.
    fields: &'static [Field],
    bytes: &'a [u8],
    /// Next element of the first of `fields`.
    index: u32,
}

impl Level<'_> {
    const NONE: Self = Self { fields: &[], bytes: &[], index: 0 };
}

impl<'a> Leaves<'a> {
    /// Enters a nested structure; false if there is no room for another level.
    fn enter(&mut self, level: Level<'a>) -> bool {
        let slot = self.levels.get_mut(self.depth);
        self.depth += usize::from(slot.is_some());
        slot.map(|slot| *slot = level).is_some()
    }
}

impl<'a> Iterator for Leaves<'a> {
    type Item = Leaf<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let level = self.levels.get_mut(self.depth.checked_sub(1)?)?;
            let Some((field, rest)) = level.fields.split_first() else {
                self.depth -= 1;
                continue;
            };
            if field.reserved || level.index >= field.count {
                (level.fields, level.index) = (rest, 0);
                continue;
            }
            let leaf = Leaf { field, index: level.index, bytes: level.bytes };
            level.index += 1;
            if field.parts.is_empty() || !self.enter(Level { fields: field.parts, bytes: leaf.inner(), index: 0 }) {
                return Some(leaf);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{registry, wire::find};
    use std::{format, string::String, vec, vec::Vec};

    /// Collects the paths of all values, in the form that [`find`] takes.
    fn paths(fields: &[Field], before: &str, out: &mut Vec<String>) {
        for field in fields.iter().filter(|field| !field.reserved) {
            for index in 0..field.count {
                let index = if field.count > 1 { format!("[{index}]") } else { String::new() };
                let path = format!("{before}{}{index}", field.name);
                if field.parts.is_empty() { out.push(path) } else { paths(field.parts, &format!("{path}."), out) }
            }
        }
    }

    #[test]
    fn leaves_yield_every_value_at_its_offset() {
        let mut values = 0;
        for structure in registry::all().filter(|structure| !structure.fields.is_empty()) {
            let bytes: Vec<u8> = (0..structure.size).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
            let mut expected = vec![];
            paths(structure.fields, "", &mut expected);
            let all: Vec<Leaf<'_>> = leaves(structure.fields, &bytes).collect();
            assert_eq!(all.len(), expected.len(), "{}", structure.name);
            for (leaf, path) in all.iter().zip(&expected) {
                let (offset, bits) = find(structure.fields, path).unwrap();
                assert!(path.contains(leaf.name()) && leaf.field.parts.is_empty(), "{path}");
                let number = match leaf.field.order {
                    ByteOrder::Host if bits <= 64 && cfg!(target_endian = "little") => {
                        let place =
                            &bytes[usize::try_from(offset / 8).unwrap()..][..usize::try_from(bits / 8).unwrap()];
                        Some(place.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
                    }
                    _ => read_bits(&bytes, offset, bits),
                };
                assert_eq!(leaf.number(), number, "{} {path}", structure.name);
            }
            values += all.len();
        }
        assert!(values > 2000, "{values}");
    }

    #[test]
    fn leaves_of_truncated_bytes_do_not_panic() {
        for structure in registry::all() {
            for leaf in leaves(structure.fields, &[1, 2, 3]) {
                assert!(leaf.number().is_none() || leaf.field.bit_offset < 24);
            }
        }
    }
}
