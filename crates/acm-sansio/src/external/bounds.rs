//! What one provider outside of the core may have under way.

/// Requests that were called and are not returned from, beside one call that opens or closes something.
pub(super) const CALLS: usize = 64;
/// Requests that it has not answered. Those beyond wait for their turn.
pub(super) const UNANSWERED: u32 = 1024;
/// Its requests to subnet administration. Those beyond fail at once.
pub(super) const SA_REQUESTS: usize = 256;
