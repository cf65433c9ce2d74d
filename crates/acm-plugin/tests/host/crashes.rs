//! A provider that does something wrong ends the program, whose last line says which provider it was.
use crate::common::{Host, resolve};
use acm_sansio::api::ExternalRequestId;
use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
};

const WISH: &str = "ACM_PLUGIN_TEST_WISH";

/// What the program below does, in a process of its own: its signal and its last line.
fn end(wish: &str) -> (Option<i32>, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "crashes::in_a_process_of_its_own", "--ignored", "--nocapture"]).env(WISH, wish);
    // No core dump in the sources.
    let ended = child.current_dir(std::env::temp_dir()).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.signal(), said.lines().last().unwrap_or_default().to_owned())
}

#[test]
#[ignore = "it ends its process"]
fn in_a_process_of_its_own() {
    let wish = std::env::var(WISH).unwrap();
    let mut host = Host::new();
    host.open();
    host.call(resolve(&wish, ExternalRequestId::new(0, 0)));
    std::process::exit(0);
}

#[test]
fn the_last_line_says_which_provider_and_where() {
    let is = |said: &str, end: &str| {
        let rest = said.strip_prefix("acm-mio: provider test (/");
        assert!(rest.is_some_and(|rest| rest.ends_with(&format!("/libtest.so) ends the daemon: {end}"))), "{said}");
    };
    let (signal, said) = end("crash");
    assert_eq!(signal, Some(11), "{said}");
    is(&said, "SIGSEGV in resolve");
    let (signal, said) = end("abort");
    assert_eq!(signal, Some(6), "{said}");
    is(&said, "SIGABRT in resolve");
    let (signal, said) = end("crash in thread");
    assert_eq!(signal, Some(11), "{said}");
    is(&said, "SIGSEGV in a thread of its own");
}
