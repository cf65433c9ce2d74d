//! Daemons on one fabric: whether they know where each other one is, and what shows that they have seen a change.
use crate::{Acme, LabNode, Node, Process, poll::until};
use ib_mad::{Lid, Pkey};
use nix::sys::signal::Signal;
use std::time::Instant;

/// A running daemon, however it was started.
pub trait Daemon {
    /// Its process.
    fn process(&self) -> &Process;

    /// Its log so far.
    fn said(&self) -> String;

    /// Asks it with `ib_acme`.
    fn ask(&self, arguments: &[&str]) -> Acme;

    /// The value of a counter, as SIGUSR1 has it written into the log.
    fn counter(&self, name: &str) -> u64 {
        let line = format!("{name}: ");
        let before = self.said().matches(&line).count();
        self.process().signal(Signal::SIGUSR1);
        until(&format!("counter {name}"), || {
            let said = self.said();
            if said.matches(&line).count() <= before {
                return None;
            }
            // A line that is not whole yet has no end.
            let (value, _) = said.rsplit(&line).next()?.split_once('\n')?;
            value.parse().ok()
        })
    }
}

impl Daemon for Node {
    fn process(&self) -> &Process {
        &self.process
    }

    fn said(&self) -> String {
        self.log()
    }

    fn ask(&self, arguments: &[&str]) -> Acme {
        self.acme(arguments)
    }
}

impl Daemon for LabNode {
    fn process(&self) -> &Process {
        &self.process
    }

    fn said(&self) -> String {
        self.log()
    }

    fn ask(&self, arguments: &[&str]) -> Acme {
        self.acme(arguments)
    }
}

/// What shows that a daemon, counted from 1, has seen a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It says this once more.
    Says(usize, String),
    /// It counts one more.
    Counts(usize, &'static str),
    /// One of these.
    Any(Vec<Self>),
}

/// What is the matter with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// There is none, so far.
    NoAnswer(String),
    /// It leads elsewhere.
    Wrong(String),
}

/// The daemons of node1, node2, ...
#[derive(Debug)]
pub struct Daemons<D>(pub Vec<D>);

impl<D: Daemon> Daemons<D> {
    /// Every two of them, from 1.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<D> {
        let count = self.0.len();
        (1..=count).flat_map(move |from| (1..=count).filter(move |to| *to != from).map(move |to| (from, to)))
    }

    /// One sign for each daemon.
    #[must_use]
    pub fn each_says(&self, text: &str) -> Vec<Sign> {
        (1..=self.0.len()).map(|number| Sign::Says(number, text.to_owned())).collect()
    }

    /// Each daemon asks subnet administration anew for the path to each other one.
    #[must_use]
    pub fn all_renew(&self) -> Vec<Sign> {
        self.pairs().map(|(from, to)| renews(from, to)).collect()
    }

    fn times(&self, sign: &Sign) -> u64 {
        match sign {
            Sign::Says(number, text) => self.0[number - 1].said().matches(text).count().try_into().unwrap(),
            Sign::Counts(number, name) => self.0[number - 1].counter(name),
            Sign::Any(signs) => signs.iter().map(|sign| self.times(sign)).sum(),
        }
    }

    /// What is wrong with the path from one to another, by names that begin with `name`.
    fn wrong(&self, name: &str, pkey: Pkey, lids: &[Lid]) -> Option<Fault> {
        self.pairs().find_map(|(from, to)| {
            let words = ["-f", "n", "-s", &format!("{name}{from}"), "-d", &format!("{name}{to}")];
            let asked = self.0[from - 1].ask(&words);
            if asked.finished.code != Some(0) {
                return Some(Fault::NoAnswer(format!("{name}{from} to {name}{to}: {}", asked.finished)));
            }
            let path = asked.path();
            let is_right = (path.slid, path.dlid, path.pkey) == (lids[from - 1], lids[to - 1], pkey);
            (!is_right).then(|| Fault::Wrong(format!("{name}{from} to {name}{to}: {path:?}; LIDs {lids:?}")))
        })
    }

    /// Waits until all have the right paths to each other, in each of these partitions.
    pub fn until_right(&self, names: &[(&str, Pkey)], lids: impl Fn() -> Vec<Lid>) {
        until("all have the right paths", || {
            names.iter().all(|(name, pkey)| self.wrong(name, *pkey, &lids()).is_none()).then_some(())
        });
    }

    /// Changes something and waits until each sign of it was seen. From then on no path is wrong. One that is asked for
    /// before its other end has told where it is now may have no answer yet; when all had one, nobody asks subnet
    /// administration for them again.
    ///
    /// Time begins when `change` comes back.
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
            until(&format!("{what}: every path"), || match self.wrong(name, *pkey, &lids) {
                Some(Fault::Wrong(path)) => panic!("{what}: {path}"),
                fault => fault.is_none().then_some(()),
            });
        }
        let right = start.elapsed().as_millis();
        let asked = |daemon: &D| daemon.ask(&["-P"]).counters()[0].get("Route Query Count");
        let asked = || -> Vec<u64> { self.0.iter().map(asked).collect() };
        let before = asked();
        for (name, pkey) in names {
            assert_eq!(self.wrong(name, *pkey, &lids), None, "{what}, what is known");
        }
        assert_eq!(asked(), before, "{what}: these are cached");
        eprintln!("{what}: seen by all after {seen} ms, every path asked for and right after {right} ms");
    }
}

/// The path from one to another, which was known, is asked for anew.
#[must_use]
pub fn renews(from: usize, to: usize) -> Sign {
    Sign::Says(from, format!("path to node{to} found"))
}

/// The path from one to another, which was known, leads elsewhere.
#[must_use]
pub fn moves(from: usize, to: usize) -> Sign {
    Sign::Says(from, format!("node{to} has moved, resetting"))
}

#[expect(clippy::disallowed_methods, reason = "how long a recovery takes is printed")]
fn now() -> Instant {
    Instant::now()
}
