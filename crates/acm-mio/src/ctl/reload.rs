//! `reload`: makes the running daemon read its files again, waits for the end, and reports the result.
use super::ask::{Ask, json_of};
use crate::{
    control::{ReloadRequested, ReloadResult},
    output::{Failure, Outcome, Output, note},
};
use core::time::Duration;
use serde_json::json;
use std::thread;

/// Time between two questions for the result.
const PAUSE: Duration = Duration::from_millis(50);
/// Number of questions until the option and the address file are read, in 30 s. The daemon gives up after 10 s if they
/// change all the time.
const QUESTIONS: u32 = 600;
/// Number of questions while the daemon reads the preload files, in an hour: a file system may hang.
const PRELOAD_QUESTIONS: u32 = 72_000;
/// Number of questions after which a line reports that the daemon reads the preload files, after 10 s.
const PATIENCE: u32 = 200;

/// Requests a reading, waits for its result and prints the remarks.
///
/// # Errors
/// A file was not applied, or the daemon does not answer.
pub(super) fn run(ask: Ask<'_>, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let remarks = reload(ask, &|| thread::sleep(PAUSE), &mut note)?;
    let text: String = remarks.iter().map(|remark| format!("{remark}\n")).collect();
    output.result(&json!({ "remarks": remarks }), &text)?;
    Ok(Outcome::Good)
}

/// Returns the remarks. If the preload files take long, calls `note` with a line for the user.
fn reload(ask: Ask<'_>, pause: &dyn Fn(), note: &mut dyn FnMut(&str)) -> Result<Vec<String>, Failure> {
    let requested: ReloadRequested = json_of(&ask("POST", "/reload")?)?;
    let (mut waits, mut reads) = (0, 0);
    while waits < QUESTIONS && reads < PRELOAD_QUESTIONS {
        let text = ask("GET", &format!("/reload?number={}", requested.number))?;
        match json_of(&text)? {
            ReloadResult::Complete(remarks) => return Ok(remarks),
            ReloadResult::Waits => waits += 1,
            ReloadResult::ReadsPreload => {
                reads += 1;
                if reads == PATIENCE {
                    note("the option and the address file are applied; the preload files are being read");
                }
            }
        }
        pause();
    }
    Err(Failure::Failed(match reads {
        PRELOAD_QUESTIONS => "the preload files are not read after an hour; the other files are applied".to_owned(),
        _ => "the files are not read after 30 s".to_owned(),
    }))
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
        let reload = |ask: Ask<'_>| reload(ask, &|| {}, &mut |_| panic!());
        assert_eq!(reload(&ask), Ok(vec!["a remark".to_owned()]));
        assert_eq!(questions.into_inner(), ["POST /reload", "GET /reload?number=7", "GET /reload?number=7"]);
        let refuse = |method: &str, _: &str| match method {
            "POST" => Ok("{\"number\":1}".to_owned()),
            _ => Err(Failure::Failed("opts:1:1: no such option".to_owned())),
        };
        assert_eq!(reload(&refuse), Err(Failure::Failed("opts:1:1: no such option".to_owned())));
    }

    /// Returns the result with a daemon that gives these results, each as often as the number, then completes. The
    /// second value is the number of lines for the user.
    fn reload_with(results: &[(&str, u32)]) -> (Result<Vec<String>, Failure>, u32) {
        let texts = results.iter().flat_map(|(text, times)| (0..*times).map(move |_| format!("\"{text}\"")));
        let answers = RefCell::new(texts.chain(["{\"complete\":[]}".to_owned()]));
        let ask = |method: &str, _: &str| match method {
            "POST" => Ok("{\"number\":1}".to_owned()),
            _ => Ok(answers.borrow_mut().next().unwrap()),
        };
        let mut notes = 0;
        (reload(&ask, &|| {}, &mut |_| notes += 1), notes)
    }

    #[test]
    fn reload_waits_30_s_and_an_hour_more_while_the_daemon_reads_preload_files() {
        let done = || Ok(vec![]);
        assert_eq!(reload_with(&[("waits", 599)]), (done(), 0));
        assert_eq!(
            reload_with(&[("waits", 600)]).0,
            Err(Failure::Failed("the files are not read after 30 s".to_owned()))
        );
        assert_eq!(reload_with(&[("waits", 599), ("reads_preload", 199)]), (done(), 0));
        assert_eq!(reload_with(&[("waits", 599), ("reads_preload", 71_999)]), (done(), 1));
        let (failed, notes) = reload_with(&[("reads_preload", 72_000)]);
        assert!(
            failed.unwrap_err().to_string().starts_with("the preload files are not read after an hour") && notes == 1
        );
    }
}
