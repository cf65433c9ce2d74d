//! Requests of administrators over the status socket.
use super::{
    event_loop::Daemon,
    log_level::{self, Temporary},
};
use crate::{
    cli::RecordChoice,
    control::{Filter, Flushed, Page, Parameters, RecordingState, ReloadRequested, ReloadResult, Removal},
    metrics::{Asked, Response},
    peer::may_change,
    record::{Recording, Written},
};
use acm_sansio::{Config, Input, Seed, Time};
use acm_trace::Start;
use core::time::Duration;
use std::path::Path;

/// Time after which a recording of a running daemon ends, unless its start gives another time.
const RECORDING_TIME: Duration = Duration::from_secs(600);

impl Daemon {
    /// Carries out a request of an administrator.
    pub(super) fn command(&mut self, now: Time, asked: &Asked) -> Response {
        if asked.command.method != "GET" && !may_change(asked.by.0) {
            return Response::Forbidden(format!(
                "{} may only look: root and the daemon's user may change it",
                asked.by.0
            ));
        }
        let result = match (asked.command.method.as_str(), asked.command.path.as_str()) {
            ("DELETE", "/cache") => self.flush(now, asked),
            ("POST", "/recording") => self.start_recording(now, asked),
            ("DELETE", "/recording") => Ok(self.stop_recording()),
            ("GET", "/recording") => Ok(self.recording_state(now)),
            ("POST", "/reload") => {
                self.begin_reload(now);
                Ok(json(&ReloadRequested { number: self.reload.progress.requested }))
            }
            ("GET", "/reload") => Ok(self.reload_result(asked)),
            ("GET", "/log-level") => Ok(self.log_level(now)),
            ("POST", "/log-level") => Temporary::parse(now, asked).map(|temporary| {
                self.change_log_level(now, Some(temporary));
                self.log_level(now)
            }),
            ("DELETE", "/log-level") => {
                self.reset_log_level(now);
                Ok(self.log_level(now))
            }
            ("GET", "/config") => Ok(json(&self.reload.configuration(self.systemd.is_on()))),
            ("GET", "/cache") => self.list(now, asked),
            // No other request is parsed as a command.
            (method, path) => Err(format!("{method} {path}: no such request")),
        };
        result.unwrap_or_else(Response::Invalid)
    }

    /// Returns the log level in force.
    fn log_level(&self, now: Time) -> Response {
        json(&log_level::state(self.temporary.as_ref(), self.reload.current.options().log_level, now))
    }

    fn change_log_level(&mut self, now: Time, temporary: Option<Temporary>) {
        self.temporary = temporary;
        let (temporary, option) = (self.temporary.as_ref(), self.reload.current.options().log_level);
        let config = Config { log_level: log_level::levels(temporary, option).1.into(), ..self.acm.config().clone() };
        log_level::apply(temporary, option, &self.log, &self.host);
        self.input(now, Input::Configure(config.into()));
    }

    /// Returns to the level of the option file.
    fn reset_log_level(&mut self, now: Time) {
        if self.temporary.is_some() {
            self.change_log_level(now, None);
            let option = self.reload.current.options().log_level.number();
            tracing::info!(target: "log", "log_level {option} again, as the option file has it");
        }
    }

    /// Ends a log level whose time is over.
    pub(super) fn end_due_log_level(&mut self, now: Time) {
        if self.temporary.as_ref().is_some_and(|temporary| temporary.until <= now) {
            self.reset_log_level(now);
        }
    }

    /// Returns whether the reading of the files with a number is complete, or why it has failed.
    fn reload_result(&self, asked: &Asked) -> Response {
        let progress = &self.reload.progress;
        match asked.command.query.strip_prefix("number=").and_then(|number| number.parse::<u64>().ok()) {
            None => Response::Invalid("expected number=N".to_owned()),
            Some(number) if number > progress.complete => json(&ReloadResult::Waits),
            Some(_) if progress.reads_preload => json(&ReloadResult::ReadsPreload),
            Some(_) if progress.has_failed => Response::Failed(progress.problems.join("\n")),
            Some(_) => json(&ReloadResult::Complete(progress.problems.clone())),
        }
    }

