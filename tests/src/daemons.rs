//! Several daemons on one fabric: checks of the paths between them, and signs that they have noticed a change.
use crate::{Acme, LabNode, Node, Process, poll::until};
use ib_mad::{Lid, Pkey};
use nix::sys::signal::Signal;
use std::time::Instant;

/// A running daemon.
pub trait Daemon {
    /// Returns the daemon's process.
    fn process(&self) -> &Process;

    /// Returns the log so far.
    fn log_text(&self) -> String;

    /// Runs `ib_acme` with the daemon.
    fn ib_acme(&self, arguments: &[&str]) -> Acme;

    /// Returns a counter, which SIGUSR1 writes into the log.
    fn counter(&self, name: &str) -> u64 {
        let line = format!("{name}: ");
        let before = self.log_text().matches(&line).count();
        self.process().signal(Signal::SIGUSR1);
        until(&format!("counter {name}"), || {
            let log = self.log_text();
            if log.matches(&line).count() <= before {
                return None;
            }
            // An incomplete line has no line end.
            let (value, _) = log.rsplit(&line).next()?.split_once('\n')?;
            value.parse().ok()
        })
    }
}

impl Daemon for Node {
    fn process(&self) -> &Process {
        &self.process
    }

    fn log_text(&self) -> String {
        self.log()
    }

    fn ib_acme(&self, arguments: &[&str]) -> Acme {
        self.acme(arguments)
    }
}

impl Daemon for LabNode {
    fn process(&self) -> &Process {
        &self.process
    }

    fn log_text(&self) -> String {
        self.log()
    }

    fn ib_acme(&self, arguments: &[&str]) -> Acme {
        self.acme(arguments)
    }
}

/// A sign that a daemon, numbered from 1, has noticed a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// One more line with this text in the log.
    Logs(usize, String),
    /// One more in this counter.
    Counts(usize, &'static str),
    /// One of these signs.
    Any(Vec<Self>),
}

/// An error of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// No path so far.
    Missing(String),
    /// A path with wrong LIDs or another P_Key.
    Wrong(String),
}

/// The daemons of node1, node2, ...
#[derive(Debug)]
pub struct Daemons<D>(pub Vec<D>);

impl<D: Daemon> Daemons<D> {
    /// Returns all ordered pairs of different daemons, numbered from 1.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<D> {
        let count = self.0.len();
        (1..=count).flat_map(move |from| (1..=count).filter(move |to| *to != from).map(move |to| (from, to)))
    }

    /// Returns one sign for each daemon: one more line with `text` in its log.
    #[must_use]
    pub fn each_logs(&self, text: &str) -> Vec<Sign> {
        (1..=self.0.len()).map(|number| Sign::Logs(number, text.to_owned())).collect()
    }

    /// Returns the signs that each daemon has refreshed its path to each other daemon.
    #[must_use]
    pub fn all_refresh(&self) -> Vec<Sign> {
        self.pairs().map(|(from, to)| refreshes(from, to)).collect()
    }

    fn times(&self, sign: &Sign) -> u64 {
        match sign {
            Sign::Logs(number, text) => self.0[number - 1].log_text().matches(text).count().try_into().unwrap(),
            Sign::Counts(number, name) => self.0[number - 1].counter(name),
            Sign::Any(signs) => signs.iter().map(|sign| self.times(sign)).sum(),
        }
    }

    /// Returns the first error of the paths between names that begin with `name`.
    fn first_fault(&self, name: &str, pkey: Pkey, lids: &[Lid]) -> Option<Fault> {
        self.pairs().find_map(|(from, to)| {
            let words = ["-f", "n", "-s", &format!("{name}{from}"), "-d", &format!("{name}{to}")];
            let acme = self.0[from - 1].ib_acme(&words);
            if acme.finished.code != Some(0) {
                return Some(Fault::Missing(format!("{name}{from} to {name}{to}: {}", acme.finished)));
            }
            let path = acme.path();
            let is_right = (path.slid, path.dlid, path.pkey) == (lids[from - 1], lids[to - 1], pkey);
            (!is_right).then(|| Fault::Wrong(format!("{name}{from} to {name}{to}: {path:?}; LIDs {lids:?}")))
        })
    }

    /// Waits until all daemons have correct paths to each other in each of these partitions.
    pub fn until_correct(&self, names: &[(&str, Pkey)], lids: impl Fn() -> Vec<Lid>) {
        until("all daemons have correct paths", || {
            names.iter().all(|(name, pkey)| self.first_fault(name, *pkey, &lids()).is_none()).then_some(())
        });
    }

    /// Makes a change and waits for all its signs. From then on no path is wrong. A path may be missing until its peer
    /// has announced its new LID. Once all paths are found, they come from the cache.
    ///
    /// The printed times count from the end of `change`.
    pub fn recover(
        &self,
        what: &str,
        signs: &[Sign],
        names: &[(&str, Pkey)],
        lids: impl Fn() -> Vec<Lid>,
        change: impl FnOnce(),
    ) {
        let before: Vec<u64> = signs.iter().map(|sign| self.times(sign)).collect();
        change();
        let start = now();
        for (sign, before) in signs.iter().zip(before) {
            until(&format!("{what}: {sign:?} {before} times, and once more"), || {
                (self.times(sign) > before).then_some(())
            });
        }
        let seen = start.elapsed().as_millis();
        let lids = lids();
        for (name, pkey) in names {
            until(&format!("{what}: every path"), || match self.first_fault(name, *pkey, &lids) {
                Some(Fault::Wrong(path)) => panic!("{what}: {path}"),
                fault => fault.is_none().then_some(()),
            });
        }
        let right = start.elapsed().as_millis();
        // Queries in the background do not count.
        let count = |daemon: &D| daemon.ib_acme(&["-P"]).counters()[0].get("Route Cache Count");
        let cached = || -> u64 { self.0.iter().map(count).sum() };
        let before = cached();
        for (name, pkey) in names {
            assert_eq!(self.first_fault(name, *pkey, &lids), None, "{what}, from the cache");
        }
        let requests = self.pairs().count() * names.len();
        assert_eq!(cached() - before, requests as u64, "{what}: all from the cache");
        eprintln!("{what}: noticed by all after {seen} ms, all paths correct after {right} ms");
    }
}

/// Returns the sign that the cached path between two daemons is refreshed.
#[must_use]
pub fn refreshes(from: usize, to: usize) -> Sign {
    Sign::Logs(from, format!("path to node{to} found"))
}

/// Returns the sign that a cached peer has moved.
#[must_use]
pub fn moves(from: usize, to: usize) -> Sign {
    Sign::Logs(from, format!("node{to} has moved, resetting"))
}

#[expect(clippy::disallowed_methods, reason = "the time of a recovery is printed")]
fn now() -> Instant {
    Instant::now()
}
