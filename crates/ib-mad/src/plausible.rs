//! Plausible datagrams for fuzzers (feature `arbitrary`).
//!
//! Most code rejects random bytes at once, because they rarely have a known class and attribute. A plausible datagram
//! has a class, an attribute and headers that belong together. Up to eight of its fields then get values at the edges
//! of their range. Both steps use the tables of [`registry`](crate::registry).
use crate::{
    Mad, MadHeader, Method, MgmtClass, Status, Wire,
    attribute::AttributeInfo,
    mad::{RMPP_HEADER, SA_HEADER},
    registry::ATTRIBUTES,
    rmpp::{RmppFlags, RmppHeader, RmppType},
    sa::SaHeader,
    smp::DrSmp,
    wire::{Be16, Be32, Be64, Field, write_bits},
};
use arbitrary::{Arbitrary as _, Result, Unstructured};
use zerocopy::IntoBytes as _;

impl Mad {
    /// Returns a plausible datagram: an attribute of this crate, with headers of its class, and up to eight changed
    /// fields.
    ///
    /// ```
    /// use ib_mad::Mad;
    /// let mad = Mad::plausible(&mut arbitrary::Unstructured::new(b"what a fuzzer gives"))?;
    /// let seen = mad.to_string();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `u` other than the end of its bytes.
    pub fn plausible(u: &mut Unstructured<'_>) -> Result<Self> {
        let mut own = Self::ZERO;
        let count = ATTRIBUTES.iter().map(|table| table.len()).sum();
        let index = u.choose_index(count)?;
        if let Some(info) = ATTRIBUTES.iter().copied().flatten().nth(index) {
            fill(u, info, own.as_mut_bytes())?;
        }
        Ok(own)
    }
}

/// Fills in headers and attribute, and changes some of their fields.
fn fill(u: &mut Unstructured<'_>, info: &AttributeInfo, own: &mut [u8]) -> Result<()> {
    headers(u, info, own)?;
    if u.ratio(1, 2)?
        && let Some(attribute) = own.get_mut(info.offset..).and_then(|data| data.get_mut(..info.structure.size))
    {
        u.fill_buffer(attribute)?;
    }
    for _ in 0..u.int_in_range(0..=8)? {
        let (fields, offset) = match u.int_in_range(0..=5)? {
            0 => (MadHeader::FIELDS, 0),
            1 if info.class == MgmtClass::SUBN_LID_ROUTED => (DrSmp::FIELDS, 0),
            1 => (RmppHeader::FIELDS, RMPP_HEADER),
            2 if info.class == MgmtClass::SUBN_ADM => (SaHeader::FIELDS, SA_HEADER),
            _ => (info.structure.fields, info.offset),
        };
        change(u, fields, own.get_mut(offset..).unwrap_or_default())?;
    }
    Ok(())
}

/// Fills in the headers before the attribute.
fn headers(u: &mut Unstructured<'_>, info: &AttributeInfo, own: &mut [u8]) -> Result<()> {
    let directed = info.class == MgmtClass::SUBN_LID_ROUTED && u.ratio(1, 2)?;
    let class = if directed { MgmtClass::SUBN_DIRECTED_ROUTE } else { info.class };
    let (method, _) = *u.choose(Method::KNOWN)?;
    let mut header = MadHeader::new(class, class.version(), method, info.id, u64::arbitrary(u)?.into());
    if method.is_response() && u.ratio(1, 4)? {
        header.status = u.choose(Status::KNOWN)?.0;
    }
    header.attribute_modifier = Be32::new(u.int_in_range(0..=3)?);
    if let Ok(to) = MadHeader::parse_mut(own) {
        *to = header;
    }
    if directed && let Ok(route) = DrSmp::parse_mut(own) {
        route.hop_count = u.int_in_range(0..=63)?;
        route.hop_pointer = u.int_in_range(0..=route.hop_count)?;
        route.dr_status = route.dr_status.with_direction(method.is_response());
    }
    if class == MgmtClass::SUBN_ADM {
        administration(u, info, own)?;
    }
    Ok(())
}

