//! Management classes.
use crate::code;

code! {
    /// Management class (IBTA 13.4.4).
    pub struct MgmtClass(u8) {
        /// Subnet management, LID routed.
        SUBN_LID_ROUTED = 0x01 "SubnLidRouted",
        /// Subnet management, directed route.
        SUBN_DIRECTED_ROUTE = 0x81 "SubnDirectedRoute",
        /// Subnet administration.
        SUBN_ADM = 0x03 "SubnAdm",
        /// Performance management.
        PERF = 0x04 "Perf",
        /// Baseboard management.
        BASEBOARD = 0x05 "BaseboardMgmt",
        /// Device management.
        DEVICE_MGMT = 0x06 "DevMgmt",
        /// Communication management.
        COMM_MGMT = 0x07 "CommMgmt",
        /// SNMP tunnelling.
        SNMP = 0x08 "Snmp",
        /// Device administration.
        DEVICE_ADM = 0x10 "DevAdm",
        /// Boot management.
        BOOT_MGMT = 0x11 "BootMgmt",
        /// Boot information service.
        BIS = 0x12 "Bis",
        /// Congestion control.
        CONGESTION = 0x21 "CongestionControl",
        /// Communication management assistant (not IBTA's; rdma-core).
        ACM = 0x2c "Acm",
    }
}
