//! `acm-replay`: replays, prints, counts, draws and anonymizes traces.
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use acm_sansio::Time;
use acm_trace::{
    AnonymizeError, Dated, Entry, Mask, Reader, Replay, ReplayError, Start, Stats, Timeline, anonymize, line,
};
use clap::{ArgGroup, Parser};
use core::time::Duration;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, BufWriter, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Gives the recorded inputs of a trace to a new core, and compares its outputs with the recorded ones, byte for byte.
///
/// Exits with 0 if all outputs are as recorded, with 1 at the first difference, with 2 if a trace cannot be read.
#[derive(Parser, Debug)]
#[command(
    name = "acm-replay",
    version,
    group(ArgGroup::new("show").args(["print", "stats"])),
    group(ArgGroup::new("cut").args(["print", "stats", "plot"]).multiple(true))
)]
struct Arguments {
    /// Print one line for each fact instead of replaying: > is an input, < is an output.
    #[arg(long)]
    print: bool,
    /// Print counts and durations instead of replaying.
    #[arg(long)]
    stats: bool,
    /// Draw all requests over time into this file (SVG, for a browser) instead of replaying.
    #[arg(long, value_name = "FILE", conflicts_with = "anonymize")]
    plot: Option<PathBuf>,
    /// Write a copy with other names and IP addresses, and replay the copy. GIDs, LIDs and user ids stay. The file must
    /// not exist yet; only its owner can read it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["show", "from", "to"])]
    anonymize: Option<PathBuf>,
    /// Show only facts at or after this time of the core's clock.
    #[arg(long, value_name = "SECONDS", requires = "cut", value_parser = seconds)]
    from: Option<Time>,
    /// Show only facts at or before this time of the core's clock.
    #[arg(long, value_name = "SECONDS", requires = "cut", value_parser = seconds)]
    to: Option<Time>,
    /// Trace files; - is standard input. --plot and --anonymize take one file.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

fn seconds(text: &str) -> Result<Time, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map(|time| Time::ZERO + time).map_err(|error| error.to_string())
}

/// The reason why a file was not processed.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("{0}")]
    Open(io::Error),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(
        "it does not begin at the start of the daemon: put the files before it in front of it (cat FILE.1 FILE | acm-replay \
         -); the recording of a running daemon has none, and --print, --stats and --plot show it"
    )]
    Middle,
    #[error("a trace of a fabric, not of a core: there is nothing to replay; --print and --stats show it")]
    Fabric,
    #[error(transparent)]
    Anonymize(#[from] AnonymizeError),
    #[error("no random key: {0}")]
    Key(getrandom::Error),
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
        if let Some(copy) = &self.anonymize {
            anonymized(path, copy)?;
            return replay(copy, out);
        }
        if !self.print && !self.stats && self.plot.is_none() {
            return replay(path, out);
        }
        let mut stats = Stats::default();
        let mut timeline = Timeline::default();
        for entry in Reader::new(open(path)?) {
            let entry = entry.map_err(ReplayError::from)?;
            match &entry {
                Entry::Fact(fact) if !self.has(fact) => continue,
                Entry::Fact(fact) if self.print => writeln!(out, "{}", line::of(fact))?,
                Entry::Start(start) if self.print => writeln!(out, "{}", started(start))?,
                Entry::Note(note) => eprintln!("acm-replay: {}: {note}", path.display()),
                _ => {}
            }
            stats.add(&entry);
            timeline.add(&entry);
        }
        if self.stats {
            write!(out, "{stats}")?;
        }
        if let Some(picture) = &self.plot {
            fs::write(picture, timeline.to_string())?;
        }
        Ok(())
    }
}

/// Returns the line for the start of a core. `date -d @SECONDS` prints the time of its clock's zero.
fn started(start: &Start) -> String {
    let zero = match start.epoch {
        Duration::ZERO => String::new(),
        epoch => format!(", time 0 is @{}.{:09}", epoch.as_secs(), epoch.subsec_nanos()),
    };
    format!("start of a core, version {}{zero}", start.program)
}

fn open(path: &Path) -> Result<Box<dyn Read>, Failed> {
    Ok(match path.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(BufReader::new(File::open(path).map_err(Failed::Open)?)),
    })
}

fn replay(path: &Path, out: &mut dyn Write) -> Result<(), Failed> {
    let done = Replay::default().run(open(path)?)?;
    for note in &done.notes {
        eprintln!("acm-replay: {}: {note}", path.display());
    }
    if done.crossings > 0 {
        return Err(Failed::Fabric);
    }
    if done.inputs == 0 && done.not_compared > 0 {
        return Err(Failed::Middle);
    }
    if done.not_compared > 0 {
        eprintln!("acm-replay: {}: {} facts behind a hole are not compared", path.display(), done.not_compared);
    }
    let (cores, inputs, outputs) = (done.cores, done.inputs, done.outputs);
    Ok(writeln!(out, "{}: as recorded: {cores} cores, {inputs} inputs, {outputs} outputs", path.display())?)
}

/// Writes an anonymized copy.
fn anonymized(path: &Path, copy: &Path) -> Result<(), Failed> {
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(Failed::Key)?;
    let input = open(path)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(copy)?;
    let (_, notes) = anonymize(input, BufWriter::new(file), &Mask::new(key))?;
    for note in &notes {
        eprintln!("acm-replay: {}: {note}", path.display());
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.files.len() > 1 && (arguments.plot.is_some() || arguments.anonymize.is_some()) {
        eprintln!("acm-replay: --plot and --anonymize are for one trace at a time");
        return ExitCode::from(2);
    }
    let mut worst = 0;
    for path in &arguments.files {
        let mut out = io::stdout().lock();
        let done = arguments.file(path, &mut out).and_then(|()| Ok(out.flush()?));
        match done {
            Ok(()) => {}
            // The reader of the output closed the pipe.
            Err(Failed::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(failed) => {
                eprintln!("acm-replay: {}: {failed}", path.display());
                worst = worst.max(failed.code());
            }
        }
    }
    ExitCode::from(worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap_complete::Shell;

    const REST: &str = ".SH SEE ALSO\n.BR acm\\-mio (8),\n.BR ib\\-sim (1),\n.BR tshark (1)\n";

    /// The manual page `dist/acm-replay.1` is the text of `--help`. It is a file in the repository, so that the program
    /// does not depend on a generator of manual pages.
    #[test]
    fn manual_page_is_that_of_the_options() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/acm-replay.1");
        let mut page = Vec::new();
        clap_mangen::Man::new(Arguments::command()).section("1").date("").manual("acm").render(&mut page).unwrap();
        page.extend(REST.as_bytes());
        if std::env::var_os("UPDATE_MAN").is_some() {
            fs::write(&path, &page).unwrap();
        }
        let is_so = fs::read(&path).is_ok_and(|text| text == page);
        assert!(
            is_so,
            "dist/acm-replay.1 is not of these options: UPDATE_MAN=1 cargo test -p acm-trace --bins writes it"
        );
    }

    /// The completions are files in the repository for the same reason.
    #[test]
    fn completions_are_those_of_the_options() {
        for (shell, end) in [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("dist/completions/acm-replay.{end}"));
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "acm-replay", &mut script);
            assert!(String::from_utf8_lossy(&script).contains("anonymize"), "{path:?}");
            if std::env::var_os("UPDATE_MAN").is_some() {
                fs::write(&path, &script).unwrap();
            }
            let is_so = fs::read(&path).is_ok_and(|text| text == script);
            assert!(is_so, "{path:?} is not of these options: UPDATE_MAN=1 cargo test -p acm-trace --bins writes it");
        }
    }
}
