//! `ibacm_opts.cfg`: one option a line, `name value`.
//!
//! ```
//! use acm_wire::files::opts::{self, Opt, Options};
//!
//! let text = b"# fast\nTimeout 500\nroute_prot acm\nretrys 3\n";
//! let mut options = Options::default();
//! let mut complaints = 0;
//! for line in opts::parse(text) {
//!     match line {
//!         Ok((_, Opt::Provider(provider))) => println!("{} is not built in", provider.name),
//!         Ok((_, option)) => options.set(option),
//!         Err(error) => {
//!             assert_eq!(error.to_string(), "line 4, column 1: no such option");
//!             complaints += 1;
//!         }
//!     }
//! }
//! assert_eq!((options.timeout.as_millis(), options.retries, complaints), (500, 2, 1));
//! ```
use super::line::{Entries, LineErrorKind, Parsed, is_blank, token, word};
use super::opt_value::*;
use super::service_ids::ServiceIds;
use core::{fmt, num::NonZeroU32, time::Duration};
use ib_mad::{Mtu, Rate};
use nom::Parser;

pub use super::opt_value::{
    AddrPreload, AddrProt, GroupCount, LogLevel, LogTarget, LoopbackProt, MetricsTarget, Percent, Provider,
    ProviderSubnets, RoutePreload, RouteProt, ServerMode,
};

/// The options of a text, in its order. An option that comes twice is given twice; the later one counts.
#[must_use]
pub fn parse(text: &[u8]) -> Entries<'_, Opt<'_>> {
    Entries::new(text, line)
}

/// How an option's value is read.
struct Known {
    expected: &'static str,
    read: for<'a> fn(&'a str) -> Option<Opt<'a>>,
}

