//! `bundle`: one file for a bug report, with the status, the configuration, the log, a recording, versions and adapters.
use super::{
    age::Age,
    ask::{self, Ask, json_of},
    cache,
    mask::Mask,
    record,
};
use crate::{
    control::Configuration,
    output::{Failure, Outcome, Output, note},
};
use acm_wire::files::opts::{self, LogTarget, Opt};
use core::{cell::RefCell, time::Duration};
use nix::unistd::{gethostname, mkdtemp};
use serde_json::json;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// Maximum size of the part of the log in a bundle, in bytes: its end.
const LOG: u64 = 8 << 20;
/// Maximum number of lines of the journal.
const JOURNAL: &str = "50000";
/// Time between two looks at the size of a recording that is being written.
const PAUSE: Duration = Duration::from_millis(200);
/// Number of these looks, in 10 s.
const LOOKS: u32 = 50;
/// Time after which a recording ends that this program was interrupted in.
const MARGIN: Duration = Duration::from_secs(60);
const ADAPTERS: &str = "/sys/class/infiniband";

/// The content of a bundle.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Choice {
    /// The file to create: an archive for tar, which only its owner may read.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Time of the recording; 0 for none.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    time: Age,
    /// Keep names and IP addresses.
    #[arg(long)]
    keep_names: bool,
}

/// A directory that is removed with its files when the value is dropped.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A part of a bundle: its file name, and its text or why there is none.
type Part = (&'static str, Result<String, Failure>);

fn failed(what: &str, error: impl core::fmt::Display) -> Failure {
    Failure::Failed(format!("{what}: {error}"))
}

fn file(path: &Path) -> Result<String, Failure> {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|error| failed(&path.display().to_string(), error))
}

fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(LOG)))?;
    let mut bytes = Vec::new();
    file.take(LOG).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the log file of a running daemon, or of the one that the option file is for; `None` if the log is another.
fn log_file(found: Option<&Configuration>, options: Option<&str>) -> Option<PathBuf> {
    let of_daemon = found.into_iter().flat_map(|found| &found.options).find(|option| option.name == "log_file");
    let in_file = options.into_iter().flat_map(|text| opts::parse(text.as_bytes())).flatten();
    let in_file = in_file.filter_map(|(_, option)| match option {
        Opt::LogFile(LogTarget::File(path)) => Some(PathBuf::from(path)),
        _ => None,
    });
    of_daemon.map(|option| PathBuf::from(&option.value)).or_else(|| in_file.last()).filter(|path| path.is_absolute())
}

