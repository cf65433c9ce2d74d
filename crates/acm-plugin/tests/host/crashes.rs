//! Crashes of a provider, and the line with its name.
use crate::common::{Host, resolve};
use acm_sansio::api::ExternalRequestId;
use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
};

const ACTION: &str = "ACM_PLUGIN_TEST_ACTION";

/// Runs the test below in another process. Returns its signal and its last line.
fn run(action: &str) -> (Option<i32>, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "crashes::in_another_process", "--ignored", "--nocapture"]).env(ACTION, action);
    // A core dump must not be written into the sources.
    let output = child.current_dir(std::env::temp_dir()).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.signal(), text.lines().last().unwrap_or_default().to_owned())
}

#[test]
#[ignore = "it ends its process"]
fn in_another_process() {
    let action = std::env::var(ACTION).unwrap();
    let mut host = Host::new();
    host.open();
    host.call(resolve(&action, ExternalRequestId::new(0, 0)));
    std::process::exit(0);
}

// docs/deviations.md: provider-crash
#[test]
fn last_line_of_a_crash_names_the_provider_and_the_function() {
    let check = |line: &str, end: &str| {
        let rest = line.strip_prefix("acm-mio: provider test (/");
        assert!(rest.is_some_and(|rest| rest.ends_with(&format!("/libtest.so) ends the daemon: {end}"))), "{line}");
    };
    let (signal, line) = run("crash");
    assert_eq!(signal, Some(11), "{line}");
    check(&line, "SIGSEGV in resolve");
    let (signal, line) = run("abort");
    assert_eq!(signal, Some(6), "{line}");
    check(&line, "SIGABRT in resolve");
    let (signal, line) = run("crash in thread");
    assert_eq!(signal, Some(11), "{line}");
    check(&line, "SIGSEGV in a thread of its own");
}
