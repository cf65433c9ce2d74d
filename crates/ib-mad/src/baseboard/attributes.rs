//! Attributes of baseboard management, as bytes.
use crate::{wire, wire::Octets};

wire! {
    /// Who holds the B_Key (IBTA 16.2.3), 192 bytes.
    pub struct BkeyInfo [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Writes vital product data (IBTA 16.2.3), 192 bytes.
    pub struct WriteVpd [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Reads vital product data (IBTA 16.2.3), 192 bytes.
    pub struct ReadVpd [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Resets the module's bus (IBTA 16.2.3), 192 bytes.
    pub struct ResetIbml [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sets a module's power (IBTA 16.2.3), 192 bytes.
    pub struct SetModulePmControl [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Reads a module's power (IBTA 16.2.3), 192 bytes.
    pub struct GetModulePmControl [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sets a unit's power (IBTA 16.2.3), 192 bytes.
    pub struct SetUnitPmControl [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Reads a unit's power (IBTA 16.2.3), 192 bytes.
    pub struct GetUnitPmControl [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sets a controller's power (IBTA 16.2.3), 192 bytes.
    pub struct SetIocPmControl [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Reads a controller's power (IBTA 16.2.3), 192 bytes.
    pub struct GetIocPmControl [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sets a module's state (IBTA 16.2.3), 192 bytes.
    pub struct SetModuleState [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sets a module's light (IBTA 16.2.3), 192 bytes.
    pub struct SetModuleAttention [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Reads a module's status (IBTA 16.2.3), 192 bytes.
    pub struct GetModuleStatus [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sends to the module's bus (IBTA 16.2.3), 192 bytes.
    pub struct Ib2Ibml [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sends to the chassis's manager (IBTA 16.2.3), 192 bytes.
    pub struct Ib2Cme [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// Sends to the module's manager (IBTA 16.2.3), 192 bytes.
    pub struct Ib2Mme [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}

wire! {
    /// A maker's own (IBTA 16.2.3), 192 bytes.
    pub struct Oem [192] {
        /// As it came.
        pub opaque: Octets<192>,
    }
}