/// Returns the end of the log file, or the journal of the unit.
fn log(file: Option<&Path>) -> Result<String, Failure> {
    if let Some(path) = file {
        return end_of(path).map_err(|error| failed(&path.display().to_string(), error));
    }
    let words = ["--unit=acm-mio", "--no-pager", "--output=short-iso", "--no-hostname", "--lines", JOURNAL];
    let output = Command::new("journalctl").args(words).output().map_err(|error| failed("journalctl", error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && text.trim() == "-- No entries --" {
        Err(Failure::Failed("the journal has no line of acm-mio".to_owned()))
    } else if output.status.success() {
        Ok(text)
    } else {
        Err(failed("journalctl", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Returns the files of all adapters and their ports, a line for each.
fn adapters(root: &Path) -> String {
    let names = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        names.sort();
        names
    };
    let mut text = String::new();
    for device in names(root) {
        let of_device = ["hca_type", "board_id", "fw_ver", "node_guid", "node_desc"].map(|name| device.join(name));
        let of_ports = names(&device.join("ports")).into_iter().flat_map(|port| {
            ["link_layer", "state", "phys_state", "rate", "lid", "lid_mask_count", "sm_lid", "gids/0"]
                .map(|name| port.join(name))
        });
        for path in of_device.into_iter().chain(of_ports) {
            if let (Ok(value), Ok(name)) = (fs::read_to_string(&path), path.strip_prefix(root)) {
                text += &format!("{}: {}\n", name.display(), value.trim_end());
            }
        }
    }
    if text.is_empty() { format!("no adapter in {}\n", root.display()) } else { text }
}

fn versions() -> String {
    let mut text = format!("acmctl {}\n", env!("CARGO_PKG_VERSION"));
    for path in ["/proc/version", "/etc/os-release"] {
        text += &file(Path::new(path)).unwrap_or_else(|failure| format!("{failure}\n"));
    }
    text
}

/// Records for a time into a file in the run directory, and returns its bytes. The daemon masks them.
fn recording(
    ask: Ask<'_>,
    folder: &Path,
    choice: &Choice,
    sleep: &mut dyn FnMut(Duration),
) -> Result<Vec<u8>, Failure> {
    let path = folder.join("acm-mio-bundle.pcapng");
    // It ends by itself only if this program does not end it.
    record::start(ask, &path, Age(choice.time.0 + MARGIN), !choice.keep_names)?;
    sleep(choice.time.0);
    record::stop(ask)?;
    // The daemon writes the rest in the background.
    let size = || fs::metadata(&path).map(|found| found.len()).ok();
    let mut before = None;
    for _ in 0..LOOKS {
        sleep(PAUSE);
        let now = size();
        if now.is_some() && now == before {
            break;
        }
        before = now;
    }
    let bytes = fs::read(&path).map_err(|error| failed(&path.display().to_string(), error));
    let _ = fs::remove_file(&path);
    bytes
}

/// Returns the texts of a bundle, and the names in them. A daemon that does not answer is not asked again.
fn parts(ask: Ask<'_>) -> (Vec<Part>, Mask) {
    let gone = RefCell::new(None);
    let ask: Ask<'_> = &|method: &str, target: &str| {
        if let Some(failure) = &*gone.borrow() {
            return Err(Failure::clone(failure));
        }
        ask(method, target).inspect_err(|failure| {
            *gone.borrow_mut() = Some(failure.clone()).filter(|failure| matches!(failure, Failure::NoDaemon(_)));
        })
    };
    let found = ask("GET", "/config").and_then(|text| Ok((json_of::<Configuration>(&text)?, text)));
    let paths = found.as_ref().map(|(found, _)| [found.option_file.clone(), found.address_file.clone()]);
    let [options, addresses] =
        paths.unwrap_or_else(|_| [crate::cli::OPTION_FILE, crate::cli::ADDR_FILE].map(PathBuf::from));
    let (options, addresses) = (file(&options), file(&addresses));
    let found_options = found.as_ref().ok().map(|(found, _)| found);
    let log = log(log_file(found_options, options.as_deref().ok()).as_deref());
    let mut mask = Mask::default();
    let host = gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    mask.add(&host);
    let first_words = addresses.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_whitespace().next());
    first_words.filter(|word| !word.starts_with('#')).for_each(|name| mask.add(name));
    let entries = cache::all(ask);
    entries.iter().flatten().for_each(|entry| mask.add(&entry.dest));
    log.iter().for_each(|log| mask.add_names_in(log));
    let entries = entries.and_then(|entries| serde_json::to_string(&entries).map_err(|error| failed("cache", error)));
    let parts = vec![
        ("status.txt", ask("GET", "/status")),
        ("metrics.txt", ask("GET", "/metrics")),
        ("config.json", found.map(|(_, text)| text)),
        ("cache.json", entries),
        ("ibacm_opts.cfg", options),
        ("ibacm_addr.cfg", addresses),
        ("log.txt", log),
        ("versions.txt", Ok(versions())),
        ("adapters.txt", Ok(adapters(Path::new(ADAPTERS)))),
    ];
    (parts, mask)
}

/// Creates the bundle, and prints its name. A part that is missing has the reason in its place.
///
/// # Errors
/// The file exists, or cannot be written. Without a daemon, the bundle has the rest.
pub(super) fn run(
    ask: Ask<'_>,
    run_dir: &Path,
    choice: &Choice,
    output: &mut Output<'_>,
    sleep: &mut dyn FnMut(Duration),
) -> Result<Outcome, Failure> {
    let name = choice.file.display().to_string();
    let archive = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&choice.file);
    let archive = archive.map_err(|error| failed(&name, error))?;
    let folder =
        mkdtemp(&std::env::temp_dir().join("acm-bundle.XXXXXX")).map_err(|error| failed("a directory", error))?;
    let folder = Folder(folder);
    let write = |part: &str, bytes: &[u8]| fs::write(folder.0.join(part), bytes).map_err(|error| failed(part, error));
    let (parts, mut mask) = parts(ask);
    let no_daemon = parts.iter().find_map(|(_, text)| text.as_ref().err()).cloned();
    let mut missing = Vec::new();
    for (part, text) in parts {
        let text = text.unwrap_or_else(|failure| {
            missing.push((part, failure.to_string()));
            format!("{failure}\n")
        });
        write(part, if choice.keep_names { text } else { mask.text(&text) }.as_bytes())?;
    }
    if let Some(failure @ Failure::NoDaemon(_)) = no_daemon {
        pack(&folder.0, archive, &name)?;
        let others = missing.iter().filter(|(_, reason)| *reason != failure.to_string());
        others.for_each(|(part, reason)| note(&format!("without {part}: {reason}")));
        note(&format!("{name} has no status, no cache and no recording"));
        return Err(failure);
    }
    if !choice.time.0.is_zero() {
        match recording(ask, &ask::folder(run_dir), choice, sleep) {
            Ok(bytes) => write("recording.pcapng", &bytes)?,
            Err(failure) => missing.push(("recording.pcapng", failure.to_string())),
        }
    }
    pack(&folder.0, archive, &name)?;
    let notes = missing.iter().map(|(part, reason)| json!({ "part": part, "reason": reason }));
    let object = json!({ "file": choice.file, "missing": notes.collect::<Vec<_>>() });
    output.result(&object, &format!("{name}\n"))?;
    if !output.json {
        missing.iter().for_each(|(part, reason)| note(&format!("without {part}: {reason}")));
    }
    Ok(Outcome::Good)
}

/// Writes all files of a directory into an archive.
fn pack(folder: &Path, archive: File, name: &str) -> Result<(), Failure> {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--directory"]).arg(folder).arg(".").stdout(archive);
    match tar.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(name, format!("tar: {status}"))),
        Err(error) => Err(failed("tar", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::{InForce, Origin},
        testing::without_umask,
    };
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn last_8_mib_of_a_log_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, [&vec![b'x'; 9 << 20][..], b"last"].concat()).unwrap();
        let end = end_of(&path).unwrap();
        assert!(end.len() == 8 << 20 && end.ends_with("xlast"), "{}", end.len());
    }

    /// Creates a bundle of a daemon with this log. Returns the log in the archive, the mode of the archive, and whether
    /// the recording is masked.
    fn bundle(log: &str, keep_names: bool) -> (String, u32, bool) {
        let folder = tempfile::tempdir().unwrap();
        let [log_file, archive] = ["log", "bundle.tgz"].map(|name| folder.path().join(name));
        fs::write(&log_file, log).unwrap();
        let (name, value) = ("log_file".to_owned(), log_file.display().to_string());
        let option = InForce { name, value, origin: Origin::File, line: None, after_restart: None, unused: None };
        let [option_file, address_file] = ["/none", "/none"].map(PathBuf::from);
        let config = Configuration { option_file, address_file, options: vec![option], remarks: Vec::new() };
        let is_masked = RefCell::new(false);
        let ask = |method: &str, target: &str| match (method, target) {
            (_, "/config") => Ok(serde_json::to_string(&config).unwrap()),
            ("POST", target) => {
                *is_masked.borrow_mut() |= target.starts_with("/recording?") && target.ends_with(",mask=names");
                Ok(String::new())
            }
            _ => Err(Failure::Failed("none".to_owned())),
        };
        let choice = Choice { file: archive.clone(), time: Age(Duration::from_secs(1)), keep_names };
        let mut text = Vec::new();
        let outcome = run(&ask, folder.path(), &choice, &mut Output::new(&mut text, true), &mut |_| ());
        assert_eq!(outcome, Ok(Outcome::Good));
        let words = ["--extract", "--gzip", "--to-stdout", "--file", archive.to_str().unwrap(), "./log.txt"];
        let log = Command::new("tar").args(words).output().unwrap().stdout;
        let mode = fs::metadata(&archive).unwrap().permissions().mode() & 0o777;
        (String::from_utf8(log).unwrap(), mode, is_masked.take())
    }

    #[test]
    fn bundle_is_private_and_has_no_name_of_the_host_unless_names_are_kept() {
        let host = gethostname().unwrap().into_string().unwrap();
        let log = format!("{host} has started\n");
        // A number is no name.
        let is_name = host.contains(|letter: char| letter.is_ascii_alphabetic());
        let masked = if is_name { "host1 has started\n" } else { &log };
        for (keep_names, expected) in [(false, masked), (true, &log)] {
            let found = without_umask(|| bundle(&log, keep_names));
            assert_eq!(found, (expected.to_owned(), 0o600, !keep_names));
        }
    }
}
