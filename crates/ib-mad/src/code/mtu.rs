//! Code of the maximum transfer unit.
use crate::{ParseIdError, code};
use core::str::FromStr;

code! {
    /// Maximum transfer unit: payload bytes of a packet, as a code (IBTA 15.2.5.16, 6 bits; PortInfo, 4 bits).
    pub struct Mtu(u8) {
        /// Packets with a payload of 256 bytes.
        B256 = 1 "256",
        /// Packets with a payload of 512 bytes.
        B512 = 2 "512",
        /// Packets with a payload of 1024 bytes.
        B1024 = 3 "1024",
        /// Packets with a payload of 2048 bytes.
        B2048 = 4 "2048",
        /// Packets with a payload of 4096 bytes.
        B4096 = 5 "4096",
    }
}

impl Mtu {
    /// Returns the payload in bytes; `None` for an undefined code.
    #[must_use]
    pub const fn bytes(self) -> Option<u16> {
        match self {
            Self::B256 => Some(256),
            Self::B512 => Some(512),
            Self::B1024 => Some(1024),
            Self::B2048 => Some(2048),
            Self::B4096 => Some(4096),
            _ => None,
        }
    }

    /// Returns the code of exactly this payload in bytes.
    #[must_use]
    pub const fn from_bytes(bytes: u16) -> Option<Self> {
        match bytes {
            256 => Some(Self::B256),
            512 => Some(Self::B512),
            1024 => Some(Self::B1024),
            2048 => Some(Self::B2048),
            4096 => Some(Self::B4096),
            _ => None,
        }
    }
}

impl FromStr for Mtu {
    type Err = ParseIdError;
    /// Reads the payload in bytes, `256` to `4096`, as `Display` prints it.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let known = Self::KNOWN.iter().find(|(_, name)| *name == text);
        known.map(|(own, _)| *own).ok_or(ParseIdError { what: "MTU (256, 512, 1024, 2048, 4096)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_mtu_is_read_back() {
        for (own, name) in Mtu::KNOWN {
            assert_eq!(name.parse(), Ok(*own));
            assert_eq!(own.bytes().and_then(Mtu::from_bytes), Some(*own));
        }
        for bad in ["", "5", "8192", "0x100", "+256", " 256"] {
            assert!(bad.parse::<Mtu>().is_err(), "{bad}");
        }
    }
}
