//! `cargo xtask vm-test`: a command inside a throw-away virtual machine with the real Linux RDMA stack.
//!
//! Debian's kernel runs under QEMU by emulation (no /dev/kvm). The guest's root is the host's root, shared read-only
//! by 9p under an overlay: the same paths, libraries and programs; what the guest writes vanishes, except under
//! `/run/out`. Needs root and, on the first run, Debian's package servers (70 MB).
mod error;
mod guest;
mod image;

use crate::command;
use core::time::Duration;
pub(crate) use error::VmError;
use nix::fcntl::{Flock, FlockArg};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
};

/// Tests that only make sense in the machine.
pub(crate) const TESTS: &[&str] = &["vm_rxe", "vm_kernel"];
/// One machine at a time on this computer, whichever worktree asks.
const LOCK: &str = "/tmp/vm.lock";

const USAGE: &str = "usage: cargo xtask vm-test [--timeout SECONDS] [--memory MIB] [--out DIR] [-- COMMAND [ARG...]]
Runs COMMAND, or else the project's tests for a real kernel, in a virtual machine.
Exit status: COMMAND's own; 124 after SECONDS (900); 125 if the machine did not come up or died.
DIR is /run/out in the machine; the kernel's messages are left there (console.log, dmesg).";

/// What to run and how.
struct Options {
    timeout: Duration,
    memory_mib: u32,
    out: Option<PathBuf>,
    command: Vec<String>,
}

/// The task `vm-test` with its arguments (without the task's name). Prints what the command prints.
pub(crate) fn run(args: impl IntoIterator<Item = String>) -> ExitCode {
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("vm-test: {problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match boot(options) {
        Ok(status) => ExitCode::from(status),
        Err(problem) => {
            eprintln!("vm-test: {problem}");
            ExitCode::from(problem.exit_status())
        }
    }
}

impl Options {
    fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { timeout: Duration::from_secs(900), memory_mib: 512, out: None, command: Vec::new() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            let number = |text: String| text.parse::<u32>().map_err(|_| format!("{text:?} is not a number"));
            match arg.as_str() {
                "--timeout" => options.timeout = Duration::from_secs(number(value()?)?.into()),
                "--memory" => options.memory_mib = number(value()?)?,
                "--out" => options.out = Some(value()?.into()),
                "--" => options.command = args.by_ref().collect(),
                other => return Err(format!("unknown argument {other:?}")),
            }
        }
        Ok(options)
    }
}

fn boot(options: Options) -> Result<u8, VmError> {
    if !nix::unistd::geteuid().is_root() {
        return Err(VmError::NotRoot);
    }
    let lock = fs::File::create(LOCK).map_err(VmError::io("opening", LOCK))?;
    let _lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, errno)| VmError::Lock(errno))?;
    image::install_packages()?;
    let script = if options.command.is_empty() { built_tests()? } else { guest::command_line(&options.command) };
    let image = image::ensure(&cache_dir())?;
    let scratch = env::temp_dir().join(format!("acm-vm-{}", std::process::id()));
    let out = options.out.as_deref().unwrap_or(&scratch);
    let result = guest::run(&image, out, &script, options.memory_mib, options.timeout);
    if options.out.is_none() {
        let _ = fs::remove_dir_all(&scratch);
    }
    result
}

/// Builds [`TESTS`] and the programs that they start, and gives the shell line that runs all tests, one after the other.
fn built_tests() -> Result<String, VmError> {
    let mut build = command::build_programs();
    build.arg("--message-format=json").args(TESTS.iter().flat_map(|test| ["--test", test]));
    let messages = error::output(build.stderr(Stdio::inherit()))?;
    let mut script = String::from("status=0");
    for test in TESTS {
        let executable = messages.lines().find_map(|message| executable(message, test)).ok_or(VmError::NoTest(test))?;
        // One thread: the tests share the machine's two RDMA devices.
        script.push_str(&format!("\n{} --test-threads=1 || status=1", guest::quote(executable)));
    }
    script.push_str("\nexit $status");
    Ok(script)
}

/// The program of this test, if that is what one of cargo's JSON messages tells about. The package's own programs are
/// built with its tests.
fn executable<'a>(message: &'a str, test: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    let (path, _) = rest.split_once('"')?;
    let name = path.rsplit('/').next()?;
    name.strip_prefix(test)?.starts_with('-').then_some(path)
}

fn cache_dir() -> PathBuf {
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    base.or_else(home).unwrap_or_else(|| "/var/cache".into()).join("acm-vm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let options = Options::parse(words("--timeout 9 --memory 300 --out /x -- a --b")).unwrap();
        assert_eq!((options.timeout, options.memory_mib), (Duration::from_secs(9), 300));
        assert_eq!((options.out, options.command), (Some("/x".into()), words("a --b")));
        for bad in ["--timeout", "--timeout x", "a"] {
            assert!(Options::parse(words(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn executable_of_cargos_message() {
        let line = r#"{"reason":"compiler-artifact","executable":"/t/vm_rxe-12","fresh":true}"#;
        assert_eq!(executable(line, "vm_rxe"), Some("/t/vm_rxe-12"));
        assert_eq!(executable(line, "vm_kernel"), None);
        assert_eq!(executable(line, "vm"), None);
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#, "vm_rxe"), None);
    }
}
