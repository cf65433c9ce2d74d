//! What names the things of the core.
macro_rules! handle {
    ($($(#[$m:meta])* $vis:vis $name:ident $short:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(unreachable_pub, dead_code, reason = "ids of the crate's own have the same verbs")]
        $vis struct $name($crate::arena::Handle);
        impl $crate::arena::Key for $name {
            fn from_handle(handle: $crate::arena::Handle) -> Self {
                Self(handle)
            }
            fn handle(self) -> $crate::arena::Handle {
                self.0
            }
        }
        #[allow(unreachable_pub, dead_code, reason = "ids of the crate's own have the same verbs")]
        impl $name {
            /// From its parts: a small number, and how often that number was used before.
            #[must_use]
            pub const fn new(index: u32, generation: u32) -> Self {
                Self($crate::arena::Handle { index, generation })
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
        $crate::id::handle_text!($name);
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

/// With `serde` an id is the text of its two parts, `3.0`.
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
    /// A connection of a client. Its owner, who accepts connections, makes the id; numbers are small and used again.
    pub ClientId "client";
    /// A request that waits for something.
    pub RequestId "request";
    /// A datagram to subnet administration that waits for its answer.
    pub SaRequestId "sa";
    /// What a provider asked of subnet administration, however often it is sent.
    pub QuestionId "question";
    /// A local endpoint: a port and a partition.
    pub EndpointId "endpoint";
}

impl ClientId {
    /// Numbers of clients are below this, and who comes with another is refused: the core has a table of them, and a trace
    /// may say anything. Linux lets no process have more files open, if nobody says otherwise (`fs.nr_open`).
    pub const MOST: u32 = 1 << 20;
}

/// A request of the kernel. Its owner, who hears the kernel, makes the number; it is free again with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelRequestId(pub u32);

/// A port of a device. Its owner, who finds devices, makes the number; endpoints are listed in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortId(pub u32);

/// A provider. The built-in one is the first; others have numbers in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProviderId(pub u8);

impl ProviderId {
    /// The one that is built in, `ibacmp`.
    pub const BUILT_IN: Self = Self(0);
}

/// Names something that a provider does; the core gives it back. All but the provider's number is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// The provider that it is given back to.
    pub provider: ProviderId,
    /// What kind of thing.
    pub kind: u32,
    /// Which one of its kind.
    pub index: u32,
    /// How often that number was used before.
    pub generation: u32,
}
