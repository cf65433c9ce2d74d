//! The connections, and the requests on them.
use crate::{args::Args, clock::now, result::Outcome};
use acm_client::{Address, Answer, AskError, ClientError, Connection, Options, Request, RequestId, Service};
use core::time::Duration;
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::resource::{Resource, getrlimit, setrlimit},
};
use std::{collections::BTreeMap, os::fd::AsFd, time::Instant};

/// How long a daemon may say nothing at all.
const SILENCE: Duration = Duration::from_secs(60);

/// A connection, and when each of its requests was asked.
struct Lane {
    connection: Connection,
    asked: BTreeMap<RequestId, Instant>,
}

/// Asks until everything is answered.
pub(crate) fn run(args: &Args, address: &str) -> Result<Outcome, Box<dyn core::error::Error>> {
    // Each connection is a file.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let service = args.service.clone().map_or_else(Service::find, Ok)?;
    let depth = usize::try_from(args.depth)?;
    let mut lanes = Vec::new();
    for _ in 0..args.connections {
        let mut options = Options::default();
        options.depth = depth;
        lanes.push(Lane { connection: Connection::open(&service, options)?, asked: BTreeMap::new() });
    }
    let source = args.source.as_deref().map(Address::from_text);
    let mut numbers = 1..=args.requests;
    let mut next = || {
        let number = numbers.next()?;
        let dest = if args.cold { format!("{address}{number}") } else { address.to_owned() };
        Some(Request::Resolve { source, dest: Address::from_text(&dest), no_delay: false })
    };
    let bar = if args.json { ProgressBar::hidden() } else { ProgressBar::new(args.requests) };
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {eta}")?);

    let mut outcome = Outcome { found: 0, refused: 0, took: Duration::ZERO, latency: Histogram::new(3)? };
    let start = now();
    for lane in &mut lanes {
        lane.fill(&mut next)?;
    }
    while outcome.answers() < args.requests {
        for ready in ready(&lanes)? {
            let Some(lane) = lanes.get_mut(ready) else { continue };
            lane.take(&mut outcome)?;
            lane.fill(&mut next)?;
        }
        bar.set_position(outcome.answers());
    }
    outcome.took = start.elapsed();
    bar.finish_and_clear();
    Ok(outcome)
}

/// The connections on which something has arrived.
fn ready(lanes: &[Lane]) -> Result<Vec<usize>, Box<dyn core::error::Error>> {
    let waiting = |lane: &Lane| if lane.asked.is_empty() { PollFlags::empty() } else { PollFlags::POLLIN };
    let mut fds: Vec<_> = lanes.iter().map(|lane| PollFd::new(lane.connection.as_fd(), waiting(lane))).collect();
    if poll(&mut fds, PollTimeout::try_from(SILENCE)?)? == 0 {
        return Err(format!("no answer within {SILENCE:?}").into());
    }
    Ok(fds.iter().enumerate().filter(|(_, fd)| fd.any().unwrap_or(true)).map(|(index, _)| index).collect())
}

impl Lane {
    /// Asks as much as may be under way.
    fn fill(&mut self, next: &mut impl FnMut() -> Option<Request>) -> Result<(), AskError> {
        while !self.connection.is_full() {
            let Some(request) = next() else { break };
            let id = self.connection.ask(&request)?;
            self.asked.insert(id, now());
        }
        Ok(())
    }

    /// Takes what is there.
    fn take(&mut self, outcome: &mut Outcome) -> Result<(), Box<dyn core::error::Error>> {
        loop {
            let (id, answer) = match self.connection.next_within(Some(Duration::ZERO)) {
                Ok(answered) => answered,
                Err(ClientError::TimedOut { .. }) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            if let Some(asked) = self.asked.remove(&id) {
                outcome.latency.record(u64::try_from(asked.elapsed().as_micros())?)?;
            }
            match answer {
                Answer::Path(_) => outcome.found += 1,
                _ => outcome.refused += 1,
            }
        }
    }
}
