//! Profile of an I/O controller.
use crate::{
    Guid, VendorId, flags, wire,
    wire::{Be16, Be32, InBytes, Reserved, Text},
};

flags! {
    /// Operations that a controller and its clients may use (IBTA 16.3.3.4).
    pub struct ControllerOperations(u8) {
        /// Clients may send to the controller.
        SEND_TO = 0x01 "ST",
        /// The controller may send to clients.
        SEND_FROM = 0x02 "SF",
        /// Clients may read the controller's memory.
        READ_TO = 0x04 "RT",
        /// The controller may read the memory of clients.
        READ_FROM = 0x08 "RF",
        /// Clients may write the controller's memory.
        WRITE_TO = 0x10 "WT",
        /// The controller may write the memory of clients.
        WRITE_FROM = 0x20 "WF",
        /// Clients may use atomic operations on the controller's memory.
        ATOMIC_TO = 0x40 "AT",
        /// The controller may use atomic operations on the memory of clients.
        ATOMIC_FROM = 0x80 "AF",
    }
}

wire! {
    /// Profile of an I/O controller (IBTA 16.3.3.4), 128 bytes; the attribute modifier is its slot.
    pub struct IoControllerProfile [128] {
        /// GUID of the controller.
        pub ioc_guid: Guid,
        /// Vendor of the controller.
        pub vendor_id: InBytes<VendorId, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Device id, assigned by the vendor.
        pub device_id: Be32,
        /// Version of the device.
        pub device_version: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// Vendor of the subsystem.
        pub subsystem_vendor_id: InBytes<VendorId, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Subsystem id, assigned by its vendor.
        pub subsystem_id: Be32,
        /// Class of I/O; 0xFFFF if the vendor defines it.
        pub io_class: Be16,
        /// Subclass of the class of I/O.
        pub io_subclass: Be16,
        /// Protocol of I/O.
        pub protocol: Be16,
        /// Version of the protocol.
        pub protocol_version: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<4>,
        /// Maximum number of queued messages.
        pub send_message_queue_depth: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved5: Reserved<1>,
        /// Maximum number of queued RDMA reads.
        pub rdma_read_queue_depth: u8,
        /// Maximum length of a message, in bytes.
        pub send_message_size: Be32,
        /// Maximum length of an RDMA transfer, in bytes.
        pub rdma_transfer_size: Be32,
        /// Operations that controller and clients may use.
        pub controller_operations_capability_mask: ControllerOperations,
        /// Reserved: zero when sent, ignored when received.
        pub reserved6: Reserved<1>,
        /// Number of services of the controller.
        pub service_entries: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved7: Reserved<9>,
        /// Name of the controller.
        pub id_string: Text<64>,
    }
}
