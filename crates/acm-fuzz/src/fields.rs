//! What our dissector shows of a datagram, beside the table of fields: it names every field that is not reserved, and the
//! parts' getters and setters are about the bits that the table says.
use ib_mad::{
    Mad, MadRef, as_bytes,
    wire::{Field, read_bits},
};

/// A datagram, as it is and a plausible one: the dissector and the table agree.
///
/// # Panics
/// If they do not.
pub fn fields(bytes: &[u8]) {
    check(bytes);
    if let Ok(own) = Mad::plausible(&mut arbitrary::Unstructured::new(bytes)) {
        check(as_bytes(&own));
    }
}

fn check(bytes: &[u8]) {
    let Ok(mad) = MadRef::new(bytes) else { return };
    let Ok(attribute) = mad.attribute() else { return };
    let Some(structure) = attribute.structure() else { return };
    let Some(own) = attribute.as_bytes().get(..structure.size) else { return };
    let text = structure.display(own).to_string();
    let is_shown = |name: &str| {
        let start = format!("{name}=");
        let mut places = text.match_indices(&start).map(|(at, _)| at);
        places.any(|at| at == 0 || text.get(..at).is_some_and(|before| before.ends_with([' ', '{'])))
    };
    for field in structure.fields {
        one(field, own);
        assert_eq!(is_shown(field.name), !field.reserved, "{} in {text}", field.name);
    }
}

/// A part's getter reads the bits that the table says, and its setter puts them there and nowhere else.
fn one(field: &Field, bytes: &[u8]) {
    let width = field.bits.checked_div(field.count).unwrap_or_default();
    for index in 0..field.count {
        let at = field.bit_offset + index * width;
        if !width.is_multiple_of(8) || !at.is_multiple_of(8) || field.parts.is_empty() {
            continue;
        }
        let (first, length) = ((at / 8) as usize, (width / 8) as usize);
        let Some(word) = bytes.get(first..first + length) else { continue };
        for part in field.parts {
            one(part, word);
            let (Some(access), Some(expected)) = (part.access, read_bits(word, part.bit_offset, part.bits)) else {
                continue;
            };
            assert_eq!((access.get)(word), Some(expected), "{}.{} of {word:02x?}", field.name, part.name);
            let mut same = word.to_vec();
            (access.set)(&mut same, expected);
            assert_eq!(same, word, "{}.{} puts back what it read", field.name, part.name);
            (access.set)(&mut same, !expected);
            for other in field.parts.iter().filter(|other| other.name != part.name) {
                let of = |word: &[u8]| read_bits(word, other.bit_offset, other.bits);
                assert_eq!(of(&same), of(word), "{}.{} changes {}", field.name, part.name, other.name);
            }
        }
    }
}
