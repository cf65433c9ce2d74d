//! Details of notices, by trap number.
use super::{
    BadKeyTrap, BadMkeyTrap, BadSwitchPkeyTrap, BkeyTrap, BmTrap, CapabilityTrap, CcKeyTrap, GidTrap, LinkStateTrap,
    PathTrap, PortErrorTrap, SystemImageTrap,
};
use crate::{MgmtClass, Wire, attribute::Structure, code};
use core::fmt;

code! {
    /// Trap number of a notice (IBTA 14.2.5.1, 14.4.10).
    pub struct TrapNumber(u16) {
        /// A port became reachable.
        GID_IN_SERVICE = 64 "GID in service",
        /// A port is no longer reachable.
        GID_OUT_OF_SERVICE = 65 "GID out of service",
        /// A multicast group was created.
        MGID_CREATED = 66 "MGID created",
        /// A multicast group was deleted.
        MGID_DESTROYED = 67 "MGID destroyed",
        /// A path is no longer valid.
        UNPATH = 68 "unpath",
        /// Paths should be queried again.
        REPATH = 69 "repath",
        /// The link state of a switch port changed.
        LINK_STATE_CHANGED = 128 "link state changed",
        /// The local link integrity errors reached their threshold.
        LINK_INTEGRITY_THRESHOLD = 129 "link integrity threshold",
        /// The buffer overruns reached their threshold.
        BUFFER_OVERRUN_THRESHOLD = 130 "buffer overrun threshold",
        /// The neighbour sent no flow control packet in time.
        WATCHDOG_TIMER_EXPIRED = 131 "watchdog timer expired",
        /// The capabilities or other properties of a port changed.
        LOCAL_CHANGES = 144 "local changes",
        /// The GUID of the system image changed.
        SYSTEM_IMAGE_GUID_CHANGED = 145 "system image GUID changed",
        /// A request had a wrong M_Key.
        BAD_MKEY = 256 "bad M_Key",
        /// A packet had a wrong P_Key.
        BAD_PKEY = 257 "bad P_Key",
        /// A datagram had a wrong Q_Key.
        BAD_QKEY = 258 "bad Q_Key",
        /// A packet at a switch had a wrong P_Key. In baseboard management, [`BAD_BKEY`](Self::BAD_BKEY).
        BAD_SWITCH_PKEY = 259 "bad P_Key at a switch or bad B_Key",
        /// In baseboard management: an event of a module.
        BM_EVENT = 260 "baseboard management event",
        /// Every trap, in a subscription.
        ALL = 0xffff "all",
    }
}

impl TrapNumber {
    /// In baseboard management: a request had a wrong B_Key (IBTA 16.2.4).
    pub const BAD_BKEY: Self = Self::BAD_SWITCH_PKEY;
    /// In congestion control: a request had a wrong CC_Key (IBTA A10.4.2).
    pub const BAD_CC_KEY: Self = Self::new(0);
}

/// Class family that defines trap numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traps {
    Subnet,
    Baseboard,
    Congestion,
}

impl Traps {
    const fn of(class: MgmtClass) -> Option<Self> {
        match class {
            // Subnet administration forwards traps of subnet management.
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE | MgmtClass::SUBN_ADM => Some(Self::Subnet),
            MgmtClass::BASEBOARD => Some(Self::Baseboard),
            MgmtClass::CONGESTION => Some(Self::Congestion),
            _ => None,
        }
    }
}

macro_rules! details {
    ($($(#[$m:meta])* $variant:ident($t:ident) = $traps:ident $($trap:ident)|+,)*) => {
        /// Details of a notice, by its class and trap number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum TrapDetails<'a> {
            $($(#[$m])* $variant(&'a $t),)*
            /// Details of an unknown trap.
            Unknown(&'a [u8; 54]),
        }
        impl<'a> TrapDetails<'a> {
            /// Structures of the details of each known trap.
            pub const TABLE: &'static [Structure] = &[$(Structure::of::<$t>(),)*];

            /// Casts the details of a class's generic trap.
            #[must_use]
            pub fn new(class: MgmtClass, trap: TrapNumber, details: &'a [u8; 54]) -> Self {
                match (Traps::of(class), trap) {
                    $((Some(Traps::$traps), $(TrapNumber::$trap)|+) => {
                        $t::parse(details).map_or(Self::Unknown(details), Self::$variant)
                    })*
                    _ => Self::Unknown(details),
                }
            }
        }
        impl fmt::Display for TrapDetails<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(details) => fmt::Display::fmt(&Structure::of::<$t>().display($crate::as_bytes(*details)), f),)*
                    Self::Unknown(details) => details.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
                }
            }
        }
    };
}

details! {
    /// A port or multicast group appeared or disappeared.
    Gid(GidTrap) = Subnet GID_IN_SERVICE | GID_OUT_OF_SERVICE | MGID_CREATED | MGID_DESTROYED,
    /// Paths are no longer valid, or should be queried again.
    Path(PathTrap) = Subnet UNPATH | REPATH,
    /// The state of a link changed.
    LinkState(LinkStateTrap) = Subnet LINK_STATE_CHANGED,
    /// A port had errors.
    PortError(PortErrorTrap) = Subnet LINK_INTEGRITY_THRESHOLD | BUFFER_OVERRUN_THRESHOLD | WATCHDOG_TIMER_EXPIRED,
    /// The properties of a port changed.
    Capability(CapabilityTrap) = Subnet LOCAL_CHANGES,
    /// The GUID of a system image changed.
    SystemImage(SystemImageTrap) = Subnet SYSTEM_IMAGE_GUID_CHANGED,
    /// A request had a wrong M_Key.
    BadMkey(BadMkeyTrap) = Subnet BAD_MKEY,
    /// A packet had a wrong P_Key or Q_Key.
    BadKey(BadKeyTrap) = Subnet BAD_PKEY | BAD_QKEY,
    /// A packet at a switch had a wrong P_Key.
    BadSwitchPkey(BadSwitchPkeyTrap) = Subnet BAD_SWITCH_PKEY,
    /// A request had a wrong B_Key.
    Bkey(BkeyTrap) = Baseboard BAD_BKEY,
    /// An event of a module.
    Bm(BmTrap) = Baseboard BM_EVENT,
    /// A request had a wrong CC_Key.
    CcKey(CcKeyTrap) = Congestion BAD_CC_KEY,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_number_has_other_details_in_another_class() {
        let bytes = [7; 54];
        let of = |class, trap| TrapDetails::new(class, TrapNumber::new(trap), &bytes);
        for class in [MgmtClass::SUBN_LID_ROUTED, MgmtClass::SUBN_DIRECTED_ROUTE, MgmtClass::SUBN_ADM] {
            assert!(matches!(of(class, 259), TrapDetails::BadSwitchPkey(_)));
            assert!(matches!(of(class, 64), TrapDetails::Gid(_)));
            assert!(matches!(of(class, 0), TrapDetails::Unknown(_)));
        }
        assert!(matches!(of(MgmtClass::BASEBOARD, 259), TrapDetails::Bkey(_)));
        assert!(matches!(of(MgmtClass::CONGESTION, 0), TrapDetails::CcKey(_)));
        for (class, trap) in [(MgmtClass::BASEBOARD, 64), (MgmtClass::CONGESTION, 259), (MgmtClass::DEVICE_MGMT, 64)] {
            assert_eq!(of(class, trap), TrapDetails::Unknown(&bytes));
        }
    }
}
