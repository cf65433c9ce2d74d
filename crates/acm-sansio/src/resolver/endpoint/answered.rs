//! Recently answered requests, to detect a second host that responds for the same address.
use crate::resolver::token::DestId;
use alloc::collections::VecDeque;
use ib_mad::{Gid, TransactionId};

/// The number of requests. A second response usually comes within a round trip.
const MOST: usize = 64;

/// The requests of an endpoint that were answered last.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    requests: VecDeque<(TransactionId, DestId, Gid)>,
}

impl Answered {
    /// Records the response of the host with this GID.
    pub(crate) fn record(&mut self, tid: TransactionId, dest: DestId, host: Gid) {
        if self.requests.len() == MOST {
            self.requests.pop_front();
        }
        self.requests.push_back((tid, dest, host));
    }

    /// Returns the destination of a request and the GID of the host that responded first, if this is the second host
    /// that responds. A third one is not reported.
    pub(crate) fn second(&mut self, tid: TransactionId, host: Gid) -> Option<(DestId, Gid)> {
        let index = self.requests.iter().position(|(other, _, first)| *other == tid && *first != host)?;
        self.requests.remove(index).map(|(_, dest, first)| (dest, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_host_is_reported_once() {
        let mut answered = Answered::default();
        let [first, second] = ["fe80::1", "fe80::2"].map(|gid| gid.parse().unwrap());
        let (tid, dest) = (TransactionId::new(7), DestId::new(3, 0));
        answered.record(tid, dest, first);
        assert_eq!(answered.second(TransactionId::new(8), second), None, "another request");
        assert_eq!(answered.second(tid, first), None, "the same host, twice");
        assert_eq!(answered.second(tid, second), Some((dest, first)));
        assert_eq!(answered.second(tid, second), None);
    }

    #[test]
    fn last_64_requests_are_kept() {
        let mut answered = Answered::default();
        for number in 0..65 {
            answered.record(TransactionId::new(number), DestId::new(0, 0), Gid::ZERO);
        }
        let other = "fe80::1".parse().unwrap();
        assert_eq!([0, 1].map(|tid| answered.second(TransactionId::new(tid), other).is_some()), [false, true]);
        assert_eq!(answered.requests.len(), 63);
    }
}
