//! Baseboard management (IBTA 16.2): power, indicators and vital product data of modules.
//!
//! Requests to the devices of a module have the method Send. Their parameters are public for vital product data only.
//!
//! ```text
//!  0  common header (24 bytes)
//! 24  B_Key (8)
//! 32  reserved (32)
//! 64  attribute (192 bytes)
//! ```
mod attributes;

pub use attributes::*;

use crate::{
    Bkey, MadHeader,
    attribute::attributes,
    notice::{ClassPortInfo, Notice},
    wire,
    wire::{Octets, Reserved},
};

wire! {
    /// A baseboard management datagram (IBTA 16.2.1); class version 1.
    pub struct BaseboardMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Key of the requester; 0 if the node has no key.
        pub bkey: Bkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<32>,
        /// Attribute, 192 bytes.
        pub data: Octets<192>,
    }
}

attributes! {
    /// An attribute of baseboard management.
    pub enum BaseboardAttribute in BASEBOARD {
        own {
            BkeyInfo = 0x0010,
            WriteVpd = 0x0020,
            ReadVpd = 0x0021,
            ResetIbml = 0x0022,
            SetModulePmControl = 0x0023,
            GetModulePmControl = 0x0024,
            SetUnitPmControl = 0x0025,
            GetUnitPmControl = 0x0026,
            SetIocPmControl = 0x0027,
            GetIocPmControl = 0x0028,
            SetModuleState = 0x0029,
            SetModuleAttention = 0x002a,
            GetModuleStatus = 0x002b,
            Ib2Ibml = 0x002c,
            Ib2Cme = 0x002d,
            Ib2Mme = 0x002e,
            Oem = 0x002f,
        }
        shared {
            ClassPortInfo = 0x0001,
            Notice = 0x0002,
        }
    }
}
