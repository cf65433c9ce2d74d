//! Who a wake-up is for.
use crate::metrics;
use mio::Token;

pub(super) const LISTENER: Token = Token(0);
pub(super) const SIGNALS: Token = Token(1);
/// A thread of ours has something: a table was read from a file, a provider said something.
pub(super) const WOKEN: Token = Token(2);
pub(super) const KERNEL: Token = Token(3);
pub(super) const ALARM: Token = Token(14);
pub(super) const INTERFACES: Token = Token(15);
// Those of scrapers are in between.
const _: () = assert!(KERNEL.0 < metrics::TOKENS.start && metrics::TOKENS.end <= INTERFACES.0);
/// Clients' tokens are their numbers after this.
pub(super) const FIRST_CLIENT: usize = 16;
/// The fabric's tokens are this and those after it.
pub(super) const FABRIC: Token = Token(usize::MAX / 2);
