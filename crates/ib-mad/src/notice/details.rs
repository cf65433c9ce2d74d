//! Which details a notice has.
use super::{
    BadKeyTrap, BadMkeyTrap, BadSwitchPkeyTrap, CapabilityTrap, GidTrap, LinkStateTrap, PathTrap, PortErrorTrap,
    SystemImageTrap,
};
use crate::{Wire, attribute::Structure, code};
use core::fmt;

code! {
    /// What happened (IBTA 14.2.5.1, 14.4.10).
    pub struct TrapNumber(u16) {
        /// A port can be reached.
        GID_IN_SERVICE = 64 "GID in service",
        /// A port can no longer be reached.
        GID_OUT_OF_SERVICE = 65 "GID out of service",
        /// A multicast group was made.
        MGID_CREATED = 66 "MGID created",
        /// A multicast group was deleted.
        MGID_DESTROYED = 67 "MGID destroyed",
        /// A path is no longer valid.
        UNPATH = 68 "unpath",
        /// Paths should be asked for anew.
        REPATH = 69 "repath",
        /// A switch's link changed its state.
        LINK_STATE_CHANGED = 128 "link state changed",
        /// Too many local link integrity errors.
        LINK_INTEGRITY_THRESHOLD = 129 "link integrity threshold",
        /// Too many buffer overruns.
        BUFFER_OVERRUN_THRESHOLD = 130 "buffer overrun threshold",
        /// No flow control from the neighbour.
        WATCHDOG_TIMER_EXPIRED = 131 "watchdog timer expired",
        /// Capabilities or something else of the port changed.
        LOCAL_CHANGES = 144 "local changes",
        /// The system image's GUID changed.
        SYSTEM_IMAGE_GUID_CHANGED = 145 "system image GUID changed",
        /// A request had a wrong M_Key.
        BAD_MKEY = 256 "bad M_Key",
        /// A packet had a wrong P_Key.
        BAD_PKEY = 257 "bad P_Key",
        /// A datagram had a wrong Q_Key.
        BAD_QKEY = 258 "bad Q_Key",
        /// A packet had a wrong P_Key at a switch. Baseboard management: a request had a wrong B_Key.
        BAD_SWITCH_PKEY = 259 "bad P_Key at a switch",
        /// In a subscription: whatever happens.
        ALL = 0xffff "all",
    }
}

macro_rules! details {
    ($($(#[$m:meta])* $variant:ident($t:ident) = $($trap:ident)|+,)*) => {
        /// A notice's details, as its trap's number says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum TrapDetails<'a> {
            $($(#[$m])* $variant(&'a $t),)*
            /// Details of a trap that the crate does not know.
            Unknown(&'a [u8; 54]),
        }
        impl<'a> TrapDetails<'a> {
            /// The structure of each known trap's details.
            pub const TABLE: &'static [Structure] = &[$(Structure::of::<$t>(),)*];

            /// The details of a generic trap of subnet management or administration.
            #[must_use]
            pub fn new(trap: TrapNumber, details: &'a [u8; 54]) -> Self {
                match trap {
                    $($(TrapNumber::$trap)|+ => $t::parse(details).map_or(Self::Unknown(details), Self::$variant),)*
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
    /// A port or group came or went.
    Gid(GidTrap) = GID_IN_SERVICE | GID_OUT_OF_SERVICE | MGID_CREATED | MGID_DESTROYED,
    /// Paths changed.
    Path(PathTrap) = UNPATH | REPATH,
    /// A link changed.
    LinkState(LinkStateTrap) = LINK_STATE_CHANGED,
    /// Errors of a port.
    PortError(PortErrorTrap) = LINK_INTEGRITY_THRESHOLD | BUFFER_OVERRUN_THRESHOLD | WATCHDOG_TIMER_EXPIRED,
    /// A port changed.
    Capability(CapabilityTrap) = LOCAL_CHANGES,
    /// A system changed.
    SystemImage(SystemImageTrap) = SYSTEM_IMAGE_GUID_CHANGED,
    /// A wrong M_Key.
    BadMkey(BadMkeyTrap) = BAD_MKEY,
    /// A wrong P_Key or Q_Key.
    BadKey(BadKeyTrap) = BAD_PKEY | BAD_QKEY,
    /// A wrong P_Key at a switch.
    BadSwitchPkey(BadSwitchPkeyTrap) = BAD_SWITCH_PKEY,
}
