//! Types of option values, and how to read and write them.
use core::{fmt, net::SocketAddr, num::NonZeroU32, time::Duration};
use ib_mad::{Mtu, Rate, ServiceLevel};

/// Defines enumerations of words. Of several spellings, the first is written.
macro_rules! words {
    ($($(#[$m:meta])* pub enum $name:ident {
        $($(#[$vm:meta])* $variant:ident = $text:literal $(| $also:literal)*,)*
    })*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name { $($(#[$vm])* $variant,)* }
        impl $name {
            pub(super) fn read(text: &str) -> Option<Self> {
                $(if [$text $(, $also)*].iter().any(|known| text.eq_ignore_ascii_case(known)) {
                    return Some(Self::$variant);
                })*
                None
            }
            pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(value, f)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text,)* })
            }
        }
    )*};
}

words! {
    /// Resolution of addresses to GIDs.
    pub enum AddrProt {
        /// Resolution by ACM multicast requests.
        Acm = "acm",
    }
    /// Resolution of paths.
    pub enum RouteProt {
        /// Resolution by path record queries to the subnet administrator.
        Sa = "sa",
        /// Resolution by the parameters of a multicast group that both ends have joined.
        Acm = "acm",
    }
    /// Resolution of local addresses.
    pub enum LoopbackProt {
        /// Resolution from local data, without a request.
        Local = "local",
        /// Resolution as for a remote address.
        None = "none",
    }
    /// Sockets on which the daemon listens.
    pub enum ServerMode {
        /// A unix socket.
        Unix = "unix",
        /// TCP on 127.0.0.1 only.
        Loop = "loop",
        /// TCP on all addresses.
        Open = "open",
    }
    /// Source of paths that are loaded at the start.
    pub enum RoutePreload {
        /// Paths are not loaded.
        None = "none" | "no",
        /// A dump of OpenSM ([`path_dump`](crate::files::path_dump)). The code and the manual of the C ibacm have two
        /// spellings; both are accepted.
        OpenSmFullV1 = "opensm_full_v1" | "full_opensm_v1",
    }
    /// When all paths from a port are requested at once.
    pub enum Prefetch {
        /// Never.
        Off = "off",
        /// After many lookups that each needed a query to the subnet administrator.
        Auto = "auto",
        /// As soon as the port has joined its multicast group.
        On = "on",
    }
    /// When clients read cached paths from memory.
    pub enum Sharing {
        /// If every user may connect to the daemon.
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
    /// Source of addresses that are loaded at the start.
    pub enum AddrPreload {
        /// Addresses are not loaded.
        None = "none" | "no",
        /// A list of hosts ([`hosts`](crate::files::hosts)).
        AcmHosts = "acm_hosts",
    }
}

/// Output of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogTarget<'a> {
    /// Standard output of the process.
    Stdout,
    /// Standard error of the process.
    Stderr,
    /// The file at this path.
    File(&'a str),
}

impl<'a> LogTarget<'a> {
    #[expect(clippy::unnecessary_wraps, reason = "one signature for the readers of every option")]
    pub(super) fn read(text: &'a str) -> Option<Self> {
        Some(match text {
            _ if text.eq_ignore_ascii_case("stdout") => Self::Stdout,
            _ if text.eq_ignore_ascii_case("stderr") => Self::Stderr,
            path => Self::File(path),
        })
    }
    pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match value {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::File(path) => path,
        })
    }
}

/// Socket on which the daemon serves its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricsTarget<'a> {
    /// Counters are not served.
    None,
    /// A unix socket at this path.
    Unix(&'a str),
    /// TCP on a loopback address.
    Loopback(SocketAddr),
}

impl<'a> MetricsTarget<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        match text {
            _ if text.eq_ignore_ascii_case("none") => Some(Self::None),
            path if path.starts_with('/') => Some(Self::Unix(path)),
            address => {
                let address: SocketAddr = address.parse().ok()?;
                (address.ip().is_loopback() && address.port() != 0).then_some(Self::Loopback(address))
            }
        }
    }
    pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match value {
            Self::None => f.write_str("none"),
            Self::Unix(path) => f.write_str(path),
            Self::Loopback(address) => fmt::Display::fmt(address, f),
        }
    }
}

/// Amount of detail in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// 0: configuration and errors.
    Basic,
    /// 1: the events of `Basic` with more detail.
    Verbose,
    /// 2 and higher: every operation.
    Operation,
}

impl LogLevel {
    /// Returns the number in the file: 0, 1 or 2.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Basic => 0,
            Self::Verbose => 1,
            Self::Operation => 2,
        }
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        Some(match text.parse::<u32>().ok()? {
            0 => Self::Basic,
            1 => Self::Verbose,
            2.. => Self::Operation,
        })
    }
    pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&value.number(), f)
    }
}

/// Defines numbers from 1 to a limit.
macro_rules! counts {
    ($($(#[$m:meta])* pub struct $name:ident(1..=$most:literal) {
        $(#[$cm:meta])* const $const:ident = $value:literal;
    })*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u8);

        impl $name {
            $(#[$cm])*
            pub const $const: Self = Self($value);

            #[doc = concat!("Returns the number; `None` unless it is 1 to ", $most, ".")]
            #[must_use]
            pub const fn new(number: u8) -> Option<Self> {
                if matches!(number, 1..=$most) { Some(Self(number)) } else { None }
            }

            #[doc = concat!("Returns the number, 1 to ", $most, ".")]
            #[must_use]
            pub const fn get(self) -> u8 {
                self.0
            }

            pub(super) fn read(text: &str) -> Option<Self> {
                Self::new(text.parse().ok()?)
            }
            pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&value.0, f)
            }
        }
    )*};
}

