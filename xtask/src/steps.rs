//! Steps of a task, with their number and time.
use crate::{command, error::TaskError};
use core::{fmt, time::Duration};
use std::{process::Command, time::Instant};

/// The steps of a task.
#[derive(Debug)]
pub(crate) struct Steps {
    total: usize,
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// A task with this number of steps.
    pub(crate) const fn new(total: usize) -> Self {
        Self { total, done: Vec::new() }
    }

    /// Runs a step, and shows its number and its time.
    pub(crate) fn run<T>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<T, TaskError>,
    ) -> Result<T, TaskError> {
        let title = format!("[{}/{}] {name} ...", self.done.len() + 1, self.total);
        println!("{title}");
        let start = now();
        let result = step();
        let took = start.elapsed();
        println!("{title} {}{:.0} s", if result.is_ok() { "" } else { "failed after " }, took.as_secs_f64());
        self.done.push((name, took));
        result
    }

    /// Runs a command as a step.
    pub(crate) fn command(&mut self, name: &'static str, command: &mut Command) -> Result<(), TaskError> {
        self.run(name, || command::run(command))
    }
}

impl fmt::Display for Steps {
    /// One line per step, and their sum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = ("all steps", self.done.iter().map(|(_, took)| took).sum());
        let mut lines = self.done.iter().chain([&sum]);
        lines.try_for_each(|(name, took)| writeln!(f, "  {name:25} {:5.0} s", took.as_secs_f64()))
    }
}

#[expect(clippy::disallowed_methods, reason = "tasks run in real time; this is their one clock")]
fn now() -> Instant {
    Instant::now()
}
