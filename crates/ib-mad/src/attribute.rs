//! Attributes: class, number, offset and structure.
use crate::{
    AttributeId, DecodeError, MgmtClass, VendorId, Wire,
    wire::{Field, Leaves, leaves},
};
use core::fmt;

/// An attribute of one class. If the structure of a vendor's attribute implements this trait, [`Mad`](crate::Mad) can
/// read and write the attribute.
pub trait Attribute: Wire {
    /// Management class of the attribute's datagrams.
    const CLASS: MgmtClass;
    /// Attribute id in the class.
    const ATTRIBUTE: AttributeId;
    /// Version of the class's format.
    const CLASS_VERSION: u8 = Self::CLASS.version();
    /// Offset of the attribute in the datagram, in bytes.
    const OFFSET: usize = Self::CLASS.data_offset();
    /// Vendor of the attribute, for a class that vendors share (0x30 to 0x4F).
    const OUI: Option<VendorId> = None;
}

/// An attribute that several classes have, each at its own offset: ClassPortInfo, Notice, InformInfo (IBTA 13.4.8).
pub trait SharedAttribute: Wire {
    /// Attribute id, the same in every class.
    const ATTRIBUTE: AttributeId;
}

/// Description of a wire structure: its name, size and fields, and functions on its bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Structure {
    /// Name of the type.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Fields in byte order.
    pub fields: &'static [Field],
    /// Casts the structure from the start of `bytes` and returns its bytes.
    pub cast: fn(bytes: &[u8]) -> Result<&[u8], DecodeError>,
    /// Prints the structure at the start of `bytes`.
    pub show: fn(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl Structure {
    /// Returns the description of a type.
    #[must_use]
    pub const fn of<T: Wire + 'static>() -> Self {
        Self {
            name: T::NAME,
            size: size_of::<T>(),
            fields: T::FIELDS,
            cast: |bytes| T::parse(bytes).map(T::as_bytes),
            show: |bytes, f| match T::parse(bytes) {
                Ok(own) => own.show(f),
                Err(error) => write!(f, "({error})"),
            },
        }
    }

    /// Returns a printable view of the structure at the start of `bytes`: `{}` prints one line, `{:#}` one field per
    /// line.
    #[must_use]
    pub fn display<'a>(&self, bytes: &'a [u8]) -> Dissection<'a> {
        Dissection { structure: *self, bytes }
    }

    /// Returns the values of the structure at the start of `bytes`, including those of nested structures.
    #[must_use]
    pub fn leaves<'a>(&self, bytes: &'a [u8]) -> Leaves<'a> {
        leaves(self.fields, bytes)
    }
}

/// A printable view of a structure in a byte slice.
#[derive(Clone, Copy)]
pub struct Dissection<'a> {
    structure: Structure,
    bytes: &'a [u8],
}

impl fmt::Debug for Dissection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Dissection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.structure.name)?;
        match (self.structure.cast)(self.bytes) {
            Ok(own) if f.alternate() => {
                writeln!(f)?;
                lines(self.structure.fields, own, 2, f)
            }
            _ => (self.structure.show)(self.bytes, f),
        }
    }
}

/// Prints one field per line; nested structures are indented below their name.
fn lines(fields: &[Field], bytes: &[u8], indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for field in fields.iter().filter(|field| !field.reserved) {
        if field.parts.is_empty() || field.count > 1 {
            write!(f, "{:indent$}{:32} ", "", field.name)?;
            field.show(bytes, f)?;
            writeln!(f)?;
        } else {
            let start = usize::try_from(field.bit_offset / 8).unwrap_or(usize::MAX);
            writeln!(f, "{:indent$}{}", "", field.name)?;
            lines(field.parts, bytes.get(start..).unwrap_or_default(), indent + 2, f)?;
        }
    }
    Ok(())
}

/// An attribute of a class: its number, its offset and its structure.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AttributeInfo {
    /// Management class of the attribute's datagrams.
    pub class: MgmtClass,
    /// Attribute id in the class.
    pub id: AttributeId,
    /// Offset of the attribute in the datagram, in bytes.
    pub offset: usize,
    /// Structure of the attribute.
    pub structure: Structure,
}

