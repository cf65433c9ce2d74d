//! Attributes as such: which class and number each has, and where it stands in a datagram.
use crate::{
    AttributeId, DecodeError, MgmtClass, VendorId, Wire,
    wire::{Field, Leaves, leaves},
};
use core::fmt;

/// An attribute that belongs to one class. One of your own makes [`Mad`](crate::Mad) write and read a vendor's class.
pub trait Attribute: Wire {
    /// Management class of datagrams that carry it.
    const CLASS: MgmtClass;
    /// Its number in the class.
    const ATTRIBUTE: AttributeId;
    /// Version of the class's format.
    const CLASS_VERSION: u8 = Self::CLASS.version();
    /// Bytes of the datagram before it.
    const OFFSET: usize = Self::CLASS.data_offset();
    /// Whose attribute it is, in a class that several vendors share (0x30 to 0x4F).
    const OUI: Option<VendorId> = None;
}

/// An attribute that several classes have, each at its own place: ClassPortInfo, Notice, InformInfo (IBTA 13.4.8).
pub trait SharedAttribute: Wire {
    /// Its number, the same in every class.
    const ATTRIBUTE: AttributeId;
}

/// A structure as a value: its name, size and fields, and what can be done with its bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Structure {
    /// The type's name.
    pub name: &'static str,
    /// How many bytes it has.
    pub size: usize,
    /// Its fields in the order of its bytes.
    pub fields: &'static [Field],
    /// Casts the structure from the start of some bytes and gives back the bytes of the cast.
    pub cast: fn(bytes: &[u8]) -> Result<&[u8], DecodeError>,
    /// Dissects the structure at the start of some bytes.
    pub show: fn(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl Structure {
    /// The structure of a type.
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

    /// The structure at the start of `bytes`, to be printed: `{}` in one line, `{:#}` one field a line.
    #[must_use]
    pub fn display<'a>(&self, bytes: &'a [u8]) -> Dissection<'a> {
        Dissection { structure: *self, bytes }
    }

    /// The values of the structure at the start of `bytes`, nested ones too.
    #[must_use]
    pub fn leaves<'a>(&self, bytes: &'a [u8]) -> Leaves<'a> {
        leaves(self.fields, bytes)
    }
}

/// A structure in some bytes, to be printed.
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

/// Prints one field a line, nested structures indented below their name.
fn lines(fields: &[Field], bytes: &[u8], indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for field in fields.iter().filter(|field| !field.reserved) {
        if field.parts.is_empty() || field.count > 1 {
            write!(f, "{:indent$}{:32} ", "", field.name)?;
            (field.show)(bytes, f)?;
            writeln!(f)?;
        } else {
            let start = usize::try_from(field.bit_offset / 8).unwrap_or(usize::MAX);
            writeln!(f, "{:indent$}{}", "", field.name)?;
            lines(field.parts, bytes.get(start..).unwrap_or_default(), indent + 2, f)?;
        }
    }
    Ok(())
}

/// An attribute's place: its class, its number, and where its bytes are in a datagram.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Placed {
    /// Management class of datagrams that carry it.
    pub class: MgmtClass,
    /// Its number in the class.
    pub id: AttributeId,
    /// Bytes of the datagram before it.
    pub offset: usize,
    /// What it is.
    pub structure: Structure,
}

/// Makes a class's enum of attributes, their [`Attribute`] implementations and the class's table.
///
/// `own` attributes belong to this class alone; `shared` ones are structures of several classes.
macro_rules! attributes {
    ($(#[$m:meta])* pub enum $name:ident in $class:ident at $offset:literal {
        own { $($own:ident = $id:literal,)* }
        shared { $($shared:ident = $shared_id:literal,)* }
    }) => {
        $(#[$m])*
        ///
        /// An attribute that the crate does not know is not an error: it has no variant, and its bytes stay bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $(#[doc = concat!("See [`", stringify!($own), "`].")] $own(&'a $own),)*
            $(#[doc = concat!("See [`", stringify!($shared), "`].")] $shared(&'a $shared),)*
        }
        $(impl $crate::attribute::Attribute for $own {
            const CLASS: $crate::MgmtClass = $crate::MgmtClass::$class;
            const ATTRIBUTE: $crate::AttributeId = $crate::AttributeId::new($id);
        })*
        impl<'a> $name<'a> {
            /// Every attribute of the class that the crate knows.
            pub const TABLE: &'static [$crate::attribute::Placed] = &[
                $($crate::attribute::Placed {
                    class: $crate::MgmtClass::$class,
                    id: $crate::AttributeId::new($shared_id),
                    offset: $offset,
                    structure: $crate::attribute::Structure::of::<$shared>(),
                },)*
                $($crate::attribute::Placed {
                    class: $crate::MgmtClass::$class,
                    id: $crate::AttributeId::new($id),
                    offset: $offset,
                    structure: $crate::attribute::Structure::of::<$own>(),
                },)*
            ];

            /// The attribute `id` at the start of `data`; `None` if the crate does not know it.
            ///
            /// # Errors
            /// [`DecodeError::TooShort`](crate::DecodeError::TooShort) if `data` ends before the attribute.
            pub fn parse(id: $crate::AttributeId, data: &'a [u8]) -> Result<Option<Self>, $crate::DecodeError> {
                Ok(Some(match id.get() {
                    $($id => Self::$own(<$own as $crate::Wire>::parse(data)?),)*
                    $($shared_id => Self::$shared(<$shared as $crate::Wire>::parse(data)?),)*
                    _ => return Ok(None),
                }))
            }

            /// The bytes of the attribute in its datagram.
            #[must_use]
            pub fn as_bytes(&self) -> &'a [u8] {
                match self {
                    $(Self::$own(own) => $crate::as_bytes(*own),)*
                    $(Self::$shared(own) => $crate::as_bytes(*own),)*
                }
            }

            /// What it is.
            #[must_use]
            pub const fn structure(&self) -> $crate::attribute::Structure {
                match self {
                    $(Self::$own(_) => $crate::attribute::Structure::of::<$own>(),)*
                    $(Self::$shared(_) => $crate::attribute::Structure::of::<$shared>(),)*
                }
            }
        }
    };
}
pub(crate) use attributes;
