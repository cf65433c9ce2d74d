//! Alternate paths of a path: those between the other LIDs of both ports, for automatic path migration (APM).
use crate::request::Request;
use ib_mad::{Lid, sa::PathRecord};

/// The number of LIDs of a port with the largest LMC, 7.
const MAX_LIDS: u16 = 128;

/// Returns the request for a path between the same ports. `index` is below the number of LIDs of each port; 0 stands
/// for the given path.
///
/// The LIDs of a port differ in their lowest bits (LMC, IBTA 3.5.10), so that the exclusive or with an index changes a
/// LID to another one of the same port, whatever the first of them is.
fn other(path: &PathRecord, conditions: &PathRecord, index: u16) -> PathRecord {
    let lid = |lid: Lid| Lid::new(lid.get() ^ index);
    let pkey = if conditions.pkey.is_zero() { path.pkey } else { conditions.pkey };
    let reversible_paths = conditions.reversible_paths.with_reversible(true).with_num_path(1);
    let PathRecord { dgid, sgid, .. } = *path;
    PathRecord { dgid, sgid, dlid: lid(path.dlid), slid: lid(path.slid), pkey, reversible_paths, ..*conditions }
}

/// Requests the alternate paths of a path: one path for each further LID of both ports, at most `most`. A connection
/// that uses them can migrate (APM) from one to another without new lookups, if their routes through the fabric differ.
/// With LMC 0 there are none, and the subnet administrator is not queried.
///
/// `conditions` are those of the request for the path, if any; its ends are ignored. `ask` sends a request, waits for
/// the response, and returns its path, or `None` if the daemon has refused it.
/// [`Client::alternates`](crate::Client::alternates) is this function for a client. The list ends at the first path
/// that the daemon refuses. C ibacm caches one path for each GID, so that beside it the list is empty.
///
/// # Errors
/// Those of `ask`.
pub fn alternates<E>(
    path: &PathRecord,
    conditions: &PathRecord,
    most: usize,
    mut ask: impl FnMut(&Request) -> Result<Option<PathRecord>, E>,
) -> Result<Vec<PathRecord>, E> {
    let mut found = Vec::new();
    for index in (1..MAX_LIDS).take(most) {
        let wanted = other(path, conditions, index);
        let Some(path) = ask(&Request::Route { path: wanted, no_delay: false })? else { break };
        // C ibacm responds with the path that it has cached for the GID.
        if (path.slid, path.dlid) != (wanted.slid, wanted.dlid) {
            break;
        }
        found.push(path);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;
    use ib_mad::{Pkey, ServiceId};

    fn path() -> PathRecord {
        let [sgid, dgid] = ["fe80::1", "fe80::2"].map(|gid| gid.parse().unwrap());
        let [slid, dlid] = [5, 10].map(Lid::new);
        PathRecord { sgid, dgid, slid, dlid, pkey: Pkey::new(0x8005), ..PathRecord::default() }
    }

    /// Answers as a daemon whose ports have `lids` LIDs each.
    fn with_lids(lids: u16, asked: &mut Vec<PathRecord>, request: &Request) -> Result<Option<PathRecord>, Infallible> {
        let Request::Route { path: wanted, no_delay: false } = *request else { panic!("{request:?}") };
        asked.push(wanted);
        let is_there = wanted.slid.get() / lids == path().slid.get() / lids
            && wanted.dlid.get() / lids == path().dlid.get() / lids;
        Ok(is_there.then_some(wanted))
    }

    fn lids(paths: &[PathRecord]) -> Vec<(u16, u16)> {
        paths.iter().map(|path| (path.slid.get(), path.dlid.get())).collect()
    }

    #[test]
    fn each_lid_of_a_port_has_one_path() {
        let conditions = PathRecord { service_id: ServiceId::new(987), ..PathRecord::default() };
        let mut asked = Vec::new();
        let found = alternates(&path(), &conditions, 9, |request| with_lids(4, &mut asked, request));
        assert_eq!(lids(&found.unwrap()), [(4, 11), (7, 8), (6, 9)]);
        assert_eq!(asked.len(), 4, "the list ends at the first path that does not exist");
        assert!(asked.iter().all(|wanted| (wanted.service_id, wanted.pkey) == (conditions.service_id, path().pkey)));
        let other = PathRecord { pkey: Pkey::new(0x8006), ..conditions };
        assert_eq!(super::other(&path(), &other, 1).pkey, other.pkey);
    }

    #[test]
    fn number_of_paths_is_bounded() {
        for (most, lids, count) in [(0, 4, 0), (2, 4, 2), (usize::MAX, 1, 0), (usize::MAX, 128, 127)] {
            let found =
                alternates(&path(), &PathRecord::default(), most, |request| with_lids(lids, &mut Vec::new(), request));
            assert_eq!(found.unwrap().len(), count, "{most} of {lids}");
        }
    }

    #[test]
    fn path_between_other_lids_is_no_alternate() {
        let same = |_: &Request| Ok::<_, Infallible>(Some(path()));
        assert_eq!(alternates(&path(), &PathRecord::default(), 3, same), Ok(Vec::new()));
    }

    #[test]
    fn lost_connection_is_an_error() {
        let lost = |_: &Request| Err("lost");
        assert_eq!(alternates(&path(), &PathRecord::default(), 3, lost), Err("lost"));
    }
}
