//! Who a wake-up is for.
use mio::Token;

pub(super) const LISTENER: Token = Token(0);
pub(super) const SIGNALS: Token = Token(1);
pub(super) const FABRIC: Token = Token(2);
pub(super) const KERNEL: Token = Token(3);
/// Clients' tokens are their numbers after this.
pub(super) const FIRST_CLIENT: usize = 16;
