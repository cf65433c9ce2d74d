//! Settings of a running subnet.
mod named;
mod probability;

pub use named::SettingError;
pub use probability::Probability;

use core::time::Duration;
use ib_mad::{FlowLabel, Mtu, PacketLifeTime, Rate, ServiceLevel, Status};

/// The settings that can change while a subnet runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Faults of every link without faults of its own ([`Subnet::set_link`](crate::Subnet::set_link)).
    pub faults: Faults,
    /// If true, an attached queue pair receives its own multicasts. Default: false.
    pub multicast_to_sender: bool,
    /// If true, only ports that joined a group send to it and receive from it, and only by its present LID. If false,
    /// an attached queue pair is enough. Default: true.
    pub strict_multicast: bool,
    /// The administrator's behaviour.
    pub sa: SaSettings,
    /// Values in the administrator's paths.
    pub path: PathSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            faults: Faults::default(),
            multicast_to_sender: false,
            strict_multicast: true,
            sa: SaSettings::default(),
            path: PathSettings::default(),
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
    /// Probability that a datagram is held back, so that later datagrams pass it.
    pub reorder: Probability,
    /// Longest time that a reordered datagram is held back; zero means 1 ms.
    pub reorder_hold: Duration,
    /// Time from sender to receiver.
    pub delay: Duration,
    /// Longest random addition to the delay. Datagrams of one link stay in order.
    pub jitter: Duration,
    /// If true, all datagrams are lost.
    pub down: bool,
}

/// The administrator's behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaSettings {
    /// Probability that a request is lost, and that a response is lost.
    pub loss: Probability,
    /// Time until a response.
    pub delay: Duration,
    /// Time that the administrator needs for one request before it starts the next. Zero: no limit.
    pub service_time: Duration,
    /// If true, the administrator does not respond.
    pub mute: bool,
    /// If true, the administrator accepts subscriptions to notices. Default: true.
    pub notices: bool,
    /// Status of every response, if set.
    pub status: Option<Status>,
    /// Status of the response to a path query with an unknown GID. Default: no records, as with OpenSM.
    pub unknown_gid_status: Status,
}

impl Default for SaSettings {
    fn default() -> Self {
        Self {
            loss: Probability::NEVER,
            delay: Duration::ZERO,
            service_time: Duration::ZERO,
            mute: false,
            notices: true,
            status: None,
            unknown_gid_status: Status::SA_NO_RECORDS,
        }
    }
}

/// Values in the administrator's paths that the request does not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSettings {
    /// MTU; `None`: the smaller MTU of both ports.
    pub mtu: Option<Mtu>,
    /// Rate; `None`: the lower rate of both ports.
    pub rate: Option<Rate>,
    /// Packet lifetime. A path from a port to itself has 0.
    pub packet_life_time: PacketLifeTime,
    /// Service level of the path, 0..=15.
    pub sl: ServiceLevel,
    /// TClass for the global route header, 8 bits.
    pub traffic_class: u8,
    /// Flow label for the global route header, 20 bits.
    pub flow_label: FlowLabel,
    /// Hop limit of every path, also if the request sets another one.
    pub hop_limit: u8,
    /// Number of paths (NumbPath) in the record.
    pub num_path: u8,
    /// If true, paths are reversible.
    pub reversible: bool,
    /// Path bits of both LIDs, as far as the ports' LMC allows.
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
