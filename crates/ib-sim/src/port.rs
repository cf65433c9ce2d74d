//! Nodes and ports, and how a subnet creates them.
use alloc::{format, string::String, vec, vec::Vec};
use core::fmt;
use ib_mad::{
    Generation, Gid, Guid, Lid, LinkWidth, Mtu, Pkey, PortState, Rate, ServiceLevel, id::Lmc, opa::OpaVirtualFabric,
};

/// Returns the state if a port of the simulated subnet can have it.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const fn possible_state(state: PortState) -> Option<PortState> {
    match state {
        PortState::DOWN | PortState::INIT | PortState::ARMED | PortState::ACTIVE => Some(state),
        _ => None,
    }
}

/// Defines the changes of a port, each with its number in `enum ibv_event_type` and its name.
macro_rules! changes {
    ($($(#[$m:meta])* $change:ident = $code:literal $name:literal,)*) => {
        /// A change of a port, which verbs reports as an asynchronous event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum PortChange {
            $($(#[$m])* $change,)*
        }

        impl PortChange {
            /// All changes in the order of their numbers.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$change),*];

            /// Returns the number in `enum ibv_event_type`.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$change => $code,)*
                }
            }

            /// Returns the change with a number of `enum ibv_event_type`.
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
    /// The port's LID or LMC changed.
    Lid = 11 "LID changed",
    /// The port's P_Key table changed.
    Pkey = 12 "P_Keys changed",
    /// The port's subnet manager changed.
    Sm = 13 "subnet manager changed",
    /// The subnet manager requests new subscriptions and joins, because it may have lost all registrations.
    ClientReregister = 17 "client reregister",
    /// The port's GID table changed.
    Gid = 18 "GIDs changed",
}

/// The state of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// GUID of the port. The node has another GUID.
    pub guid: Guid,
    /// Logical state: down, init, armed or active.
    pub state: PortState,
    /// Base LID; [`Lid::NONE`] until the subnet manager assigned one.
    pub lid: Lid,
    /// The port has 2^LMC LIDs.
    pub lmc: Lmc,
    /// GID table. The first entry is the subnet prefix with the GUID. A zero GID is an unused entry.
    pub gids: Vec<Gid>,
    /// P_Key table. 0x0000 is an unused entry.
    pub pkeys: Vec<Pkey>,
    /// Active MTU.
    pub mtu: Mtu,
    /// Active width times active speed.
    pub rate: Rate,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// Service level to the subnet manager.
    pub sm_sl: ServiceLevel,
    /// PortInfo.SubnetTimeOut n, 0..=31: a packet crosses the subnet within 4.096 us x 2^n.
    pub subnet_timeout: u8,
    /// True for a port of an Ethernet network (RoCE), without administrator and InfiniBand switches.
    pub ethernet: bool,
    /// True if the port sends nothing without a global route, as a virtual function that shares its LID.
    pub grh_required: bool,
}

impl Port {
    /// Returns the port's first GID that is not zero.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.gids.iter().copied().find(|gid| !gid.is_zero()).unwrap_or_default()
    }

    /// True if the port sends and receives packets of the subnet.
    #[must_use]
    pub fn carries(&self) -> bool {
        self.state == PortState::ACTIVE && !self.ethernet
    }

    /// Returns the index of the first table entry of this partition, with any membership.
    #[must_use]
    pub fn pkey_index(&self, pkey: Pkey) -> Option<u16> {
        let index = self.pkeys.iter().position(|entry| entry.is_valid() && entry.same_partition(pkey))?;
        u16::try_from(index).ok()
    }

    /// Returns the lanes and the generation of the link: a link of the port's nominal rate, with four lanes if there is
    /// one, else with the least lanes. An undefined rate is four lanes of EDR.
    #[must_use]
    pub fn link(&self) -> (u8, &'static Generation) {
        let widths = core::iter::once(4).chain(LinkWidth::LANES.iter().map(|(lanes, _)| *lanes));
        let mut links = widths.flat_map(|lanes| Generation::ALL.iter().map(move |generation| (lanes, generation)));
        let wanted = self.rate.tenths();
        links
            .find(|(lanes, generation)| Some(generation.link_tenths(*lanes)) == wanted)
            .unwrap_or((4, &Generation::EDR))
    }

    /// Returns link width and speed as in `struct ibv_port_attr`, for instance (2, 32) = 4x EDR.
    #[must_use]
    pub fn width_and_speed(&self) -> (u8, u16) {
        let (own, generation) = self.link();
        let width = LinkWidth::LANES.iter().find(|(lanes, _)| *lanes == own);
        (width.map_or(0, |(_, code)| code.get()), generation.verbs_speed)
    }
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name of the host. For the second device of a host, `:1` is appended, for the third `:2`.
    pub name: String,
    /// GUID of the node; each port has another GUID.
    pub guid: Guid,
    /// The ports. The first has number 1.
    pub ports: Vec<Port>,
}

impl Node {
    /// Returns the name of the host and the number of the device: `node1` is device 0 of its host, `node1:1` is device
    /// 1.
    #[must_use]
    pub fn host_and_device(&self) -> (&str, u8) {
        host_and_device(&self.name)
    }

    /// Returns the name of the device at its host: `ibsim0`, `ibsim1`.
    #[must_use]
    pub fn device(&self) -> String {
        device_name(self.host_and_device().1)
    }
}

/// Splits a node's name into the name of the host and the number of the device. Each channel adapter is a node of the
/// subnet; the nodes of one host are named `node1`, `node1:1`, `node1:2`.
#[must_use]
pub fn host_and_device(name: &str) -> (&str, u8) {
    let numbered = name.rsplit_once(':').and_then(|(host, number)| Some((host, number.parse().ok()?)));
    // The name of the first device has no number, so that each device has only one name.
    let is_one = |(host, number): &(&str, u8)| (1..MAX_DEVICES).contains(number) && name == format!("{host}:{number}");
    numbered.filter(is_one).unwrap_or((name, 0))
}

/// Greatest number of devices of a host.
pub const MAX_DEVICES: u8 = 16;

/// Returns the name of a host's device: `ibsim0`, `ibsim1`.
#[must_use]
pub fn device_name(number: u8) -> String {
    format!("ibsim{number}")
}

/// Returns the number N of a port's file `umadN` at its host.
#[must_use]
pub fn umad_number(device: u8, port: u8) -> u16 {
    u16::from(device) * u16::from(PORTS) + u16::from(port.saturating_sub(1))
}

/// Returns the device and the port of the file `umadN` at a host.
#[must_use]
pub fn umad_port(number: u16) -> Option<(u8, u8)> {
    let device = u8::try_from(number / u16::from(PORTS)).ok().filter(|device| *device < MAX_DEVICES)?;
    Some((device, u8::try_from(number % u16::from(PORTS)).ok()? + 1))
}

/// Numbers of umad files that are reserved for each device of a host.
const PORTS: u8 = 16;

/// A node to add.
pub type NodeConfig = Node;

/// The administrator of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SaMode {
    /// The built-in administrator of the subnet.
    #[default]
    Internal,
    /// An external administrator, by [`Event::SaRequest`](crate::event::Event::SaRequest) and
    /// [`Subnet::respond_to_mad`](crate::subnet::Subnet::respond_to_mad). The subnet updates its groups from the
    /// responses.
    External,
}

