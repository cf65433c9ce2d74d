//! Ids of the core's objects.
use core::fmt;

/// The index of an element in an arena, with the generation of the slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Handle {
    pub(crate) index: u32,
    /// Number of times that the slot was used before.
    pub(crate) generation: u32,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// A typed handle.
pub(crate) trait Key: Copy {
    fn from_handle(handle: Handle) -> Self;
    fn handle(self) -> Handle;
}

macro_rules! handle {
    ($($(#[$m:meta])* $vis:vis $name:ident $short:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(unreachable_pub, dead_code, reason = "ids of the crate's own have the same verbs")]
        $vis struct $name($crate::api::id::Handle);
        impl $crate::api::id::Key for $name {
            fn from_handle(handle: $crate::api::id::Handle) -> Self {
                Self(handle)
            }
            fn handle(self) -> $crate::api::id::Handle {
                self.0
            }
        }
        #[allow(unreachable_pub, dead_code, reason = "ids of the crate's own have the same verbs")]
        impl $name {
            /// Creates an id from its index and generation.
            #[must_use]
            pub const fn new(index: u32, generation: u32) -> Self {
                Self($crate::api::id::Handle { index, generation })
            }
            /// Returns index and generation as one number, for fabrics that carry a number with a request.
            #[must_use]
            pub const fn to_bits(self) -> u64 {
                (self.0.generation as u64) << 32 | self.0.index as u64
            }
            /// Creates an id from the number of [`Self::to_bits`].
            #[must_use]
            #[allow(clippy::cast_possible_truncation, reason = "both halves are taken")]
            pub const fn from_bits(bits: u64) -> Self {
                Self::new(bits as u32, (bits >> 32) as u32)
            }
            /// Returns the index. Indexes are small and reused.
            #[must_use]
            pub const fn index(self) -> u32 {
                self.0.index
            }
            /// Returns the generation: the number of times that the index was used before.
            #[must_use]
            pub const fn generation(self) -> u32 {
                self.0.generation
            }
        }
        $crate::api::id::handle_text!($name);
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}{:?}", $short, self.0)
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self, f)
            }
        }
    )*};
}

pub(crate) use handle;

/// With `serde`, an id is the text of its index and generation, `3.0`.
#[cfg(feature = "serde")]
macro_rules! handle_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!("{:?}", self.0))
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = alloc::string::String::deserialize(deserializer)?;
                let parts = text
                    .split_once('.')
                    .and_then(|(index, generation)| Some(Self::new(index.parse().ok()?, generation.parse().ok()?)));
                parts.ok_or_else(|| serde::de::Error::custom(format_args!("not an id: {text}")))
            }
        }
    };
}
#[cfg(not(feature = "serde"))]
macro_rules! handle_text {
    ($name:ident) => {};
}
pub(crate) use handle_text;

handle! {
    /// A client connection. The caller, who accepts connections, chooses the id; indexes are small and reused.
    pub ClientId "client";
    /// An open request.
    pub RequestId "request";
    /// A request to the subnet administrator that waits for its response.
    pub SaRequestId "sa";
    /// A query to the subnet administrator, which may be sent several times.
    pub SaQueryId "query";
    /// A local endpoint: a port and a partition.
    pub EndpointId "endpoint";
    /// A destination in the cache.
    pub DestId "dest";
}

impl ClientId {
    /// Indexes of clients must be below this; a client with a greater one is refused. The core keeps a table by index,
    /// and a trace may contain any index. On Linux, a process cannot have more open files by default (`fs.nr_open`).
    pub const MAX_INDEX: u32 = 1 << 20;
}

/// A kernel request. The caller, who receives kernel messages, chooses the number and may reuse it after the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelRequestId(pub u32);

/// A port of a device. The caller, who finds devices, chooses the number; endpoints are listed in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortId(pub u32);

/// A provider. The built-in provider is 0; others are numbered in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProviderId(pub u8);

impl ProviderId {
    /// The built-in provider, `ibacmp`.
    pub const BUILT_IN: Self = Self(0);

    /// Reports whether the provider is outside of the core. Such a provider opens its endpoints itself, without queue
    /// pairs of the core, has counters of its own, and decides the result of NODELAY requests.
    #[must_use]
    pub const fn is_external(self) -> bool {
        self.0 != Self::BUILT_IN.0
    }
}

/// A provider's name for an operation of its own. The core passes it back. The fields except `provider` are opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// The provider that gets it back.
    pub provider: ProviderId,
    /// The kind of operation.
    pub kind: u32,
    /// The index of the object.
    pub index: u32,
    /// The generation of the object's index.
    pub generation: u32,
}
