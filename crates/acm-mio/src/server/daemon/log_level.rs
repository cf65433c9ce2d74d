//! Log level for a time, in place of that of the option file: of all lines, or of those about one destination.
use super::host::Host;
use crate::{
    control::{Filter, LogLevelState, Parameters, TemporaryLevel},
    log::Log,
    metrics::Asked,
};
use acm_sansio::Time;
use acm_wire::files::opts::LogLevel;
use core::time::Duration;

/// Maximum time of another level, in seconds: nobody forgets it for longer than a day.
const MOST: u64 = 86_400;

/// A log level for a time.
#[derive(Debug)]
pub(crate) struct Temporary {
    level: LogLevel,
    /// The time of its end.
    pub(super) until: Time,
    /// The destination whose lines have this level, and its text.
    dest: Option<(Filter, String)>,
}

impl Temporary {
    /// Parses the parameters of a request, and logs who sets the level.
    ///
    /// # Errors
    /// A parameter is wrong.
    pub(super) fn parse(now: Time, asked: &Asked) -> Result<Self, String> {
        let mut parameters = Parameters::of_query(&asked.command.query)?;
        let level = match parameters.take("level").as_deref() {
            Some("0") => LogLevel::Basic,
            Some("1") => LogLevel::Verbose,
            Some("2") => LogLevel::Operation,
            _ => return Err("expected level=0, 1 or 2".to_owned()),
        };
        let seconds = parameters.take("for").and_then(|text| text.parse().ok());
        let seconds = seconds.filter(|time| (1..=MOST).contains(time)).ok_or("expected for=SECONDS, at most a day")?;
        let named = |text: String| match Filter::parse(Parameters::default().with("name", &text)) {
            Ok(filter) => Ok((filter, text)),
            Err(problem) => Err(problem),
        };
        let dest = parameters.take("dest").map(named).transpose()?;
        if let Some(key) = parameters.first() {
            return Err(format!("{key}: expected level, for or dest, each at most once"));
        }
        let (user, program) = &asked.by;
        let of = dest.as_ref().map_or(String::new(), |(_, text)| format!(" of lines about {}", text.escape_debug()));
        tracing::info!(target: "log", "{user}, {program}, sets log_level {} for {seconds} s{of}", level.number());
        Ok(Self { level, until: now + Duration::from_secs(seconds), dest })
    }
}

/// Returns the level of all lines, and that of the core's events, if the option file has this level.
pub(super) fn levels(temporary: Option<&Temporary>, option: LogLevel) -> (LogLevel, LogLevel) {
    match temporary {
        None => (option, option),
        Some(Temporary { level, dest: None, .. }) => (*level, *level),
        Some(Temporary { level, .. }) => (option, option.max(*level)),
    }
}

/// Sets the levels of the log and of the provider libraries, if the option file has this level.
pub(super) fn apply(temporary: Option<&Temporary>, option: LogLevel, log: &Log, host: &Host) {
    let (all, events) = levels(temporary, option);
    let dest = temporary.and_then(|temporary| temporary.dest.as_ref());
    log.set_level(all, events);
    host.lines.set_focus(dest.map(|(filter, _)| (option.into(), filter.clone())));
    host.providers.log_to(log, all);
}

/// Returns the level in force.
pub(super) fn state(temporary: Option<&Temporary>, option: LogLevel, now: Time) -> LogLevelState {
    let temporary = temporary.map(|Temporary { level, until, dest }| TemporaryLevel {
        level: level.number(),
        ends_in: until.since(now).as_secs(),
        dest: dest.as_ref().map(|(_, text)| text.clone()),
    });
    LogLevelState { option: option.number(), temporary }
}
