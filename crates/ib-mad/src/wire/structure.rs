//! `wire!`: a structure.

/// Defines a wire structure: typed fields in the specification's order, with its size `[N]` in bytes checked at compile
/// time.
///
/// `pub status: Status as show_status` prints the field by the function `show_status`, which gets the whole structure.
/// Use this form for a field whose meaning depends on other fields.
///
/// The structure implements [`Wire`](crate::Wire), equality by bytes, `Default` (all zero), and
/// `Debug` by the dissector. The calling crate must know this crate by the name `ib_mad`; it needs no zerocopy.
///
/// ```
/// use ib_mad::{Lid, Wire, wire, wire::Reserved};
/// wire! {
///     /// Far end of a link.
///     pub struct Neighbour [4] {
///         /// LID of the neighbour.
///         pub lid: Lid,
///         /// Port number of the neighbour.
///         pub port: u8,
///         /// Reserved: zero when sent, ignored when received.
///         pub reserved: Reserved<1>,
///     }
/// }
/// let seen = Neighbour::parse(&[0, 17, 3, 0])?;
/// assert_eq!(format!("{seen:?}"), "Neighbour{lid=17, port=3}");
/// # Ok::<(), ib_mad::DecodeError>(())
/// ```
#[macro_export]
macro_rules! wire {
    ($(#[$m:meta])* pub struct $name:ident [$len:literal] { $($(#[$fm:meta])* pub $field:ident : $t:ty $(as $shown:path)?,)* }) => {
        $(#[$m])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash,
            $crate::wire::__zerocopy::FromBytes, $crate::wire::__zerocopy::IntoBytes,
            $crate::wire::__zerocopy::KnownLayout, $crate::wire::__zerocopy::Immutable,
            $crate::wire::__zerocopy::Unaligned,
        )]
        #[zerocopy(crate = "ib_mad::wire::__zerocopy")]
        #[repr(C)]
        pub struct $name { $($(#[$fm])* pub $field: $t,)* }
        const _: () = assert!(size_of::<$name>() == $len, "the fields must fill the structure");
        impl $name {
            /// The structure with every byte zero, for `..` in a constant.
            pub const ZERO: Self = Self { $($field: <$t as $crate::Wire>::ZERO,)* };
        }
        impl $crate::Wire for $name {
            const NAME: &'static str = stringify!($name);
            const ZERO: Self = Self::ZERO;
            const FIELDS: &'static [$crate::wire::Field] = &[$($crate::wire::Field {
                name: stringify!($field),
                bit_offset: $crate::wire::bits_of(core::mem::offset_of!($name, $field)),
                bits: $crate::wire::bits_of(size_of::<$t>()),
                count: <$t as $crate::Wire>::COUNT,
                reserved: <$t as $crate::Wire>::RESERVED,
                order: <$t as $crate::Wire>::ORDER,
                is_number: $crate::__is_number!($t $(, $shown)?),
                parts: <$t as $crate::Wire>::FIELDS,
                show_element: |bytes, index, f| match <$name as $crate::Wire>::parse(bytes) {
                    Ok(own) => $crate::__show!(own, index, f, $crate::Wire::show_element(&own.$field, index, f) $(, $shown)?),
                    Err(_) => f.write_str("?"),
                },
                access: None,
            },)*];
            fn show(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("{")?;
                $crate::wire::dissect(Self::FIELDS, $crate::as_bytes(self), f)?;
                f.write_str("}")
            }
        }
        $crate::__serialize!($name);
        $crate::__arbitrary!($name);
        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($name))?;
                $crate::Wire::show(self, f)
            }
        }
    };
    ($(#[$m:meta])* pub struct $name:ident [$len:literal] { $($body:tt)* } $($rest:tt)+) => {
        $crate::wire! { $(#[$m])* pub struct $name [$len] { $($body)* } }
        $crate::wire! { $($rest)+ }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __is_number {
    ($t:ty) => {
        <$t as $crate::Wire>::IS_NUMBER
    };
    ($t:ty, $shown:path) => {
        false
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __show {
    ($own:expr, $index:expr, $f:expr, $plain:expr) => {
        $plain
    };
    ($own:expr, $index:expr, $f:expr, $plain:expr, $shown:path) => {{
        let _ = $index;
        $shown($own, $f)
    }};
}
