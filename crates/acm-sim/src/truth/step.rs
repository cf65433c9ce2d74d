//! Sequences of lookups and events as text, so that the smallest one is a test.
use crate::World;
use acm_wire::Address;
use core::{fmt, str::FromStr};

/// A sequence of lookups and events in a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of the last nodes that answer as C ibacm does.
    pub c_nodes: u32,
    /// Seed of the fabric's random numbers.
    pub seed: u64,
    /// True for `route_prot acm`.
    pub acm: bool,
    /// Datagrams, and requests to the SA, that are lost before the calm, in percent.
    pub loss: u32,
    /// True without the option `witness`.
    pub no_witness: bool,
    /// True for `prefetch on`.
    pub prefetch: bool,
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// A lookup or an event, and the time since the step before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Milliseconds after the step before.
    pub after_ms: u32,
    /// The lookup or event.
    pub act: Act,
}

/// A kind of destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The name, which a node keeps.
    Name,
    /// The IPv4 address that the node had at the start.
    Ip4,
    /// The IPv6 address that the node had at the start.
    Ip6,
    /// The node's GID at the time of the request.
    Gid,
    /// The node's LID at the time of the request.
    Lid,
}

impl What {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Name, Self::Ip4, Self::Ip6, Self::Gid, Self::Lid];

    const fn word(self) -> &'static str {
        match self {
            Self::Name => "node",
            Self::Ip4 => "ip",
            Self::Ip6 => "six",
            Self::Gid => "gid",
            Self::Lid => "lid",
        }
    }
}

/// A destination of a lookup: an address, GID or LID that belonged to a node, numbered from 0, at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The kind.
    pub what: What,
    /// The node that has it at the start.
    pub of: usize,
}

impl Target {
    /// Returns the address; `None` for a GID and for a LID.
    #[must_use]
    pub fn address(self) -> Option<Address> {
        let [name, ip4, ip6] = World::addresses(u32::try_from(self.of).ok()?);
        match self.what {
            What::Name => Some(name),
            What::Ip4 => Some(ip4),
            What::Ip6 => Some(ip6),
            What::Gid | What::Lid => None,
        }
    }
}

/// Defines the acts: their words, and which node numbers and times follow each word.
macro_rules! acts {
    ($($(#[$m:meta])* $act:ident $word:literal { $($field:ident: $type:ty),* },)*) => {
        /// A lookup or an event. Nodes are numbered from 0, but from 1 in text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Act {
            $($(#[$m])* $act {
                $(#[doc = concat!("The ", stringify!($field), ".")] $field: $type),*
            },)*
        }

        impl fmt::Display for Act {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$act { $($field),* } => {
                        f.write_str($word)?;
                        $(write!(f, " {}", $field.written())?;)*
                    })*
                }
                Ok(())
            }
        }

        impl FromStr for Act {
            type Err = ParseSequenceError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut words = text.split_whitespace();
                let act = match words.next() {
                    $(Some($word) => Self::$act { $($field: Word::read(words.next())?),* },)*
                    _ => return Err(ParseSequenceError(text.into())),
                };
                words.next().map_or(Ok(act), |word| Err(ParseSequenceError(word.into())))
            }
        }

        impl Act {
            /// Returns the word for the kind.
            #[must_use]
            pub const fn word(&self) -> &'static str {
                match self {
                    $(Self::$act { .. } => $word,)*
                }
            }
        }
    };
}

acts! {
    /// A node looks up a destination.
    Look "look" { node: usize, target: Target },
    /// An address moves to another node.
    Move "move" { target: Target, to: usize },
    /// Two nodes exchange their LIDs.
    Swap "swap" { one: usize, other: usize },
    /// Each node gets the LID of the next one.
    Rotate "rotate" {},
    /// A node's port is down for a time.
    Bounce "bounce" { node: usize, ms: u32 },
    /// The subnet manager restarts: it has lost groups, subscriptions, and asks all ports to register again.
    Manager "manager" {},
    /// The subnet manager drops a node's memberships, and asks its port to register again.
    Register "register" { node: usize },
    /// The subnet manager deletes all groups.
    Delete "delete" {},
    /// A node's daemon restarts.
    Restart "restart" { node: usize },
    /// A node's port gets another GUID, and its GID with it.
    Guid "guid" { node: usize },
    /// The SA does not respond for a time.
    Mute "mute" { ms: u32 },
    /// The SA answers BUSY for a time.
    Busy "busy" { ms: u32 },
    /// The responses of the SA take this long for a time, so that they show what was true before.
    Lag "lag" { ms: u32, by: u32 },
    /// Every second datagram to a node is lost for a time.
    Deaf "deaf" { node: usize, ms: u32 },
    /// The device of a node is opened again: its queue pairs are others.
    Device "device" { node: usize },
    /// A node has no address of this name any more, until it moves to another node.
    Remove "remove" { target: Target },
    /// A node's port leaves the partition for a time.
    Leave "leave" { node: usize, ms: u32 },
    /// Another port becomes the master of the subnet managers. It knows no groups and subscriptions.
    Failover "failover" {},
    /// The SA sends no notices, and accepts no subscriptions, for a time.
    Quiet "quiet" { ms: u32 },
    /// The daemon of a node is stopped for a time.
    Stop "stop" { node: usize, ms: u32 },
    /// The daemon of a node applies its options again.
    Reload "reload" { node: usize },
}

