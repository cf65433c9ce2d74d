//! Nodes and ports: what they are, and how they come about.
use alloc::{format, string::String, vec, vec::Vec};
use core::fmt;
use ib_mad::{Gid, Guid, Lid, Mtu, Pkey, PortState, Rate, ServiceLevel, id::Lmc};

/// The state, if a port of the simulated subnet can be in it.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const fn possible_state(state: PortState) -> Option<PortState> {
    match state {
        PortState::DOWN | PortState::INIT | PortState::ARMED | PortState::ACTIVE => Some(state),
        _ => None,
    }
}

/// Makes the changes of a port, each with its number of `enum ibv_event_type` and its name.
macro_rules! changes {
    ($($(#[$m:meta])* $change:ident = $code:literal $name:literal,)*) => {
        /// A change of a port: the asynchronous events of verbs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum PortChange {
            $($(#[$m])* $change,)*
        }

        impl PortChange {
            /// Every change, in the order of the numbers.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$change),*];

            /// The number of `enum ibv_event_type`.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$change => $code,)*
                }
            }

            /// The change with a number of `enum ibv_event_type`.
            #[must_use]
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.into_iter().find(|change| change.code() == code)
            }
        }

        impl fmt::Display for PortChange {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$change => $name,)*
                })
            }
        }
    };
}

changes! {
    /// The port became active.
    Active = 9 "active",
    /// The port is no longer active.
    Down = 10 "down",
    /// Its LID or LMC changed.
    Lid = 11 "LID changed",
    /// Its P_Key table changed.
    Pkey = 12 "P_Keys changed",
    /// Its subnet manager changed.
    Sm = 13 "subnet manager changed",
    /// The subnet manager asks to subscribe and join again: it may have forgotten everything.
    ClientReregister = 17 "client reregister",
    /// Its GID table changed.
    Gid = 18 "GIDs changed",
}

/// What a port has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// GUID of the port, not of its node.
    pub guid: Guid,
    /// Logical state: down, init, armed or active.
    pub state: PortState,
    /// Base LID; [`Lid::NONE`] before the subnet manager came.
    pub lid: Lid,
    /// How many LIDs.
    pub lmc: Lmc,
    /// GID table: the subnet prefix with the GUID first. A zero GID is a hole.
    pub gids: Vec<Gid>,
    /// P_Key table. 0x0000 is a hole.
    pub pkeys: Vec<Pkey>,
    /// Largest packet that is in use.
    pub mtu: Mtu,
    /// Active width times active speed.
    pub rate: Rate,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// Service level to reach it.
    pub sm_sl: ServiceLevel,
    /// PortInfo.SubnetTimeOut: a packet crosses the subnet in 4.096 us x 2^n, n = 0..=31.
    pub subnet_timeout: u8,
    /// Whether it is a port of an Ethernet network (RoCE): the subnet's administrator and switches are not there.
    pub ethernet: bool,
}

impl Port {
    /// The GID that others reach the port by: its first one.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.gids.iter().copied().find(|gid| !gid.is_zero()).unwrap_or_default()
    }

    /// Whether packets of the subnet go in and out.
    #[must_use]
    pub fn carries(&self) -> bool {
        self.state == PortState::ACTIVE && !self.ethernet
    }

    /// The index of the first table entry of this partition, whatever the memberships.
    #[must_use]
    pub fn pkey_index(&self, pkey: Pkey) -> Option<u16> {
        let index = self.pkeys.iter().position(|entry| entry.is_valid() && entry.same_partition(pkey))?;
        u16::try_from(index).ok()
    }

    /// Active link width and speed as in `struct ibv_port_attr`, for instance (2, 32) = 4x EDR.
    #[must_use]
    pub const fn width_and_speed(&self) -> (u8, u8) {
        const X1: u8 = 1;
        const X4: u8 = 2;
        const X12: u8 = 8;
        match self.rate {
            Rate::GBPS_2_5 => (X1, 1),
            Rate::GBPS_5 => (X1, 2),
            Rate::GBPS_10 => (X4, 1),
            Rate::GBPS_14 => (X1, 16),
            Rate::GBPS_20 => (X4, 2),
            Rate::GBPS_25 => (X1, 32),
            Rate::GBPS_30 => (X12, 1),
            Rate::GBPS_40 => (X4, 4),
            Rate::GBPS_50 => (X1, 64),
            Rate::GBPS_56 => (X4, 16),
            Rate::GBPS_60 => (X12, 2),
            Rate::GBPS_120 => (X12, 4),
            Rate::GBPS_168 => (X12, 16),
            Rate::GBPS_200 => (X4, 64),
            Rate::GBPS_300 => (X12, 32),
            Rate::GBPS_400 => (X4, 128),
            _ => (X4, 32),
        }
    }
}

/// What a node has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name of its host, with `:1`, `:2` behind it for the host's second device, third device.
    pub name: String,
    /// GUID of the node; its ports have their own.
    pub guid: Guid,
    /// Its ports; the first is number 1.
    pub ports: Vec<Port>,
}

impl Node {
    /// Name of the host that it is a device of, and which one: `node1` is its first device, `node1:1` its second.
    #[must_use]
    pub fn place(&self) -> (&str, u8) {
        place(&self.name)
    }

