//! What an endpoint has to tell the group, and how far that is.
use crate::Time;
use ib_mad::Qpn;

/// What an endpoint has to tell.
#[derive(Debug, Default)]
pub(super) struct Announcement {
    /// The place of the first address that is not told yet.
    pub(super) next: Option<usize>,
    /// Nothing is told before: a port that moves all the time is not heard all the time.
    pub(super) not_before: Option<Time>,
    /// The queue pair that peers may know.
    qpn: Option<Qpn>,
}

impl Announcement {
    /// The endpoint has this queue pair now; whether peers may know another one.
    pub(super) fn moves_to(&mut self, qpn: Option<Qpn>) -> bool {
        let Some(qpn) = qpn else { return false };
        self.qpn.replace(qpn).is_some_and(|before| before != qpn)
    }
}
