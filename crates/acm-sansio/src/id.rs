//! What names the things of the core.
use crate::arena::{Handle, Key};
use core::fmt;

macro_rules! handle {
    ($($(#[$m:meta])* $name:ident $short:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Handle);
        impl Key for $name {
            fn from_handle(handle: Handle) -> Self {
                Self(handle)
            }
            fn handle(self) -> Handle {
                self.0
            }
        }
        impl $name {
            /// From its parts: a small number, and how often that number was used before.
            #[must_use]
            pub const fn new(index: u32, generation: u32) -> Self {
                Self(Handle { index, generation })
            }
            /// Both parts as one number, for a fabric that hands a number back with its answer.
            #[must_use]
            pub const fn to_bits(self) -> u64 {
                (self.0.generation as u64) << 32 | self.0.index as u64
            }
            /// From the number of [`Self::to_bits`].
            #[must_use]
            #[allow(clippy::cast_possible_truncation, reason = "both halves are taken")]
            pub const fn from_bits(bits: u64) -> Self {
                Self::new(bits as u32, (bits >> 32) as u32)
            }
            /// The small number.
            #[must_use]
            pub const fn index(self) -> u32 {
                self.0.index
            }
            /// How often the number was used before.
            #[must_use]
            pub const fn generation(self) -> u32 {
                self.0.generation
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{:?}", $short, self.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }
    )*};
}

handle! {
    /// A connection of a client. Its owner, who accepts connections, makes the id; numbers are small and used again.
    ClientId "client";
    /// A request that waits for something.
    RequestId "request";
    /// A request to subnet administration.
    SaRequestId "sa";
    /// A local endpoint: a port and a partition.
    EndpointId "endpoint";
    /// A destination in a cache.
    DestId "dest";
}

/// A request of the kernel. Its owner, who hears the kernel, makes the number; it is free again with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelRequestId(pub u32);

/// A port of a device. Its owner, who finds devices, makes the number; endpoints are listed in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);
