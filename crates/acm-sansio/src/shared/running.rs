//! The phases of the core's life.
/// The phase of the core's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    /// Endpoints are opened, groups joined, requests answered.
    Serving,
    /// Groups are being left.
    Leaving,
    /// All groups are left, or the time-out for leaving is over.
    Stopped,
}
