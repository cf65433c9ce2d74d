//! Runs the job with ranks that send requests to the daemon of their node.
use crate::{
    job::{Job, Outcome},
    now,
    site::Site,
};
use acm_client::{Address, Connection, Counter, Options};
use core::{error::Error, time::Duration};
use hdrhistogram::Histogram;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::{collections::VecDeque, time::Instant};

/// The maximum time without a response to any rank.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A rank. It sends one request at a time, in the order in which it needs the peers.
struct Rank {
    connection: Connection,
    own: Address,
    peers: VecDeque<u32>,
    /// The time of the request in flight.
    sent_at: Option<Instant>,
}

/// Runs the job with daemons that have empty caches.
pub(crate) fn run(job: Job, site: &Site) -> Result<Outcome, Box<dyn Error>> {
    let mut ranks = Vec::new();
    for rank in 0..job.ranks {
        let node = job.node_of(rank);
        let connection = Connection::open(&site.service(node), Options::default())?;
        ranks.push(Rank { connection, own: name(node), peers: job.peers_of(rank).collect(), sent_at: None });
    }
    let mut outcome = Outcome {
        name: "each rank asks its node's daemon",
        found: 0,
        missing: 0,
        took: Duration::ZERO,
        queries: 0,
        repeated: 0,
        datagrams: 0,
        latency: Histogram::new(3)?,
    };
    site.begin_counting()?;
    let queries = site.daemon_counter(Counter::RouteQuery)?;
    let start = now();
    for rank in &mut ranks {
        rank.send_next()?;
    }
    let paths = job.paths();
    while outcome.found + outcome.missing < paths {
        for index in ready(&mut ranks)? {
            let Some(rank) = ranks.get_mut(index) else { continue };
            rank.receive(&mut outcome)?;
        }
    }
    outcome.took = start.elapsed();
    outcome.queries = site.daemon_counter(Counter::RouteQuery)? - queries;
    outcome.repeated = site.fabric_counters(&["mad_retries"])?;
    let between = site.fabric_counters(&["ud_unicast", "ud_multicast"])?;
    outcome.datagrams = 2 * outcome.queries + outcome.repeated + between;
    Ok(outcome)
}

fn name(node: u32) -> Address {
    Address::from_text(&format!("node{node}"))
}

/// Waits for a response. Returns the indexes of the ranks that can read.
fn ready(ranks: &mut [Rank]) -> Result<Vec<usize>, Box<dyn Error>> {
    let mut fds = Vec::new();
    for Rank { connection, sent_at, .. } in ranks {
        let events = if sent_at.is_some() { PollFlags::POLLIN } else { PollFlags::empty() };
        fds.push(PollFd::new(connection.fd()?, events));
    }
    if poll(&mut fds, PollTimeout::try_from(RESPONSE_TIMEOUT)?)? == 0 {
        return Err(format!("no answer within {RESPONSE_TIMEOUT:?}").into());
    }
    Ok(fds.iter().enumerate().filter(|(_, fd)| fd.any().unwrap_or(true)).map(|(index, _)| index).collect())
}

impl Rank {
    /// Sends the request for the next peer, if there is one.
    fn send_next(&mut self) -> Result<(), Box<dyn Error>> {
        self.sent_at = None;
        if let Some(node) = self.peers.pop_front() {
            self.connection.resolve(Some(&self.own), &name(node))?;
            self.sent_at = Some(now());
        }
        Ok(())
    }

    /// Receives the response, and sends the next request.
    fn receive(&mut self, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
        while let Some(sent_at) = self.sent_at {
            let Some((_, response)) = self.connection.next_within(Some(Duration::ZERO)) else { break };
            outcome.latency.record(u64::try_from(sent_at.elapsed().as_micros())?)?;
            match response {
                Ok(_) => outcome.found += 1,
                Err(error) if error.status().is_some() => outcome.missing += 1,
                Err(error) => return Err(error.into()),
            }
            self.send_next()?;
        }
        Ok(())
    }
}