    /// Starts a recording into a file of the daemon's user.
    fn start_recording(&mut self, now: Time, asked: &Asked) -> Result<Response, String> {
        let mut parameters = Parameters::of_query(&asked.command.query)?;
        let choice: RecordChoice = parameters.take("file").ok_or("expected file=FILE")?.parse()?;
        if !choice.path.is_absolute() {
            return Err(format!("{}: expected a full path", choice.path.display()));
        }
        self.acm.end_failed();
        if let Some(path) = self.acm.recorded() {
            return Ok(Response::Failed(format!("a recording into {} is in progress", path.display())));
        }
        if let Some(path) = self.acm.unwritten() {
            return Ok(Response::Failed(format!(
                "the recording into {} is not yet written; try again",
                path.display()
            )));
        }
        let time = choice.time.unwrap_or(RECORDING_TIME);
        let choice = RecordChoice { time: Some(time), ..choice };
        let mut mask = [0; 16];
        if let Err(error) = getrandom::fill(&mut mask) {
            return Ok(Response::Failed(error.to_string()));
        }
        // The seed of a running core would not make it replayable, and is secret.
        let start = Start::new(self.acm.config(), Seed::from(0)).with_epoch(self.clock.epoch());
        Ok(match Recording::start(&choice, Path::new("/"), start, self.acm.since(now), mask) {
            Err(error) => Response::Failed(error.to_string()),
            Ok(recording) => {
                self.acm.record(recording);
                let (user, program) = &asked.by;
                let text = format!("recording into {} for {time:?}", choice.path.display());
                tracing::info!(target: "record", "{user}, {program}, starts: {text}");
                json(&text)
            }
        })
    }

    /// Returns the recording in progress, or why the last one has failed.
    fn recording_state(&mut self, now: Time) -> Response {
        if let Some(reason) = self.acm.end_failed() {
            return Response::Failed(reason.to_owned());
        }
        let state = self.acm.recorded().zip(self.acm.written()).map(|(file, Written { files, bytes })| {
            let ends_in = self.acm.recorded_until().map(|until| until.since(now).as_secs());
            RecordingState { file: file.to_path_buf(), files, bytes, ends_in }
        });
        json(&state)
    }

    fn stop_recording(&mut self) -> Response {
        if let Some(reason) = self.acm.take_failure() {
            return Response::Failed(reason);
        }
        match self.acm.end_recording() {
            None => Response::Failed("there is no recording".to_owned()),
            Some(path) => {
                tracing::info!(target: "record", "the recording into {} ends", path.display());
                json(&format!("the recording into {} has ended", path.display()))
            }
        }
    }

    /// Ends a recording whose time is over.
    pub(super) fn end_due_recording(&mut self, now: Time) {
        if self.acm.recorded_until().is_some_and(|until| until <= now) {
            self.stop_recording();
        }
    }

    /// Returns the conditions of a request for cache entries, and the first slot of the page.
    fn conditions(&self, asked: &Asked) -> Result<(Filter, usize), String> {
        let mut parameters = Parameters::of_query(&asked.command.query)?;
        let from = match parameters.take("from") {
            None => 0,
            Some(text) => text.parse().map_err(|_| format!("from={text}: expected a number"))?,
        };
        let filter = Filter::parse(parameters)?;
        let endpoints = self.acm.endpoints();
        filter.check_endpoint(&endpoints.map(|endpoint| self.host.lines.endpoint(endpoint)).collect::<Vec<_>>())?;
        Ok((filter, from))
    }

    /// Returns one page of the cache: the entries that meet the conditions.
    fn list(&self, now: Time, asked: &Asked) -> Result<Response, String> {
        let (filter, from) = self.conditions(asked)?;
        let (mut page, _) = self.host.with_names(|names| Page::read(&self.acm, now, names, &filter, from));
        page.host = filter.address().and_then(|address| self.acm.host_in_file(&address)).map(|gid| gid.to_string());
        Ok(json(&page))
    }

    /// Removes the entries of one page that meet the conditions.
    fn flush(&mut self, now: Time, asked: &Asked) -> Result<Response, String> {
        let (filter, from) = self.conditions(asked)?;
        let (page, ids) = self.host.with_names(|names| Page::read(&self.acm, now, names, &filter, from));
        let mut conditions = Parameters::of_query(&asked.command.query)?;
        conditions.take("from");
        let this = Removal { by: asked.by, conditions: conditions.words(), from };
        if from == 0 || self.removal.as_ref() != Some(&this) {
            let (user, program) = &asked.by;
            let words = if this.conditions.is_empty() { "all" } else { &this.conditions };
            let part = if from == 0 { String::new() } else { format!(", from slot {from} on") };
            // Each line is written: only root and the daemon's user can cause it, and it is their audit.
            tracing::info!(target: "cache", "{user}, {program}, removes entries: {words}{part}");
        }
        self.removal = page.next.map(|from| Removal { from, ..this });
        let count = |daemon: &Self| daemon.acm.stat("destinations_flushed").unwrap_or_default();
        let before = count(self);
        self.input(now, Input::Flush(ids));
        Ok(json(&Flushed { flushed: count(self) - before, next: page.next }))
    }
}

fn json(value: &impl serde::Serialize) -> Response {
    // Only a map with keys that are no strings cannot be written.
    serde_json::to_string(value).map_or_else(|error| Response::Failed(error.to_string()), Response::Done)
}
