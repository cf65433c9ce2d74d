//! Programs that tasks run, shown before they run.
use crate::error::TaskError;
use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Features that tests of ib-mad and acm-client need, and the demonstration. Every task builds the workspace with the same features,
/// so that no crate is built twice.
pub(crate) const FEATURES: &str = "ib-mad/serde,ib-mad/arbitrary,ib-mad/capture,acm-client/tokio,xtask/demo";

/// The directory of the workspace.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// A command that runs in the directory of the workspace: its words, separated by spaces.
pub(crate) fn words(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = match words.next() {
        Some("cargo") => Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
        program => Command::new(program.unwrap_or_default()),
    };
    command.args(words).current_dir(root());
    command
}

/// Cargo with these words.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = words("cargo");
    command.args(args);
    command
}

/// The command as one types it.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let set = command.get_envs().filter_map(|(name, value)| Some(format!("{}={:?} ", name.display(), value?)));
    let arguments = command.get_args().map(|argument| format!(" {}", argument.display()));
    format!("{}{}{}", set.collect::<String>(), program.display(), arguments.collect::<String>())
}

/// Shows a command.
pub(crate) fn show(command: &Command) {
    println!("$ {}", line(command));
    // The program shares our standard output.
    let _ = io::stdout().flush();
}

/// Runs a command with our output and without input.
///
/// # Errors
/// The command cannot be run, or fails.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    show(command);
    let status = command.stdin(Stdio::null()).status().map_err(|source| spawn(command, source))?;
    if status.success() { Ok(()) } else { Err(TaskError::Failed { command: line(command), status }) }
}

/// Builds with cargo, and returns the paths of the files that cargo reports, each once.
///
/// # Errors
/// Cargo cannot be run, or the build fails.
pub(crate) fn build(cargo: &mut Command) -> Result<BTreeSet<PathBuf>, TaskError> {
    let messages = output(cargo.arg("--message-format=json-render-diagnostics"))?;
    let artifacts = messages.lines().filter(|message| message.contains("\"compiler-artifact\""));
    Ok(artifacts
        .flat_map(|message| message.split('"'))
        .filter(|text| text.starts_with('/'))
        .map(PathBuf::from)
        .collect())
}

/// Runs a command and returns its output.
///
/// # Errors
/// The command cannot be run, or fails.
pub(crate) fn output(command: &mut Command) -> Result<String, TaskError> {
    show(command);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| spawn(command, source))?;
    if !output.status.success() {
        return Err(TaskError::Failed { command: line(command), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// True if a command can be run and succeeds. Its output is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// True if `PATH` has a program.
pub(crate) fn exists(program: &str) -> bool {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(program).is_file())
}

/// True if this process runs as root.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

pub(crate) fn spawn(command: &Command, source: io::Error) -> TaskError {
    TaskError::Spawn { program: command.get_program().to_string_lossy().into_owned(), source }
}
