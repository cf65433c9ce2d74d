//! Output of commands for administrators, and their exit codes.
use core::fmt::{self, Display};
use serde::Serialize;
use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

/// Version of the JSON of all commands. A member that is added does not change it.
const SCHEMA: u32 = 1;

/// Exit code for a wrong command line.
pub(crate) const USAGE: u8 = 2;

/// Result of a command that was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Good,
    /// The thing that was asked for is not there.
    Bad,
    /// The daemon serves, or would serve, and something is wrong.
    Degraded,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Good => 0,
            Self::Bad => 1,
            Self::Degraded => 4,
        })
    }
}

/// The reason for which a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No daemon answered.
    NoDaemon(String),
    /// The daemon refused the command, or it failed.
    Failed(String),
    /// The command line is wrong.
    Usage(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => USAGE,
            Self::NoDaemon(_) => 3,
        })
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NoDaemon(text) | Self::Failed(text) | Self::Usage(text)) = self;
        f.write_str(text)
    }
}

/// Standard output.
pub(crate) struct Output<'a> {
    out: &'a mut dyn Write,
    /// If true, commands print one JSON object.
    pub(crate) json: bool,
    /// True once the reader of a pipe has closed it: nothing more is written.
    pub(crate) is_closed: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, json: bool) -> Self {
        Self { out, json, is_closed: false }
    }

    /// Writes text. A closed pipe is no failure.
    ///
    /// # Errors
    /// The text cannot be written.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.is_closed {
            return Ok(());
        }
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            written => written.map_err(|error| Failure::Failed(format!("standard output: {error}"))),
        }
    }

    /// Writes the one JSON object of a command, after its version.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub(crate) fn object(&mut self, members: &impl Serialize) -> Result<(), Failure> {
        // By way of a value, so that the members are in order.
        let text = serde_json::to_value(members).map_err(|error| Failure::Failed(error.to_string()))?.to_string();
        let members = text.trim_start_matches('{');
        let comma = if members == "}" { "" } else { "," };
        self.write(&format!("{{\"schema\":{SCHEMA}{comma}{members}\n"))
    }

    /// Writes the result of a command: its object, or its text.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub(crate) fn result(&mut self, members: &impl Serialize, text: &str) -> Result<(), Failure> {
        if self.json { self.object(members) } else { self.write(text) }
    }

    /// Writes the object of a command with a list, whose parts are written one by one. `parts` gets a function that
    /// writes the next element.
    ///
    /// # Errors
    /// As [`Output::write`], and those of `parts`.
    pub(crate) fn list(
        &mut self,
        name: &str,
        parts: impl FnOnce(&mut dyn FnMut(&str) -> Result<bool, Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // A failure before the first element leaves no half of an object.
        let mut head = Some(format!("{{\"schema\":{SCHEMA},\"{name}\":["));
        parts(&mut |element| {
            let before = head.take().unwrap_or_else(|| ",".to_owned());
            self.write(&format!("{before}\n{element}"))?;
            Ok(!self.is_closed)
        })?;
        self.write(&(head.unwrap_or_default() + "\n]}\n"))
    }
}

/// Prints a line to standard error, which has everything that is not the result.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "acmctl: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn object_begins_with_its_version() {
        let mut text = Vec::new();
        let mut output = Output::new(&mut text, true);
        output.object(&json!({})).unwrap();
        output.object(&json!({ "a": { "b": 1 } })).unwrap();
        let each = |next: &mut dyn FnMut(&str) -> Result<bool, Failure>| {
            ["1", "2"].iter().try_for_each(|part| next(part).map(drop))
        };
        output.list("parts", each).unwrap();
        output.list("none", |_| Ok(())).unwrap();
        assert!(output.list("failed", |_| Err(Failure::Failed("no".to_owned()))).is_err());
        let text = String::from_utf8(text).unwrap();
        let expected = "{\"schema\":1}\n{\"schema\":1,\"a\":{\"b\":1}}\n{\"schema\":1,\"parts\":[\n1,\n2\n]}\n{\"schema\":1,\"none\":[\n]}\n";
        assert_eq!(text, expected);
        assert!(serde_json::Deserializer::from_str(&text).into_iter::<Value>().all(|value| value.is_ok()));
    }
}
