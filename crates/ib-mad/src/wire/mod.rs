//! Definition of wire structures.
//!
//! | macro | defines | example |
//! |---|---|---|
//! | [`wire!`](crate::wire!) | a structure: typed fields in the specification's order, size checked at compile time | [`PathRecord`](crate::sa::PathRecord) |
//! | [`bits!`](crate::bits!) | a bit-packed word: parts from the most significant bit down, `_` for reserved bits | [`FlowHop`](crate::sa::FlowHop) |
//! | [`id!`](crate::id!) | an identifier, a number in network order | [`Lid`](crate::Lid) |
//! | [`code!`](crate::code!) | an open code space with names; unknown values are kept | [`Method`](crate::Method) |
//! | [`flags!`](crate::flags!) | a set of named bits; bits without a name are kept | [`PortCapability`](crate::smp::PortCapability) |
//!
//! Each macro also generates a table of [`Field`]s. The dissector ([`dissect`]), a property test and the comparison
//! with the tables of other programs use these tables, so that they cover every structure.
mod bits;
mod code;
mod field;
mod flags;
mod id;
mod layout;
mod leaf;
#[cfg(feature = "serde")]
mod lists;
mod packed;
mod plain;
mod small;
mod structure;
mod traits;
mod value;

pub use bitflags::{Flag, Flags};
pub use bits::{Bits, load, store};
#[doc(hidden)]
pub use bits::{low_u8, low_u16, low_u32};
pub use field::{Access, ByteOrder, Field, dissect, find, read_bits, write_bits};
pub use layout::{Wire, as_bytes};
#[doc(hidden)]
pub use layout::{bits_of, is_decimal};
pub use leaf::{Leaf, Leaves, leaves};
pub use packed::{InBytes, Packed};
pub use plain::{Be16, Be32, Be64, Counter32, Counter64, Host16, Host32, Host64, Octets, Reserved, Text};
pub(crate) use small::{from_str_number, small};

#[doc(hidden)]
#[cfg(feature = "arbitrary")]
pub use arbitrary as __arbitrary;
#[doc(hidden)]
#[cfg(feature = "serde")]
pub use serde as __serde;
#[doc(hidden)]
#[cfg(feature = "serde")]
pub use traits::serialize as __serialize;
#[doc(hidden)]
pub use value::parse_number;
#[doc(hidden)]
#[cfg(feature = "serde")]
pub use value::{Value as __Value, read_value as __read_value, write_value as __write_value};
#[doc(hidden)]
pub use zerocopy as __zerocopy;
