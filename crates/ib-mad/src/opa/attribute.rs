//! Attributes by class and number.
use super::{
    OpaDataPortCounters, OpaErrorPortCounters, OpaNodeInfo, OpaPathRecord, OpaPortInfo, OpaPortStatus, OpaSwitchInfo,
};
use crate::{AttributeId, DecodeError, MgmtClass, Wire, attribute::Structure, smp::NodeDescription};

/// Base version of Omni-Path's datagrams.
pub const OPA_BASE_VERSION: u8 = crate::mad::OPA_BASE_VERSION;
/// Class version of all of Omni-Path's classes.
pub const OPA_CLASS_VERSION: u8 = crate::mad::OPA_CLASS_VERSION;
/// Bytes of an Omni-Path datagram, at most.
pub const OPA_MAD_SIZE: usize = crate::mad::OPA_MAD_SIZE;

macro_rules! attributes {
    ($($class:ident $id:literal $name:ident,)*) => {
        /// An attribute of an Omni-Path datagram.
        ///
        /// One that the crate does not know is not an error: it has no variant, and its bytes stay bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum OpaAttribute<'a> {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name(&'a $name),)*
        }

        impl<'a> OpaAttribute<'a> {
            /// The structure of each attribute that the crate knows, with its class and number.
            pub const TABLE: &'static [(MgmtClass, AttributeId, Structure)] =
                &[$((MgmtClass::$class, AttributeId::new($id), Structure::of::<$name>()),)*];

            /// The attribute `id` of a class at the start of `data`; `None` if the crate does not know it.
            ///
            /// # Errors
            /// [`DecodeError::TooShort`] if `data` ends before the attribute.
            pub fn parse(class: MgmtClass, id: AttributeId, data: &'a [u8]) -> Result<Option<Self>, DecodeError> {
                let class = class.attribute_class();
                Ok(Some(match (class, id.get()) {
                    $((MgmtClass::$class, $id) => Self::$name(<$name as Wire>::parse(data)?),)*
                    _ => return Ok(None),
                }))
            }

            /// The name of a class's attribute; `None` if the crate does not know it.
            #[must_use]
            pub const fn name(class: MgmtClass, id: AttributeId) -> Option<&'static str> {
                let class = class.attribute_class();
                match (class, id.get()) {
                    $((MgmtClass::$class, $id) => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// The bytes of the attribute in its datagram.
            #[must_use]
            pub fn as_bytes(&self) -> &'a [u8] {
                match self {
                    $(Self::$name(own) => crate::as_bytes(*own),)*
                }
            }

            /// What it is.
            #[must_use]
            pub const fn structure(&self) -> Structure {
                match self {
                    $(Self::$name(_) => Structure::of::<$name>(),)*
                }
            }
        }
    };
}

attributes! {
    SUBN_LID_ROUTED 0x0010 NodeDescription,
    SUBN_LID_ROUTED 0x0011 OpaNodeInfo,
    SUBN_LID_ROUTED 0x0012 OpaSwitchInfo,
    SUBN_LID_ROUTED 0x0015 OpaPortInfo,
    SUBN_ADM 0x0035 OpaPathRecord,
    PERF 0x0040 OpaPortStatus,
    PERF 0x0042 OpaDataPortCounters,
    PERF 0x0043 OpaErrorPortCounters,
}