counts! {
    /// A percentage, 1 to 100.
    pub struct Percent(1..=100) {
        /// 90 percent: the rest remains free for other accounts.
        const MOST = 90;
    }
    /// Number of multicast groups in a request, 1 to 6.
    pub struct GroupCount(1..=6) {
        /// Two groups, as in the C ibacm.
        const TWO = 2;
    }
}

/// Defines a reader and a writer for values of other types.
macro_rules! values {
    ($($(#[$m:meta])* $name:ident: $t:ty = |$text:ident| $read:expr, |$value:ident| $write:expr;)*) => {$(
        $(#[$m])*
        pub(super) mod $name {
            use super::*;
            pub(in super::super) fn read($text: &str) -> Option<$t> {
                $read
            }
            pub(in super::super) fn write($value: &$t, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", $write)
            }
        }
    )*};
}

values! {
    number: u32 = |text| text.parse().ok(), |value| value;
    /// A number that is at least 1.
    depth: NonZeroU32 = |text| text.parse().ok(), |value| value;
    /// A number that is at least 1; `None` for `auto`.
    auto: Option<NonZeroU32> = |text| match text {
        _ if text.eq_ignore_ascii_case("auto") => Some(None),
        number => number.parse().ok().map(Some),
    }, |value| NumberOrAuto(*value);
    tcp_port: u16 = |text| text.parse().ok().filter(|port| *port != 0), |value| value;
    /// `yes`, `true`, `no`, `false` or a number; every number except 0 means "yes".
    yes_no: bool = |text| match text {
        _ if ["yes", "true"].iter().any(|yes| text.eq_ignore_ascii_case(yes)) => Some(true),
        _ if ["no", "false"].iter().any(|no| text.eq_ignore_ascii_case(no)) => Some(false),
        number => number.parse::<i32>().ok().map(|number| number != 0),
    }, |value| if *value { "yes" } else { "no" };
    /// A value of [`yes_no`]; every number that strtol(3) reads, in base 8, 10 or 16.
    yes_no_strtol: bool = |text| match text.get(..2) {
        Some("0x" | "0X") => u32::from_str_radix(text.get(2..)?, 16).ok().map(|number| number != 0),
        _ => yes_no::read(text),
    }, |value| if *value { "yes" } else { "no" };
    /// A number of minutes; -1 means "never".
    minutes: Option<Duration> = |text| match text {
        "-1" => Some(None),
        number => number.parse::<u32>().ok().map(|minutes| Some(Duration::from_secs(u64::from(minutes) * 60))),
    }, |value| value.map_or(-1, |time| i64::try_from(time.as_secs() / 60).unwrap_or(-1));
    /// A number of milliseconds that is at least 1.
    milliseconds: Duration = |text| text.parse::<NonZeroU32>().ok().map(|ms| Duration::from_millis(ms.get().into())),
        |value| value.as_millis();
    /// A number of seconds that is at least 1.
    seconds: Duration = |text| text.parse::<NonZeroU32>().ok().map(|number| Duration::from_secs(number.get().into())),
        |value| value.as_secs();
    /// A number of milliseconds; 0 means "none".
    milliseconds_or_none: Option<Duration> = |text| text.parse::<u32>().ok()
        .map(|ms| NonZeroU32::new(ms).map(|ms| Duration::from_millis(ms.get().into()))),
        |value| value.map_or(0, |time| time.as_millis());
    mtu_bytes: Mtu = |text| text.parse().ok().and_then(Mtu::from_bytes), |value| value.bytes().unwrap_or_default();
    service_level: ServiceLevel = |text| text.parse().ok(), |value| value;
    /// A rate in Gb/s. The C ibacm requires 2 for 2.5 Gb/s; both are accepted.
    gbps: Rate = |text| match text {
        "2.5" => Some(Rate::GBPS_2_5),
        number => number.parse().ok().and_then(Rate::from_gbps),
    }, |value| value.name().and_then(|name| name.split(' ').next()).unwrap_or("0");
}

struct NumberOrAuto(Option<NonZeroU32>);

impl fmt::Display for NumberOrAuto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(f),
            None => f.write_str("auto"),
        }
    }
}

/// Reader of a path, which is not interpreted.
pub(super) mod path {
    use core::fmt;
    #[expect(clippy::unnecessary_wraps, reason = "one signature for the readers of every option")]
    pub(in super::super) fn read(text: &str) -> Option<&str> {
        Some(text)
    }
    pub(in super::super) fn write(value: &&str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(value)
    }
}

/// The subnets that a provider serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderSubnets {
    /// All subnets for which no other provider is configured.
    Default,
    /// The subnet with this prefix, as in [`Gid::prefix`](ib_mad::Gid::prefix).
    Prefix(u64),
}

impl ProviderSubnets {
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("default") {
            return Some(Self::Default);
        }
        // A prefix has the format of a GUID: decimal, or hex with 0x.
        text.parse::<ib_mad::Guid>().ok().map(|prefix| Self::Prefix(prefix.get()))
    }
}

/// A provider and the subnets that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Provider<'a> {
    /// Name of the provider as in the file.
    pub name: &'a str,
    /// Subnets that the provider serves.
    pub subnets: ProviderSubnets,
}

impl fmt::Display for Provider<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subnets {
            ProviderSubnets::Default => write!(f, "{} default", self.name),
            ProviderSubnets::Prefix(prefix) => write!(f, "{} {prefix:#018x}", self.name),
        }
    }
}