macro_rules! options {
    ($($(#[$m:meta])* $variant:ident $name:ident: $t:ty = $default:expr, $via:ident, $expected:expr;)*) => {
        /// An option and its value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Opt<'a> {
            $($(#[$m])* $variant($t),)*
            /// `provider NAME PREFIX`, `provider NAME default`: which provider serves which subnets. Each such line adds
            /// one. Without any, the built-in one serves all.
            Provider(Provider<'a>),
        }

        /// Every option but the providers, which add up. [`Default`] has C ibacm's values on Debian, except that
        /// `provider_lib_path` there names the architecture and `sa_depth` is 1.
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
            /// Sets one option. [`Opt::Provider`] is not one of them and changes nothing.
            pub fn set(&mut self, option: Opt<'a>) {
                match option {
                    $(Opt::$variant(value) => self.$name = value,)*
                    Opt::Provider(_) => {}
                }
            }

            /// All options in the order of the file that `ib_acme -O` writes, then ours.
            pub fn iter(&self) -> impl Iterator<Item = Opt<'a>> + use<'a> {
                [$(Opt::$variant(self.$name),)*].into_iter()
            }
        }
        impl fmt::Display for Opt<'_> {
            /// The line that reads as this option.
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

        fn known(name: &str) -> Option<Known> {
            $(if name.eq_ignore_ascii_case(stringify!($name)) {
                return Some(Known { expected: $expected, read: |text| $via::read(text).map(Opt::$variant) });
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
    /// Where the log goes.
    LogFile log_file: LogTarget<'a> = LogTarget::File("/var/log/ibacm.log"), LogTarget, "a path, stdout or stderr";
    /// How much is logged.
    LogLevel log_level: LogLevel = LogLevel::Basic, LogLevel, "a log level, 0 to 2";
    /// Debug level of C's libibumad; nothing here depends on it.
    UmadDebugLevel umad_debug_level: u32 = 0, number, "a debug level, 0 to 2";
    /// The file that keeps a second daemon away and holds the process id.
    LockFile lock_file: &'a str = "/run/ibacm.pid", path, "a path";
    /// How addresses are resolved to GIDs.
    AddrProt addr_prot: AddrProt = AddrProt::Acm, AddrProt, "acm";
    /// How long an address is remembered, in whole minutes in the file; `None` = for ever.
    AddrTimeout addr_timeout: Option<Duration> = Some(Duration::from_secs(1440 * 60)), minutes,
        "a number of minutes, or -1 for ever";
    /// How paths are resolved.
    RouteProt route_prot: RouteProt = RouteProt::Sa, RouteProt, "sa or acm";
    /// How long a path is remembered, in whole minutes in the file; `None` = as long as its address.
    RouteTimeout route_timeout: Option<Duration> = None, minutes, "a number of minutes, or -1 for ever";
    /// How addresses of this node are resolved.
    LoopbackProt loopback_prot: LoopbackProt = LoopbackProt::Local, LoopbackProt, "local or none";
    /// TCP port, used in the server modes loop and open. Not 0.
    ServerPort server_port: u16 = 6125, tcp_port, "a TCP port, 1 to 65535";
    /// Where the daemon listens.
    ServerMode server_mode: ServerMode = ServerMode::Unix, ServerMode, "unix, loop or open";
    /// Whether only `ib_acme` and the kernel are served: librdmacm then finds no socket.
    AcmePlusKernelOnly acme_plus_kernel_only: bool = false, yes_no, "yes, no, true, false or a number";
    /// How long an answer is awaited, beyond the subnet's own time-out; milliseconds in the file, not 0.
    Timeout timeout: Duration = Duration::from_millis(2000), milliseconds, "a number of milliseconds, at least 1";
    /// How many times a request is sent again.
    Retries retries: u32 = 2, number, "a number of retries";
    /// Multicast requests under way at a time.
    ResolveDepth resolve_depth: NonZeroU32 = NonZeroU32::MIN, depth, "a number, at least 1";
    /// Queries to the subnet administrator under way at a time, of each port; `None` (`auto`) = as many as it bears:
    /// more while it answers, fewer when it is busy or silent. C ibacm's default is 1 and it knows no `auto`.
    SaDepth sa_depth: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto";
    /// Answers being sent at a time.
    SendDepth send_depth: NonZeroU32 = NonZeroU32::MIN, depth, "a number, at least 1";
    /// Buffers that are ready to receive datagrams.
    RecvDepth recv_depth: NonZeroU32 = NonZeroU32::MIN.saturating_add(1023), depth, "a number, at least 1";
    /// MTU of the multicast group that all nodes join; bytes in the file.
    MinMtu min_mtu: Mtu = Mtu::B2048, mtu_bytes, "an MTU: 256, 512, 1024, 2048 or 4096";
    /// Rate of the multicast group that all nodes join; Gb/s in the file.
    MinRate min_rate: Rate = Rate::GBPS_10, gbps, "a rate in Gb/s that InfiniBand has: 2.5, 5, 10, ... 1200";
    /// Where paths are loaded from at the start.
    RoutePreload route_preload: RoutePreload = RoutePreload::None, RoutePreload, "none or opensm_full_v1";
    /// The file for `route_preload`.
    RouteDataFile route_data_file: &'a str = "/etc/rdma/ibacm_route.data", path, "a path";
    /// Where addresses are loaded from at the start.
    AddrPreload addr_preload: AddrPreload = AddrPreload::None, AddrPreload, "none or acm_hosts";
    /// The file for `addr_preload`.
    AddrDataFile addr_data_file: &'a str = "/etc/rdma/ibacm_hosts.data", path, "a path";
    /// Whether IP addresses in `ibacm_addr.cfg` count. The system's own are known without it.
    SupportIpsInAddrCfg support_ips_in_addr_cfg: bool = false, yes_no, "yes, no, true, false or a number";
    /// Where C ibacm looks for providers; nothing here is loaded.
    ProviderLibPath provider_lib_path: &'a str = "/usr/lib/ibacm", path, "a path";
    /// Ours, as all that follow: C ibacm knows none of them. Clients' connections at a time; `None` (`auto`) = as many
    /// as the limit of file descriptors allows.
    Connections connections: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto";
    /// How many connections an account (a user, a TCP peer) may have: in percent of what it has and what is free.
    ConnectionShare connection_share: Percent = Percent::MOST, Percent, PERCENT;
    /// Requests at a time, of all clients and of the kernel, that are not answered yet.
    Requests requests: NonZeroU32 = nonzero(65_536), depth, "a number, at least 1";
    /// How many open requests an account may have: in percent of what it has and what is free.
    RequestShare request_share: Percent = Percent::MOST, Percent, PERCENT;
    /// Lookups at a time that are under way or wait for their turn.
    Lookups lookups: NonZeroU32 = nonzero(65_536), depth, "a number, at least 1";
    /// How many lookups an account may need at a time: in percent of what it has and what is free.
    LookupShare lookup_share: Percent = Percent::MOST, Percent, PERCENT;
    /// Lookups for peers on the fabric whom nobody here asked for: the ways back to those that ask for us.
    StrangerQueue stranger_queue: NonZeroU32 = nonzero(4096), depth, "a number, at least 1";
    /// Interfaces on InfiniBand ports whose addresses are taken, and how many of those.
    InterfaceAddresses interface_addresses: NonZeroU32 = nonzero(1024), depth, "a number, at least 1";
    /// Whether the subnet administrator is asked to tell which ports and groups come and go.
    SaNotices sa_notices: bool = true, yes_no, "yes, no, true, false or a number";
    /// Multicast groups of an endpoint at most, with `route_prot acm`. C ibacm has two.
    Groups groups: GroupCount = GroupCount::TWO, GroupCount, "a number, 1 to 6";
    /// Requests of one connection that are not answered yet; nothing is read from it while it has so many.
    RequestsPerClient requests_per_client: NonZeroU32 = nonzero(64), depth, "a number, at least 1";
    /// How long a client may take nothing of what is there for it, in whole seconds in the file; then it is closed.
    ClientTimeout client_timeout: Duration = Duration::from_secs(30), seconds, "a number of seconds, at least 1";
    /// Where counters are served as OpenMetrics text.
    MetricsListen metrics_listen: MetricsTarget<'a> = MetricsTarget::None, MetricsTarget,
        "none, a path that begins with /, or a loopback address and port";
    /// How long what failed, because nobody answered or the subnet administrator has no record, is not tried again;
    /// milliseconds in the file; `None` (0) = it is tried each time.
    NegativeTimeout negative_timeout: Option<Duration> = Some(Duration::from_millis(1000)), milliseconds_or_none,
        "a number of milliseconds, or 0 for none";
    /// Which service ids of requests path queries name; the others are left out, of the query and of the cache's key.
    PathServiceIds path_service_ids: ServiceIds<'a> = ServiceIds::None, ServiceIds,
        "none, all, or service ids and ranges that do not overlap, with commas between them";
}

fn line(input: &[u8]) -> Parsed<'_, Opt<'_>> {
    let (rest, known) = token(
        "an option",
        |byte| !is_blank(byte),
        |name| match known(name) {
            Some(known) => Ok(Some(known)),
            None if name.eq_ignore_ascii_case("provider") => Ok(None),
            None => Err(LineErrorKind::UnknownOption),
        },
    )
    .parse(input)?;
    match known {
        Some(known) => word(known.expected, known.read).parse(rest),
        None => (word("a provider's name", Some), word("a subnet prefix or default", ProviderSubnets::read))
            .map(|(name, subnets)| Opt::Provider(Provider { name, subnets }))
            .parse(rest),
    }
}

#[cfg(test)]
mod tests;
