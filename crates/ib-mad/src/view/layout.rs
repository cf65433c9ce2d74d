//! Where the parts of a datagram are, by version and class.
use crate::{
    DecodeError, MadHeader, MgmtClass,
    acm::ACM_CLASS_VERSION,
    attribute::Attribute,
    opa::{OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE},
    sa::SA_CLASS_VERSION,
    smp::SMP_CLASS_VERSION,
    vendor::is_vendor_oui,
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
        match (header.base_version, class_version(header.mgmt_class)) {
            (1, Some(version)) if version != header.class_version => Self::Unknown,
            (1, _) => Self::InfiniBand,
            (OPA_BASE_VERSION, _) if is_class_of_opa && header.class_version == OPA_CLASS_VERSION => Self::OmniPath,
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
            (_, MgmtClass::SUBN_ADM) => 56,
            (Self::OmniPath, MgmtClass::SUBN_LID_ROUTED) => 32,
            (Self::OmniPath, MgmtClass::SUBN_DIRECTED_ROUTE) => 176,
            (Self::OmniPath, _) => 24,
            (Self::InfiniBand, class) => data_offset(class),
        }
    }
}

/// The version of a class that this crate knows; `None` if it knows the class's header only.
const fn class_version(class: MgmtClass) -> Option<u8> {
    match class {
        MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE => Some(SMP_CLASS_VERSION),
        MgmtClass::SUBN_ADM => Some(SA_CLASS_VERSION),
        MgmtClass::PERF | MgmtClass::BASEBOARD | MgmtClass::DEVICE_MGMT => Some(1),
        MgmtClass::COMM_MGMT | MgmtClass::CONGESTION => Some(2),
        MgmtClass::ACM => Some(ACM_CLASS_VERSION),
        _ => None,
    }
}

/// Bytes of a class's InfiniBand datagrams before their data.
pub(super) const fn data_offset(class: MgmtClass) -> usize {
    match class {
        MgmtClass::SUBN_ADM => 56,
        MgmtClass::ACM => 16,
        MgmtClass::SUBN_LID_ROUTED
        | MgmtClass::SUBN_DIRECTED_ROUTE
        | MgmtClass::PERF
        | MgmtClass::BASEBOARD
        | MgmtClass::DEVICE_MGMT
        | MgmtClass::CONGESTION
        | MgmtClass::DEVICE_ADM
        | MgmtClass::BIS => 64,
        _ if is_vendor_oui(class) => 40,
        _ => 24,
    }
}

/// Whether a datagram has an `A` where this crate knows one.
pub(super) fn check<A: Attribute>(header: &MadHeader) -> Result<(), DecodeError> {
    let class = match header.mgmt_class {
        MgmtClass::SUBN_DIRECTED_ROUTE => MgmtClass::SUBN_LID_ROUTED,
        class => class,
    };
    if class != A::CLASS {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where `ib_get_mad_data_offset` in Linux's `mad.c` has the data, and libibmad that of performance management.
    #[test]
    fn data_is_where_linux_has_it() {
        for (class, offset) in
            [(0x03, 56), (0x06, 64), (0x10, 64), (0x12, 64), (0x11, 24), (0x07, 24), (0x32, 40), (0x04, 64)]
        {
            assert_eq!(data_offset(MgmtClass::new(class)), offset, "class {class:#x}");
        }
    }
}
