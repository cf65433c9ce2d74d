//! Where the parts of a datagram are, by version and class.
use crate::{
    DecodeError, MadHeader, MgmtClass,
    attribute::Attribute,
    mad::{OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE},
};

/// Whose format a datagram has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// InfiniBand's, with the version of the class that this crate knows.
    InfiniBand,
    /// Omni-Path's.
    OmniPath,
    /// Another's: only the common header is known.
    Unknown,
}

impl Format {
    pub(super) const fn of(header: &MadHeader) -> Self {
        let is_class_of_opa = matches!(
            header.mgmt_class,
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE | MgmtClass::SUBN_ADM | MgmtClass::PERF
        );
        let is_class_of_ours = is_class_of_opa
            || matches!(
                header.mgmt_class,
                MgmtClass::BASEBOARD
                    | MgmtClass::DEVICE_MGMT
                    | MgmtClass::COMM_MGMT
                    | MgmtClass::CONGESTION
                    | MgmtClass::ACM
            );
        match header.base_version {
            // Of other classes only the header is known, in any version.
            1 if is_class_of_ours && header.class_version != header.mgmt_class.version() => Self::Unknown,
            1 => Self::InfiniBand,
            OPA_BASE_VERSION if is_class_of_opa && header.class_version == OPA_CLASS_VERSION => Self::OmniPath,
            _ => Self::Unknown,
        }
    }

    /// Bytes of a datagram.
    pub(super) const fn mad_size(self) -> usize {
        match self {
            Self::OmniPath => OPA_MAD_SIZE,
            Self::InfiniBand | Self::Unknown => crate::mad::MAD_SIZE,
        }
    }

    /// Bytes of a class's datagrams before their data.
    pub(super) const fn data_offset(self, class: MgmtClass) -> usize {
        match (self, class) {
            (Self::Unknown, _) => size_of::<MadHeader>(),
            (_, MgmtClass::SUBN_ADM) => class.data_offset(),
            (Self::OmniPath, MgmtClass::SUBN_LID_ROUTED) => 32,
            (Self::OmniPath, MgmtClass::SUBN_DIRECTED_ROUTE) => 176,
            (Self::OmniPath, _) => size_of::<MadHeader>(),
            (Self::InfiniBand, class) => class.data_offset(),
        }
    }
}

/// Whether a datagram has an `A` where this crate knows one.
pub(super) fn check<A: Attribute>(header: &MadHeader) -> Result<(), DecodeError> {
    if header.mgmt_class.attribute_class() != A::CLASS {
        return Err(DecodeError::BadValue { what: "mgmt_class", value: header.mgmt_class.get().into() });
    }
    if header.attribute_id != A::ATTRIBUTE {
        return Err(DecodeError::BadValue { what: "attribute_id", value: header.attribute_id.get().into() });
    }
    check_version(header)
}

/// Whether a datagram has InfiniBand's format, in the version that this crate knows.
pub(super) fn check_version(header: &MadHeader) -> Result<(), DecodeError> {
    match (Format::of(header), header.base_version) {
        (Format::InfiniBand, _) => Ok(()),
        (_, 1) => Err(DecodeError::BadValue { what: "class_version", value: header.class_version.into() }),
        (_, base) => Err(DecodeError::BadValue { what: "base_version", value: base.into() }),
    }
}
