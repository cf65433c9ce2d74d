//! Attributes of baseboard management, whose layouts are not public.
use crate::{wire, wire::Octets};

wire! {
    /// B_Key and its protection (IBTA 16.2.3), 192 bytes.
    pub struct BkeyInfo [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Write of vital product data (IBTA 16.2.3), 192 bytes.
    pub struct WriteVpd [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Read of vital product data (IBTA 16.2.3), 192 bytes.
    pub struct ReadVpd [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Reset of a module's bus (IBTA 16.2.3), 192 bytes.
    pub struct ResetIbml [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Change of a module's power management (IBTA 16.2.3), 192 bytes.
    pub struct SetModulePmControl [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Read of a module's power management (IBTA 16.2.3), 192 bytes.
    pub struct GetModulePmControl [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Change of a unit's power management (IBTA 16.2.3), 192 bytes.
    pub struct SetUnitPmControl [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Read of a unit's power management (IBTA 16.2.3), 192 bytes.
    pub struct GetUnitPmControl [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Change of an I/O controller's power management (IBTA 16.2.3), 192 bytes.
    pub struct SetIocPmControl [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Read of an I/O controller's power management (IBTA 16.2.3), 192 bytes.
    pub struct GetIocPmControl [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Change of a module's state (IBTA 16.2.3), 192 bytes.
    pub struct SetModuleState [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Change of a module's attention indicator (IBTA 16.2.3), 192 bytes.
    pub struct SetModuleAttention [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Read of a module's status (IBTA 16.2.3), 192 bytes.
    pub struct GetModuleStatus [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Request to a module's bus (IBTA 16.2.3), 192 bytes.
    pub struct Ib2Ibml [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Request to the chassis management entity (IBTA 16.2.3), 192 bytes.
    pub struct Ib2Cme [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Request to the module management entity (IBTA 16.2.3), 192 bytes.
    pub struct Ib2Mme [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Vendor-defined request (IBTA 16.2.3), 192 bytes.
    pub struct Oem [192] {
        /// Bytes of the attribute, without a known layout.
        pub opaque: Octets<192>,
    }
}
