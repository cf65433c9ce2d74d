//! Target that compares the dissector of `ib-mad` with its table of fields. The dissector names every field that is not
//! reserved, and the getters and setters of a field's parts access the bits in the table.
use ib_mad::{
    Mad, MadRef, as_bytes,
    wire::{Field, read_bits},
};

/// Compares dissector and table for the datagram `bytes`, and for a plausible datagram drawn from `bytes`.
///
/// # Panics
/// If dissector and table differ.
pub fn fields(bytes: &[u8]) {
    check(bytes);
    if let Ok(plausible) = Mad::plausible(&mut arbitrary::Unstructured::new(bytes)) {
        check(as_bytes(&plausible));
    }
}

fn check(bytes: &[u8]) {
    let Ok(mad) = MadRef::new(bytes) else { return };
    let Ok(attribute) = mad.attribute() else { return };
    let Some(structure) = attribute.structure() else { return };
    let Some(bytes) = attribute.as_bytes().get(..structure.size) else { return };
    let text = structure.display(bytes).to_string();
    let is_shown = |name: &str| {
        let start = format!("{name}=");
        let mut positions = text.match_indices(&start).map(|(at, _)| at);
        positions.any(|at| at == 0 || text.get(..at).is_some_and(|before| before.ends_with([' ', '{'])))
    };
    for field in structure.fields {
        check_parts(field, bytes);
        assert_eq!(is_shown(field.name), !field.reserved, "{} in {text}", field.name);
    }
}

/// Checks that the getter of each part reads the part's bits, and that its setter changes only these bits.
fn check_parts(field: &Field, bytes: &[u8]) {
    let width = field.bits.checked_div(field.count).unwrap_or_default();
    for index in 0..field.count {
        let at = field.bit_offset + index * width;
        if !width.is_multiple_of(8) || !at.is_multiple_of(8) || field.parts.is_empty() {
            continue;
        }
        let (first, length) = ((at / 8) as usize, (width / 8) as usize);
        let Some(word) = bytes.get(first..first + length) else { continue };
        for part in field.parts {
            check_parts(part, word);
            let (Some(access), Some(expected)) = (part.access, read_bits(word, part.bit_offset, part.bits)) else {
                continue;
            };
            assert_eq!((access.get)(word), Some(expected), "{}.{} of {word:02x?}", field.name, part.name);
            let mut same = word.to_vec();
            (access.set)(&mut same, expected);
            assert_eq!(same, word, "{}.{} changes bits when it sets the value that it read", field.name, part.name);
            (access.set)(&mut same, !expected);
            for other in field.parts.iter().filter(|other| other.name != part.name) {
                let value_in = |word: &[u8]| read_bits(word, other.bit_offset, other.bits);
                assert_eq!(value_in(&same), value_in(word), "{}.{} changes {}", field.name, part.name, other.name);
            }
        }
    }
}
