//! `metrics`: prints the metrics of the running daemon, or writes them into a file for node_exporter's textfile collector.
use super::ask::{Ask, lines_of};
use crate::output::{Failure, Outcome, Output};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions, Permissions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// The first bytes of the metrics.
const HEAD: &str = "# HELP acm_";

/// Prints the metrics, or writes them into a new file, which replaces `file`. Without a daemon, removes `file`, so that no
/// old numbers are read.
///
/// # Errors
/// No daemon responded, or the file cannot be replaced. A file without metrics is neither replaced nor removed.
pub(super) fn run(ask: Ask<'_>, file: Option<&Path>, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    match file {
        Some(file) => {
            write(file, || ask("GET", "/metrics").map(|text| prometheus_text(&text)))?;
            if output.json {
                output.object(&json!({ "file": file }))?;
            }
        }
        None if output.json => {
            let metrics: Vec<Value> = lines_of(&ask("GET", "/status.json")?)?;
            output.object(&json!({ "metrics": metrics }))?;
        }
        None => output.write(&ask("GET", "/metrics")?)?,
    }
    Ok(Outcome::Good)
}

fn write(file: &Path, metrics: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("{}: {error}", file.display()));
    check(file).map_err(failed)?;
    let result = metrics().and_then(|text| replace(file, text.as_bytes()).map_err(failed));
    if result.is_err() {
        let _ = remove(file);
    }
    result
}

/// Checks that a file does not exist, is empty or has metrics, so that it can be replaced.
///
/// # Errors
/// It has something else, is a link, a device, a pipe or a directory, or cannot be read.
fn check(file: &Path) -> io::Result<()> {
    let refused = |problem| Err(io::Error::new(ErrorKind::AlreadyExists, problem));
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(found) if !found.is_file() => return refused("not replaced: it is no regular file"),
        found => found?,
    };
    let mut head = Vec::new();
    fs::File::open(file)?.take(HEAD.len() as u64).read_to_end(&mut head)?;
    if !head.is_empty() && head != HEAD.as_bytes() {
        return refused("not replaced: it has something other than metrics of acm-mio");
    }
    Ok(())
}

/// Removes a file that can be replaced, if it exists.
fn remove(file: &Path) -> io::Result<()> {
    check(file)?;
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces a file by one with this content. Readers see the old or the new file, never a part of one.
fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let name = Path::new(&name);
    remove(name).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", name.display())))?;
    let mut new = OpenOptions::new().write(true).create_new(true).open(name)?;
    // node_exporter runs as another user.
    let written = new.set_permissions(Permissions::from_mode(0o644)).and_then(|()| new.write_all(content));
    written.and_then(|()| fs::rename(name, file)).inspect_err(|_| {
        let _ = fs::remove_file(name);
    })
}

/// Converts OpenMetrics text to the text format of Prometheus, which node_exporter reads. There the name of a counter
/// has the suffix `_total` in all lines, and there is no end mark.
fn prometheus_text(text: &str) -> String {
    let counters: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut converted = String::with_capacity(text.len());
    for line in text.lines().filter(|line| *line != "# EOF") {
        let mut words = line.splitn(4, ' ');
        let head = (words.next(), words.next(), words.next(), words.next());
        if let (Some("#"), Some(what), Some(name), Some(rest)) = head
            && counters.contains(name)
        {
            converted += &format!("# {what} {name}_total {rest}\n");
        } else {
            converted += line;
            converted.push('\n');
        }
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::{sys::stat::Mode, unistd::mkfifo};
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn counter_has_its_suffix_in_all_lines() {
        let text = "# HELP acm_a a b # c\n# TYPE acm_a counter\nacm_a_total{x=\"1\"} 3\n\
                    # HELP acm_b b\n# TYPE acm_b gauge\nacm_b{} 4\n# EOF\n";
        let expected = "# HELP acm_a_total a b # c\n# TYPE acm_a_total counter\nacm_a_total{x=\"1\"} 3\n\
                        # HELP acm_b b\n# TYPE acm_b gauge\nacm_b{} 4\n";
        assert_eq!(prometheus_text(text), expected);
    }

    fn metrics() -> Result<String, Failure> {
        Ok(format!("{HEAD}a numbers\n"))
    }

    #[test]
    fn file_of_metrics_is_replaced_for_all_readers_and_removed_without_a_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let [file, new] = ["m.prom", "m.prom.new"].map(|name| folder.path().join(name));
        for old in ["", "# HELP acm_b old numbers of more bytes than the new ones\n"] {
            fs::write(&file, old).unwrap();
            fs::write(&new, old).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            assert_eq!(write(&file, metrics), Ok(()));
            assert_eq!(fs::read_to_string(&file).unwrap(), metrics().unwrap());
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
            assert!(!new.exists());
        }
        let none = || Err(Failure::NoDaemon("none".to_owned()));
        for _ in 0..2 {
            assert_eq!(write(&file, none), Err(Failure::NoDaemon("none".to_owned())));
            assert!(!file.exists(), "no daemon, no numbers");
        }
    }

    /// The pipe has no writer: opening it would wait.
    #[test]
    fn no_other_file_is_replaced_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("important"), "# HELP other").unwrap();
        fs::write(at("short"), "# HELP acm").unwrap();
        fs::write(at("numbers"), metrics().unwrap()).unwrap();
        mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
        fs::create_dir(at("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        symlink("numbers", at("link")).unwrap();
        symlink("/dev/null", at("null")).unwrap();
        let names = ["important", "short", "pipe", "folder", "socket", "link", "null"];
        let states =
            || names.map(|name| fs::symlink_metadata(at(name)).map(|found| (found.ino(), found.len())).unwrap());
        let before = states();
        for name in names {
            for result in [metrics, || Err(Failure::NoDaemon(String::new()))] {
                let problem = write(&at(name), result).unwrap_err().to_string();
                assert!(problem.contains(": not replaced: it "), "{name}");
            }
            // The file beside it, which gets the name of the old one, neither.
            let (file, new) = (at(&format!("{name}.prom")), at(&format!("{name}.prom.new")));
            fs::rename(at(name), &new).unwrap();
            let problem = write(&file, metrics).unwrap_err().to_string();
            assert!(problem.contains(".prom.new: not replaced: it "), "{problem}");
            fs::rename(&new, at(name)).unwrap();
        }
        assert_eq!(states(), before);
        assert_eq!(fs::read_to_string(at("important")).unwrap(), "# HELP other");
        assert_eq!(fs::read_to_string(at("numbers")).unwrap(), metrics().unwrap());
    }

    #[test]
    fn new_file_is_removed_if_it_cannot_replace_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.prom");
        let appears = || {
            fs::create_dir(&file).unwrap();
            metrics()
        };
        assert!(write(&file, appears).is_err());
        assert!(file.is_dir() && !folder.path().join("m.prom.new").exists());
    }
}
