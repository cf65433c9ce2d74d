//! `acm-replay`: replays traces, prints them, counts what is in them.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use acm_sansio::Time;
use acm_trace::{Dated, Entry, Reader, Replay, ReplayError, Stats, line};
use clap::{ArgGroup, Parser};
use core::time::Duration;
use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Tells a fresh core what the core of a trace was told, and compares what both want, byte for byte.
///
/// Ends with 0 if all is as recorded, with 1 at the first difference, with 2 if a trace cannot be read.
#[derive(Parser, Debug)]
#[command(version, group(ArgGroup::new("show").args(["print", "stats"])))]
struct Arguments {
    /// Print a line for each fact, in place of replaying: > what the core was told, < what it wanted.
    #[arg(long)]
    print: bool,
    /// Print counts, and how long things took, in place of replaying.
    #[arg(long)]
    stats: bool,
    /// Only facts from this time of the core's clock on.
    #[arg(long, value_name = "SECONDS", requires = "show", value_parser = seconds)]
    from: Option<Time>,
    /// Only facts up to this time of the core's clock.
    #[arg(long, value_name = "SECONDS", requires = "show", value_parser = seconds)]
    to: Option<Time>,
    /// Traces; - for standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

fn seconds(text: &str) -> Result<Time, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map(|time| Time::ZERO + time).map_err(|error| error.to_string())
}

/// Why a file ends the program.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("{0}")]
    Open(io::Error),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(
        "it begins in the middle of a recording: put the files before it in front of it (cat FILE.1 FILE | acm-replay -)"
    )]
    Middle,
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl Failed {
    const fn code(&self) -> u8 {
        match self {
            Self::Replay(ReplayError::Differs(_)) => 1,
            _ => 2,
        }
    }
}

impl Arguments {
    fn has(&self, fact: &Dated) -> bool {
        self.from.is_none_or(|from| from <= fact.time) && self.to.is_none_or(|to| fact.time <= to)
    }

    fn file(&self, path: &Path, out: &mut dyn Write) -> Result<(), Failed> {
        let input: Box<dyn Read> = match path.to_str() {
            Some("-") => Box::new(io::stdin()),
            _ => Box::new(BufReader::new(File::open(path).map_err(Failed::Open)?)),
        };
        if !self.print && !self.stats {
            let done = Replay::default().run(input)?;
            for note in &done.notes {
                eprintln!("acm-replay: {}: {note}", path.display());
            }
            if done.inputs == 0 && done.not_compared > 0 {
                return Err(Failed::Middle);
            }
            if done.not_compared > 0 {
                eprintln!("acm-replay: {}: {} facts behind a hole are not compared", path.display(), done.not_compared);
            }
            let (cores, inputs, outputs) = (done.cores, done.inputs, done.outputs);
            return Ok(writeln!(
                out,
                "{}: as recorded: {cores} cores, {inputs} inputs, {outputs} outputs",
                path.display()
            )?);
        }
        let mut stats = Stats::default();
        for entry in Reader::new(input) {
            let entry = entry.map_err(ReplayError::from)?;
            match &entry {
                Entry::Fact(fact) if !self.has(fact) => continue,
                Entry::Fact(fact) if self.print => writeln!(out, "{}", line::of(fact))?,
                Entry::Start(start) if self.print => writeln!(out, "start of a core, version {}", start.program)?,
                Entry::Note(note) => eprintln!("acm-replay: {}: {note}", path.display()),
                _ => {}
            }
            stats.add(&entry);
        }
        if self.stats {
            write!(out, "{stats}")?;
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut worst = 0;
    for path in &arguments.files {
        let mut out = io::stdout().lock();
        let done = arguments.file(path, &mut out).and_then(|()| Ok(out.flush()?));
        match done {
            Ok(()) => {}
            // Whoever read what was printed has seen enough.
            Err(Failed::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(failed) => {
                eprintln!("acm-replay: {}: {failed}", path.display());
                worst = worst.max(failed.code());
            }
        }
    }
    ExitCode::from(worst)
}
