//! The invariant CRC.

/// CRC-32 with Ethernet's polynomial, over bits in transmission order (IBTA 7.8.1).
#[derive(Clone, Copy)]
pub(super) struct Crc(u32);

impl Crc {
    pub(super) const fn new() -> Self {
        Self(u32::MAX)
    }

    pub(super) fn add(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 ^= u32::from(*byte);
            for _ in 0..8 {
                self.0 = self.0 >> 1 ^ if self.0 & 1 == 1 { 0xedb8_8320 } else { 0 };
            }
        }
        self
    }

    /// Returns the CRC as the packet contains it.
    pub(super) const fn bytes(self) -> [u8; 4] {
        (!self.0).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of this CRC in the catalogue of parametrised CRC algorithms.
    #[test]
    fn crc_of_nine_digits_is_the_check_value() {
        assert_eq!(Crc::new().add(b"1234").add(b"56789").bytes(), 0xcbf4_3926_u32.to_le_bytes());
    }
}
