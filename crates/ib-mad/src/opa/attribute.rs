//! Attributes of Omni-Path by class and attribute id.
use super::{
    OpaClearPortStatus, OpaDataPortCounters, OpaErrorInfo, OpaErrorPortCounters, OpaLinkRecord, OpaMcMemberRecord,
    OpaNodeInfo, OpaNodeRecord, OpaNotice, OpaPathRecord, OpaPortInfo, OpaPortInfoRecord, OpaPortStatus, OpaSwitchInfo,
    OpaVirtualFabric,
};
use crate::{AttributeId, DecodeError, MgmtClass, Wire, attribute::Structure, smp::NodeDescription};

/// Base version of Omni-Path datagrams.
pub const OPA_BASE_VERSION: u8 = crate::mad::OPA_BASE_VERSION;
/// Class version of all Omni-Path classes.
pub const OPA_CLASS_VERSION: u8 = crate::mad::OPA_CLASS_VERSION;
/// Maximum size of an Omni-Path datagram, in bytes.
pub const OPA_MAD_SIZE: usize = crate::mad::OPA_MAD_SIZE;

macro_rules! attributes {
    ($($($class:ident)|+ $id:literal $name:ident,)*) => {
        /// An attribute of an Omni-Path datagram.
        ///
        /// An attribute without a type in this crate has no variant, and `parse` returns `Ok(None)` for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum OpaAttribute<'a> {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name(&'a $name),)*
        }

        impl<'a> OpaAttribute<'a> {
            /// Structures of the attributes, with their class and attribute id.
            pub const TABLE: &'static [(MgmtClass, AttributeId, Structure)] =
                &[$($((MgmtClass::$class, AttributeId::new($id), Structure::of::<$name>()),)+)*];

            /// Casts the attribute `id` of a class from the start of `data`; `None` if it has no type in this crate.
            ///
            /// # Errors
            /// [`DecodeError::TooShort`] if `data` ends before the attribute.
            pub fn parse(class: MgmtClass, id: AttributeId, data: &'a [u8]) -> Result<Option<Self>, DecodeError> {
                let class = class.attribute_class();
                Ok(Some(match (class, id.get()) {
                    $(($(MgmtClass::$class)|+, $id) => Self::$name(<$name as Wire>::parse(data)?),)*
                    _ => return Ok(None),
                }))
            }

            /// Returns the name of a class's attribute; `None` if it has no type in this crate.
            #[must_use]
            pub const fn name(class: MgmtClass, id: AttributeId) -> Option<&'static str> {
                let class = class.attribute_class();
                match (class, id.get()) {
                    $(($(MgmtClass::$class)|+, $id) => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// Returns the bytes of the attribute in its datagram.
            #[must_use]
            pub fn as_bytes(&self) -> &'a [u8] {
                match self {
                    $(Self::$name(own) => crate::as_bytes(*own),)*
                }
            }

            /// Returns the attribute's structure: its name, size and fields.
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
    SUBN_LID_ROUTED | SUBN_ADM 0x0002 OpaNotice,
    SUBN_LID_ROUTED 0x0010 NodeDescription,
    SUBN_LID_ROUTED 0x0011 OpaNodeInfo,
    SUBN_LID_ROUTED 0x0012 OpaSwitchInfo,
    SUBN_LID_ROUTED 0x0015 OpaPortInfo,
    SUBN_ADM 0x0011 OpaNodeRecord,
    SUBN_ADM 0x0012 OpaPortInfoRecord,
    SUBN_ADM 0x0020 OpaLinkRecord,
    SUBN_ADM 0x0035 OpaPathRecord,
    SUBN_ADM 0x0038 OpaMcMemberRecord,
    SUBN_ADM 0x0089 OpaVirtualFabric,
    PERF 0x0040 OpaPortStatus,
    PERF 0x0041 OpaClearPortStatus,
    PERF 0x0042 OpaDataPortCounters,
    PERF 0x0043 OpaErrorPortCounters,
    PERF 0x0044 OpaErrorInfo,
}
