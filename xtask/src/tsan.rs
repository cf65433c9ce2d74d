//! The task `tsan`: what has threads of others in it, with ThreadSanitizer: libibacm and the C programs of its tests, and
//! the host of ibacm's providers.
use crate::{
    command::{self, cargo, root},
    error::TaskError,
    packages::Install,
};
use std::{path::Path, process::Command};

/// What the tests of the C library look at: which library to link in the place of the installed one.
const LIBRARY: &str = "ACM_SANITIZED";

/// A test of acm-plugin whose process ends by a signal, which ThreadSanitizer has a handler of its own for.
const CRASHES: &str = "the_last_line_says_which_provider_and_where";

/// Builds libibacm, and std with it, so that each access to memory is seen, and runs the tests with it; then those of
/// acm-plugin, built the same way.
///
/// # Errors
/// What is missing may not be installed, or cannot; something does not build; a test fails, or ThreadSanitizer has
/// something to say.
pub(crate) fn run(install: Install) -> Result<(), TaskError> {
    ready(install)?;
    let host = command::output(&mut nightly(&["rustc", "--print", "host-tuple"]))?;
    let (host, folder) = (host.trim(), root().join("target/tsan"));
    let sanitized = |task: &str, package: &str, targets: &[&str]| {
        let mut cargo = nightly(&["cargo", task, "-Zbuild-std", "-p", package, "--target", host]);
        cargo.arg("--target-dir").arg(&folder).args(targets).env("RUSTFLAGS", "-Zsanitizer=thread");
        command::run(&mut cargo)
    };
    sanitized("build", "acm-capi", &["--lib"])?;
    let library = folder.join(host).join("debug/libibacm.a");
    command::run(
        cargo(&["test", "-p", "acm-tests", "--test", "libraries", "c_library::interfaces"]).env(LIBRARY, library),
    )?;
    sanitized("test", "acm-plugin", &["--lib", "--tests", "--", "--skip", CRASHES])
}

/// Of another toolchain than this cargo's, which takes no `+nightly`.
fn nightly(words: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).args(words).current_dir(root());
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Makes sure that a nightly compiler and the source of std are here.
fn ready(install: Install) -> Result<(), TaskError> {
    let get = |words: &'static str| {
        if install.no_install {
            return Err(TaskError::NightlyMissing(words));
        }
        command::run(Command::new("rustup").args(words.split(' ').skip(1)))
    };
    if !command::succeeds(&mut nightly(&["rustc", "--version"])) {
        get("rustup toolchain install nightly --profile minimal")?;
    }
    let sysroot = command::output(&mut nightly(&["rustc", "--print", "sysroot"]))?;
    if !Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library").is_dir() {
        get("rustup component add rust-src --toolchain nightly")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_that_is_left_out_is_there() {
        let text = std::fs::read_to_string(root().join("crates/acm-plugin/tests/host/crashes.rs")).unwrap();
        assert!(text.contains(&format!("fn {CRASHES}()")));
    }

    #[test]
    fn the_tests_look_at_the_variable() {
        let path = root().join("tests/tests/libraries/c_library/installed.rs");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("\"{LIBRARY}\"")));
    }
}
