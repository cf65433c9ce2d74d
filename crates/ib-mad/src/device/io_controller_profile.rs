//! What an I/O controller is.
use crate::{
    Guid, VendorId, flags, wire,
    wire::{Be16, Be32, InBytes, Reserved, Text},
};

flags! {
    /// What a controller and its clients may do with each other's memory (IBTA 16.3.3.4).
    pub struct ControllerOperations(u8) {
        /// Clients send to it.
        SEND_TO = 0x01 "ST",
        /// It sends to clients.
        SEND_FROM = 0x02 "SF",
        /// Clients read its memory.
        READ_TO = 0x04 "RT",
        /// It reads clients' memory.
        READ_FROM = 0x08 "RF",
        /// Clients write its memory.
        WRITE_TO = 0x10 "WT",
        /// It writes clients' memory.
        WRITE_FROM = 0x20 "WF",
        /// Clients do atomic operations on its memory.
        ATOMIC_TO = 0x40 "AT",
        /// It does atomic operations on clients' memory.
        ATOMIC_FROM = 0x80 "AF",
    }
}

wire! {
    /// What an I/O controller is (IBTA 16.3.3.4), 128 bytes; the attribute modifier is its slot.
    pub struct IoControllerProfile [128] {
        /// The controller.
        pub ioc_guid: Guid,
        /// Its maker.
        pub vendor_id: InBytes<VendorId, 3>,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Device, in its maker's numbers.
        pub device_id: Be32,
        /// Version of the device.
        pub device_version: Be16,
        /// Zero.
        pub reserved2: Reserved<2>,
        /// Maker of the subsystem.
        pub subsystem_vendor_id: InBytes<VendorId, 3>,
        /// Zero.
        pub reserved3: Reserved<1>,
        /// Subsystem, in its maker's numbers.
        pub subsystem_id: Be32,
        /// Class of I/O; 0xFFFF = the maker's own.
        pub io_class: Be16,
        /// Subclass of I/O.
        pub io_subclass: Be16,
        /// Protocol.
        pub protocol: Be16,
        /// Version of the protocol.
        pub protocol_version: Be16,
        /// Zero.
        pub reserved4: Reserved<4>,
        /// Messages that may wait.
        pub send_message_queue_depth: Be16,
        /// Zero.
        pub reserved5: Reserved<1>,
        /// Reads that may wait.
        pub rdma_read_queue_depth: u8,
        /// Longest message, in bytes.
        pub send_message_size: Be32,
        /// Longest transfer, in bytes.
        pub rdma_transfer_size: Be32,
        /// What may be done with each other's memory.
        pub controller_operations_capability_mask: ControllerOperations,
        /// Zero.
        pub reserved6: Reserved<1>,
        /// Services that it has.
        pub service_entries: u8,
        /// Zero.
        pub reserved7: Reserved<9>,
        /// What a person calls it.
        pub id_string: Text<64>,
    }
}
