//! Whether a document is true.
use super::{
    markdown::{Block, Kind, blocks, page_not_run},
    shell::{Shell, clone, in_clone},
    transcript::{Step, agree, commands, console},
};
use crate::poll;
use acm_wire::files::opts;
use core::time::Duration;
use std::fs;

/// What came of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Commands that were given.
    pub commands: usize,
    /// Blocks and pages that are not run: each with its place and the reason.
    pub not_run: Vec<String>,
    /// What is not as the document says: each with its place.
    pub faults: Vec<String>,
}

/// Does what the blocks of a document say. A command that prints something else than the document says is given again
/// for so long: daemons that were started a moment ago may not be in their groups.
#[must_use]
pub fn check(name: &str, text: &str, patience: Duration) -> Report {
    let (mut report, mut shell) = (Report::default(), None);
    let blocks = blocks(text);
    if let Some(reason) = page_not_run(text) {
        report.not_run.push(format!("{name}, {} blocks: {reason}", blocks.len()));
        return report;
    }
    for block in blocks {
        let place = format!("{name}:{}", block.line);
        if let Some(reason) = &block.not_run {
            report.not_run.push(format!("{place}: {reason}"));
            continue;
        }
        let steps = match &block.kind {
            Kind::Console => console(&block.text),
            Kind::Commands => Ok(commands(&block.text)),
            Kind::Options => options(&block.text).map(|()| Vec::new()),
            Kind::Doctest if !is_in_documentation(name) => Err("no crate's documentation has this file".to_owned()),
            Kind::Doctest | Kind::Text => Ok(Vec::new()),
            Kind::Unknown(why) => Err(why.clone()),
        };
        match steps {
            Err(why) => report.faults.push(format!("{place}: {why}")),
            Ok(steps) if steps.is_empty() => {}
            Ok(steps) => {
                let shell = shell.get_or_insert_with(Shell::start);
                for step in steps {
                    report.commands += 1;
                    report.faults.extend(take(shell, &block, &step, patience).map(|fault| format!("{place}: {fault}")));
                }
            }
        }
    }
    report
}

/// Whether rustdoc runs what is in a document.
fn is_in_documentation(name: &str) -> bool {
    let crates = fs::read_dir(clone().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut roots = crates.filter_map(|path| fs::read_to_string(path.join("src/lib.rs")).ok());
    roots.any(|root| root.contains(&format!("include_str!(\"../../../{name}\")")))
}

/// What is wrong with lines of an option file.
fn options(text: &str) -> Result<(), String> {
    opts::parse(text.as_bytes()).try_for_each(|line| line.map(|_| ()).map_err(|error| error.to_string()))
}

/// Whether a command goes on in the background.
fn is_job(command: &str) -> bool {
    let command = command.split(" #").next().unwrap_or_default().trim_end();
    command.ends_with('&') && !command.ends_with("&&")
}

/// Gives a command; what is wrong with what it does.
fn take(shell: &mut Shell, block: &Block, step: &Step, patience: Duration) -> Option<String> {
    let command = if block.in_clone { in_clone(&step.command) } else { step.command.clone() };
    let mut given = shell.give(&command);
    let is_silent = step.prints.as_ref().is_none_or(Vec::is_empty);
    if is_silent && given.status != 0 {
        return Some(format!("`{}` ends with status {}:\n{}", step.command, given.status, given.printed()));
    }
    let expected = step.prints.as_ref()?;
    let is_job = is_job(&step.command);
    if is_job && is_silent {
        return None;
    }
    let found = poll::within(patience, || {
        if agree(expected, &given.printed()) {
            return Some(());
        }
        if !is_job && !is_silent {
            given = shell.give(&command);
        }
        None
    });
    let wrong = || format!("`{}` should print\n{}\nand prints\n{}", step.command, expected.join("\n"), given.printed());
    found.is_none().then(wrong)
}
