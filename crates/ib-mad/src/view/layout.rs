//! Layout of datagrams by version and class.
use crate::{
    DecodeError, MadHeader, MgmtClass, VendorId, Wire,
    attribute::Attribute,
    mad::{OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE, OUI},
    wire::InBytes,
};

/// Format of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// InfiniBand, with the version of the class that this crate supports.
    InfiniBand,
    /// Omni-Path.
    OmniPath,
    /// Any other version: only the common header can be read.
    Unknown,
}

impl Format {
    pub(super) const fn of(header: &MadHeader) -> Self {
        let is_class_of_opa = matches!(
            header.mgmt_class,
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE | MgmtClass::SUBN_ADM | MgmtClass::PERF
        );
        let has_class_layout = is_class_of_opa
            || matches!(
                header.mgmt_class,
                MgmtClass::BASEBOARD
                    | MgmtClass::DEVICE_MGMT
                    | MgmtClass::COMM_MGMT
                    | MgmtClass::CONGESTION
                    | MgmtClass::ACM
            );
        match header.base_version {
            // For classes without a layout in this crate, any version is accepted: only the common header is read.
            1 if has_class_layout && header.class_version != header.mgmt_class.version() => Self::Unknown,
            1 => Self::InfiniBand,
            OPA_BASE_VERSION if is_class_of_opa && header.class_version == OPA_CLASS_VERSION => Self::OmniPath,
            _ => Self::Unknown,
        }
    }

    /// Returns the maximum size of a datagram, in bytes.
    pub(super) const fn mad_size(self) -> usize {
        match self {
            Self::OmniPath => OPA_MAD_SIZE,
            Self::InfiniBand | Self::Unknown => crate::mad::MAD_SIZE,
        }
    }

    /// Returns the offset of the data in the class's datagrams, in bytes.
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

/// Checks that a datagram has an `A` in a version that this crate supports.
pub(super) fn check<A: Attribute>(header: &MadHeader) -> Result<(), DecodeError> {
    if header.mgmt_class.attribute_class() != A::CLASS {
        return Err(DecodeError::BadValue { what: "mgmt_class", value: header.mgmt_class.get().into() });
    }
    if header.attribute_id != A::ATTRIBUTE {
        return Err(DecodeError::BadValue { what: "attribute_id", value: header.attribute_id.get().into() });
    }
    check_version(header)
}

/// Checks that a datagram has the format of InfiniBand, in a version that this crate supports.
pub(super) fn check_version(header: &MadHeader) -> Result<(), DecodeError> {
    match (Format::of(header), header.base_version) {
        (Format::InfiniBand, _) => Ok(()),
        (_, 1) => Err(DecodeError::BadValue { what: "class_version", value: header.class_version.into() }),
        (_, base) => Err(DecodeError::BadValue { what: "base_version", value: base.into() }),
    }
}

/// Checks the base version and the class version of a datagram.
pub(super) fn check_versions(header: &MadHeader, [base, class]: [u8; 2]) -> Result<(), DecodeError> {
    match (header.base_version, header.class_version) {
        (found, _) if found != base => Err(DecodeError::BadValue { what: "base_version", value: found.into() }),
        (_, found) if found != class => Err(DecodeError::BadValue { what: "class_version", value: found.into() }),
        _ => Ok(()),
    }
}

/// Checks the vendor of the datagram against that of `A`, if `A` has one.
///
/// # Errors
/// [`DecodeError::BadValue`] if the datagram is of another vendor.
pub(super) fn check_vendor<A: Attribute>(mad: &[u8]) -> Result<(), DecodeError> {
    let Some(own) = A::OUI else { return Ok(()) };
    let seen = InBytes::<VendorId, 3>::parse(mad.get(OUI..).unwrap_or_default())?.get();
    if seen == own { Ok(()) } else { Err(DecodeError::BadValue { what: "oui", value: seen.get().into() }) }
}
