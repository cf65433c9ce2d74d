//! `--recording`: starts and ends a recording of the running daemon.
use super::Parameters;
use crate::{cli::RecordChoice, metrics::ask};
use std::path::Path;

/// Returns the method and the target of the request for a command.
fn request(words: &[String]) -> Result<(&'static str, String), String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["start", file] => {
            file.parse::<RecordChoice>()?;
            Ok(("POST", format!("/recording?{}", Parameters::default().with("file", file).query())))
        }
        ["stop"] => Ok(("DELETE", "/recording".to_owned())),
        _ => Err("expected start FILE[,size=64M,files=4][,mask=names][,time=600], or stop".to_owned()),
    }
}

/// Runs a command, and returns its output.
///
/// # Errors
/// The command is wrong, or the daemon does not carry it out.
pub(crate) fn run(run_dir: &Path, words: &[String]) -> Result<String, String> {
    let (method, target) = request(words)?;
    let text: String = serde_json::from_str(&ask(run_dir, method, &target)?).map_err(|error| error.to_string())?;
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
        assert_eq!(of("stop"), Ok(("DELETE", "/recording".to_owned())));
        for bad in ["", "start", "stop now", "start /x,size=1", "start /x,colour=red"] {
            assert!(of(bad).unwrap_err().contains("expected"), "{bad}");
        }
    }
}
