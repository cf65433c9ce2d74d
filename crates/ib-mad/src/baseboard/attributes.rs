//! Attributes of baseboard management: the key, and requests to a module's devices.
use crate::{
    Bkey, bits, code, wire,
    wire::{Be16, Octets},
};

bits! {
    /// Protection by the B_Key.
    pub struct BkeyProtect [2] in BkeyInfo.protect {
        /// True if reads hide the key.
        bkey_protect_bit / with_bkey_protect_bit: bool = 1,
        _: 15,
    }
}

wire! {
    /// B_Key and its protection (IBTA 16.2.3; `ib_bm.h` of opa-ff), 14 bytes.
    pub struct BkeyInfo [14] {
        /// Baseboard management key of the node.
        pub bkey: Bkey,
        /// Protection by the key.
        pub protect: BkeyProtect,
        /// Lease period of the key in seconds, after which it is void; 0 means no limit.
        pub bkey_lease_period: Be16,
        /// Number of received requests with a wrong key; 65535 if the node does not count them.
        pub bkey_violations: Be16,
    }
}

code! {
    /// Device of a module that sends a request (`ib_bm.h` of opa-ff).
    pub struct BmDevice(u8) {
        /// No device is named.
        UNSPECIFIED = 0x00 "unspecified",
        /// Module management entity.
        MME = 0xe0 "MME",
        /// Chassis management entity.
        CME = 0xe8 "CME",
        /// Baseboard manager.
        BM = 0xfe "BM",
    }
    /// Result of a request to a module's device: the first parameter of its response (`ib_bm.h` of opa-ff).
    pub struct BmStatus(u8) {
        /// The request succeeded.
        OK = 0x00 "success",
        /// The request failed.
        ERROR = 0x01 "error",
        /// The chassis management entity is busy.
        CME_BUSY = 0x02 "CME busy",
        /// The module management entity is busy.
        MME_BUSY = 0x03 "MME busy",
        /// The device does not support the request.
        NOT_SUPPORTED = 0x04 "not supported",
        /// A parameter is invalid.
        ILLEGAL_PARAMETER = 0x05 "illegal parameter",
        /// The device cannot be written.
        WRITE_PROTECTED = 0x40 "write protected",
        /// The device did not acknowledge.
        NACK = 0x41 "NACK",
        /// The bus of the module failed.
        BUS_ERROR = 0x42 "bus error",
        /// The bus of the module is busy.
        BUSY = 0x43 "busy",
        /// The product data are invalid.
        INVALID_VPD = 0x44 "invalid VPD",
        /// The offset is outside of the device.
        ILLEGAL_OFFSET = 0x45 "illegal offset",
        /// The number of bytes is outside of the device.
        ILLEGAL_BYTE_COUNT = 0x46 "illegal byte count",
    }
}

wire! {
    /// Bytes of a device with vital product data: the first parameters of a request to read or write them, 5 bytes.
    pub struct VpdRange [5] {
        /// Address of the device on the module's bus.
        pub device_selector: u8,
        /// Number of bytes.
        pub byte_count: Be16,
        /// Offset of the first byte in the device.
        pub offset: Be16,
    }
}

/// Defines the attributes that are sent to a module's device. All have the same layout.
macro_rules! sends {
    ($($(#[$m:meta])* $name:ident;)*) => {$(
        wire! {
            $(#[$m])*
            ///
            /// The layout of the parameters is public for vital product data only ([`VpdRange`]).
            pub struct $name [192] {
                /// Number of the request, which its response copies.
                pub sequence: Be16,
                /// Device that sends the request.
                pub source_device: BmDevice,
                /// Number of bytes in `parameters` that are used.
                pub parameter_count: u8,
                /// Parameters of the request or the response. The specification uses 40 bytes, the rest is padding.
                pub parameters: Octets<188>,
            }
        }
        impl $name {
            /// Returns the result in a response: its first parameter.
            #[must_use]
            pub fn bm_status(&self) -> BmStatus {
                BmStatus::new(self.parameters.0.first().copied().unwrap_or_default())
            }
        }
    )*};
}
sends! {
    /// Write of vital product data (IBTA 16.2.3), 192 bytes. The data follow the [`VpdRange`].
    WriteVpd;
    /// Read of vital product data (IBTA 16.2.3), 192 bytes. In the response, the data follow the status.
    ReadVpd;
    /// Reset of a module's bus (IBTA 16.2.3), 192 bytes.
    ResetIbml;
    /// Change of a module's power management (IBTA 16.2.3), 192 bytes.
    SetModulePmControl;
    /// Read of a module's power management (IBTA 16.2.3), 192 bytes.
    GetModulePmControl;
    /// Change of a unit's power management (IBTA 16.2.3), 192 bytes.
    SetUnitPmControl;
    /// Read of a unit's power management (IBTA 16.2.3), 192 bytes.
    GetUnitPmControl;
    /// Change of an I/O controller's power management (IBTA 16.2.3), 192 bytes.
    SetIocPmControl;
    /// Read of an I/O controller's power management (IBTA 16.2.3), 192 bytes.
    GetIocPmControl;
    /// Change of a module's state (IBTA 16.2.3), 192 bytes.
    SetModuleState;
    /// Change of a module's attention indicator (IBTA 16.2.3), 192 bytes.
    SetModuleAttention;
    /// Read of a module's status (IBTA 16.2.3), 192 bytes.
    GetModuleStatus;
    /// Request to a module's bus (IBTA 16.2.3), 192 bytes.
    Ib2Ibml;
    /// Request to the chassis management entity (IBTA 16.2.3), 192 bytes.
    Ib2Cme;
    /// Request to the module management entity (IBTA 16.2.3), 192 bytes.
    Ib2Mme;
    /// Vendor-defined request (IBTA 16.2.3), 192 bytes.
    Oem;
}

impl ReadVpd {
    /// Returns a request to read `range`.
    #[must_use]
    pub fn request(sequence: u16, range: &VpdRange) -> Self {
        let parameters = Octets::of(range);
        Self { sequence: Be16::new(sequence), source_device: BmDevice::BM, parameter_count: 5, parameters }
    }

    /// Returns the bytes that a request asks for.
    #[must_use]
    pub fn range(&self) -> VpdRange {
        crate::Wire::parse(&self.parameters.0).copied().unwrap_or_default()
    }
}

impl WriteVpd {
    /// Returns the bytes that a request writes.
    #[must_use]
    pub fn range(&self) -> VpdRange {
        crate::Wire::parse(&self.parameters.0).copied().unwrap_or_default()
    }
}
