//! Commands, and what a document says that they print.
use super::mask::mask;

/// A command, and the lines that stand under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    /// What it prints; `None` where a document does not show it.
    pub(super) prints: Option<Vec<String>>,
}

/// Stands for any number of lines.
const ANY: &str = "...";

/// Commands alone: one a line, unless it ends with a backslash.
pub(super) fn commands(text: &str) -> Vec<Step> {
    let joined = text.replace("\\\n", "\\\r");
    let lines = joined.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.map(|line| Step { command: line.replace('\r', "\n"), prints: None }).collect()
}

/// Commands behind `$ `, each with what it prints.
pub(super) fn console(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        let goes_on = steps.last().is_some_and(|step| step.prints == Some(Vec::new()) && step.command.ends_with('\\'));
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), prints: Some(Vec::new()) }),
            (None, Some(step)) if goes_on => step.command += &format!("\n{line}"),
            (None, Some(step)) => step.prints.get_or_insert_default().push(line.to_owned()),
            (None, None) => return Err(format!("a line before the first command: {line:?}")),
        }
    }
    Ok(steps)
}

/// Whether a text has these lines, but for what is another each time.
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
