//! The steps of hostile users: drawn from a seed, and written as text, a line for each.
use core::{fmt, str::FromStr};

/// Number of users.
pub(super) const USERS: u32 = 1000;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal weight $weight:literal most $most:literal;)*) => {
        /// An action of a user.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the name, the share among all kinds, and the largest number of repetitions.
            const fn row(self) -> (&'static str, u64, u64) {
                match self {
                    $(Self::$kind => ($name, $weight, $most),)*
                }
            }
        }
    };
}

kinds! {
    /// Opens connections and keeps them.
    Connect "connect" weight 4 most 64;
    /// Opens a connection, sends a request and closes, again and again.
    Churn "churn" weight 4 most 64;
    /// Closes connections.
    Close "close" weight 6 most 64;
    /// Requests for a cached name.
    Cached "cached" weight 8 most 64;
    /// Requests for names that no node has.
    Unknown "unknown" weight 4 most 80;
    /// The same with NODELAY.
    Dead "dead" weight 4 most 80;
    /// Requests for the name of a peer with conditions of a path.
    Conditions "conditions" weight 4 most 16;
    /// Requests for counters.
    Counters "counters" weight 6 most 64;
    /// Requests for local endpoints.
    Endpoints "endpoints" weight 2 most 64;
    /// The first half of a request, and the other half in a later step.
    Half "half" weight 4 most 1;
    /// Bytes that are no request, each on a connection of its own.
    Malformed "malformed" weight 4 most 16;
    /// A message with the largest length, as far as the socket accepts it.
    Huge "huge" weight 3 most 8;
    /// Reads all responses.
    Read "read" weight 16 most 1;
    /// Sends requests until the socket is full, and reads nothing.
    Deaf "deaf" weight 2 most 16;
    /// Shuts down sending.
    EndSending "end-sending" weight 3 most 1;
    /// Shuts down receiving.
    EndReceiving "end-receiving" weight 3 most 1;
    /// Shuts down both.
    EndBoth "end-both" weight 3 most 1;
    /// Requests responses, shuts down sending, reads nothing, and keeps the connection.
    Abandon "abandon" weight 4 most 5000;
    /// Starts a process that keeps the connection open.
    Fork "fork" weight 1 most 1;
    /// Replaces the connection's descriptor by a duplicate.
    Duplicate "duplicate" weight 2 most 1;
    /// Requests the shared memory and reads nothing.
    Memory "memory" weight 2 most 32;
    /// Requests the shared memory, and reads it.
    ReadMemory "read-memory" weight 2 most 8;
    /// Reports lookups in the shared memory.
    Report "report" weight 2 most 16;
    /// Sends a socket.
    SendSocket "send-socket" weight 2 most 32;
    /// Sends a pipe.
    SendPipe "send-pipe" weight 2 most 32;
    /// Sends a memory file with 64 MiB.
    SendMemory "send-memory" weight 1 most 4;
    /// Sends an epoll instance.
    SendEpoll "send-epoll" weight 2 most 32;
    /// Sends the connection itself.
    SendItself "send-itself" weight 2 most 32;
    /// Sends a TCP socket with unsent data, whose last close waits for two minutes.
    SendTcp "send-tcp" weight 1 most 4;
    /// Sends credentials.
    SendCredentials "send-credentials" weight 2 most 32;
    /// Requests control commands and pages that the user may not have.
    Control "control" weight 2 most 8;
    /// Connects to the metrics and keeps the connection, with or without a request.
    Metrics "metrics" weight 2 most 8;
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

/// A step of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The user, below 1,000.
    pub user: u32,
    /// The action.
    pub kind: Kind,
    /// The number of repetitions.
    pub times: u32,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.user, self.kind, self.times)
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split(' ').collect();
        let step = || {
            let [user, name, times] = words[..] else { return None };
            let kind = *Kind::ALL.iter().find(|kind| kind.row().0 == name)?;
            Some(Self { user: user.parse().ok()?, kind, times: times.parse().ok()? })
        };
        step().ok_or_else(|| format!("not `USER KIND TIMES`: {line:?}"))
    }
}

/// Random numbers from a seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Begins with a seed.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`.
    pub(super) const fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Draws `count` steps of these kinds from a seed.
pub(super) fn draw(seed: u64, count: usize, kinds: &[Kind]) -> Vec<Step> {
    let mut random = Random::new(seed);
    let all: u64 = kinds.iter().map(|kind| kind.row().1).sum();
    let step = |_| {
        // Every other step is of one of eight users, who so have many connections.
        let user = if random.below(2) == 0 { random.below(8) } else { random.below(USERS.into()) };
        let mut position = random.below(all);
        let kind = kinds.iter().find(|kind| {
            let found = position < kind.row().1;
            position = position.saturating_sub(kind.row().1);
            found
        });
        let kind = *kind.unwrap();
        // Small numbers are as frequent as large ones.
        let most = kind.row().2;
        let most = if random.below(2) == 0 { most.min(4) } else { most };
        let number = |number: u64| u32::try_from(number).unwrap();
        Step { user: number(user), kind, times: number(1 + random.below(most)) }
    };
    (0..count).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_seed_are_the_same_and_their_text_is_read_again() {
        let steps = draw(7, 2000, Kind::ALL);
        assert_eq!(steps, draw(7, 2000, Kind::ALL));
        assert_ne!(steps, draw(8, 2000, Kind::ALL));
        let again: Vec<Step> = steps.iter().map(|step| step.to_string().parse().unwrap()).collect();
        assert_eq!(steps, again);
        assert!(Kind::ALL.iter().all(|kind| steps.iter().any(|step| step.kind == *kind)));
        assert!("1 unheard-of 1".parse::<Step>().is_err());
    }
}