/// Generates the table of a class: an enum of its attributes, their [`Attribute`] implementations and their names.
///
/// `own` lists attributes of this class only, `shared` lists structures that several classes have. `Type = number,`
/// declares an attribute. `Type = number as CONSTANT,` also generates the constant of [`AttributeId`]. The form `with
/// queries` is for subnet administration, where each attribute is a [`SaRecord`](crate::sa::SaRecord).
macro_rules! attributes {
    ($(#[$m:meta])* pub enum $name:ident in $class:ident with queries {
        own { $($own:ident = $id:literal as $constant:ident,)* }
        shared { $($shared:ident = $shared_id:literal as $shared_constant:ident,)* }
    }) => {
        $crate::attribute::attributes! {
            $(#[$m])*
            pub enum $name in $class {
                own { $($own = $id,)* }
                shared { $($shared = $shared_id,)* }
            }
        }
        $crate::attribute::attributes! {
            @queries $name $($own = $id as $constant,)* $($shared = $shared_id as $shared_constant,)*
        }
    };
    (@queries $name:ident $($own:ident = $id:literal as $constant:ident,)*) => {
        impl<'a> $name<'a> {
            /// The name and the components of each record.
            pub const COMPONENTS: &'static [(&'static str, &'static [$crate::sa::Component])] =
                &[$((<$own as $crate::Wire>::NAME, <$own as $crate::sa::SaRecord>::COMPONENTS),)*];

            /// Returns the query for records that agree with this record in the components of `mask`.
            #[must_use]
            pub fn query(&self, mask: u64) -> $crate::sa::QueryRef<'a> {
                match self {
                    $(Self::$own(own) => $crate::sa::QueryRef::new(*own, mask),)*
                }
            }
        }
        impl $crate::AttributeId {
            $(
                #[doc = concat!("Attribute id of [`", stringify!($own), "`].")]
                pub const $constant: Self = Self::new($id);
            )*
        }
    };
    ($(#[$m:meta])* pub enum $name:ident in $class:ident {
        own { $($own:ident = $id:literal,)* }
        shared { $($shared:ident = $shared_id:literal,)* }
    }) => {
        $(impl $crate::attribute::Attribute for $own {
            const CLASS: $crate::MgmtClass = $crate::MgmtClass::$class;
            const ATTRIBUTE: $crate::AttributeId = $crate::AttributeId::new($id);
        })*
        $crate::attribute::attributes! {
            @table $(#[$m])* $name in $class { $($shared = $shared_id,)* $($own = $id,)* }
        }
    };
    (@table $(#[$m:meta])* $name:ident in $class:ident { $($own:ident = $id:literal,)* }) => {
        $(#[$m])*
        ///
        /// An attribute without a type in this crate has no variant, and `parse` returns `Ok(None)` for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $(#[doc = concat!("See [`", stringify!($own), "`].")] $own(&'a $own),)*
        }
        impl<'a> $name<'a> {
            /// Every attribute of the class that has a type in this crate.
            pub const TABLE: &'static [$crate::attribute::AttributeInfo] = &[
                $($crate::attribute::AttributeInfo {
                    class: $crate::MgmtClass::$class,
                    id: $crate::AttributeId::new($id),
                    offset: $crate::MgmtClass::$class.data_offset(),
                    structure: $crate::attribute::Structure::of::<$own>(),
                },)*
            ];
            /// Returns the name of an attribute; `None` if it has no type in this crate.
            pub(crate) const fn name_of(id: $crate::AttributeId) -> Option<&'static str> {
                match id.get() {
                    $($id => Some(<$own as $crate::Wire>::NAME),)*
                    _ => None,
                }
            }
            /// Casts the attribute `id` from the start of `data`; `None` if it has no type in this crate.
            ///
            /// # Errors
            /// [`DecodeError::TooShort`](crate::DecodeError::TooShort) if `data` ends before the attribute.
            pub fn parse(id: $crate::AttributeId, data: &'a [u8]) -> Result<Option<Self>, $crate::DecodeError> {
                Ok(Some(match id.get() {
                    $($id => Self::$own(<$own as $crate::Wire>::parse(data)?),)*
                    _ => return Ok(None),
                }))
            }
            /// Returns the bytes of the attribute in its datagram.
            #[must_use]
            pub fn as_bytes(&self) -> &'a [u8] {
                match self {
                    $(Self::$own(own) => $crate::as_bytes(*own),)*
                }
            }
            /// Returns the attribute's structure: its name, size and fields.
            #[must_use]
            pub const fn structure(&self) -> $crate::attribute::Structure {
                match self {
                    $(Self::$own(_) => $crate::attribute::Structure::of::<$own>(),)*
                }
            }
        }
    };
}
pub(crate) use attributes;
