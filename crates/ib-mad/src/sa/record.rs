//! The interface of all records: component masks, setters, and iteration over a response.
use super::{Compare, SA_CLASS_VERSION};
use crate::{AttributeId, DecodeError, Wire, wire::Field};
use core::marker::PhantomData;

/// A record of subnet administration.
pub trait SaRecord: Wire + Default {
    /// Attribute id of the record.
    const ID: AttributeId;
    /// Base version and class version of the record's datagrams: those of InfiniBand, or of Omni-Path.
    const VERSIONS: [u8; 2] = [1, SA_CLASS_VERSION];
    /// Component mask; bits without a name are kept.
    type Mask: bitflags::Flags<Bits = u64> + Copy;
    /// Fields of the component mask's bits.
    const COMPONENTS: &'static [Component];
}

/// A component of a record: one or more bits of the component mask, and their field.
///
/// In an array field with as many elements as bits, each bit selects one element; the lowest bit selects the first
/// element. In any other field, the bits together select the whole field.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Component {
    /// Bits in the component mask.
    pub mask: u64,
    /// Path of the field in the record, as [`find`](crate::wire::find) takes it.
    pub field: &'static str,
    /// Comparison of the field with that of a record.
    pub compare: Compare,
}

impl Component {
    /// Returns the array elements whose bit is in `mask`; `None` unless each bit stands for one element of an array.
    pub(super) fn elements(&self, fields: &[Field], mask: u64) -> Option<impl Iterator<Item = u32> + use<>> {
        let (elements, first) = (self.mask.count_ones(), self.mask.trailing_zeros());
        let is_array = elements > 1 && fields.iter().any(|field| field.name == self.field && field.count == elements);
        is_array.then(|| (0..elements).filter(move |index| mask >> (first + index) & 1 == 1))
    }
}

/// Defines a record's mask, its [`SaRecord`] implementation and the setters of its [`Query`](crate::sa::Query).
///
/// A record of Omni-Path has `in` and its versions. Each line is `/// doc` and `MASK_NAME = bits path.of.field: Type;`. The
/// setter has the name of the field. A part of a word has `/` and the setter of the word after its path. An array has
/// `[setter: Type]` instead of the type, for a mask with one bit for each element. A line without a type has no setter.
/// Before the colon, parentheses name a comparison other than equality: `(graded Type)`, or a variant of
/// [`Compare`](crate::sa::Compare).
macro_rules! sa_record {
    ($(#[$($m:tt)*])* $record:ident $id:ident $mask:ident $(in $versions:expr)?; $(
        $(#[$($cm:tt)*])* $bit:ident = $value:literal $first:ident $(. $rest:ident)* $(/ $with:ident)?
            $(($($compare:tt)*))? $(: $t:ty)? $([$one:ident: $one_t:ty])?;
    )*) => {
        bitflags::bitflags! {
            $(#[$($m)*])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $mask: u64 {
                $($(#[$($cm)*])* const $bit = $value;)*
                // Keeps bits that have no name.
                const _ = !0;
            }
        }
        impl $crate::sa::SaRecord for $record {
            const ID: $crate::AttributeId = $crate::AttributeId::$id;
            $(const VERSIONS: [u8; 2] = $versions;)?
            type Mask = $mask;
            const COMPONENTS: &'static [$crate::sa::Component] =
                &[$($crate::sa::Component {
                    mask: $value,
                    field: concat!(stringify!($first) $(, ".", stringify!($rest))*),
                    compare: $crate::sa::record::sa_record!(@compare $($($compare)*)?),
                },)*];
        }
        impl $crate::sa::Query<$record> {
            $($crate::sa::record::sa_record! {
                @setter [$(#[$($cm)*])*] $value, $first $($rest)* $(/ $with)? $(: $t)? $([$one: $one_t])?
            })*
        }
    };
    (@compare) => { $crate::sa::Compare::Equal };
    (@compare graded $t:ty) => { $crate::sa::Compare::graded::<$t>() };
    (@compare $variant:ident) => { $crate::sa::Compare::$variant };
    (@setter $doc:tt $value:literal, $a:ident: $t:ty) => {
        $crate::sa::record::sa_record! { @set $doc $value, $a: $t, |r, value| r.$a = value.into() }
    };
    (@setter $doc:tt $value:literal, $a:ident $b:ident: $t:ty) => {
        $crate::sa::record::sa_record! { @set $doc $value, $b: $t, |r, value| r.$a.$b = value.into() }
    };
    (@setter $doc:tt $value:literal, $a:ident $b:ident / $with:ident: $t:ty) => {
        $crate::sa::record::sa_record! { @set $doc $value, $b: $t, |r, value| r.$a = r.$a.$with(value) }
    };
    (@setter $doc:tt $value:literal, $a:ident $b:ident $c:ident / $with:ident: $t:ty) => {
        $crate::sa::record::sa_record! { @set $doc $value, $c: $t, |r, value| r.$a.$b = r.$a.$b.$with(value) }
    };
    (@setter [$($doc:tt)*] $value:literal, $array:ident [$one:ident: $t:ty]) => {
        $($doc)*
        ///
        /// An index past the end changes nothing.
        #[must_use]
        #[inline]
        pub fn $one(mut self, index: usize, value: $t) -> Self {
            if let Some(element) = self.record.$array.get_mut(index) {
                *element = value.into();
                self.mask |= 1 << u64::trailing_zeros($value) << index;
            }
            self
        }
    };
    (@setter $doc:tt $value:literal, $($path:ident)+) => {};
    (@set [$($doc:tt)*] $value:literal, $setter:ident: $t:ty, |$r:ident, $arg:ident| $set:expr) => {
        $($doc)*
        #[must_use]
        #[inline]
        pub fn $setter(mut self, $arg: $t) -> Self {
            let $r = &mut self.record;
            $set;
            self.mask |= $value;
            self
        }
    };
}
pub(crate) use sa_record;

/// The records of a response, in place.
#[derive(Clone, Debug)]
pub struct Records<'a, R> {
    rest: &'a [u8],
    step: usize,
    record: PhantomData<R>,
}

impl<'a, R: Wire> Records<'a, R> {
    /// Returns the records in `data`. `attribute_offset` is the distance between records in 8-byte words. Some SAs send
    /// 0, which means that there is at most one record. Bytes after the last whole record are padding.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the offset is less than the size of a record.
    pub fn new(data: &'a [u8], attribute_offset: u16) -> Result<Self, DecodeError> {
        let step = usize::from(attribute_offset) * 8;
        match step {
            0 => Ok(Self {
                rest: data.get(..size_of::<R>()).unwrap_or_default(),
                step: size_of::<R>(),
                record: PhantomData,
            }),
            _ if step < size_of::<R>() => {
                Err(DecodeError::BadValue { what: "attribute_offset", value: attribute_offset.into() })
            }
            _ => Ok(Self { rest: data, step, record: PhantomData }),
        }
    }
}

impl<'a, R: Wire + 'a> Iterator for Records<'a, R> {
    type Item = &'a R;
    fn next(&mut self) -> Option<&'a R> {
        let record = R::parse(self.rest).ok()?;
        self.rest = self.rest.get(self.step..).unwrap_or_default();
        Some(record)
    }
}
