//! Queries in datagrams: the fields whose bit is in the component mask.
use super::*;
use crate::wire::Field;
use core::fmt;

/// A query whose record type is known only at run time. `{}` prints the query in one line, `{:#}` one field per line.
///
/// Fields outside the component mask are not printed. [`MadRef::query`](crate::MadRef::query) returns the query of a
/// datagram.
#[derive(Clone, Copy)]
pub struct QueryRef<'a> {
    name: &'static str,
    fields: &'static [Field],
    components: &'static [Component],
    bytes: &'a [u8],
    mask: u64,
}

impl<'a> QueryRef<'a> {
    pub(crate) fn new<R: SaRecord>(record: &'a R, mask: u64) -> Self {
        Self { name: R::NAME, fields: R::FIELDS, components: R::COMPONENTS, bytes: crate::as_bytes(record), mask }
    }

    /// Prints the field at a path, or one element of the field, after a separator.
    fn show(&self, path: &str, element: Option<u32>, separator: &mut &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (f.alternate(), element) {
            (false, None) => write!(f, "{separator}{path}=")?,
            (false, Some(index)) => write!(f, "{separator}{path}[{index}]=")?,
            (true, None) => write!(f, "  {path:32} ")?,
            (true, Some(index)) => write!(f, "  {path}[{index}] ")?,
        }
        *separator = ", ";
        show(self.fields, self.bytes, path, element, f)?;
        if f.alternate() { f.write_str("\n") } else { Ok(()) }
    }
}

impl<R: SaRecord> fmt::Debug for Query<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&QueryRef::new(&self.record, self.mask), f)
    }
}

impl fmt::Debug for QueryRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for QueryRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        f.write_str(if f.alternate() { "\n" } else { "{" })?;
        let mut separator = "";
        for component in self.components.iter().filter(|component| component.mask & self.mask != 0) {
            match component.elements(self.fields, self.mask) {
                None => self.show(component.field, None, &mut separator, f)?,
                Some(mut elements) => {
                    elements.try_for_each(|index| self.show(component.field, Some(index), &mut separator, f))?;
                }
            }
        }
        f.write_str(if f.alternate() { "" } else { "}" })
    }
}

/// Prints the field at a path, or one element of the field.
fn show(fields: &[Field], bytes: &[u8], path: &str, element: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let Some(field) = fields.iter().find(|field| field.name == first) else { return f.write_str("?") };
    match (rest, element.and_then(|index| usize::try_from(index).ok())) {
        (Some(rest), _) => {
            let start = usize::try_from(field.bit_offset / 8).unwrap_or(usize::MAX);
            show(field.parts, bytes.get(start..).unwrap_or_default(), rest, element, f)
        }
        (None, Some(index)) => (field.show_element)(bytes, index, f),
        (None, None) => field.show(bytes, f),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{MadRef, Method, Mtu, Pkey, Selector, TransactionId, as_bytes};
    use std::{format, string::String};

    fn printed(mad: &SaMad) -> String {
        format!("{}", MadRef::new(as_bytes(mad)).unwrap())
    }

    #[test]
    fn query_prints_only_fields_in_its_component_mask() {
        let query = Query::<PathRecord>::new().pkey(Pkey::DEFAULT_FULL).hop_limit(3).mtu(Selector::Exactly, Mtu::B2048);
        let expected = "PathRecord{flow_hop.hop_limit=3, pkey=0xffff, mtu.selector==, mtu.value=2048}";
        assert_eq!(format!("{query:?}"), expected);
        let tid = TransactionId::new(1);
        let get = printed(&query.request(Method::GET, tid));
        assert!(get.ends_with(expected), "{get}");
        // A field outside the component mask is not shown, whatever its value is.
        let without = printed(&query.without(PathMask::PKEY).request(Method::GET_TABLE, tid));
        assert!(without.ends_with("PathRecord{flow_hop.hop_limit=3, mtu.selector==, mtu.value=2048}"), "{without}");
        let lines = format!(
            "{:#}",
            MadRef::new(as_bytes(&Query::<PathRecord>::new().hop_limit(3).request(Method::GET, tid))).unwrap()
        );
        assert!(lines.ends_with(&format!("\nPathRecord\n  {:32} 3\n", "flow_hop.hop_limit")), "{lines}");
    }

    #[test]
    fn response_prints_every_field() {
        let mut answer = Query::<PathRecord>::new().hop_limit(3).request(Method::GET, TransactionId::new(1));
        answer.header.method = Method::GET_RESP;
        assert!(printed(&answer).contains("preference=0"), "{answer:?}");
        let whole = SaMad::request(Method::SET, crate::AttributeId::INFORM_INFO, TransactionId::new(1));
        assert!(printed(&whole).contains("trap_number="), "a Set without a mask");
    }

    #[test]
    fn query_prints_array_elements_in_its_component_mask() {
        let record = GuidInfoRecord::default();
        let array = GuidInfoRecord::COMPONENTS.iter().find(|it| it.mask.count_ones() == 8).unwrap();
        let expected = format!("{}", QueryRef::new(&record, 1 << (array.mask.trailing_zeros() + 3)));
        assert_eq!(expected, format!("GuidInfoRecord{{{}[3]=0x0000000000000000}}", array.field));
    }
}
