//! What is fixed for each class: the version of its format, and where its data stands.
use super::MgmtClass;

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

    /// Bytes of the class's datagrams before their data: the common header and the class's own.
    #[must_use]
    pub const fn data_offset(self) -> usize {
        crate::view::data_offset(self)
    }
}
