//! How much of each crate the corpora reach: the test that replays them, built with counters.
use crate::{
    built,
    command::{self, cargo, root},
    error::TaskError,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Lines that are there, and lines that were run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    all: u64,
    run: u64,
}

/// Prints a table: for each crate that the targets reach, its lines and how many of them the corpora run.
pub(super) fn print(only_say: bool) -> Result<(), TaskError> {
    let [merge, export] = tools(only_say)?;
    let folder = root().join("target/coverage");
    let profiles = folder.join("profiles");
    let failed = |source| TaskError::Read { path: profiles.clone(), source };
    if profiles.exists() {
        fs::remove_dir_all(&profiles).map_err(failed)?;
    }
    let mut build = cargo(&["test", "-p", "acm-fuzz", "--test", "bodies", "--no-run", "--target-dir"]);
    build.arg(&folder).env("RUSTFLAGS", "-C instrument-coverage");
    let test = built::program(&mut build).map_err(|source| command::spawn(&build, source))?;
    let test = test.ok_or_else(|| TaskError::NotBuilt(command::line(&build)))?;
    let mut run = Command::new(&test);
    run.args(["--exact", "corpus::every_corpus"]).current_dir(root().join("crates/acm-fuzz"));
    command::run(run.env("LLVM_PROFILE_FILE", profiles.join("%p-%m.profraw")))?;
    let raw = fs::read_dir(&profiles).map_err(failed)?.map(|entry| entry.map(|entry| entry.path()).map_err(failed));
    let raw = raw.collect::<Result<Vec<PathBuf>, TaskError>>()?;
    let merged = folder.join("merged.profdata");
    command::run(Command::new(merge).args(["merge", "-o"]).arg(&merged).args(raw))?;
    let mut profile = std::ffi::OsString::from("--instr-profile=");
    profile.push(&merged);
    let text = command::output(
        Command::new(export).args(["export", "--format=lcov", "--summary-only"]).arg(profile).arg(test),
    )?;
    println!("{}", table(&by_crate(&text, &root().join("crates"))));
    Ok(())
}

/// LLVM's programs of this compiler: those of another version do not read its counters.
fn tools(only_say: bool) -> Result<[PathBuf; 2], TaskError> {
    let asked = command::output(Command::new("rustc").args(["--print", "target-libdir"]).current_dir(root()))?;
    let folder = Path::new(asked.trim()).with_file_name("bin");
    let found = ["llvm-profdata", "llvm-cov"].map(|name| folder.join(name));
    if !found.iter().all(|tool| tool.is_file()) {
        if only_say {
            return Err(TaskError::FuzzMissing("rustup component add llvm-tools"));
        }
        command::run(Command::new("rustup").args(["component", "add", "llvm-tools"]).current_dir(root()))?;
    }
    Ok(found)
}

/// Of a summary in the format of lcov: `SF:FILE`, `LF:LINES`, `LH:LINES THAT WERE RUN`.
fn by_crate(text: &str, crates: &Path) -> BTreeMap<String, Lines> {
    let mut found: BTreeMap<String, Lines> = BTreeMap::new();
    let mut own = None;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if key == "SF" {
            let within = Path::new(value).strip_prefix(crates).ok();
            let name = within.and_then(|path| path.iter().next()).map(|name| name.to_string_lossy().into_owned());
            own = name;
        }
        let (Some(name), Ok(count)) = (&own, value.parse::<u64>()) else { continue };
        let lines = found.entry(name.clone()).or_default();
        match key {
            "LF" => lines.all += count,
            "LH" => lines.run += count,
            _ => {}
        }
    }
    found
}

fn table(crates: &BTreeMap<String, Lines>) -> String {
    let mut text = format!("{:16} {:>8} {:>8}", "crate", "lines", "run");
    for (name, Lines { all, run }) in crates {
        let percent = 100.0 * *run as f64 / (*all).max(1) as f64;
        text += &format!("\n{name:16} {all:>8} {percent:>6.1} %");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_summed_for_each_crate_of_ours() {
        let text = "SF:/w/crates/a/src/x.rs\nFNF:3\nLF:10\nLH:5\nend_of_record\nSF:/w/crates/a/src/y.rs\nLF:30\nLH:5\n\
            SF:/r/serde/src/lib.rs\nLF:9\nLH:9\nend_of_record\nSF:/w/crates/b/z.rs\nLF:4\nLH:4\n";
        let found = by_crate(text, Path::new("/w/crates"));
        let lines = |all, run| Lines { all, run };
        assert_eq!(found, BTreeMap::from([("a".into(), lines(40, 10)), ("b".into(), lines(4, 4))]));
        let expected = "crate               lines      run\na                      40   25.0 %\nb                       4  100.0 %";
        assert_eq!(table(&found), expected);
    }
}
