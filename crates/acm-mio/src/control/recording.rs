//! `--recording`: starts, ends and shows a recording of the running daemon.
use super::Parameters;
use crate::{cli::RecordChoice, metrics::ask};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The recording in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordingState {
    /// The newest file.
    pub(crate) file: PathBuf,
    /// Number of files, with the older ones.
    pub(crate) files: u32,
    /// Size of all files together.
    pub(crate) bytes: u64,
    /// Seconds until it ends; `None` for the end of the daemon.
    pub(crate) ends_in: Option<u64>,
}

impl RecordingState {
    /// Returns the newest file, the size and number of all files, and the remaining time.
    fn text(&self) -> String {
        let Self { file, files, bytes, ends_in } = self;
        let unit = if *files == 1 { "file" } else { "files" };
        let end = ends_in.map_or("with the daemon".to_owned(), |seconds| format!("in {seconds} s"));
        format!("recording into {}: {bytes} bytes in {files} {unit}, ends {end}", file.display())
    }
}

/// Returns the method and the target of the request for a command.
fn request(words: &[String]) -> Result<(&'static str, String), String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["start", file] => {
            file.parse::<RecordChoice>()?;
            Ok(("POST", format!("/recording?{}", Parameters::default().with("file", file).query())))
        }
        ["status"] => Ok(("GET", "/recording".to_owned())),
        ["stop"] => Ok(("DELETE", "/recording".to_owned())),
        _ => Err("expected start FILE[,size=64M,files=4][,mask=names][,time=600], stop or status".to_owned()),
    }
}

/// Runs a command, and returns its output.
///
/// # Errors
/// The command is wrong, or the daemon does not carry it out.
pub(crate) fn run(run_dir: &Path, words: &[String]) -> Result<String, String> {
    let (method, target) = request(words)?;
    let answer = ask(run_dir, method, &target)?;
    let text = if method == "GET" {
        let state: Option<RecordingState> = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        state.map_or("there is no recording".to_owned(), |state| state.text())
    } else {
        serde_json::from_str(&answer).map_err(|error| error.to_string())?
    };
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_start_and_stop() {
        let of = |text: &str| request(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let start = ("POST", "/recording?file=/x,size=16K,time=5".to_owned());
        assert_eq!(of("start /x,size=16K,time=5"), Ok(start));
        assert_eq!(of("status"), Ok(("GET", "/recording".to_owned())));
        assert_eq!(of("stop"), Ok(("DELETE", "/recording".to_owned())));
        for bad in ["", "start", "stop now", "start /x,size=1", "start /x,colour=red"] {
            assert!(of(bad).unwrap_err().contains("expected"), "{bad}");
        }
    }

    #[test]
    fn state_is_shown_with_all_files_and_the_end() {
        let state = |files, ends_in| RecordingState { file: "/x".into(), files, bytes: 1172, ends_in }.text();
        assert_eq!(state(1, Some(29)), "recording into /x: 1172 bytes in 1 file, ends in 29 s");
        assert_eq!(state(3, None), "recording into /x: 1172 bytes in 3 files, ends with the daemon");
    }
}
