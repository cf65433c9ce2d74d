//! How long a cached path is served, and when it is renewed.
use crate::api::{Time, config::Config};
use core::time::Duration;

/// Entries in use are renewed in the last eighth of their lifetime.
const LAST_PART: u32 = 8;

/// The next confirmation of a path in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Confirmation {
    /// The path was not used since it was found or last confirmed.
    NotNeeded,
    /// The path was used since.
    Needed,
    /// The path is queued for renewal in order to be confirmed.
    Queued,
}

/// The lifetime of a cached path, its use, and the renewal that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freshness {
    /// The expiry time of the address; `None`: it does not expire.
    pub(crate) addr_until: Option<Time>,
    /// The expiry time of the path; `None`: it does not expire.
    pub(crate) route_until: Option<Time>,
    /// The endpoint's epoch in which the path was last found valid.
    pub(crate) epoch: u32,
    /// The number of the preloaded tables that the path or address comes from. It is invalid after the next load.
    pub(crate) preloaded: Option<u32>,
    /// `true` if an event may have made it wrong.
    pub(crate) stale: bool,
    /// `true` if it is queued for renewal.
    pub(crate) queued: bool,
    /// `true` if it was used since it was found or last renewed.
    served: bool,
    /// `true` if it was renewed.
    renewed: bool,
    confirmation: Confirmation,
}

impl Freshness {
    /// Creates the freshness of a path that is found now, in this epoch of its endpoint.
    pub(crate) const fn new(epoch: u32) -> Self {
        Self {
            addr_until: None,
            route_until: None,
            epoch,
            preloaded: None,
            stale: false,
            queued: false,
            served: false,
            renewed: false,
            confirmation: Confirmation::NotNeeded,
        }
    }

    /// Records a use of the path.
    pub(crate) const fn note_use(&mut self) {
        self.served = true;
        if matches!(self.confirmation, Confirmation::NotNeeded) {
            self.confirmation = Confirmation::Needed;
        }
    }

    /// Reports whether it was used since it was last renewed. The request that found it is its first use.
    pub(crate) const fn is_in_use(&self) -> bool {
        self.served || !self.renewed
    }

    /// Reports whether neither the address nor the path has expired, and the path is not from a file that was replaced.
    /// `loads` is the number of the present files.
    pub(crate) fn is_lasting(&self, now: Time, loads: u32) -> bool {
        let lasts = |until: Option<Time>| until.is_none_or(|until| until > now);
        lasts(self.addr_until) && lasts(self.route_until) && !self.is_outdated(loads)
    }

    /// Reports whether the path is from a file that was replaced.
    pub(crate) fn is_outdated(&self, loads: u32) -> bool {
        self.preloaded.is_some_and(|load| load != loads)
    }

    /// Reports whether a path that a local user requested is due for renewal: it is in use, and is stale or expires soon.
    pub(crate) fn is_due(&self, now: Time, config: &Config) -> bool {
        let ends_soon = |until: Option<Time>, life: Option<Duration>| {
            until.zip(life).is_some_and(|(until, life)| now + life / LAST_PART >= until)
        };
        let ends = ends_soon(self.addr_until, config.addr_timeout) || ends_soon(self.route_until, config.route_timeout);
        self.served && ends || self.stale && self.is_in_use()
    }

    /// Reports whether the path was used since it was last confirmed, and no renewal of it is due anyway. Files are not
    /// compared with the subnet administrator.
    pub(crate) fn needs_confirmation(&self) -> bool {
        self.confirmation == Confirmation::Needed && !self.stale && !self.queued && self.preloaded.is_none()
    }

    /// Records that the path is queued for renewal in order to be confirmed.
    pub(crate) const fn confirmation_queued(&mut self) {
        self.confirmation = Confirmation::Queued;
    }

    /// Takes it from the queue, unless it is stale or is to be confirmed.
    pub(crate) fn unqueue_move(&mut self) {
        self.queued &= self.stale || self.confirmation == Confirmation::Queued;
    }

    /// Records that its renewal begins. It is not renewed again until it is used. A confirmation does not count as a
    /// renewal: a path in use is still renewed before it expires.
    pub(crate) fn renewal_begins(&mut self) {
        if core::mem::replace(&mut self.confirmation, Confirmation::NotNeeded) != Confirmation::Queued {
            (self.served, self.renewed) = (false, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_in_use_is_due_in_the_last_eighth_of_its_lifetime_or_if_it_is_stale() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let config = Config { route_timeout: Some(Duration::from_secs(800)), ..Config::default() };
        let mut path = Freshness { route_until: Some(at(800)), ..Freshness::new(0) };
        let due = |path: &Freshness| [699, 700].map(|seconds| path.is_due(at(seconds), &config));
        assert_eq!(due(&path), [false, false], "no request got it from the cache");
        path.note_use();
        assert_eq!(due(&path), [false, true]);
        path.renewal_begins();
        path.stale = true;
        assert_eq!(due(&path), [false, false], "it was not used since its renewal began");
        path.note_use();
        assert_eq!(due(&path), [true, true]);
    }

    #[test]
    fn confirmation_is_needed_once_for_a_use_and_is_no_renewal() {
        let mut path = Freshness::new(0);
        assert!(!path.needs_confirmation());
        path.note_use();
        assert!(path.needs_confirmation());
        path.confirmation_queued();
        path.queued = true;
        path.unqueue_move();
        assert!(path.queued && !path.needs_confirmation());
        path.renewal_begins();
        assert!(path.is_in_use() && !path.needs_confirmation());
        path.unqueue_move();
        assert!(!path.queued);
    }

    #[test]
    fn path_lasts_until_it_expires_or_its_file_is_replaced() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let path = Freshness { addr_until: Some(at(9)), route_until: Some(at(5)), ..Freshness::new(0) };
        assert_eq!([4, 5].map(|seconds| path.is_lasting(at(seconds), 7)), [true, false]);
        let path = Freshness { addr_until: Some(at(3)), ..path };
        assert_eq!([2, 3].map(|seconds| path.is_lasting(at(seconds), 7)), [true, false]);
        let path = Freshness { preloaded: Some(7), ..Freshness::new(0) };
        assert_eq!([7, 8].map(|loads| path.is_lasting(at(0), loads)), [true, false]);
    }
}
