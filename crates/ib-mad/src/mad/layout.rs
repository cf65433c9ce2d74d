//! What is fixed for each class: the version of its format, and where its data stands.
use super::MgmtClass;
use crate::vendor::is_vendor_oui;

impl MgmtClass {
    /// Version of the class's format that this crate has: 2 for subnet administration, communication management and
    /// congestion control, 1 for all others (IBTA 13.4.4, 15.2.1, 12.6, A10.4.1).
    #[must_use]
    pub const fn version(self) -> u8 {
        match self {
            Self::SUBN_ADM | Self::COMM_MGMT | Self::CONGESTION => 2,
            _ => 1,
        }
    }

    /// The class whose attributes its datagrams carry: those of a directed route are LID-routed's, of all others its own.
    #[must_use]
    pub const fn attribute_class(self) -> Self {
        match self {
            Self::SUBN_DIRECTED_ROUTE => Self::SUBN_LID_ROUTED,
            own => own,
        }
    }

    /// Bytes of the class's datagrams before their data: the common header and the class's own.
    #[must_use]
    pub const fn data_offset(self) -> usize {
        match self {
            Self::SUBN_ADM => 56,
            Self::ACM => 16,
            Self::SUBN_LID_ROUTED
            | Self::SUBN_DIRECTED_ROUTE
            | Self::PERF
            | Self::BASEBOARD
            | Self::DEVICE_MGMT
            | Self::CONGESTION
            | Self::DEVICE_ADM
            | Self::BIS => 64,
            own if is_vendor_oui(own) => 40,
            _ => 24,
        }
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
            assert_eq!(MgmtClass::new(class).data_offset(), offset, "class {class:#x}");
        }
    }
}