/// Fills in RMPP header and component mask.
fn administration(u: &mut Unstructured<'_>, info: &AttributeInfo, own: &mut [u8]) -> Result<()> {
    let words = u16::try_from(info.structure.size.div_ceil(8)).unwrap_or_default();
    let records = u.int_in_range(0..=3)?;
    if let Some(Ok(rmpp)) = own.get_mut(RMPP_HEADER..).map(RmppHeader::parse_mut)
        && u.ratio(1, 2)?
    {
        rmpp.version = 1;
        rmpp.rmpp_type = u.choose(RmppType::KNOWN)?.0;
        rmpp.flags = RmppFlags::ZERO.with_active(true).with_first(u.ratio(3, 4)?).with_last(u.ratio(3, 4)?);
        rmpp.data1 = Be32::new(u.int_in_range(1..=3)?);
        rmpp.data2 = Be32::new(20 + records * u32::from(words) * 8);
    }
    if let Some(Ok(sa)) = own.get_mut(SA_HEADER..).map(SaHeader::parse_mut) {
        sa.attribute_offset = Be16::new(words);
        sa.component_mask = Be64::new(if u.ratio(1, 2)? { 1 << u.int_in_range(0..=31)? } else { u64::arbitrary(u)? });
    }
    Ok(())
}

/// Sets one field, or one part of a field, to a value at the edge of its range or to any value.
fn change(u: &mut Unstructured<'_>, mut fields: &[Field], bytes: &mut [u8]) -> Result<()> {
    let mut start = 0;
    while !fields.is_empty() {
        let field = u.choose(fields)?;
        let width = field.width();
        let first = start + field.bit_offset + u.int_in_range(0..=field.count.saturating_sub(1))? * width;
        if !field.parts.is_empty() {
            (fields, start) = (field.parts, first);
            continue;
        }
        let all = u64::MAX >> 64_u32.saturating_sub(width).min(63);
        let value = match u.int_in_range(0..=4)? {
            0 => 0,
            1 => 1,
            2 => all,
            3 => all.wrapping_sub(1),
            _ => u64::arbitrary(u)?,
        };
        match field.access {
            Some(access) => {
                let word = usize::try_from(start / 8).unwrap_or(usize::MAX);
                (access.set)(bytes.get_mut(word..).unwrap_or_default(), value);
            }
            // Only the first 8 bytes of a longer field change; a field past the datagram stays.
            None => drop(write_bits(bytes, first, width.min(64), value)),
        }
        break;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{collections::BTreeMap, string::ToString, vec::Vec};

    /// Returns pseudo-random bytes, the same in each run.
    fn noise(seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (0..600).map(|_| next()).collect()
    }

    #[test]
    fn plausible_datagrams_cover_every_attribute() {
        let mut seen: BTreeMap<(u8, u16), u32> = BTreeMap::new();
        let (mut known, mut tables) = (0, 0);
        const RUNS: u64 = 8000;
        for seed in 0..RUNS {
            let own = Mad::plausible(&mut Unstructured::new(&noise(seed))).unwrap();
            let mad = own.view();
            assert!(!mad.to_string().is_empty());
            *seen.entry((mad.class().get(), mad.header().attribute_id.get())).or_default() += 1;
            known += u64::from(mad.attribute().is_ok_and(|attribute| attribute.structure().is_some()));
            tables += u64::from(mad.rmpp().is_some_and(|rmpp| rmpp.flags.active()));
        }
        for info in ATTRIBUTES.iter().copied().flatten() {
            assert!(seen.contains_key(&(info.class.get(), info.id.get())), "{}", info.structure.name);
        }
        assert!(seen.contains_key(&(MgmtClass::SUBN_DIRECTED_ROUTE.get(), 0x11)));
        assert!(known > RUNS / 2, "{known} of {RUNS} hold an attribute that is known");
        assert!(tables > RUNS / 50, "{tables} of {RUNS} are RMPP");
    }

    #[test]
    fn change_reaches_every_named_bit() {
        let info = ATTRIBUTES[0].iter().find(|info| info.structure.name == "PortInfo").unwrap();
        let mut touched = [0_u8; 64];
        for seed in 0..4000 {
            let mut bytes = [0; 64];
            change(&mut Unstructured::new(&noise(seed)), info.structure.fields, &mut bytes).unwrap();
            touched.iter_mut().zip(bytes).for_each(|(all, one)| *all |= one);
        }
        // Includes parts of packed words; reserved bits of a word have no name.
        let named = |at: usize| touched[at].count_ones();
        assert!((0..16).all(|at| named(at) == 8), "{touched:x?}");
        assert_eq!((touched[34], touched[52] & 0x1f), (0xc7, 0x1f), "{touched:x?}");
        assert!(touched.iter().filter(|byte| **byte == 0).count() <= 1, "{touched:x?}");
    }

    #[test]
    fn plausible_needs_no_input_bytes() {
        assert!(Mad::plausible(&mut Unstructured::new(&[])).is_ok());
    }
}
