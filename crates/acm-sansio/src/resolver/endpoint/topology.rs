//! The path that an endpoint compares with the subnet administrator's (SA), with `route_prot acm`.
use crate::{api::Time, retry::COMPARE};
use ib_mad::{Gid, sa::PathRecord};

/// The comparison of paths by the parameters of a group with those of the SA.
#[derive(Debug, Default)]
pub(crate) struct Topology {
    /// The path to compare.
    path: Option<PathRecord>,
    /// The time before which no other path is compared.
    not_before: Option<Time>,
    /// `true` if the last path that was compared differs. The log has it.
    differs: bool,
}

impl Topology {
    /// Records a path by the group's parameters. Returns `true` if it is to be compared.
    pub(crate) fn found(&mut self, now: Time, path: &PathRecord) -> bool {
        let is_due = self.path.is_none() && self.not_before.is_none_or(|at| at <= now);
        if is_due {
            (self.path, self.not_before) = (Some(*path), Some(now + COMPARE));
        }
        is_due
    }

    /// Returns the GID at the end of the path to compare.
    pub(crate) fn dgid(&self) -> Option<Gid> {
        self.path.map(|path| path.dgid)
    }

    /// Ends the comparison with the path of the SA; `None`: it has none in both directions. Returns the GID if the path
    /// differs and the path before did not.
    pub(crate) fn compared(&mut self, with: Option<&PathRecord>) -> Option<Gid> {
        let path = self.path.take()?;
        let differs = with.is_none_or(|with| is_unlike(&path, with));
        let did = core::mem::replace(&mut self.differs, differs);
        (differs && !did).then_some(path.dgid)
    }

    /// Ends the comparison without a result.
    pub(crate) const fn dropped(&mut self) {
        self.path = None;
    }

    /// Lets the next path be compared, after an event that may have brought another subnet manager.
    pub(crate) const fn forget(&mut self) {
        (self.not_before, self.differs) = (None, false);
    }

    /// Reports whether the last path that was compared differs.
    pub(crate) const fn differs(&self) -> bool {
        self.differs
    }
}

/// Reports whether a path by the group's parameters has another service level than the path of the SA, or needs more than
/// that path has, or if that path leads in one direction only. Other service levels may cause credit loops.
fn is_unlike(path: &PathRecord, of_sa: &PathRecord) -> bool {
    !of_sa.reversible_paths.reversible()
        || path.qos_sl.sl() != of_sa.qos_sl.sl()
        || path.mtu.value() > of_sa.mtu.value()
        || path.rate.value().mbps() > of_sa.rate.value().mbps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use ib_mad::{
        Mtu, Rate, Selected, ServiceLevel,
        sa::{QosSl, ReversiblePaths},
    };

    fn path(sl: u8, mtu: Mtu, rate: Rate) -> PathRecord {
        let qos_sl = QosSl::default().with_sl(ServiceLevel::checked(sl).unwrap());
        let (mtu, rate) = (Selected::exactly(mtu), Selected::exactly(rate));
        let reversible_paths = ReversiblePaths::default().with_reversible(true);
        PathRecord { dgid: "fe80::7".parse().unwrap(), reversible_paths, qos_sl, mtu, rate, ..PathRecord::default() }
    }

    #[test]
    fn path_differs_by_its_level_and_if_it_needs_more_than_the_sas() {
        let group = path(0, Mtu::B2048, Rate::GBPS_40);
        let is_unlike = |sl, mtu, rate| is_unlike(&group, &path(sl, mtu, rate));
        assert!(!is_unlike(0, Mtu::B2048, Rate::GBPS_40) && !is_unlike(0, Mtu::B4096, Rate::GBPS_100));
        assert!(is_unlike(1, Mtu::B2048, Rate::GBPS_40));
        assert!(is_unlike(0, Mtu::B1024, Rate::GBPS_40) && is_unlike(0, Mtu::B2048, Rate::GBPS_20));
    }

    // docs/deviations.md: compared-paths
    #[test]
    fn one_path_is_compared_in_an_hour_and_a_difference_is_reported_once() {
        let at = |minutes: u64| Time::ZERO + Duration::from_secs(60 * minutes);
        let (group, other) = (path(0, Mtu::B2048, Rate::GBPS_40), path(1, Mtu::B2048, Rate::GBPS_40));
        let mut topology = Topology::default();
        assert!(topology.found(at(0), &group) && !topology.found(at(99), &group), "the first is not compared yet");
        assert_eq!((topology.compared(None), topology.differs()), (Some(group.dgid), true));
        assert_eq!(topology.compared(None), None, "nothing is compared");
        assert!(!topology.found(at(59), &group) && topology.found(at(60), &group));
        assert_eq!((topology.compared(Some(&other)), topology.differs()), (None, true), "it was reported");
        assert!(topology.found(at(120), &group));
        assert_eq!((topology.compared(Some(&group)), topology.differs()), (None, false));
        assert!(topology.found(at(180), &group));
        topology.dropped();
        assert!(!topology.found(at(181), &group) && topology.found(at(240), &group));
        assert_eq!(topology.compared(Some(&other)), Some(group.dgid));
        topology.forget();
        assert!(topology.found(at(241), &group), "another subnet manager may have other paths");
        assert_eq!(topology.compared(Some(&other)), Some(group.dgid));
    }
}
