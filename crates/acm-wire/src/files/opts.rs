//! `ibacm_opts.cfg`: one option on each line, `name value`.
//!
//! ```
//! use acm_wire::files::opts::{self, Opt, Options};
//!
//! let text = b"# fast\nTimeout 500\nroute_prot acm\nretrys 3\n";
//! let mut options = Options::default();
//! let mut errors = 0;
//! for line in opts::parse(text) {
//!     match line {
//!         Ok((_, Opt::Provider(provider))) => println!("{} is not built in", provider.name),
//!         Ok((_, option)) => options.set(option),
//!         Err(error) => {
//!             assert_eq!(error.to_string(), "line 4, column 1: no such option");
//!             errors += 1;
//!         }
//!     }
//! }
//! assert_eq!((options.timeout.as_millis(), options.retries, errors), (500, 2, 1));
//! ```
use super::line::{Entries, LineErrorKind, Parsed, is_blank, token, word};
use super::opt_value::*;
use super::service_ids::ServiceIds;
use core::{fmt, num::NonZeroU32, time::Duration};
use ib_mad::{Mtu, Rate, ServiceLevel};
use nom::Parser;

pub use super::opt_value::{
    AddrPreload, AddrProt, GroupCount, LogLevel, LogTarget, LoopbackProt, MetricsTarget, Percent, Prefetch, Provider,
    ProviderSubnets, RoutePreload, RouteProt, ServerMode,
};

/// Returns the options in the order of the text. If an option occurs twice, the later value is valid.
#[must_use]
pub fn parse(text: &[u8]) -> Entries<'_, Opt<'_>> {
    Entries::new(text, line)
}

/// Reader of the value of an option.
struct OptionReader {
    expected: &'static str,
    read: for<'a> fn(&'a str) -> Option<Opt<'a>>,
}

macro_rules! options {
    ($($(#[$m:meta])* $variant:ident $name:ident: $t:ty = $default:expr, $via:ident, $expected:expr;)*) => {
        /// An option and its value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Opt<'a> {
            $($(#[$m])* $variant($t),)*
            /// `provider NAME PREFIX`, `provider NAME default`: a provider and the subnets that it serves. Each line
            /// adds a provider. Without a line, the built-in provider serves all subnets.
            Provider(Provider<'a>),
        }

        /// The values of all options except the providers. [`Default`] has the values of the C ibacm on Debian, with
        /// three exceptions: on Debian, `provider_lib_path` contains the architecture, and `sa_depth` and
        /// `resolve_depth` are 1.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Options<'a> { $($(#[$m])* pub $name: $t,)* }

        /// The names of all options.
        pub const NAMES: &[&str] = &[$(stringify!($name),)* "provider"];

        impl Default for Options<'_> {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }
        impl<'a> Options<'a> {
            /// Sets an option. [`Opt::Provider`] changes nothing.
            pub fn set(&mut self, option: Opt<'a>) {
                match option {
                    $(Opt::$variant(value) => self.$name = value,)*
                    Opt::Provider(_) => {}
                }
            }

            /// Returns all options: first the options of the C ibacm, in the order of the file that `ib_acme -O`
            /// writes, then all others.
            pub fn iter(&self) -> impl Iterator<Item = Opt<'a>> + use<'a> {
                [$(Opt::$variant(self.$name),)*].into_iter()
            }
        }
        impl fmt::Display for Opt<'_> {
            /// Writes a line that the parser reads back.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(value) => {
                        f.write_str(concat!(stringify!($name), " "))?;
                        $via::write(value, f)
                    })*
                    Self::Provider(provider) => write!(f, "provider {provider}"),
                }
            }
        }

        fn reader(name: &str) -> Option<OptionReader> {
            $(if name.eq_ignore_ascii_case(stringify!($name)) {
                return Some(OptionReader { expected: $expected, read: |text| $via::read(text).map(Opt::$variant) });
            })*
            None
        }
    };
}

const PERCENT: &str = "a percentage, 1 to 100";

const fn nonzero(number: u32) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(number - 1)
}