/// A word of a step.
trait Word: Sized {
    fn written(&self) -> String;
    fn parsed(word: &str) -> Option<Self>;
    fn read(word: Option<&str>) -> Result<Self, ParseSequenceError> {
        word.and_then(Self::parsed).ok_or_else(|| ParseSequenceError(word.unwrap_or("the end of a line").into()))
    }
}

impl Word for usize {
    fn written(&self) -> String {
        (self + 1).to_string()
    }
    fn parsed(word: &str) -> Option<Self> {
        word.parse::<Self>().ok()?.checked_sub(1)
    }
}

impl Word for u32 {
    fn written(&self) -> String {
        self.to_string()
    }
    fn parsed(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

impl Word for Target {
    fn written(&self) -> String {
        self.to_string()
    }
    fn parsed(word: &str) -> Option<Self> {
        What::ALL.into_iter().find_map(|what| {
            let of = word.strip_prefix(what.word()).and_then(usize::parsed)?;
            Some(Self { what, of })
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what.word(), self.of + 1)
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nodes {} seed {}", self.nodes, self.seed)?;
        if self.c_nodes > 0 {
            write!(f, " c {}", self.c_nodes)?;
        }
        if self.acm {
            f.write_str(" acm")?;
        }
        if self.no_witness {
            f.write_str(" no-witness")?;
        }
        if self.prefetch {
            f.write_str(" prefetch")?;
        }
        if self.loss > 0 {
            write!(f, " loss {}", self.loss)?;
        }
        self.steps.iter().try_for_each(|step| write!(f, "\n+{} {}", step.after_ms, step.act))
    }
}

/// The error of a text that is no [`Sequence`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSequenceError(String);

impl fmt::Display for ParseSequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unexpected in a sequence: {}", self.0)
    }
}

impl core::error::Error for ParseSequenceError {}

impl FromStr for Sequence {
    type Err = ParseSequenceError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut sequence = Self {
            nodes: 2,
            c_nodes: 0,
            seed: 1,
            acm: false,
            loss: 0,
            no_witness: false,
            prefetch: false,
            steps: Vec::new(),
        };
        let mut words = lines.next().unwrap_or_default().split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "acm" => sequence.acm = true,
                "no-witness" => sequence.no_witness = true,
                "prefetch" => sequence.prefetch = true,
                "nodes" => sequence.nodes = Word::read(words.next())?,
                "c" => sequence.c_nodes = Word::read(words.next())?,
                "loss" => sequence.loss = Word::read(words.next())?,
                "seed" => sequence.seed = u64::from(u32::read(words.next())?),
                _ => return Err(ParseSequenceError(word.into())),
            }
        }
        for line in lines {
            let (time, act) = line.strip_prefix('+').and_then(|line| line.split_once(' ')).unwrap_or_default();
            sequence.steps.push(Step { after_ms: Word::read(Some(time))?, act: act.parse()? });
        }
        Ok(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_survives_a_round_trip_as_text() {
        let text = "nodes 4 seed 7 c 1 acm no-witness prefetch loss 5\n+0 look 2 ip3\n+120 move six1 4\n+3 bounce 1 250\n+0 manager";
        let sequence: Sequence = text.parse().unwrap();
        assert_eq!(sequence.steps[0].act, Act::Look { node: 1, target: Target { what: What::Ip4, of: 2 } });
        assert_eq!(sequence.to_string(), text);
        for bad in ["nodes", "nodes 2\nlook 1 ip2", "nodes 2\n+1 look 0 ip2", "nodes 2\n+1 manager 2", "x"] {
            assert!(bad.parse::<Sequence>().is_err(), "{bad}");
        }
    }
}
