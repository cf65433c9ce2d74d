//! `record`: starts, ends and shows a recording of the running daemon.
use super::{
    age::Age,
    ask::{Ask, json_of},
};
use crate::{
    control::{Parameters, RecordingState},
    output::{Failure, Outcome, Output},
};
use clap::Subcommand;
use serde_json::json;
use std::path::Path;

/// A command of `record`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start a recording. It can be shown and counted, but not replayed. For root and the daemon's user.
    Start {
        /// A full path that the daemon's user may write: the newest file. FILE.1 is the one before it. Only the daemon's
        /// user may read them.
        #[arg(value_name = "FILE")]
        file: String,
        /// Maximum size of a file, such as 64M.
        #[arg(long, value_name = "BYTES", default_value = "64M")]
        size: String,
        /// Maximum number of files.
        #[arg(long, value_name = "NUMBER", default_value_t = 4)]
        files: u32,
        /// Replace names and IP addresses.
        #[arg(long)]
        mask_names: bool,
        /// Time after which it ends, at most a day.
        #[arg(long, value_name = "TIME", default_value = "10m")]
        time: Age,
    },
    /// End the recording.
    Stop,
    /// Show the newest file, the size and number of all files, and the remaining time. For members of the daemon's group,
    /// too.
    Status,
}

impl RecordingState {
    /// Returns the newest file, the size and number of all files, and the remaining time.
    fn text(&self) -> String {
        let Self { file, files, bytes, ends_in } = self;
        let unit = if *files == 1 { "file" } else { "files" };
        let end =
            ends_in.map_or("with the daemon".to_owned(), |seconds| format!("in {}", Age::of_seconds(seconds as f64)));
        format!("recording into {}: {bytes} bytes in {files} {unit}, ends {end}", file.display())
    }
}

/// Returns the method and the target of the request for a command.
fn request(command: &Command) -> (&'static str, String) {
    match command {
        Command::Start { file, size, files, mask_names, time } => {
            let mask = if *mask_names { ",mask=names" } else { "" };
            let value = format!("{file},size={size},files={files},time={}{mask}", time.0.as_secs());
            ("POST", format!("/recording?{}", Parameters::default().with("file", value).query()))
        }
        Command::Status => ("GET", "/recording".to_owned()),
        Command::Stop => ("DELETE", "/recording".to_owned()),
    }
}

/// Starts a recording of one file for a time, at most 16 MB.
///
/// # Errors
/// The daemon does not start it.
pub(super) fn start(ask: Ask<'_>, file: &Path, time: Age, mask_names: bool) -> Result<(), Failure> {
    let command =
        Command::Start { file: file.display().to_string(), size: "16M".to_owned(), files: 1, mask_names, time };
    let (method, target) = request(&command);
    ask(method, &target).map(drop)
}

/// Ends the recording.
///
/// # Errors
/// There is none, or it has failed.
pub(super) fn stop(ask: Ask<'_>) -> Result<(), Failure> {
    let (method, target) = request(&Command::Stop);
    ask(method, &target).map(drop)
}

/// Runs a command, and prints its result.
///
/// # Errors
/// The daemon does not carry it out.
pub(super) fn run(ask: Ask<'_>, command: &Command, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    if let Command::Start { file, .. } = command
        && file.contains(',')
    {
        return Err(Failure::Failed(format!("{file:?}: expected a path without a comma")));
    }
    let (method, target) = request(command);
    let answer = ask(method, &target)?;
    if let Command::Status = command {
        let state: Option<RecordingState> = json_of(&answer)?;
        let text = state.as_ref().map_or("there is no recording".to_owned(), RecordingState::text);
        output.result(&json!({ "recording": state }), &(text + "\n"))?;
    } else {
        let text: String = json_of(&answer)?;
        output.result(&json!({ "done": text }), &format!("{text}\n"))?;
    }
    Ok(Outcome::Good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;
    use core::time::Duration;

    fn start(file: &str) -> Command {
        let time = Age(Duration::from_secs(300));
        Command::Start { file: file.to_owned(), size: "16K".to_owned(), files: 2, mask_names: true, time }
    }

    #[test]
    fn each_command_is_one_request() {
        let start = request(&start("/x"));
        assert_eq!(start, ("POST", "/recording?file=/x,size=16K,files=2,time=300,mask=names".to_owned()));
        assert_eq!(request(&Command::Status), ("GET", "/recording".to_owned()));
        assert_eq!(request(&Command::Stop), ("DELETE", "/recording".to_owned()));
    }

    #[test]
    fn comma_in_the_path_is_no_option() {
        let asked = RefCell::new(0);
        let ask = |_: &str, _: &str| {
            *asked.borrow_mut() += 1;
            Ok("\"recording\"".to_owned())
        };
        let mut text = Vec::new();
        let refused = run(&ask, &start("/x,size=1G"), &mut Output::new(&mut text, false));
        assert!(refused.is_err() && *asked.borrow() == 0);
        assert_eq!(run(&ask, &start("/x"), &mut Output::new(&mut text, true)), Ok(Outcome::Good));
        assert_eq!(String::from_utf8(text).unwrap(), "{\"schema\":1,\"done\":\"recording\"}\n");
    }

    #[test]
    fn state_is_shown_with_all_files_and_the_end() {
        let state = |files, ends_in| RecordingState { file: "/x".into(), files, bytes: 1172, ends_in }.text();
        assert_eq!(state(1, Some(89)), "recording into /x: 1172 bytes in 1 file, ends in 1m29s");
        assert_eq!(state(3, None), "recording into /x: 1172 bytes in 3 files, ends with the daemon");
    }
}
