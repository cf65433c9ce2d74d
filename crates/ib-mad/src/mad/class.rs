//! Management classes, and the version and data offset of each class.
use super::MadHeader;
use crate::{code, wire::Be16};

code! {
    /// Management class (IBTA 13.4.4).
    pub struct MgmtClass(u8) {
        /// Subnet management, LID routed: configures nodes and ports by LID.
        SUBN_LID_ROUTED = 0x01 "SubnLidRouted",
        /// Subnet management, directed route: reaches nodes that have no LID yet.
        SUBN_DIRECTED_ROUTE = 0x81 "SubnDirectedRoute",
        /// Subnet administration: records of the subnet manager's database.
        SUBN_ADM = 0x03 "SubnAdm",
        /// Performance management: counters of ports.
        PERF = 0x04 "Perf",
        /// Baseboard management: modules, power and vital product data.
        BASEBOARD = 0x05 "BaseboardMgmt",
        /// Device management: I/O units and their controllers.
        DEVICE_MGMT = 0x06 "DevMgmt",
        /// Communication management: connections and service resolution.
        COMM_MGMT = 0x07 "CommMgmt",
        /// Tunnelling of SNMP requests.
        SNMP = 0x08 "Snmp",
        /// Device administration class, 0x10.
        DEVICE_ADM = 0x10 "DevAdm",
        /// Boot management class, 0x11.
        BOOT_MGMT = 0x11 "BootMgmt",
        /// Boot information service (BIS) class, 0x12.
        BIS = 0x12 "Bis",
        /// Congestion control: settings and logs of switches and channel adapters.
        CONGESTION = 0x21 "CongestionControl",
        /// Communication management assistant; defined by rdma-core, not by the IBTA.
        ACM = 0x2c "Acm",
    }
}

impl MgmtClass {
    /// Returns the version of the class's format in this crate: 2 for subnet administration, communication management
    /// and congestion control, 1 for all others (IBTA 13.4.4, 15.2.1, 12.6, A10.4.1).
    #[must_use]
    pub const fn version(self) -> u8 {
        match self {
            Self::SUBN_ADM | Self::COMM_MGMT | Self::CONGESTION => 2,
            _ => 1,
        }
    }

    /// True for a vendor class of the first range, which has neither RMPP nor a vendor id.
    #[must_use]
    pub const fn is_vendor(self) -> bool {
        matches!(self.get(), 0x09..=0x0f)
    }

    /// True for a vendor class of the second range, which has RMPP and a vendor id.
    #[must_use]
    pub const fn is_vendor_oui(self) -> bool {
        matches!(self.get(), 0x30..=0x4f)
    }

    /// Returns the class that defines the attributes: `SUBN_LID_ROUTED` for `SUBN_DIRECTED_ROUTE`, any other class
    /// itself.
    #[must_use]
    pub const fn attribute_class(self) -> Self {
        match self {
            Self::SUBN_DIRECTED_ROUTE => Self::SUBN_LID_ROUTED,
            own => own,
        }
    }

    /// Returns the offset of the data in the class's datagrams, after the common and the class-specific headers, in
    /// bytes.
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
            own if own.is_vendor_oui() => 40,
            _ => 24,
        }
    }
}

/// Offset of the RMPP header, in the classes that have one.
pub(crate) const RMPP_HEADER: usize = size_of::<MadHeader>();
/// Offset of the header of subnet administration.
pub(crate) const SA_HEADER: usize = 36;
/// Offset of AttributeOffset in a datagram of subnet administration.
pub(crate) const ATTRIBUTE_OFFSET: usize = 44;
/// Offset of the vendor id.
pub(crate) const OUI: usize = 37;
/// End of the data of a directed route; the paths follow it.
pub(crate) const DIRECTED_DATA_END: usize = 128;

/// Base version of Omni-Path datagrams.
pub(crate) const OPA_BASE_VERSION: u8 = 0x80;
/// Class version of all Omni-Path classes.
pub(crate) const OPA_CLASS_VERSION: u8 = 0x80;
/// Maximum size of an Omni-Path datagram, in bytes.
pub(crate) const OPA_MAD_SIZE: usize = 2048;

/// Returns the distance between records of a type, in 8-byte words (IBTA 15.2.1.1, AttributeOffset).
pub(crate) fn words<T>() -> Be16 {
    Be16::new(u16::try_from(size_of::<T>().div_ceil(8)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources: `ib_get_mad_data_offset` in Linux's `mad.c`, and libibmad for performance management.
    #[test]
    fn data_offsets_are_those_of_linux_and_libibmad() {
        for (class, offset) in
            [(0x03, 56), (0x06, 64), (0x10, 64), (0x12, 64), (0x11, 24), (0x07, 24), (0x32, 40), (0x04, 64)]
        {
            assert_eq!(MgmtClass::new(class).data_offset(), offset, "class {class:#x}");
        }
    }

    #[test]
    fn header_offsets_are_those_of_the_specification() {
        use crate::{rmpp::RmppHeader, sa::SaHeader};
        assert_eq!((RMPP_HEADER, SA_HEADER), (24, RMPP_HEADER + size_of::<RmppHeader>()));
        assert_eq!(ATTRIBUTE_OFFSET, SA_HEADER + core::mem::offset_of!(SaHeader, attribute_offset));
    }
}
