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
    ProviderSubnets, RoutePreload, RouteProt, ServerMode, Sharing,
};

/// Returns the options in the order of the text. If an option occurs twice, the later value is valid.
#[must_use]
pub fn parse(text: &[u8]) -> Entries<'_, Opt<'_>> {
    Entries::new(text, line)
}

/// Effect of a changed option in a running daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is in force after the files were read again (SIGHUP).
    Reload,
    /// It is in force after a restart.
    Restart,
    /// Nothing, for this reason. The option exists only in the C ibacm.
    Nothing(&'static str),
}

/// Facts about an option, beside its type and its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Name in the file.
    pub name: &'static str,
    /// The values, in the words of an error.
    pub values: &'static str,
    /// Lines of its documentation. Those before an empty one are the text of the manual.
    pub help: &'static [&'static str],
}

/// Reader of the value of an option.
type Reader = for<'a> fn(&'a str) -> Option<Opt<'a>>;

macro_rules! options {
    ($($(#[doc = $help:literal])* $variant:ident $name:ident: $t:ty = $default:expr, $via:ident, $values:expr,
        $effect:expr;)*) => {
        /// An option and its value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Opt<'a> {
            $($(#[doc = $help])* $variant($t),)*
            /// `provider NAME PREFIX`, `provider NAME default`: a provider and the subnets that it serves. Each line
            /// adds a provider. Without a line, the built-in provider serves all subnets.
            Provider(Provider<'a>),
        }

        /// The values of all options except the providers. [`Default`] has the values of the C ibacm on Debian, with
        /// three exceptions: on Debian, `provider_lib_path` contains the architecture, and `sa_depth` and
        /// `resolve_depth` are 1.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Options<'a> { $($(#[doc = $help])* pub $name: $t,)* }

        /// All options, in the order of [`Options::iter`]; the last one is `provider`.
        pub const DECLARATIONS: &[Declaration] = &[
            $(Declaration { name: stringify!($name), values: $values, help: &[$($help),*] },)*
            Declaration {
                name: "provider",
                values: "a provider's name, and a subnet prefix or default",
                help: &[
                    " Which provider serves which subnets; each line adds one. `ibacmp` is built in, and is the default",
                    " unless a line makes another one the default. Any other name is a library, which is loaded when the",
                    " daemon starts; the subnets of a library that does not exist are not served. To serve only one",
                    " subnet: `provider none default` and `provider ibacmp 0xPREFIX`.",
                ],
            },
        ];

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
        impl Opt<'_> {
            /// Returns what a change of the option does.
            #[must_use]
            pub const fn effect(&self) -> Effect {
                match self {
                    $(Self::$variant(_) => $effect,)*
                    Self::Provider(_) => Effect::Reload,
                }
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

        /// Readers in the order of [`DECLARATIONS`], without `provider`.
        const READERS: &[Reader] = &[$(|text| $via::read(text).map(Opt::$variant),)*];
    };
}

const PERCENT: &str = "a percentage, 1 to 100";

const fn nonzero(number: u32) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(number - 1)
}

options! {
    /// The log's target; lines are appended. With `--systemd` (the journal), and with `-P` on a simulated fabric, the
    /// default is `stdout`. If it cannot be opened, standard output is used. A reader that does not read does not block
    /// the daemon: lines are dropped and counted.
    LogFile log_file: LogTarget<'a> = LogTarget::File("/var/log/ibacm.log"), LogTarget,
        "a path, stdout or stderr", Effect::Reload;
    /// 0: changes of the service, and faults; 1: also each failed request, and events that others cause; 2: also each
    /// step.
    LogLevel log_level: LogLevel = LogLevel::Basic, LogLevel, "a log level, 0 to 2", Effect::Reload;
    /// Debug level of the C libibumad, which this daemon does not use.
    UmadDebugLevel umad_debug_level: u32 = 0, number, "a debug level, 0 to 2", Effect::Nothing("there is no libibumad");
    /// Prevents a second daemon, and contains the process id. ibacm's own, `/run/ibacm.pid` or `/var/run/ibacm.pid`,
    /// stands for the default.
    LockFile lock_file: &'a str = "/run/ibacm.pid", path, "a path", Effect::Restart;
    /// Resolution of addresses, which has one value.
    AddrProt addr_prot: AddrProt = AddrProt::Acm, AddrProt, "acm", Effect::Nothing("it has one value");
    /// How long an address stays cached after it was learned; each entry up to an eighth less, so that not all expire
    /// together.
    ///
    /// In whole minutes in the file. With `None` it does not expire.
    AddrTimeout addr_timeout: Option<Duration> = Some(Duration::from_secs(1440 * 60)), minutes,
        "a number of minutes, or -1 for ever", Effect::Reload;
    /// Where paths come from: the SA, or the multicast group that both ends share. The daemon joins or leaves the
    /// second group; cached paths stay.
    RouteProt route_prot: RouteProt = RouteProt::Sa, RouteProt, "sa or acm", Effect::Reload;
    /// How long a path stays cached after it was learned.
    ///
    /// In whole minutes in the file. With `None` it expires with its address.
    RouteTimeout route_timeout: Option<Duration> = None, minutes,
        "a number of minutes, or -1 for as long as the address", Effect::Reload;
    /// `local`: paths to this node's own addresses need no request.
    LoopbackProt loopback_prot: LoopbackProt = LoopbackProt::Local, LoopbackProt, "local or none", Effect::Restart;
    /// The TCP port of the modes `loop` and `open`.
    ServerPort server_port: u16 = 6125, tcp_port, "a TCP port, 1 to 65535", Effect::Restart;
    /// Where clients connect: a unix socket, TCP on 127.0.0.1, TCP on every address. `open` has no authentication: use
    /// a firewall. With `--systemd` always `unix`, and the socket unit decides.
    ServerMode server_mode: ServerMode = ServerMode::Unix, ServerMode, "unix, loop or open", Effect::Restart;
    /// `yes`: without the link that librdmacm looks for.
    AcmePlusKernelOnly acme_plus_kernel_only: bool = false, yes_no_strtol,
        "yes, no, true, false or a number", Effect::Restart;
    /// How long to wait for a response before the request is sent again; for multicast, the subnet's own time is added.
    ///
    /// In milliseconds in the file.
    Timeout timeout: Duration = Duration::from_millis(2000), milliseconds,
        "a number of milliseconds, at least 1", Effect::Reload;
    /// How often a request is sent again.
    Retries retries: u32 = 2, number, "a number of retries", Effect::Reload;
    /// Multicast requests of an endpoint in flight, as long as their responses are likely to come.
    ///
    /// `None` is `auto`. The C ibacm has no `auto`; its default is 1.
    ResolveDepth resolve_depth: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto", Effect::Reload;
    /// Requests of a port to the SA in flight; when it is set to `auto` again, it begins with 1.
    ///
    /// `None` is `auto`. The C ibacm has no `auto`; its default is 1.
    SaDepth sa_depth: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto", Effect::Reload;
    /// Responses of an endpoint being sent; more are queued.
    SendDepth send_depth: NonZeroU32 = NonZeroU32::MIN, depth, "a number, at least 1", Effect::Restart;
    /// Datagrams of an endpoint that are received and not processed.
    RecvDepth recv_depth: NonZeroU32 = NonZeroU32::MIN.saturating_add(1023), depth,
        "a number, at least 1", Effect::Restart;
    /// MTU of the group that all nodes join: must be equal on all nodes.
    ///
    /// In bytes in the file.
    MinMtu min_mtu: Mtu = Mtu::B2048, mtu_bytes, "an MTU: 256, 512, 1024, 2048 or 4096", Effect::Restart;
    /// Rate of the group that all nodes join: must be equal on all nodes.
    ///
    /// In Gb/s in the file.
    MinRate min_rate: Rate = Rate::GBPS_10, gbps,
        "a rate in Gb/s that InfiniBand has: 2.5, 5, 10, ... 1600", Effect::Restart;
    /// The format of the file that paths are loaded from.
    RoutePreload route_preload: RoutePreload = RoutePreload::None, RoutePreload,
        "none or opensm_full_v1", Effect::Reload;
    /// The file of `route_preload`.
    RouteDataFile route_data_file: &'a str = "/etc/rdma/ibacm_route.data", path, "a path", Effect::Reload;
    /// The format of the file that addresses are loaded from.
    AddrPreload addr_preload: AddrPreload = AddrPreload::None, AddrPreload, "none or acm_hosts", Effect::Reload;
    /// The file of `addr_preload`.
    AddrDataFile addr_data_file: &'a str = "/etc/rdma/ibacm_hosts.data", path, "a path", Effect::Reload;
    /// `1`: IP addresses in the address file are served.
    SupportIpsInAddrCfg support_ips_in_addr_cfg: bool = false, yes_no,
        "yes, no, true, false or a number", Effect::Reload;
    /// The directory of provider libraries. If the option is not set: the first of `/usr/lib/MULTIARCH/ibacm` (Debian),
    /// `/usr/lib64/ibacm` and `/usr/lib/ibacm` that exists.
    ProviderLibPath provider_lib_path: &'a str = "/usr/lib/ibacm", path, "a path", Effect::Restart;
    /// Client connections; `auto`: 16 of 21 file descriptors of the limit less a reserve, which is 2,048 or a quarter of
    /// the limit, whichever is smaller. A sixteenth more is for accounts with fewer than 8, and a quarter more for two
    /// connections of each user.
    ///
    /// `None` is `auto`. The C ibacm has neither this option nor the options after it.
    Connections connections: Option<NonZeroU32> = None, auto, "a number, at least 1, or auto", Effect::Reload;
    /// The part of `connections` for one account; beyond it the daemon closes the account's connection that has been
    /// idle for longest. An account may have 8 while another account has more. If all are in use, the account with the
    /// most gives up the one that has been idle for longest, at least for 5 s, or else the account itself.
    ConnectionShare connection_share: Percent = Percent::MOST, Percent, PERCENT, Effect::Reload;
    /// Requests of clients and of the kernel without a response yet; an eighth is for the kernel.
    Requests requests: NonZeroU32 = nonzero(65_536), depth, "a number, at least 1", Effect::Reload;
    /// The part of `requests` for one account; an account may have 64 in any case.
    RequestShare request_share: Percent = Percent::MOST, Percent, PERCENT, Effect::Reload;
    /// Lookups in progress or queued, and requests with QUERY_SA. An eighth is for the kernel.
    Lookups lookups: NonZeroU32 = nonzero(65_536), depth, "a number, at least 1", Effect::Reload;
    /// The part of `lookups` for one account; an account may have 64 in any case.
    LookupShare lookup_share: Percent = Percent::MOST, Percent, PERCENT, Effect::Reload;
    /// Lookups for remote hosts that sent a request to this node.
    StrangerQueue stranger_queue: NonZeroU32 = nonzero(4096), depth, "a number, at least 1", Effect::Reload;
    /// Interfaces on InfiniBand ports, and the addresses of all of them.
    InterfaceAddresses interface_addresses: NonZeroU32 = nonzero(1024), depth, "a number, at least 1", Effect::Restart;
    /// Subscribe to the notices of the subnet administrator (SA) about ports and groups that appear or disappear.
    SaNotices sa_notices: bool = true, yes_no, "yes, no, true, false or a number", Effect::Restart;
    /// Send the group a request with two of the own addresses, every 5 s, or 5 ms for each port of the fabric, plus or
    /// minus a quarter: 200 in a second in the whole fabric, 0.1 percent of each processor. Peers notice a new LID,
    /// GID, queue pair or set of addresses within this time, even if they missed its announcement. With `no`, the
    /// datagrams have the bytes of C ibacm's, a path in use is corrected when it is confirmed, and others when they are
    /// used.
    Witness witness: bool = true, yes_no, "yes, no, true, false or a number", Effect::Reload;
    /// Request all paths from a port from the SA at once.
    Prefetch prefetch: Prefetch = Prefetch::Off, Prefetch, "off, auto or on", Effect::Reload;
    /// Clients read cached paths from memory, without a request. `auto`: if every user may connect to the unix socket.
    SharedCache shared_cache: Sharing = Sharing::Auto, Sharing, "auto, on or off", Effect::Reload;
    /// Paths in the memory of `shared_cache`.
    SharedCacheEntries shared_cache_entries: NonZeroU32 = nonzero(32_768), depth,
        "a number, at least 1", Effect::Reload;
    /// Multicast groups of an endpoint with `route_prot acm`: first the base group (`min_rate`, `min_mtu`), then the
    /// port's own group, which are the two of C ibacm. Further groups are those of slower links of four lanes, fastest
    /// first, so that a fast port and a slower port meet at the slower port's rate. Each group occupies a multicast LID
    /// of the subnet.
    Groups groups: GroupCount = GroupCount::TWO, GroupCount, "a number, 1 to 6", Effect::Restart;
    /// Service level of the multicast groups that this daemon creates, and so of all paths with `route_prot acm`. A
    /// group that exists keeps its own.
    GroupSl group_sl: ServiceLevel = ServiceLevel::ZERO, service_level, "a service level, 0 to 15", Effect::Restart;
    /// Requests of one connection without a response yet; one more that would wait is refused. acm-client and libibacm
    /// have up to 64.
    RequestsPerClient requests_per_client: NonZeroU32 = nonzero(64), depth, "a number, at least 1", Effect::Reload;
    /// How long a client may leave its responses unread; then the daemon ends the connection, which counts until the
    /// responses are read or the client closes.
    ///
    /// In whole seconds in the file.
    ClientTimeout client_timeout: Duration = Duration::from_secs(30), seconds,
        "a number of seconds, at least 1", Effect::Reload;
    /// Where metrics are served.
    MetricsListen metrics_listen: MetricsTarget<'a> = MetricsTarget::None, MetricsTarget,
        "none, a path that begins with /, or a loopback address and port", Effect::Reload;
    /// How long a failed lookup is not repeated: no peer responded, or the SA has no record. Requests in this time fail
    /// at once, and `negative_answers` counts them. A request from that peer, or any change of the port, ends the time
    /// early.
    ///
    /// In milliseconds in the file. With `None` (0), each request starts a lookup.
    NegativeTimeout negative_timeout: Option<Duration> = Some(Duration::from_millis(1000)), milliseconds_or_none,
        "a number of milliseconds, or 0 for none", Effect::Reload;
    /// The service ids that path queries contain.
    PathServiceIds path_service_ids: ServiceIds<'a> = ServiceIds::Auto, ServiceIds,
        "auto, none, all, or service ids and ranges that do not overlap, with commas between them", Effect::Reload;
}

fn line(input: &[u8]) -> Parsed<'_, Opt<'_>> {
    let declared = |name: &str| DECLARATIONS.iter().position(|option| name.eq_ignore_ascii_case(option.name));
    let (rest, index) =
        token("an option", |byte| !is_blank(byte), |name| declared(name).ok_or(LineErrorKind::UnknownOption))
            .parse(input)?;
    match DECLARATIONS.get(index).zip(READERS.get(index)) {
        Some((declaration, reader)) => word(declaration.values, reader).parse(rest),
        None => (word("a provider's name", Some), word("a subnet prefix or default", ProviderSubnets::read))
            .map(|(name, subnets)| Opt::Provider(Provider { name, subnets }))
            .parse(rest),
    }
}

#[cfg(test)]
mod tests;
