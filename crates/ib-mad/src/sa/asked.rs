//! What a query asks, in words: the fields whose bit is in the component mask, and no others.
use super::*;
use crate::wire::Field;
use core::fmt;

/// What a query asks, to be printed: `{}` in one line, `{:#}` one field a line.
///
/// Fields that the component mask leaves out are not printed: what stands there does not count.
/// [`MadRef::asked`](crate::MadRef::asked) has that of a datagram.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    name: &'static str,
    fields: &'static [Field],
    components: &'static [Component],
    bytes: &'a [u8],
    mask: u64,
}

impl<'a> Asked<'a> {
    fn new<R: SaRecord>(record: &'a R, mask: u64) -> Self {
        Self { name: R::NAME, fields: R::FIELDS, components: R::COMPONENTS, bytes: crate::as_bytes(record), mask }
    }

    /// Prints the field at a path, or one element of it, behind what was printed before.
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

macro_rules! asked {
    ($($record:ident)*) => {
        impl<'a> SaAttribute<'a> {
            /// The record as a query with this component mask.
            #[must_use]
            pub fn asked(&self, mask: u64) -> Asked<'a> {
                match self {
                    $(Self::$record(own) => Asked::new(*own, mask),)*
                }
            }
        }
    };
}
asked! {
    InformInfo SaNotice NodeRecord PortInfoRecord SlToVlMappingTableRecord SwitchInfoRecord LinearForwardingTableRecord
    RandomForwardingTableRecord MulticastForwardingTableRecord SmInfoRecord LinkSpeedWidthPairsTableRecord LinkRecord
    GuidInfoRecord ServiceRecord PkeyTableRecord PathRecord VlArbitrationTableRecord McMemberRecord TraceRecord
    MultiPathRecord ServiceAssociationRecord HierarchyInfoRecord CableInfoRecord PortInfoExtendedRecord InformInfoRecord
    ClassPortInfo
}

impl<R: SaRecord> fmt::Debug for Query<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Asked::new(&self.record, self.mask), f)
    }
}

impl fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Asked<'_> {
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

/// Shows the field at a path, or one element of it.
fn show(fields: &[Field], bytes: &[u8], path: &str, element: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let Some(field) = fields.iter().find(|field| field.name == first) else { return f.write_str("?") };
    match (rest, element.and_then(|index| usize::try_from(index).ok())) {
        (Some(rest), _) => {
            let start = usize::try_from(field.bit_offset / 8).unwrap_or(usize::MAX);
            show(field.parts, bytes.get(start..).unwrap_or_default(), rest, element, f)
        }
        (None, Some(index)) => (field.show_element)(bytes, index, f),
        (None, None) => (field.show)(bytes, f),
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
    fn a_query_prints_what_it_asks() {
        let query = Query::<PathRecord>::new().pkey(Pkey::DEFAULT_FULL).hop_limit(3).mtu(Selector::Exactly, Mtu::B2048);
        let asked = "PathRecord{flow_hop.hop_limit=3, pkey=0xffff, mtu.selector==, mtu.value=2048}";
        assert_eq!(format!("{query:?}"), asked);
        let tid = TransactionId::new(1);
        let get = printed(&query.get(tid));
        assert!(get.ends_with(asked), "{get}");
        // What stands in a field that does not count is not shown.
        let without = printed(&query.without(PathMask::PKEY).get_table(tid));
        assert!(without.ends_with("PathRecord{flow_hop.hop_limit=3, mtu.selector==, mtu.value=2048}"), "{without}");
        let lines = format!("{:#}", MadRef::new(as_bytes(&Query::<PathRecord>::new().hop_limit(3).get(tid))).unwrap());
        assert!(lines.ends_with(&format!("\nPathRecord\n  {:32} 3\n", "flow_hop.hop_limit")), "{lines}");
    }

    #[test]
    fn an_answer_prints_everything() {
        let mut answer = Query::<PathRecord>::new().hop_limit(3).get(TransactionId::new(1));
        answer.header.method = Method::GET_RESP;
        assert!(printed(&answer).contains("preference=0"), "{answer:?}");
        let whole = SaMad::request(Method::SET, crate::AttributeId::INFORM_INFO, TransactionId::new(1));
        assert!(printed(&whole).contains("trap_number="), "a Set without a mask");
    }

    #[test]
    fn of_an_array_the_elements_whose_bit_is_set() {
        let record = GuidInfoRecord::default();
        let array = GuidInfoRecord::COMPONENTS.iter().find(|it| it.mask.count_ones() == 8).unwrap();
        let asked = format!("{}", Asked::new(&record, 1 << (array.mask.trailing_zeros() + 3)));
        assert_eq!(asked, format!("GuidInfoRecord{{{}[3]=0x0000000000000000}}", array.field));
    }
}
