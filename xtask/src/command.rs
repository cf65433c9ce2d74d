//! Running programs, visibly.
use crate::error::TaskError;
use std::{
    env,
    io::{self, Write},
    path::Path,
    process::{Command, Stdio},
};

/// Features that tests of ib-mad need: of what the crate has with a feature.
/// Whoever builds with others builds each crate once more.
pub(crate) const TESTED: &str = "ib-mad/serde,ib-mad/arbitrary,xtask/demo";

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// This cargo, in the workspace's folder.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Builds all programs and libraries, with what the tests are built with: whoever builds less of it builds it anew. With
/// the examples, cargo chooses the features that the dependencies of tests want.
pub(crate) fn build_programs() -> Command {
    cargo(&["build", "--workspace", "--bins", "--lib", "--examples", "--features", TESTED])
}

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let set = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
        value.map(|value| format!("{}={:?} ", name.display(), value))
    };
    let mut line: String = command.get_envs().filter_map(set).collect();
    line.push_str(&program.to_string_lossy());
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

/// Says what it runs, runs it with our output and no input, and wants success.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    println!("$ {}", line(command));
    // The program shares our standard output.
    let _ = io::stdout().flush();
    let status = command.stdin(Stdio::null()).status().map_err(|source| spawn(command, source))?;
    if status.success() { Ok(()) } else { Err(TaskError::Failed { command: line(command), status }) }
}

/// Says what it runs, runs it with no input, and gives what it wrote to standard output, whether it succeeded or not.
pub(crate) fn output(command: &mut Command) -> Result<String, TaskError> {
    println!("$ {}", line(command));
    let _ = io::stdout().flush();
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(|source| spawn(command, source))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the command can be run and succeeds; it says nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Whether a program can be found in `PATH`.
pub(crate) fn exists(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

pub(crate) fn spawn(command: &Command, source: io::Error) -> TaskError {
    TaskError::Spawn { program: command.get_program().to_string_lossy().into_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_an_error() {
        assert!(run(&mut Command::new("true")).is_ok());
        assert!(matches!(run(&mut Command::new("false")), Err(TaskError::Failed { .. })));
        assert!(matches!(run(&mut Command::new("/no/such/program")), Err(TaskError::Spawn { .. })));
        assert!(succeeds(&mut Command::new("true")) && !succeeds(&mut Command::new("false")));
        assert!(exists("sh") && !exists("no-such-program-anywhere"));
    }

    #[test]
    fn what_a_failing_program_wrote_is_there() {
        assert_eq!(output(Command::new("sh").args(["-c", "echo a; exit 1"])).unwrap(), "a\n");
        assert!(matches!(output(&mut Command::new("/no/such/program")), Err(TaskError::Spawn { .. })));
    }

    #[test]
    fn line_as_typed() {
        let mut command = cargo(&["doc", "--no-deps"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(line(&command), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps");
    }

    #[test]
    fn root_has_the_workspace() {
        assert!(root().join("xtask/Cargo.toml").is_file());
    }
}
