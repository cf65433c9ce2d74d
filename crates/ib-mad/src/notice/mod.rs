//! Notices (IBTA 13.4.8.2): events that are reported by a trap, a report or a record; subscriptions and class port
//! info.
//!
//! [`Notice::details`] reads the data details by the trap number.
mod class_port_info;
mod details;
mod header;
mod inform_info;
mod trap;
mod trap_key;

pub(crate) use class_port_info::class_capability;
pub use class_port_info::{CapabilityResponse, ClassCapability, ClassPortInfo, TcSlFl, TrapHopQp};
pub use details::{TrapDetails, TrapNumber};
pub use header::{GenericType, Notice, NoticeToggleCount, NoticeType, Producer, SaNotice};
pub use inform_info::{InformInfo, InformQpnTime, InformType};
pub use trap::{
    BmTrap, BmTrapType, CapabilityTrap, GidTrap, LinkStateTrap, LocalChanges, OtherLocalChanges, PathTrap,
    PortErrorTrap, SystemImageTrap, WaitForRepath,
};
pub use trap_key::{BadKeyTrap, BadMkeyTrap, BadSwitchPkeyTrap, BkeyTrap, CcKeyTrap, DrNotice, KeySl};
