//! `--reload`: makes the running daemon read its files again, waits for the end, and reports the result.
use crate::metrics::ask;
use core::time::Duration;
use serde::{Deserialize, Serialize};
use std::{path::Path, thread};

/// Time between two questions for the result.
const PAUSE: Duration = Duration::from_millis(50);
/// Number of questions. The daemon gives up after 10 s if the files change all the time.
const QUESTIONS: u32 = 600;

/// The response to a request to read the files again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReloadRequested {
    /// The number of the reading.
    pub(crate) number: u64,
}

/// The result of a reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReloadResult {
    /// It is not complete.
    Waits,
    /// The files are applied, with these remarks.
    Complete(Vec<String>),
}

/// Requests a reading, waits for its result and returns the remarks.
///
/// # Errors
/// A file was not applied, or the daemon does not answer.
pub(crate) fn run(run_dir: &Path) -> Result<Vec<String>, String> {
    reload(&|method, target| ask(run_dir, method, target))
}

fn reload(ask: &dyn Fn(&str, &str) -> Result<String, String>) -> Result<Vec<String>, String> {
    let other_version = |error: serde_json::Error| format!("the daemon is of another version: {error}");
    let requested: ReloadRequested = serde_json::from_str(&ask("POST", "/reload")?).map_err(other_version)?;
    for _ in 0..QUESTIONS {
        let text = ask("GET", &format!("/reload?number={}", requested.number))?;
        match serde_json::from_str(&text).map_err(other_version)? {
            ReloadResult::Complete(remarks) => return Ok(remarks),
            ReloadResult::Waits => thread::sleep(PAUSE),
        }
    }
    Err("the files are not read after 30 s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    #[test]
    fn result_is_requested_until_the_reading_is_complete() {
        let answers = RefCell::new(vec!["{\"complete\":[\"a remark\"]}", "\"waits\"", "{\"number\":7}"]);
        let questions = RefCell::new(Vec::new());
        let ask = |method: &str, target: &str| {
            questions.borrow_mut().push(format!("{method} {target}"));
            Ok(answers.borrow_mut().pop().unwrap().to_owned())
        };
        assert_eq!(reload(&ask), Ok(vec!["a remark".to_owned()]));
        assert_eq!(questions.into_inner(), ["POST /reload", "GET /reload?number=7", "GET /reload?number=7"]);
        let refuse = |method: &str, _: &str| match method {
            "POST" => Ok("{\"number\":1}".to_owned()),
            _ => Err("opts:1:1: no such option".to_owned()),
        };
        assert_eq!(reload(&refuse), Err("opts:1:1: no such option".to_owned()));
    }
}