    /// Name of the device at its host: `ibsim0`, `ibsim1`.
    #[must_use]
    pub fn device(&self) -> String {
        device_name(self.place().1)
    }
}

/// Name of the host and number of the device in a node's name: a channel adapter is a node of its own in the subnet, and
/// those of one host are named `node1`, `node1:1`, `node1:2`.
#[must_use]
pub fn place(name: &str) -> (&str, u8) {
    let numbered = name.rsplit_once(':').and_then(|(host, number)| Some((host, number.parse().ok()?)));
    // The first one has no number, and none has two spellings.
    let is_one = |(host, number): &(&str, u8)| (1..MAX_DEVICES).contains(number) && name == format!("{host}:{number}");
    numbered.filter(is_one).unwrap_or((name, 0))
}

/// The most devices of a host.
pub const MAX_DEVICES: u8 = 16;

/// Name of a host's device: `ibsim0`, `ibsim1`.
#[must_use]
pub fn device_name(number: u8) -> String {
    format!("ibsim{number}")
}

/// Number N of the file `umadN` at its host.
#[must_use]
pub fn umad_number(device: u8, port: u8) -> u16 {
    u16::from(device) * u16::from(PORTS) + u16::from(port.saturating_sub(1))
}

/// The device and the port of the file `umadN` at a host.
#[must_use]
pub fn umad_place(number: u16) -> Option<(u8, u8)> {
    let device = u8::try_from(number / u16::from(PORTS)).ok().filter(|device| *device < MAX_DEVICES)?;
    Some((device, u8::try_from(number % u16::from(PORTS)).ok()? + 1))
}

/// Numbers of umad files that each device of a host has.
const PORTS: u8 = 16;

/// A node to add.
pub type NodeConfig = Node;

/// How the subnet numbers its nodes, and what their ports have at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetConfig {
    /// Ports of each node, 1..=15.
    pub ports_per_node: u8,
    /// LMC of each port.
    pub lmc: Lmc,
    /// P_Key table of each port.
    pub pkeys: Vec<Pkey>,
    /// MTU of each port.
    pub mtu: Mtu,
    /// Rate of each port.
    pub rate: Rate,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// PortInfo.SubnetTimeOut of each port.
    pub subnet_timeout: u8,
    /// Upper half of every port's GID.
    pub subnet_prefix: u64,
    /// Who administers the subnet.
    pub sa: crate::SaMode,
}

impl Default for SubnetConfig {
    fn default() -> Self {
        Self {
            ports_per_node: 1,
            lmc: Lmc::ZERO,
            pkeys: vec![Pkey::DEFAULT_FULL],
            mtu: Mtu::B4096,
            rate: Rate::GBPS_100,
            sm_lid: Lid::new(1),
            subnet_timeout: 18,
            subnet_prefix: Gid::DEFAULT_PREFIX,
            sa: crate::SaMode::Internal,
        }
    }
}

impl SubnetConfig {
    /// Node number `number` (from 1) as this configuration makes it: name `node{k}`, node GUID
    /// 0x0002c90300000000 + 16 k, port GUIDs behind it, LID (k P + p + 14) << LMC.
    ///
    /// # Errors
    /// [`crate::Error::Exhausted`] if the LID would not be a unicast LID.
    pub fn node(&self, number: u32) -> Result<NodeConfig, crate::Error> {
        let guid = Guid::new(0x0002_c903_0000_0000 + 16 * u64::from(number));
        let port = |port: u8| {
            let ordinal = u64::from(number) * u64::from(self.ports_per_node) + u64::from(port) + 14;
            let lid = u16::try_from(ordinal << self.lmc.get()).map_or(Lid::NONE, Lid::new);
            let guid = Guid::new(guid.get() + u64::from(port));
            let last = Lid::new(lid.get().saturating_add(self.lmc.mask()));
            (lid.is_unicast() && last.is_unicast()).then(|| Port {
                guid,
                state: PortState::ACTIVE,
                lid,
                lmc: self.lmc,
                gids: vec![Gid::from_parts(self.subnet_prefix, guid)],
                pkeys: self.pkeys.clone(),
                mtu: self.mtu,
                rate: self.rate,
                sm_lid: self.sm_lid,
                sm_sl: ServiceLevel::default(),
                subnet_timeout: self.subnet_timeout,
                ethernet: false,
            })
        };
        let ports: Option<Vec<Port>> = (1..=self.ports_per_node).map(port).collect();
        Ok(Node { name: format!("node{number}"), guid, ports: ports.ok_or(crate::Error::Exhausted("LID"))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_a_host() {
        assert_eq!([place("node1"), place("node1:1"), place("node1:15")], [("node1", 0), ("node1", 1), ("node1", 15)]);
        for name in ["node1:16", "a:b", "a:0", "a:+1", "a:01"] {
            assert_eq!(place(name), (name, 0));
        }
        for (device, port) in [(0, 1), (0, 15), (1, 1), (15, 15)] {
            assert_eq!(umad_place(umad_number(device, port)), Some((device, port)));
        }
        assert_eq!((umad_number(0, 2), umad_number(1, 2), umad_place(256)), (1, 17, None));
    }
}
