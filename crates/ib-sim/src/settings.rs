//! What can be set while a subnet runs.
mod named;
mod probability;

pub use named::SettingError;
pub use probability::Probability;

use core::time::Duration;
use ib_mad::{FlowLabel, Mtu, PacketLifeTime, Rate, ServiceLevel, Status};

/// Everything that can be set while a subnet runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Faults of every link that has none of its own ([`Subnet::set_link`](crate::Subnet::set_link)).
    pub faults: Faults,
    /// Whether a multicast also goes to the queue pair that sent it, if that is attached. Default: no.
    pub multicast_to_sender: bool,
    /// Whether only ports that joined a group send to it and receive from it, and only by the LID that it has now.
    /// If not, being attached is enough. Default: yes.
    pub strict_multicast: bool,
    /// How the administrator behaves.
    pub sa: SaSettings,
    /// What stands in the administrator's paths.
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

/// What a link does to UD datagrams. The default is a perfect link: delivery at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Faults {
    /// How likely a datagram is lost on its way to one receiver.
    pub loss: Probability,
    /// Sending twice. The second copy has a delay of its own.
    pub duplicate: Probability,
    /// Holding back, so that later datagrams pass.
    pub reorder: Probability,
    /// At most how long a reordered datagram is held back; zero means 1 ms.
    pub reorder_hold: Duration,
    /// Time from sender to receiver.
    pub delay: Duration,
    /// At most how much is added to the delay, by chance. Datagrams of one link stay in order.
    pub jitter: Duration,
    /// Nothing passes.
    pub down: bool,
}

/// How the administrator behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaSettings {
    /// Loss of requests, and of answers.
    pub loss: Probability,
    /// Time until an answer.
    pub delay: Duration,
    /// Time that it works on one request before it takes the next. Zero: no limit.
    pub service_time: Duration,
    /// It answers nothing.
    pub mute: bool,
    /// It takes subscriptions to notices. Default: yes.
    pub notices: bool,
    /// It answers everything with this status.
    pub status: Option<Status>,
    /// Its answer to a path query with a GID that is nobody's. Default: no records, as OpenSM's.
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

/// What stands in the administrator's paths when the asker does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSettings {
    /// MTU; `None`: the smaller one of both ports.
    pub mtu: Option<Mtu>,
    /// Rate; `None`: the slower one of both ports.
    pub rate: Option<Rate>,
    /// Packet lifetime; of a path from a port to itself it is 0.
    pub packet_life_time: PacketLifeTime,
    /// Service level of the path, 0..=15.
    pub sl: ServiceLevel,
    /// TClass for the global route header, 8 bits.
    pub traffic_class: u8,
    /// Flow label for the global route header, 20 bits.
    pub flow_label: FlowLabel,
    /// Hop limit of every path: what the asker says does not change it.
    pub hop_limit: u8,
    /// Number of paths.
    pub num_path: u8,
    /// Whether paths are reversible.
    pub reversible: bool,
    /// Path bits of both LIDs, as far as the ports' LMC has room.
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
