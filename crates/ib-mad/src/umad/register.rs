//! Registration of agents: numbers and structures of the `ioctl`s, which this crate does not call.
use crate::{
    Method, MgmtClass, VendorId, Wire, wire,
    wire::{ByteOrder, Host16, Host32, Host64, InBytes, Reserved},
};
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Version of the interface in `/sys/class/infiniband_mad/abi_version`.
pub const ABI_VERSION: u32 = 5;

/// Number of the `ioctl` with a [`RegisterRequest`].
pub const REGISTER_AGENT: u32 = 0xc01c_1b01;
/// Number of the `ioctl` with an agent's id, 4 bytes, that unregisters the agent.
pub const UNREGISTER_AGENT: u32 = 0x4004_1b02;
/// Number of the `ioctl` without argument that selects frames with a P_Key index.
pub const ENABLE_PKEY: u32 = 0x1b03;
/// Number of the `ioctl` with a [`RegisterRequest2`], which also selects frames with a P_Key index.
pub const REGISTER_AGENT2: u32 = 0xc028_1b04;

/// Set of request methods that an agent receives, one bit each, in the kernel's format: an array of `unsigned long` in
/// the machine's byte order. Method `n` is bit `n % 64` of element `n / 64`, or with a 4-byte `unsigned long` bit `n %
/// 32` of element `n / 32`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(transparent)]
pub struct MethodMask([u8; 16]);

impl MethodMask {
    /// The empty set.
    pub const NONE: Self = Self([0; 16]);

    /// Adds a method to the set. A response method (bit 7) is ignored, because agents receive responses without
    /// registration.
    #[must_use]
    pub fn with(mut self, method: Method) -> Self {
        let (byte, bit) = byte_and_bit(method.get(), LONG, cfg!(target_endian = "big"));
        self.0.iter_mut().skip(byte).take(1).for_each(|own| *own |= bit);
        self
    }

    /// True if the method is in the set.
    #[must_use]
    pub fn contains(self, method: Method) -> bool {
        let (byte, bit) = byte_and_bit(method.get(), LONG, cfg!(target_endian = "big"));
        self.0.get(byte).is_some_and(|own| own & bit != 0)
    }
}

/// Size of the program's `unsigned long`, in bytes.
const LONG: usize = size_of::<usize>();

/// Returns the index of a method's byte in the mask, and the method's bit in that byte. For a response method, the
/// index is past the end.
const fn byte_and_bit(method: u8, long: usize, is_big_endian: bool) -> (usize, u8) {
    let byte = method as usize / 8;
    let in_long = byte % long;
    (if is_big_endian { byte - in_long + (long - 1 - in_long) } else { byte }, 1 << (method % 8))
}

impl Wire for MethodMask {
    const NAME: &'static str = "MethodMask";
    const ZERO: Self = Self::NONE;
    const ORDER: ByteOrder = ByteOrder::Host;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods = (0..0x80).map(Method::new).filter(|method| self.contains(*method));
        let mut separator = "";
        for method in methods {
            write!(f, "{separator}{method}")?;
            separator = "|";
        }
        f.write_str(if separator.is_empty() { "0" } else { "" })
    }
}
impl fmt::Debug for MethodMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }
}
crate::__serialize!(MethodMask);
crate::__arbitrary!(MethodMask);

wire! {
    /// Request to register an agent, 28 bytes.
    pub struct RegisterRequest [28] {
        /// Id of the agent, written by the kernel.
        pub id: Host32,
        /// Methods of the requests that the agent receives; empty for an agent that only sends requests.
        pub method_mask: MethodMask,
        /// Queue pair: 0 for subnet management, 1 for everything else.
        pub qpn: u8,
        /// Management class of the agent.
        pub mgmt_class: MgmtClass,
        /// Version of the class's format.
        pub mgmt_class_version: u8,
        /// Vendor id, for vendor classes.
        pub oui: InBytes<VendorId, 3>,
        /// 1 if the kernel handles RMPP; 0 if the program does, or the class has no RMPP.
        pub rmpp_version: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
    }
}

/// Flag of a [`RegisterRequest2`]: the program handles RMPP.
pub const USER_RMPP: u32 = 1;

wire! {
    /// Request to register an agent since Linux 3.17, 40 bytes.
    pub struct RegisterRequest2 [40] {
        /// Id of the agent, written by the kernel.
        pub id: Host32,
        /// Queue pair: 0 for subnet management, 1 for everything else.
        pub qpn: Host32,
        /// Management class of the agent.
        pub mgmt_class: MgmtClass,
        /// Version of the class's format.
        pub mgmt_class_version: u8,
        /// Reserved; the program sets it to zero.
        pub res: Host16,
        /// [`USER_RMPP`] or 0. If the kernel rejects the flags, it writes the supported flags here.
        pub flags: Host32,
        /// Methods of the requests that the agent receives, one bit each: bit `n` of word `n / 64`.
        pub method_mask: [Host64; 2],
        /// Vendor id, for vendor classes.
        pub oui: Host32,
        /// 1 if the kernel handles RMPP; 0 if the program does, or the class has no RMPP.
        pub rmpp_version: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Compares with C's `mask[n / bits] |= 1UL << (n % bits)` for both sizes of `long` and both byte orders.
    #[test]
    fn method_bits_are_those_of_c_on_every_machine() {
        for method in 0..0x80_u8 {
            let bit = 1_u128 << method;
            let word = |number: usize, long: usize| (bit >> (number * long * 8)).to_le_bytes();
            let bytes = |long: usize, big: bool| -> Vec<u8> {
                let longs = (0..16 / long).map(|number| {
                    let mut own = word(number, long)[..long].to_vec();
                    own.reverse();
                    if !big {
                        own.reverse();
                    }
                    own
                });
                longs.flatten().collect()
            };
            for (long, big) in [(8, false), (8, true), (4, false), (4, true)] {
                let mut mask = [0; 16];
                let (byte, bit) = byte_and_bit(method, long, big);
                mask[byte] |= bit;
                assert_eq!(mask[..], bytes(long, big), "method {method}, {long} bytes, big endian: {big}");
            }
        }
        // Get (1) of a 64-bit big-endian machine is in the last byte of the first long.
        assert_eq!(
            (byte_and_bit(1, 8, true), byte_and_bit(0x41, 8, true), byte_and_bit(1, 4, true)),
            ((7, 2), (15, 2), (3, 2))
        );
    }

    #[test]
    fn method_mask_holds_request_methods_only() {
        let own = MethodMask::NONE.with(Method::GET).with(Method::new(0x41)).with(Method::GET_RESP);
        let taken: Vec<u8> = (0..=255).filter(|method| own.contains(Method::new(*method))).collect();
        assert_eq!(taken, [1, 0x41]);
        assert_eq!(std::format!("{own:?} {:?}", MethodMask::NONE), "Get|65 0");
        // The mask as the program's own words.
        let words = if LONG == 8 {
            [2_u64, 2].map(u64::to_ne_bytes).concat()
        } else {
            [2_u32, 0, 2, 0].map(u32::to_ne_bytes).concat()
        };
        assert_eq!(own.0[..], words);
    }
}
