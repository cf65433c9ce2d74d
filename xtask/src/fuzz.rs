//! The task `fuzz`: libFuzzer on the targets of `fuzz/`, and their corpora.
mod coverage;

use crate::{
    command::{self, cargo, root},
    error::TaskError,
};
use clap::Args;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// What is fuzzed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Fuzz {
    /// A target of fuzz/fuzz_targets, or `all`. `seed` writes seeds into the corpora from testdata; `minimize` keeps of the
    /// corpora, and of what was found since, only what shows something new; `coverage` says how much of each crate the
    /// corpora reach.
    #[arg(default_value = "all")]
    target: String,
    /// How long each target runs.
    #[arg(default_value_t = 15)]
    seconds: u32,
    /// Only say what is missing.
    #[arg(long)]
    no_install: bool,
}

/// Longer inputs than this are not made: they are slow, and corpora are checked in.
const MAX_LENGTH: &str = "-max_len=4096";

/// Each target for a short while.
pub(crate) fn each(no_install: bool) -> Result<(), TaskError> {
    run(&Fuzz { target: "all".to_owned(), seconds: 15, no_install })
}

/// The task.
pub(crate) fn run(fuzz: &Fuzz) -> Result<(), TaskError> {
    if fuzz.target == "seed" {
        return command::run(&mut cargo(&["run", "--quiet", "-p", "acm-fuzz", "--example", "seed"]));
    }
    if fuzz.target == "coverage" {
        return coverage::print(fuzz.no_install);
    }
    let all = targets()?;
    let chosen: Vec<&String> = match fuzz.target.as_str() {
        "all" | "minimize" => all.iter().collect(),
        name => all.iter().filter(|target| *target == name).collect(),
    };
    if chosen.is_empty() {
        return Err(TaskError::NoTarget { name: fuzz.target.clone(), all: all.join(", ") });
    }
    install(fuzz.no_install)?;
    for target in chosen {
        if fuzz.target == "minimize" {
            minimize(target)?;
        } else {
            let found = made(&found(target))?;
            let time = format!("-max_total_time={}", fuzz.seconds);
            let arguments = [time.as_str(), MAX_LENGTH, "-timeout=20", "-print_final_stats=1"];
            command::run(libfuzzer("run", target).args([&found, &corpus(target)]).arg("--").args(arguments))?;
        }
    }
    Ok(())
}

/// Names of the programs, as their files have them.
fn targets() -> Result<Vec<String>, TaskError> {
    let path = root().join("fuzz/fuzz_targets");
    let read = |source| TaskError::Read { path: path.clone(), source };
    let names = fs::read_dir(&path).map_err(read)?.map(|entry| {
        let stem = entry.map_err(read)?.path();
        Ok(stem.file_stem().unwrap_or_default().to_string_lossy().into_owned())
    });
    let mut names = names.collect::<Result<Vec<String>, TaskError>>()?;
    names.sort();
    Ok(names)
}

/// What is checked in.
fn corpus(target: &str) -> PathBuf {
    root().join("fuzz/corpus").join(target)
}

/// What was found since.
fn found(target: &str) -> PathBuf {
    root().join("target/fuzz/found").join(target)
}

fn made(path: &Path) -> Result<PathBuf, TaskError> {
    fs::create_dir_all(path).map_err(|source| TaskError::Read { path: path.to_owned(), source })?;
    Ok(path.to_owned())
}

/// libFuzzer needs a nightly compiler's coverage; this cargo is one toolchain's own and takes no `+nightly`. The targets
/// have no unsafe code of ours: no sanitizer makes them ten times as fast.
fn libfuzzer(what: &str, target: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "fuzz", what, "--sanitizer", "none", target]);
    // Of the project's own toolchain, which is not nightly's.
    for name in ["CARGO", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command.current_dir(root());
    command
}

fn install(only_say: bool) -> Result<(), TaskError> {
    if !command::succeeds(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        if only_say {
            return Err(TaskError::FuzzMissing("rustup toolchain install nightly --profile minimal"));
        }
        command::run(Command::new("rustup").args(["toolchain", "install", "nightly", "--profile", "minimal"]))?;
    }
    if !command::succeeds(&mut cargo(&["fuzz", "--version"])) {
        if only_say {
            return Err(TaskError::FuzzMissing("cargo install cargo-fuzz --locked"));
        }
        command::run(&mut cargo(&["install", "cargo-fuzz", "--locked"]))?;
    }
    Ok(())
}

/// Keeps what shows something new, in the place of the corpus.
fn minimize(target: &str) -> Result<(), TaskError> {
    let (own, found) = (corpus(target), made(&found(target))?);
    let fresh = root().join("target/fuzz/minimized").join(target);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| TaskError::Read { path, source }
    };
    if fresh.exists() {
        fs::remove_dir_all(&fresh).map_err(failed(&fresh))?;
    }
    made(&fresh)?;
    let merge = ["-merge=1", MAX_LENGTH];
    command::run(libfuzzer("run", target).args([&fresh, &own, &found]).arg("--").args(merge))?;
    fs::remove_dir_all(&own).map_err(failed(&own))?;
    fs::rename(&fresh, &own).map_err(failed(&own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_a_corpus() {
        let all = targets().unwrap();
        assert!(all.len() >= 15 && all.contains(&"core".to_owned()), "{all:?}");
        for target in all {
            assert!(fs::read_dir(corpus(&target)).unwrap().next().is_some(), "{target}");
        }
    }

    #[test]
    fn a_target_that_is_not_there_is_said_with_those_that_are() {
        let fuzz = Fuzz { target: "telepathy".into(), seconds: 1, no_install: true };
        let error = run(&fuzz).unwrap_err().to_string();
        assert!(error.contains("telepathy") && error.contains("client_stream, core"), "{error}");
        let line = command::line(&libfuzzer("run", "mad"));
        assert_eq!(line, "rustup run nightly cargo fuzz run --sanitizer none mad");
    }
}