options! {
    /// Output of the log.
    LogFile log_file: LogTarget<'a> = LogTarget::File("/var/log/ibacm.log"), LogTarget, "a path, stdout or stderr";
    /// Amount of detail in the log.
    LogLevel log_level: LogLevel = LogLevel::Basic, LogLevel, "a log level, 0 to 2";
    /// Debug level of the C libibumad; no effect in this daemon.
    UmadDebugLevel umad_debug_level: u32 = 0, number, "a debug level, 0 to 2";
    /// File with the process id, locked so that a second daemon does not start.
    LockFile lock_file: &'a str = "/run/ibacm.pid", path, "a path";
    /// Resolution of addresses to GIDs.
    AddrProt addr_prot: AddrProt = AddrProt::Acm, AddrProt, "acm";
    /// Time until an address expires, in whole minutes in the file; with `None`, it never expires.
    AddrTimeout addr_timeout: Option<Duration> = Some(Duration::from_secs(1440 * 60)), minutes,
        "a number of minutes, or -1 for ever";
    /// Resolution of paths.
    RouteProt route_prot: RouteProt = RouteProt::Sa, RouteProt, "sa or acm";
    /// Time until a path expires, in whole minutes in the file; with `None`, it expires with its address.
    RouteTimeout route_timeout: Option<Duration> = None, minutes, "a number of minutes, or -1 for ever";
    /// Resolution of local addresses.
    LoopbackProt loopback_prot: LoopbackProt = LoopbackProt::Local, LoopbackProt, "local or none";
    /// TCP port for the server modes loop and open; not 0.
    ServerPort server_port: u16 = 6125, tcp_port, "a TCP port, 1 to 65535";
    /// Sockets on which the daemon listens.
    ServerMode server_mode: ServerMode = ServerMode::Unix, ServerMode, "unix, loop or open";
    /// True if the daemon serves only `ib_acme` and the kernel; librdmacm then finds no socket.
    AcmePlusKernelOnly acme_plus_kernel_only: bool = false, yes_no_strtol, "yes, no, true, false or a number";
    /// Time-out of a response, in addition to the time-out of the subnet; in milliseconds in the file, not 0.
    Timeout timeout: Duration = Duration::from_millis(2000), milliseconds, "a number of milliseconds, at least 1";
    /// Number of times that a request is retried.
    Retries retries: u32 = 2, number, "a number of retries";
    /// Maximum number of multicast requests in progress, for each endpoint. With `None` (`auto`) the number grows while
    /// responses arrive in time, and falls when they are late or lost. The C ibacm has no `auto`; its default is 1.
    ResolveDepth resolve_depth: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto";
    /// Maximum number of queries to the subnet administrator in progress, for each port. With `None` (`auto`), the
    /// number grows while the SA responds, and falls when the SA is busy or does not respond. The C ibacm has no `auto`
    /// and uses 1 by default.
    SaDepth sa_depth: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto";
    /// Maximum number of responses in transmission.
    SendDepth send_depth: NonZeroU32 = NonZeroU32::MIN, depth, "a number, at least 1";
    /// Number of receive buffers for datagrams.
    RecvDepth recv_depth: NonZeroU32 = NonZeroU32::MIN.saturating_add(1023), depth, "a number, at least 1";
    /// MTU of the multicast group that all nodes join; in bytes in the file.
    MinMtu min_mtu: Mtu = Mtu::B2048, mtu_bytes, "an MTU: 256, 512, 1024, 2048 or 4096";
    /// Rate of the multicast group that all nodes join; in Gb/s in the file.
    MinRate min_rate: Rate = Rate::GBPS_10, gbps, "a rate in Gb/s that InfiniBand has: 2.5, 5, 10, ... 1600";
    /// Source of paths that are loaded at the start.
    RoutePreload route_preload: RoutePreload = RoutePreload::None, RoutePreload, "none or opensm_full_v1";
    /// Path to the file for `route_preload`.
    RouteDataFile route_data_file: &'a str = "/etc/rdma/ibacm_route.data", path, "a path";
    /// Source of addresses that are loaded at the start.
    AddrPreload addr_preload: AddrPreload = AddrPreload::None, AddrPreload, "none or acm_hosts";
    /// Path to the file for `addr_preload`.
    AddrDataFile addr_data_file: &'a str = "/etc/rdma/ibacm_hosts.data", path, "a path";
    /// True if IP addresses in `ibacm_addr.cfg` are used. IP addresses of the system are always used.
    SupportIpsInAddrCfg support_ips_in_addr_cfg: bool = false, yes_no, "yes, no, true, false or a number";
    /// Directory of the C ibacm's providers; nothing is loaded from it.
    ProviderLibPath provider_lib_path: &'a str = "/usr/lib/ibacm", path, "a path";
    /// Maximum number of client connections; with `None` (`auto`), as many as the limit of file descriptors permits.
    /// The C ibacm has neither this option nor the options after it.
    Connections connections: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto";
    /// Maximum number of connections of an account (a user or a TCP peer), in percent of the sum of the account's
    /// connections and the free connections.
    ConnectionShare connection_share: Percent = Percent::MOST, Percent, PERCENT;
    /// Maximum number of requests without a response, of all clients and the kernel.
    Requests requests: NonZeroU32 = nonzero(65_536), depth, "a number, at least 1";
    /// Maximum number of open requests of an account, in percent of the sum of the account's open requests and the free
    /// requests.
    RequestShare request_share: Percent = Percent::MOST, Percent, PERCENT;
    /// Maximum number of lookups in progress or queued.
    Lookups lookups: NonZeroU32 = nonzero(65_536), depth, "a number, at least 1";
    /// Maximum number of lookups for requests of an account, in percent of the sum of the account's lookups and the
    /// free lookups.
    LookupShare lookup_share: Percent = Percent::MOST, Percent, PERCENT;
    /// Maximum number of lookups for remote hosts: lookups of the paths on which this node responds to requests of
    /// other nodes.
    StrangerQueue stranger_queue: NonZeroU32 = nonzero(4096), depth, "a number, at least 1";
    /// Maximum number of interfaces on InfiniBand ports, and of their addresses.
    InterfaceAddresses interface_addresses: NonZeroU32 = nonzero(1024), depth, "a number, at least 1";
    /// True if the daemon subscribes to the subnet administrator's notices about ports and groups.
    SaNotices sa_notices: bool = true, yes_no, "yes, no, true, false or a number";
    /// True if the daemon shows its addresses to all nodes at regular intervals.
    Witness witness: bool = true, yes_no, "yes, no, true, false or a number";
    /// When all paths from a port are requested from the subnet administrator at once.
    Prefetch prefetch: Prefetch = Prefetch::Off, Prefetch, "off, auto or on";
    /// True if clients read paths from memory that the daemon shares with them.
    SharedCache shared_cache: bool = false, on_off, "on or off";
    /// Maximum number of paths in that memory.
    SharedCacheEntries shared_cache_entries: NonZeroU32 = nonzero(131_072), depth, "a number, at least 1";
    /// Maximum number of multicast groups of an endpoint, with `route_prot acm`. The C ibacm has two.
    Groups groups: GroupCount = GroupCount::TWO, GroupCount, "a number, 1 to 6";
    /// Service level of the multicast groups that the daemon creates.
    GroupSl group_sl: ServiceLevel = ServiceLevel::ZERO, service_level, "a service level, 0 to 15";
    /// Maximum number of requests without a response on one connection. The daemon stops reading from a connection with
    /// this number.
    RequestsPerClient requests_per_client: NonZeroU32 = nonzero(64), depth, "a number, at least 1";
    /// Time after which the daemon closes a connection whose client does not read responses; in whole seconds in the
    /// file.
    ClientTimeout client_timeout: Duration = Duration::from_secs(30), seconds, "a number of seconds, at least 1";
    /// Socket on which the daemon serves its counters as OpenMetrics text.
    MetricsListen metrics_listen: MetricsTarget<'a> = MetricsTarget::None, MetricsTarget,
        "none, a path that begins with /, or a loopback address and port";
    /// Time for which a failed lookup is not repeated, if no peer responded or the subnet administrator has no record;
    /// in milliseconds in the file. With `None` (0), each request starts a lookup.
    NegativeTimeout negative_timeout: Option<Duration> = Some(Duration::from_millis(1000)), milliseconds_or_none,
        "a number of milliseconds, or 0 for none";
    /// Service ids that are included in path queries and in the keys of cached paths. Other service ids are left out.
    PathServiceIds path_service_ids: ServiceIds<'a> = ServiceIds::Auto, ServiceIds,
        "auto, none, all, or service ids and ranges that do not overlap, with commas between them";
}

fn line(input: &[u8]) -> Parsed<'_, Opt<'_>> {
    let (rest, reader) = token(
        "an option",
        |byte| !is_blank(byte),
        |name| match reader(name) {
            Some(reader) => Ok(Some(reader)),
            None if name.eq_ignore_ascii_case("provider") => Ok(None),
            None => Err(LineErrorKind::UnknownOption),
        },
    )
    .parse(input)?;
    match reader {
        Some(reader) => word(reader.expected, reader.read).parse(rest),
        None => (word("a provider's name", Some), word("a subnet prefix or default", ProviderSubnets::read))
            .map(|(name, subnets)| Opt::Provider(Provider { name, subnets }))
            .parse(rest),
    }
}

#[cfg(test)]
mod tests;
