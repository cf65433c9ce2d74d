//! Commands and their documented output.
use super::mask::mask;

/// A command and the lines below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    /// The documented output; `None` if the document does not show it.
    pub(super) output: Option<Vec<String>>,
}

/// Line that matches any number of lines.
const ANY: &str = "...";

/// Returns commands without output: one per line, or several lines that end with a backslash.
pub(super) fn commands(text: &str) -> Vec<Step> {
    let joined = text.replace("\\\n", "\\\r");
    let lines = joined.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.map(|line| Step { command: line.replace('\r', "\n"), output: None }).collect()
}

/// Returns the commands after `$ `, each with its output.
pub(super) fn console(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        let continues =
            steps.last().is_some_and(|step| step.output == Some(Vec::new()) && step.command.ends_with('\\'));
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), output: Some(Vec::new()) }),
            (None, Some(step)) if continues => step.command += &format!("\n{line}"),
            (None, Some(step)) => step.output.get_or_insert_default().push(line.to_owned()),
            (None, None) => return Err(format!("a line before the first command: {line:?}")),
        }
    }
    Ok(steps)
}

/// True if a text has these lines, apart from masked parts.
pub(super) fn agree(expected: &[String], text: &str) -> bool {
    let masked = |lines: Vec<&str>| {
        let mut lines: Vec<String> = lines.into_iter().map(mask).collect();
        lines.truncate(lines.len() - lines.iter().rev().take_while(|line| line.is_empty()).count());
        lines
    };
    same(&masked(expected.iter().map(String::as_str).collect()), &masked(text.lines().collect()))
}

fn same(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == ANY => (0..=lines.len()).any(|from| same(rest, &lines[from..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, lines)| line == first && same(rest, lines)),
    }
}
