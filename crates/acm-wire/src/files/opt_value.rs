//! What the values of options can be, and how each is read and written.
use core::{fmt, net::SocketAddr, num::NonZeroU32, time::Duration};
use ib_mad::{Mtu, Rate};

/// An enumeration of words; the first spelling is the one that is written.
macro_rules! words {
    ($($(#[$m:meta])* pub enum $name:ident {
        $($(#[$vm:meta])* $variant:ident = $text:literal $(| $also:literal)*,)*
    })*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// How addresses are resolved to GIDs.
    pub enum AddrProt {
        /// By ACM multicast.
        Acm = "acm",
    }
    /// How paths are resolved.
    pub enum RouteProt {
        /// By a path record query to the subnet administrator.
        Sa = "sa",
        /// From the multicast group that both sides share.
        Acm = "acm",
    }
    /// How addresses of this node are resolved.
    pub enum LoopbackProt {
        /// From what is known locally.
        Local = "local",
        /// As every other address.
        None = "none",
    }
    /// Where the daemon listens.
    pub enum ServerMode {
        /// On a unix socket.
        Unix = "unix",
        /// On TCP, 127.0.0.1 only.
        Loop = "loop",
        /// On TCP, every address.
        Open = "open",
    }
    /// Where paths are loaded from at the start.
    pub enum RoutePreload {
        /// They are not.
        None = "none" | "no",
        /// From a dump of OpenSM ([`path_dump`](crate::files::path_dump)). C ibacm's code and its manual spell it
        /// differently; both are read.
        OpenSmFullV1 = "opensm_full_v1" | "full_opensm_v1",
    }
    /// Where addresses are loaded from at the start.
    pub enum AddrPreload {
        /// They are not.
        None = "none" | "no",
        /// From a list of hosts ([`hosts`](crate::files::hosts)).
        AcmHosts = "acm_hosts",
    }
}

/// Where the log goes.
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

/// Where counters are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricsTarget<'a> {
    /// Counters are not served.
    None,
    /// On a unix socket.
    Unix(&'a str),
    /// On TCP, of this machine only.
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

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// 0: configuration and errors.
    Basic,
    /// 1: the same in more words.
    Verbose,
    /// 2 and over: every operation.
    Operation,
}

impl LogLevel {
    pub(super) fn read(text: &str) -> Option<Self> {
        Some(match text.parse::<u32>().ok()? {
            0 => Self::Basic,
            1 => Self::Verbose,
            2.. => Self::Operation,
        })
    }
    pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match value {
            Self::Basic => "0",
            Self::Verbose => "1",
            Self::Operation => "2",
        })
    }
}

/// A number from 1 to a bound.
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

            #[doc = concat!("So many; `None` unless they are 1 to ", $most, ".")]
            #[must_use]
            pub const fn new(number: u8) -> Option<Self> {
                if matches!(number, 1..=$most) { Some(Self(number)) } else { None }
            }

            #[doc = concat!("How many, 1 to ", $most, ".")]
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
    /// A part of a whole, 1 to 100 hundredths.
    pub struct Percent(1..=100) {
        /// 90: nearly all, so that something is left.
        const MOST = 90;
    }
    /// Multicast groups that a request can list, 1 to 6.
    pub struct GroupCount(1..=6) {
        /// 2: as many as C ibacm has.
        const TWO = 2;
    }
}

/// A reader and a writer for each kind of value that is no type of this module.
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
    /// At least 1.
    depth: NonZeroU32 = |text| text.parse().ok(), |value| value;
    /// At least 1; `None` is "what is best".
    auto: Option<NonZeroU32> = |text| match text {
        _ if text.eq_ignore_ascii_case("auto") => Some(None),
        number => number.parse().ok().map(Some),
    }, |value| NumberOrAuto(*value);
    tcp_port: u16 = |text| text.parse().ok().filter(|port| *port != 0), |value| value;
    /// Any number but 0 is "yes".
    yes_no: bool = |text| match text {
        _ if ["yes", "true"].iter().any(|yes| text.eq_ignore_ascii_case(yes)) => Some(true),
        _ if ["no", "false"].iter().any(|no| text.eq_ignore_ascii_case(no)) => Some(false),
        number => number.parse::<i32>().ok().map(|number| number != 0),
    }, |value| if *value { "yes" } else { "no" };
    /// -1 is "never".
    minutes: Option<Duration> = |text| match text {
        "-1" => Some(None),
        number => number.parse::<u32>().ok().map(|minutes| Some(Duration::from_secs(u64::from(minutes) * 60))),
    }, |value| value.map_or(-1, |time| i64::try_from(time.as_secs() / 60).unwrap_or(-1));
    /// At least 1.
    milliseconds: Duration = |text| text.parse::<NonZeroU32>().ok().map(|ms| Duration::from_millis(ms.get().into())),
        |value| value.as_millis();
    /// At least 1.
    seconds: Duration = |text| text.parse::<NonZeroU32>().ok().map(|number| Duration::from_secs(number.get().into())),
        |value| value.as_secs();
    /// 0 is "none".
    milliseconds_or_none: Option<Duration> = |text| text.parse::<u32>().ok()
        .map(|ms| NonZeroU32::new(ms).map(|ms| Duration::from_millis(ms.get().into()))),
        |value| value.map_or(0, |time| time.as_millis());
    mtu_bytes: Mtu = |text| text.parse().ok().and_then(Mtu::from_bytes), |value| value.bytes().unwrap_or_default();
    /// The number in the rate's name; 2.5 may be written 2, as C ibacm wants it.
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

/// An option whose value is a path, taken as it is written.
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

/// Which subnets a provider serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderSubnets {
    /// Those that no other line names.
    Default,
    /// The one with this prefix, as [`Gid::prefix`](ib_mad::Gid::prefix) gives it.
    Prefix(u64),
}

impl ProviderSubnets {
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("default") {
            return Some(Self::Default);
        }
        // A prefix is a number like a GUID: decimal, or hex behind 0x.
        text.parse::<ib_mad::Guid>().ok().map(|prefix| Self::Prefix(prefix.get()))
    }
}

/// Which provider serves which subnets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Provider<'a> {
    /// Name of the provider, as written.
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
