//! What an I/O unit has.
use crate::{
    bits, code, wire,
    wire::{Be16, Packed},
};

code! {
    /// What is in a slot (IBTA 16.3.3.3).
    pub struct SlotStatus(u8) {
        /// No controller.
        NOT_INSTALLED = 0 "not installed",
        /// A controller.
        PRESENT = 1 "present",
        /// There is no such slot.
        NO_SLOT = 0xf "no slot",
    }
}

bits! {
    /// What the unit has besides.
    pub struct UnitOptions [1] in IoUnitInfo.options {
        /// A ROM with drivers.
        option_rom / with_option_rom: bool = 1,
        /// Diagnosis of the unit as a whole.
        diag_device_id / with_diag_device_id: bool = 1,
        _: 6,
    }
}

wire! {
    /// What an I/O unit has (IBTA 16.3.3.3), 132 bytes.
    pub struct IoUnitInfo [132] {
        /// Goes up when a controller comes or goes.
        pub change_id: Be16,
        /// Slots that count.
        pub max_controllers: u8,
        /// What the unit has besides.
        pub options: UnitOptions,
        /// What is in each slot.
        pub slot_status: Packed<SlotStatus, 4, 128>,
    }
}
