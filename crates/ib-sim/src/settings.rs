//! Settings of a running subnet.
mod named;
mod probability;

pub use named::SettingError;
pub use probability::Probability;

use crate::id::NodeId;
use alloc::vec::Vec;
use core::{ops::RangeInclusive, time::Duration};
use ib_mad::{FlowLabel, Gid, Mtu, PacketLifeTime, Rate, ServiceId, ServiceLevel, Status};

/// The settings that can change while a subnet runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Faults of all links except those set by [`Subnet::set_link`](crate::subnet::Subnet::set_link).
    pub faults: Faults,
    /// The switches between the ports.
    pub tree: Tree,
    /// If true, a port sends and receives one UD packet at a time, at the port's rate. Default: false.
    pub link_rates: bool,
    /// If true, an attached queue pair also receives the multicast datagrams that it sent. Default: false.
    pub multicast_to_sender: bool,
    /// If true, a port must join a group before it can send or receive the group's datagrams, and must use the group's
    /// current LID. If false, an attached queue pair is enough. Default: true.
    pub strict_multicast: bool,
    /// The administrator's behaviour.
    pub sa: SaSettings,
    /// Values in the administrator's paths.
    pub path: PathSettings,
    /// The administrator's rules by service id, if [`SaSettings::qos`] is set. The first rule that matches a path query
    /// determines the service level. Without one, [`PathSettings::sl`] applies.
    pub rules: Vec<PathRule>,
}

/// The service level of paths for service ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRule {
    /// The service ids. The rule does not match a query without a service id.
    pub service_ids: RangeInclusive<ServiceId>,
    /// GIDs of the destinations; empty for all.
    pub to: Vec<Gid>,
    /// The service level.
    pub sl: ServiceLevel,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            faults: Faults::default(),
            tree: Tree::default(),
            link_rates: false,
            multicast_to_sender: false,
            strict_multicast: true,
            sa: SaSettings::default(),
            path: PathSettings::default(),
            rules: Vec::new(),
        }
    }
}

/// Faults of a link for UD datagrams. The default is a perfect link without delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Faults {
    /// Probability that a datagram is lost on its way to one receiver.
    pub loss: Probability,
    /// Probability that a datagram is sent twice. The second copy has its own delay.
    pub duplicate: Probability,
    /// Probability that a datagram is held back, so that later datagrams overtake it.
    pub reorder: Probability,
    /// Maximum time for which a reordered datagram is held back; zero means 1 ms.
    pub reorder_hold: Duration,
    /// Time from sender to receiver.
    pub delay: Duration,
    /// Maximum random addition to the delay. Jitter does not change the order of a link's datagrams.
    pub jitter: Duration,
    /// If true, all datagrams are lost.
    pub down: bool,
}

/// A fat tree of switches, which delays UD datagrams. Nodes are on leaf switches in the order of their numbers. The
/// default has no delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tree {
    /// Number of nodes of a leaf switch; 0 for a single leaf switch with all nodes.
    pub leaf: u32,
    /// Number of leaf switches of a pod, which share a second level of switches; 0 for a single pod.
    pub pod: u32,
    /// Time from one switch to the next, or to a port.
    pub hop_delay: Duration,
}

impl Tree {
    /// Returns the number of switches between two nodes: 1 at the same leaf switch, 3 in the same pod, otherwise 5.
    #[must_use]
    pub fn switches(self, from: NodeId, to: NodeId) -> u32 {
        let part = |number: u32, size: u32| number.checked_div(size).unwrap_or(0);
        let [from, to] = [from, to].map(|node| part(node.get().saturating_sub(1), self.leaf));
        if from == to {
            1
        } else if part(from, self.pod) == part(to, self.pod) {
            3
        } else {
            5
        }
    }

    /// Returns the time from one node to another: one hop to each switch on the path, and one hop to the port.
    #[must_use]
    pub fn delay(self, from: NodeId, to: NodeId) -> Duration {
        self.hop_delay * (self.switches(from, to) + 1)
    }
}

/// The administrator's behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaSettings {
    /// Probability that a request is lost. The same probability applies to a response.
    pub loss: Probability,
    /// Time until a response, which shows what is true at its end.
    pub delay: Duration,
    /// Time from then until the response arrives, which may be outdated then.
    pub response_delay: Duration,
    /// Time that the administrator needs for one request before it starts the next request. With zero, the rate of
    /// requests is not limited.
    pub service_time: Duration,
    /// Time that the administrator needs for each record of a table.
    pub record_time: Duration,
    /// Maximum number of requests that wait for the administrator, if `service_time` is not zero; 0 for no limit.
    pub queue: u32,
    /// If true, a request that arrives while the queue is full gets the status BUSY at once. If false, the request is
    /// lost.
    pub busy_when_full: bool,
    /// If true, the administrator does not respond.
    pub mute: bool,
    /// If true, the administrator accepts subscriptions to notices. Default: true.
    pub notices: bool,
    /// If true, the administrator announces the capability QoS and applies [`Settings::rules`]. Default: false.
    pub qos: bool,
    /// Status of every response, if set.
    pub status: Option<Status>,
    /// Status of the response to a path query with an unknown GID. Default: `SA_NO_RECORDS`, as in OpenSM.
    pub unknown_gid_status: Status,
}

impl Default for SaSettings {
    fn default() -> Self {
        Self {
            loss: Probability::NEVER,
            delay: Duration::ZERO,
            response_delay: Duration::ZERO,
            service_time: Duration::ZERO,
            record_time: Duration::ZERO,
            queue: 0,
            busy_when_full: false,
            mute: false,
            notices: true,
            qos: false,
            status: None,
            unknown_gid_status: Status::SA_NO_RECORDS,
        }
    }
}

/// Values in the administrator's paths that the request does not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSettings {
    /// MTU of the path; with `None`, the smaller MTU of both ports.
    pub mtu: Option<Mtu>,
    /// Rate of the path; with `None`, the lower rate of both ports.
    pub rate: Option<Rate>,
    /// Packet lifetime. A path from a port to itself has 0.
    pub packet_life_time: PacketLifeTime,
    /// Service level of the path, 0..=15.
    pub sl: ServiceLevel,
    /// TClass for the global route header, 8 bits.
    pub traffic_class: u8,
    /// Flow label for the global route header, 20 bits.
    pub flow_label: FlowLabel,
    /// Hop limit of every path, even if the request contains another hop limit.
    pub hop_limit: u8,
    /// Number of paths (NumbPath) in the record.
    pub num_path: u8,
    /// If true, paths are reversible.
    pub reversible: bool,
    /// Path bits of both LIDs, truncated to the ports' LMC.
    pub path_bits: u8,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self {
            mtu: None,
            rate: None,
            packet_life_time: PacketLifeTime::of::<18>(),
            sl: ServiceLevel::default(),
            traffic_class: 0,
            flow_label: FlowLabel::default(),
            hop_limit: 0,
            num_path: 0,
            reversible: true,
            path_bits: 0,
        }
    }
}
