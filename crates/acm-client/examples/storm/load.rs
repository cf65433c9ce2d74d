//! Loads a daemon with many connections and requests.
use crate::{args::Args, now, result::Outcome};
use acm_client::{Address, ClientError, Connection, Options, Request, RequestId, Service};
use core::time::Duration;
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::resource::{Resource, getrlimit, setrlimit},
};
use std::{collections::BTreeMap, time::Instant};

/// The maximum time without a response on any connection.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection and the send times of its requests in flight.
struct LoadConnection {
    connection: Connection,
    sent_at: BTreeMap<RequestId, Instant>,
}

/// Sends all requests and receives the responses.
pub(crate) fn run(args: &Args, address: &str) -> Result<Outcome, Box<dyn core::error::Error>> {
    // Each connection uses four file descriptors.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let service = args.service.clone().map_or_else(Service::find, Ok)?;
    let depth = usize::try_from(args.depth)?;
    let mut connections = Vec::new();
    for _ in 0..args.connections {
        let options = Options::default().with_depth(depth);
        connections.push(LoadConnection { connection: Connection::open(&service, options)?, sent_at: BTreeMap::new() });
    }
    let source = args.source.as_deref().map(Address::from_text);
    let mut numbers = 1..=args.requests;
    let mut next = || {
        let number = numbers.next()?;
        let dest = if args.cold { format!("{address}{number}") } else { address.to_owned() };
        Some(Request::resolve(source.as_ref(), &Address::from_text(&dest)))
    };
    let bar = if args.json { ProgressBar::hidden() } else { ProgressBar::new(args.requests) };
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {eta}")?);

    let mut outcome = Outcome { found: 0, refused: 0, took: Duration::ZERO, latency: Histogram::new(3)? };
    let start = now();
    for loaded in &mut connections {
        loaded.fill(&mut next)?;
    }
    while outcome.responses() < args.requests {
        for ready in ready(&mut connections)? {
            let Some(loaded) = connections.get_mut(ready) else { continue };
            loaded.receive(&mut outcome)?;
            loaded.fill(&mut next)?;
        }
        bar.set_position(outcome.responses());
    }
    outcome.took = start.elapsed();
    bar.finish_and_clear();
    Ok(outcome)
}

/// Waits for a response. Returns the indexes of the connections that can be read.
fn ready(connections: &mut [LoadConnection]) -> Result<Vec<usize>, Box<dyn core::error::Error>> {
    let mut fds = Vec::new();
    for LoadConnection { connection, sent_at } in connections {
        let events = if sent_at.is_empty() { PollFlags::empty() } else { PollFlags::POLLIN };
        fds.push(PollFd::new(connection.fd()?, events));
    }
    if poll(&mut fds, PollTimeout::try_from(RESPONSE_TIMEOUT)?)? == 0 {
        return Err(format!("no answer within {RESPONSE_TIMEOUT:?}").into());
    }
    Ok(fds.iter().enumerate().filter(|(_, fd)| fd.any().unwrap_or(true)).map(|(index, _)| index).collect())
}

impl LoadConnection {
    /// Sends requests until the connection's depth is reached.
    fn fill(&mut self, next: &mut impl FnMut() -> Option<Request>) -> Result<(), ClientError> {
        while !self.connection.is_full() {
            let Some(request) = next() else { break };
            let id = self.connection.ask(&request)?;
            self.sent_at.insert(id, now());
        }
        Ok(())
    }

    /// Receives the available responses.
    fn receive(&mut self, outcome: &mut Outcome) -> Result<(), Box<dyn core::error::Error>> {
        while let Some((id, response)) = self.connection.next_within(Some(Duration::ZERO)) {
            if let Some(sent_at) = self.sent_at.remove(&id) {
                outcome.latency.record(u64::try_from(sent_at.elapsed().as_micros())?)?;
            }
            match response {
                Ok(_) => outcome.found += 1,
                Err(error) if error.status().is_some() => outcome.refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
