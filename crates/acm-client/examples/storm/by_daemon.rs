//! The job whose ranks ask the daemon of their node.
use crate::{
    clock::now,
    job::{Job, Outcome},
    site::Site,
};
use acm_client::{Address, Answer, ClientError, Connection, Counter, Options, Request};
use core::{error::Error, time::Duration};
use hdrhistogram::Histogram;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::{collections::VecDeque, os::fd::AsFd, time::Instant};

/// How long nobody may have an answer.
const SILENCE: Duration = Duration::from_secs(60);

/// A rank: one question after the other, as it needs the peers.
struct Rank {
    connection: Connection,
    own: Address,
    peers: VecDeque<u32>,
    asked: Option<Instant>,
}

/// Runs it, with daemons that know nothing yet.
pub(crate) fn run(job: Job, site: &Site) -> Result<Outcome, Box<dyn Error>> {
    let mut ranks = Vec::new();
    for rank in 0..job.ranks {
        let node = job.node_of(rank);
        let connection = Connection::open(&site.service(node), Options::default())?;
        ranks.push(Rank { connection, own: name(node), peers: job.peers_of(rank).collect(), asked: None });
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
    let queries = site.daemons_counted(Counter::RouteQuery)?;
    let start = now();
    for rank in &mut ranks {
        rank.ask()?;
    }
    let paths = job.paths();
    while outcome.found + outcome.missing < paths {
        for index in ready(&ranks)? {
            let Some(rank) = ranks.get_mut(index) else { continue };
            rank.take(&mut outcome)?;
        }
    }
    outcome.took = start.elapsed();
    outcome.queries = site.daemons_counted(Counter::RouteQuery)? - queries;
    outcome.repeated = site.counted(&["mad_retries"])?;
    let between = site.counted(&["ud_unicast", "ud_multicast"])?;
    outcome.datagrams = 2 * outcome.queries + outcome.repeated + between;
    Ok(outcome)
}

fn name(node: u32) -> Address {
    Address::from_text(&format!("node{node}"))
}

/// Those for whom something has arrived.
fn ready(ranks: &[Rank]) -> Result<Vec<usize>, Box<dyn Error>> {
    let waiting = |rank: &Rank| if rank.asked.is_some() { PollFlags::POLLIN } else { PollFlags::empty() };
    let mut fds: Vec<_> = ranks.iter().map(|rank| PollFd::new(rank.connection.as_fd(), waiting(rank))).collect();
    if poll(&mut fds, PollTimeout::try_from(SILENCE)?)? == 0 {
        return Err(format!("no answer within {SILENCE:?}").into());
    }
    Ok(fds.iter().enumerate().filter(|(_, fd)| fd.any().unwrap_or(true)).map(|(index, _)| index).collect())
}

impl Rank {
    /// Asks for the next peer, if there is one.
    fn ask(&mut self) -> Result<(), Box<dyn Error>> {
        self.asked = None;
        if let Some(node) = self.peers.pop_front() {
            let request = Request::Resolve { source: Some(self.own), dest: name(node), no_delay: false };
            self.connection.ask(&request)?;
            self.asked = Some(now());
        }
        Ok(())
    }

    /// Takes the answer, and asks for the next.
    fn take(&mut self, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
        while let Some(asked) = self.asked {
            let answer = match self.connection.next_within(Some(Duration::ZERO)) {
                Ok((_, answer)) => answer,
                Err(ClientError::TimedOut { .. }) => break,
                Err(error) => return Err(error.into()),
            };
            outcome.latency.record(u64::try_from(asked.elapsed().as_micros())?)?;
            match answer {
                Answer::Path(_) => outcome.found += 1,
                _ => outcome.missing += 1,
            }
            self.ask()?;
        }
        Ok(())
    }
}
