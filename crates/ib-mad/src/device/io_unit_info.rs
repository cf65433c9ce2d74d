//! Slots and options of an I/O unit.
use crate::{
    bits, code, wire,
    wire::{Be16, Packed},
};

code! {
    /// State of a slot of an I/O unit (IBTA 16.3.3.3).
    pub struct SlotStatus(u8) {
        /// The slot has no controller.
        NOT_INSTALLED = 0 "not installed",
        /// The slot has a controller.
        PRESENT = 1 "present",
        /// The slot does not exist.
        NO_SLOT = 0xf "no slot",
    }
}

bits! {
    /// Options of an I/O unit.
    pub struct UnitOptions [1] in IoUnitInfo.options {
        /// True if the unit has an option ROM with drivers.
        option_rom / with_option_rom: bool = 1,
        /// True if the unit as a whole supports diagnostics.
        diag_device_id / with_diag_device_id: bool = 1,
        _: 6,
    }
}

wire! {
    /// Slots and options of an I/O unit (IBTA 16.3.3.3), 132 bytes.
    pub struct IoUnitInfo [132] {
        /// Change id, which increases when a controller is added or removed.
        pub change_id: Be16,
        /// Number of slots.
        pub max_controllers: u8,
        /// Options of the unit.
        pub options: UnitOptions,
        /// State of each slot.
        pub slot_status: Packed<SlotStatus, 4, 128>,
    }
}
