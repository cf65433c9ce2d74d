//! Notices (IBTA 13.4.8.2): what happened, told by a trap, a report or a record.
//!
//! [`Notice::details`] reads the data details as the trap's number says.
mod class_port_info;
mod details;
mod header;
mod inform_info;
mod shared;
mod trap_change;
mod trap_gid;
mod trap_key;
mod trap_lid;

pub use class_port_info::{CapabilityResponse, ClassCapability, ClassPortInfo, TcSlFl, TrapHopQp};
pub use details::{TrapDetails, TrapNumber};
pub use header::{GenericType, Notice, NoticeToggleCount, NoticeType, Producer, SaNotice};
pub use inform_info::{InformInfo, InformQpnTime, InformType};
pub use trap_change::{CapabilityTrap, LocalChanges, OtherLocalChanges, SystemImageTrap};
pub use trap_gid::{GidTrap, PathTrap, WaitForRepath};
pub use trap_key::{BadKeyTrap, BadMkeyTrap, BadSwitchPkeyTrap, BkeyTrap, CcKeyTrap, DrNotice, KeySl};
pub use trap_lid::{LinkStateTrap, PortErrorTrap};
