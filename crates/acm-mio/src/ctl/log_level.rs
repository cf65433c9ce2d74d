//! `log-level`: the log level of the running daemon, for a time.
use super::{
    age::Age,
    ask::{Ask, json_of},
};
use crate::{
    control::{LogLevelState, Parameters, TemporaryLevel},
    output::{Failure, Outcome, Output},
};
use core::time::Duration;

/// A change of the log level.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Change {
    /// 0 has changes of the service and faults, 1 also each failed request, 2 each step of each request; default is the
    /// level of the option file.
    #[arg(value_name = "LEVEL", value_parser = ["0", "1", "2", "default"])]
    level: Option<String>,
    /// Time after which the level of the option file is in force again, at most a day.
    #[arg(long = "for", value_name = "TIME", requires = "level", default_value = "10m")]
    time: Option<Age>,
    /// Only lines about a name, an IP address, a LID or a GID. A `*` at the end stands for any text.
    #[arg(long, value_name = "DEST", requires = "level")]
    dest: Option<String>,
}

impl Change {
    /// Returns the method and the target of the request.
    fn request(&self) -> (&'static str, String) {
        const TARGET: &str = "/log-level";
        let time = self.time.map_or(Duration::ZERO, |time| time.0);
        match self.level.as_deref() {
            None => ("GET", TARGET.to_owned()),
            Some("default") => ("DELETE", TARGET.to_owned()),
            Some(level) => {
                let parameters = Parameters::default().with("level", level).with("for", time.as_secs());
                let dest = self.dest.iter().fold(parameters, |all, dest| all.with("dest", dest));
                ("POST", format!("{TARGET}?{}", dest.query()))
            }
        }
    }
}

fn text(LogLevelState { option, temporary }: &LogLevelState) -> String {
    let Some(TemporaryLevel { level, ends_in, dest }) = temporary else {
        return format!("log level {option}, as the option file has it\n");
    };
    let of = dest.as_ref().map_or(String::new(), |dest| format!(" of lines about {dest}"));
    let end = Age(Duration::from_secs(*ends_in));
    format!("log level {level}{of}, for another {end}; the option file has {option}\n")
}

/// Changes the level, if a level is given, and prints the level in force.
///
/// # Errors
/// No daemon answers, or it refuses the change.
pub(super) fn run(ask: Ask<'_>, change: &Change, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let (method, target) = change.request();
    let state: LogLevelState = json_of(&ask(method, &target)?)?;
    output.result(&state, &text(&state))?;
    Ok(Outcome::Good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_one_request() {
        let change = |level: &str, dest: Option<&str>| Change {
            level: Some(level.to_owned()),
            time: Some("1h".parse().unwrap()),
            dest: dest.map(str::to_owned),
        };
        assert_eq!(Change::default().request(), ("GET", "/log-level".to_owned()));
        assert_eq!(change("default", None).request(), ("DELETE", "/log-level".to_owned()));
        assert_eq!(change("1", None).request(), ("POST", "/log-level?level=1&for=3600".to_owned()));
        let of_node = change("2", Some("node2")).request();
        assert_eq!(of_node, ("POST", "/log-level?level=2&for=3600&dest=node2".to_owned()));
    }

    #[test]
    fn level_is_shown_with_its_end_and_what_follows() {
        let state = |temporary| text(&LogLevelState { option: 0, temporary });
        assert_eq!(state(None), "log level 0, as the option file has it\n");
        let temporary = |dest| Some(TemporaryLevel { level: 2, ends_in: 599, dest });
        assert_eq!(state(temporary(None)), "log level 2, for another 9m59s; the option file has 0\n");
        let of_node = state(temporary(Some("node2".to_owned())));
        assert_eq!(of_node, "log level 2 of lines about node2, for another 9m59s; the option file has 0\n");
    }
}