/// The configuration of the nodes that a subnet creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetConfig {
    /// Number of ports of each node, 1..=15.
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
    /// The administrator of the subnet.
    pub sa: SaMode,
    /// Virtual fabrics that the administrator lists as that of Omni-Path does. If there are none, it answers no
    /// datagram of Omni-Path.
    pub virtual_fabrics: Vec<OpaVirtualFabric>,
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
            sa: SaMode::Internal,
            virtual_fabrics: Vec::new(),
        }
    }
}

impl SubnetConfig {
    /// Returns the node with number k, from 1: its name is `node{k}`, its node GUID is 0x0002c90300000000 + 16 k,
    /// followed by the port GUIDs. Port p of P ports has LID (k P + p + 14) << LMC.
    ///
    /// # Errors
    /// [`crate::error::Error::Exhausted`] if the LID would not be a unicast LID.
    pub fn node(&self, number: u32) -> Result<NodeConfig, crate::error::Error> {
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
                grh_required: false,
            })
        };
        let ports: Option<Vec<Port>> = (1..=self.ports_per_node).map(port).collect();
        Ok(Node { name: format!("node{number}"), guid, ports: ports.ok_or(crate::error::Error::Exhausted("LID"))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_name_gives_host_and_device_and_umad_number_gives_port() {
        let split = host_and_device;
        assert_eq!([split("node1"), split("node1:1"), split("node1:15")], [("node1", 0), ("node1", 1), ("node1", 15)]);
        for name in ["node1:16", "a:b", "a:0", "a:+1", "a:01"] {
            assert_eq!(split(name), (name, 0));
        }
        for (device, port) in [(0, 1), (0, 15), (1, 1), (15, 15)] {
            assert_eq!(umad_port(umad_number(device, port)), Some((device, port)));
        }
        assert_eq!((umad_number(0, 2), umad_number(1, 2), umad_port(256)), (1, 17, None));
    }
}
