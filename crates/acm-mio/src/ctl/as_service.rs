//! `check --as-service`: the check as systemd would run the daemon, with the user, groups, capabilities, limits, sandbox
//! and options of the service unit and its drop-ins. No other unit starts or stops.
use crate::output::{Failure, Outcome, Output, note};
use core::sync::atomic::AtomicBool;
use nix::unistd::geteuid;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::Arc,
};

const SERVICE: &str = "acm-mio.service";
const PROGRAM: &str = "acm-mio";
/// Settings that the unit of the check does not have, or has with another value. The run directory stays, because the
/// daemon may be using it.
const LEFT_OUT: [&str; 8] =
    ["Exec", "Type=", "Restart", "Watchdog", "Timeout", "Standard", "NotifyAccess=", "RuntimeDirectoryPreserve="];

/// The unit of the check, which is removed when the value is dropped.
#[derive(Debug)]
struct Unit {
    name: String,
    file: PathBuf,
    /// Standard output and standard error of the check.
    outputs: [PathBuf; 2],
}

impl Unit {
    /// Returns a unit of this process: configuration management and an administrator may check at the same time.
    fn new() -> Self {
        let name = format!("acm-mio-check-{}", process::id());
        let outputs = ["out", "err"].map(|end| PathBuf::from(format!("/run/{name}.{end}")));
        let name = format!("{name}.service");
        Self { file: Path::new("/run/systemd/system").join(&name), name, outputs }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        for file in self.outputs.iter().chain([&self.file]) {
            let _ = fs::remove_file(file);
        }
        let _ = systemctl(&["daemon-reload"]);
        let _ = systemctl(&["reset-failed", &self.name]);
    }
}

/// Runs `systemctl`, and returns its exit code and its output.
fn systemctl(words: &[&str]) -> io::Result<(bool, String)> {
    let output = Command::new("systemctl").args(words).output()?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Returns the unit of the check for the text of the daemon's unit with its drop-ins; `None` if that starts no daemon.
/// The section Unit, which excludes ibacm, is left out.
fn unit_text(service: &str, words: &[&str], outputs: &[PathBuf; 2]) -> Option<String> {
    let (mut is_service, mut settings, mut start) = (false, String::new(), None);
    for line in service.lines() {
        if line.starts_with('[') {
            is_service = line == "[Service]";
        } else if is_service && !line.starts_with(['#', ';']) {
            if let Some(command) = line.strip_prefix("ExecStart=").filter(|command| !command.is_empty()) {
                start = Some(command);
            } else if !LEFT_OUT.iter().any(|name| line.starts_with(name)) {
                settings += &format!("{line}\n");
            }
        }
    }
    let start = start?;
    let parts = start.match_indices(PROGRAM).filter_map(|(at, name)| {
        Some((start.get(..at)?, start.get(at + name.len()..)?))
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
    });
    let (folder, options) = parts.into_iter().next()?;
    let words: String = words.iter().map(|word| format!(" {word}")).collect();
    let [out, err] = outputs.each_ref().map(|path| path.display());
    Some(format!(
        "[Service]\n{settings}ExecStart={folder}acmctl check{options}{words}\nType=oneshot\nTimeoutStartSec=60\n\
         RuntimeDirectoryPreserve=yes\nStandardOutput=file:{out}\nStandardError=file:{err}\n"
    ))
}

/// Runs the check, and prints its output.
///
/// # Errors
/// systemd could not run it.
pub(super) fn run(quiet: bool, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let failed = |text: &str| Failure::Failed(text.to_owned());
    let of = |error: io::Error| Failure::Failed(format!("systemctl: {error}"));
    if !geteuid().is_root() {
        return Err(failed("only root can start a unit"));
    }
    let (true, service) = systemctl(&["cat", SERVICE]).map_err(of)? else {
        return Err(failed("systemd has no acm-mio.service: install it, systemctl daemon-reload"));
    };
    // An interruption ends systemctl and not this program, which removes the unit.
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(of)?;
    }
    let options = [("--json", output.json), ("--quiet", quiet)].into_iter().filter(|(_, is_given)| *is_given);
    let words: Vec<&str> = options.map(|(word, _)| word).collect();
    let unit = Unit::new();
    let text = unit_text(&service, &words, &unit.outputs).ok_or_else(|| failed("acm-mio.service starts no acm-mio"))?;
    let write = || {
        unit.file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&unit.file, text)
    };
    write().map_err(|error| Failure::Failed(format!("{}: {error}", unit.file.display())))?;
    systemctl(&["daemon-reload"]).map_err(of)?;
    systemctl(&["start", &unit.name]).map_err(of)?;
    let (_, status) = systemctl(&["show", "--property=ExecMainStatus", &unit.name]).map_err(of)?;
    let [out, err] = unit.outputs.each_ref().map(|file| fs::read_to_string(file).unwrap_or_default());
    output.write(&out)?;
    err.lines().for_each(|line| note(line.trim_start_matches("acmctl: ")));
    match status.trim().trim_start_matches("ExecMainStatus=") {
        "0" if !out.is_empty() || quiet => Ok(Outcome::Good),
        "1" if !out.is_empty() => Ok(Outcome::Bad),
        "4" if !out.is_empty() => Ok(Outcome::Degraded),
        status => {
            let (_, shown) = systemctl(&["--no-pager", "--full", "status", &unit.name]).map_err(of)?;
            Err(Failure::Failed(format!("systemd did not run the check (status {status}):\n{}", shown.trim_end())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(service: &str, words: &[&str]) -> Option<String> {
        unit_text(service, words, &["/run/o".into(), "/run/e".into()])
    }

    const END: &str = "Type=oneshot\nTimeoutStartSec=60\nRuntimeDirectoryPreserve=yes\nStandardOutput=file:/run/o\n\
                       StandardError=file:/run/e\n";

    #[test]
    fn unit_has_the_settings_of_the_daemon_and_its_last_command() {
        let service = "# /lib/x\n[Unit]\nConflicts=ibacm.service\n[Service]\nType=notify\nUser=acm\n# no\n\
                       ExecStart=/usr/sbin/acm-mio --systemd\nExecReload=x\nRestartSec=1\nLimitMEMLOCK=infinity\n\
                       [Install]\nAlso=x\n# /etc/drop-in\n[Service]\nExecStart=\n\
                       ExecStart=/bin/acm-mio-wrapper /opt/acm-mio -O /opts\nLimitMEMLOCK=2M\n";
        let start = "ExecStart=/bin/acm-mio-wrapper /opt/acmctl check -O /opts --json\n";
        let expected = format!("[Service]\nUser=acm\nLimitMEMLOCK=infinity\nLimitMEMLOCK=2M\n{start}{END}");
        assert_eq!(text(service, &["--json"]), Some(expected));
        assert_eq!(text("[Service]\nExecStart=/bin/true\n", &[]), None);
        assert_eq!(text("[Unit]\nExecStart=/usr/sbin/acm-mio\n", &[]), None);
    }

    #[test]
    fn unit_of_this_project_is_accepted() {
        let service = include_str!("../../dist/acm-mio.service");
        let text = text(service, &[]).unwrap();
        let start = "\nExecStart=/usr/sbin/acmctl check --systemd --run-dir /run/acm-mio\n";
        assert!(text.contains(start) && text.contains("\nUser=acm\n") && !text.contains("Watchdog"), "{text}");
    }
}
