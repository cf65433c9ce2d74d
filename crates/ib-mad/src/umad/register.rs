//! How a program registers for datagrams: the `ioctl`s' numbers and structures. The call itself is the program's.
use crate::{
    MgmtClass, VendorId, wire,
    wire::{Host16, Host32, Host64, InBytes, Reserved},
};

/// Version of the interface that `/sys/class/infiniband_mad/abi_version` gives.
pub const ABI_VERSION: u32 = 5;

/// Number of the `ioctl` with a [`RegisterRequest`].
pub const REGISTER_AGENT: u32 = 0xc01c_1b01;
/// Number of the `ioctl` with an agent's id, 4 bytes, that ends its registration.
pub const UNREGISTER_AGENT: u32 = 0x4004_1b02;
/// Number of the `ioctl` without argument that chooses frames with a P_Key index.
pub const ENABLE_PKEY: u32 = 0x1b03;
/// Number of the `ioctl` with a [`RegisterRequest2`]; it chooses frames with a P_Key index, too.
pub const REGISTER_AGENT2: u32 = 0xc028_1b04;

wire! {
    /// Registration of an agent, 28 bytes.
    pub struct RegisterRequest [28] {
        /// The kernel writes the agent's id here.
        pub id: Host32,
        /// Methods that the agent answers, one bit each, in words of the machine: bit `n` of word `n / 32`. All zero
        /// for an agent that only asks.
        pub method_mask: [Host32; 4],
        /// Queue pair: 0 subnet management, 1 everything else.
        pub qpn: u8,
        /// Class.
        pub mgmt_class: MgmtClass,
        /// Version of the class.
        pub mgmt_class_version: u8,
        /// Vendor's number, for vendors' classes.
        pub oui: InBytes<VendorId, 3>,
        /// 1: the kernel does the multi-packet protocol; 0: the program does, or there is none.
        pub rmpp_version: u8,
        /// Zero.
        pub reserved: Reserved<1>,
    }
}

/// Flag of a [`RegisterRequest2`]: the program does the multi-packet protocol itself.
pub const USER_RMPP: u32 = 1;

wire! {
    /// Registration of an agent since Linux 3.17, 40 bytes.
    pub struct RegisterRequest2 [40] {
        /// The kernel writes the agent's id here.
        pub id: Host32,
        /// Queue pair: 0 subnet management, 1 everything else.
        pub qpn: Host32,
        /// Class.
        pub mgmt_class: MgmtClass,
        /// Version of the class.
        pub mgmt_class_version: u8,
        /// Zero.
        pub res: Host16,
        /// [`USER_RMPP`] or 0. The kernel writes those flags that it knows here if it refuses.
        pub flags: Host32,
        /// Methods that the agent answers, one bit each: bit `n` of word `n / 64`.
        pub method_mask: [Host64; 2],
        /// Vendor's number, for vendors' classes.
        pub oui: Host32,
        /// 1: the kernel does the multi-packet protocol; 0: the program does, or there is none.
        pub rmpp_version: u8,
        /// Zero.
        pub reserved: Reserved<3>,
    }
}
