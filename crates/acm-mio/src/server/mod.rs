//! The daemon: start, loop, end.
mod connection;
mod daemon;
mod listener;
mod start;

pub(crate) use start::{StartError, run};

use mio::Token;

/// Who a wake-up is for.
const LISTENER: Token = Token(0);
const SIGNALS: Token = Token(1);
const KERNEL: Token = Token(3);
/// Clients' tokens are their numbers after this.
const FIRST_CLIENT: usize = 16;
/// The fabric's tokens are this and those after it.
const FABRIC: Token = Token(usize::MAX / 2);

impl StartError {
    /// What ibacm would exit with.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            // ibacm says "shutting down" and exits with 0; a supervisor must see that nothing is served.
            Self::Listen(_) | Self::Loop(_) | Self::FabricLost(_) => 1,
            // Initialization failures: -1.
            _ => 255,
        }
    }
}
