//! The log: its file must be writable, and rotated before it fills the disk.
use super::{paths::Paths, report::Report};
use crate::{cli::Args, log::LogError, regular, settings::Settings};
use acm_wire::files::opts::{LogTarget, Opt};
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

/// Bytes that are read of a file of logrotate.
const MOST: u64 = 1 << 20;

pub(super) fn log(args: &Args, settings: &Settings, paths: &Paths, report: &mut Report) {
    let target = settings.options().log_file;
    let LogTarget::File(path) = target else {
        let what = Opt::LogFile(target).to_string();
        if args.leaves_terminal() {
            return report.warn(what, "a daemon has no standard streams: name a file, or run it with -P");
        }
        return report.ok(what);
    };
    let path = Path::new(path);
    if let Err(error) = LogError::check(path) {
        let (what, advice) = (error.what(), error.advice());
        // In the foreground the daemon logs to standard output instead.
        return if args.leaves_terminal() { report.fail(what, advice) } else { report.warn(what, advice) };
    }
    report.ok(format!("log file {} can be written", path.display()));
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return;
    }
    match rotation(path, &paths.rotations) {
        Some(by) => report.ok(format!("log file {} is rotated by {by}", path.display())),
        None => report.warn(
            format!("log file {} is not rotated: nothing in {} names it", path.display(), paths.rotations.display()),
            "install dist/acm-mio.logrotate as /etc/logrotate.d/acm-mio",
        ),
    }
}

/// Returns the file of logrotate that names this log.
fn rotation(log: &Path, rotations: &Path) -> Option<String> {
    let mut files = fs::read_dir(rotations).ok()?.flatten().map(|entry| entry.path());
    let names = |file: &PathBuf| {
        let mut text = String::new();
        let read = regular::open(file).and_then(|(file, _)| file.take(MOST).read_to_string(&mut text));
        read.is_ok() && patterns(&text).any(|pattern| matches(pattern.as_bytes(), log.as_os_str().as_encoded_bytes()))
    };
    files.find(names).map(|file| file.display().to_string())
}

/// Returns the patterns before the sections of a file of logrotate.
fn patterns(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with(['/', '"']));
    lines.flat_map(str::split_whitespace).map(|word| word.trim_matches(['"', '{']))
}

/// Reports whether a shell pattern with `*` and `?` matches a path. `*` does not match a slash.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if matches(rest, path) => true,
        (Some((b'*', _)), Some((byte, behind))) => *byte != b'/' && matches(pattern, behind),
        (Some((b'?', rest)), Some((byte, behind))) => *byte != b'/' && matches(rest, behind),
        (Some((byte, rest)), Some((other, behind))) => byte == other && matches(rest, behind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::report::{Finding, Verdict},
        settings::tests::read_in,
    };
    use nix::{sys::stat::Mode, unistd::mkfifo};

    fn found(dir: &Path, log_file: &str, words: &[&str]) -> Vec<Finding> {
        let (args, settings) = read_in(dir, &format!("log_file {log_file}\n"), None, words);
        let paths = Paths { rotations: dir.join("rotations"), ..Paths::default() };
        Report::of(|report| log(&args, &settings, &paths, report)).findings
    }

    fn verdicts(found: &[Finding]) -> Vec<Verdict> {
        found.iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn log_file_must_be_writable_and_should_be_rotated() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().display().to_string();
        use Verdict::{Fail, Ok, Warn};
        let log = format!("{base}/acm.log");
        let lines = found(dir.path(), &log, &[]);
        assert_eq!(verdicts(&lines), [Ok, Warn], "{lines:?}");
        assert!(lines[1].advice.contains("dist/acm-mio.logrotate"));
        assert!(!Path::new(&log).exists(), "a check changes nothing");
        fs::create_dir(dir.path().join("rotations")).unwrap();
        fs::write(dir.path().join("rotations/acm"), format!("# {log}\n/x\n\"{base}/*.log\" {{\n}}\n")).unwrap();
        assert_eq!(verdicts(&found(dir.path(), &log, &[])), [Ok, Ok]);
        assert_eq!(verdicts(&found(dir.path(), &format!("{base}/acm.txt"), &[])), [Ok, Warn]);
        // A failure of a daemon is a warning in the foreground.
        let missing = format!("{base}/none/log");
        let lines = found(dir.path(), &missing, &[]);
        assert!(verdicts(&lines) == [Fail] && lines[0].advice.contains("mkdir -p"), "{lines:?}");
        assert_eq!(verdicts(&found(dir.path(), &missing, &["-P"])), [Warn]);
        assert_eq!(verdicts(&found(dir.path(), &base, &[])), [Fail]);
        assert_eq!(verdicts(&found(dir.path(), "stdout", &[])), [Warn]);
        assert_eq!(verdicts(&found(dir.path(), "stdout", &["-P"])), [Ok]);
        mkfifo(&dir.path().join("pipe"), Mode::S_IRWXU).unwrap();
        assert_eq!(verdicts(&found(dir.path(), &format!("{base}/pipe"), &[])), [Ok], "a pipe needs no rotation");
    }

    #[test]
    fn shell_patterns_match_paths() {
        for (pattern, path, expected) in [
            ("/var/log/ibacm.log", "/var/log/ibacm.log", true),
            ("/var/log/*.log", "/var/log/ibacm.log", true),
            ("/var/log/*", "/var/log/acm/ibacm.log", false),
            ("/var/*/ib*m.l?g", "/var/log/ibacm.log", true),
            ("/var/log/ibacm.log", "/var/log/ibacm.log.1", false),
            ("/var/log/ibacm.log.?", "/var/log/ibacm.log", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), path.as_bytes()), expected, "{pattern} {path}");
        }
    }
}
