//! Checks the blocks of a document.
use super::{
    markdown::{Block, Kind, blocks, page_not_run},
    shell::{Shell, clone, in_clone},
    transcript::{Step, agree, commands, console},
};
use crate::poll;
use acm_wire::files::opts;
use core::time::Duration;
use std::fs;

/// Result of the check of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of executed commands.
    pub commands: usize,
    /// Blocks and pages that are not run, each with its location and the reason.
    pub not_run: Vec<String>,
    /// Differences from the document, each with its location.
    pub faults: Vec<String>,
}

/// Executes the blocks of a document. A command whose output differs is repeated for `patience`, because daemons join
/// their groups some time after their start.
#[must_use]
pub fn check(name: &str, text: &str, patience: Duration) -> Report {
    let (mut report, mut shell) = (Report::default(), None);
    let blocks = blocks(text);
    if let Some(reason) = page_not_run(text) {
        report.not_run.push(format!("{name}, {} blocks: {reason}", blocks.len()));
        return report;
    }
    for block in blocks {
        let location = format!("{name}:{}", block.line);
        if let Some(reason) = &block.not_run {
            report.not_run.push(format!("{location}: {reason}"));
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
            Err(why) => report.faults.push(format!("{location}: {why}")),
            Ok(steps) if steps.is_empty() => {}
            Ok(steps) => {
                let shell = shell.get_or_insert_with(Shell::start);
                for step in steps {
                    report.commands += 1;
                    report
                        .faults
                        .extend(execute(shell, &block, &step, patience).map(|fault| format!("{location}: {fault}")));
                }
            }
        }
    }
    report
}

/// True if rustdoc runs the code in a document.
fn is_in_documentation(name: &str) -> bool {
    let crates = fs::read_dir(clone().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut roots = crates.filter_map(|path| fs::read_to_string(path.join("src/lib.rs")).ok());
    roots.any(|root| root.contains(&format!("include_str!(\"../{name}\")")))
}

/// Checks lines of an option file.
fn options(text: &str) -> Result<(), String> {
    opts::parse(text.as_bytes()).try_for_each(|line| line.map(|_| ()).map_err(|error| error.to_string()))
}

/// True if a command runs in the background.
fn is_job(command: &str) -> bool {
    let command = command.split(" #").next().unwrap_or_default().trim_end();
    command.ends_with('&') && !command.ends_with("&&")
}

/// Executes a command and returns the difference from the document, if there is one.
fn execute(shell: &mut Shell, block: &Block, step: &Step, patience: Duration) -> Option<String> {
    let command = if block.in_clone { in_clone(&step.command) } else { step.command.clone() };
    let mut executed = shell.execute(&command);
    let is_silent = step.output.as_ref().is_none_or(Vec::is_empty);
    if is_silent && executed.status != 0 {
        return Some(format!("`{}` ends with status {}:\n{}", step.command, executed.status, executed.printed()));
    }
    let expected = step.output.as_ref()?;
    let is_job = is_job(&step.command);
    if is_job && is_silent {
        return None;
    }
    let found = poll::within(patience, || {
        if agree(expected, &executed.printed()) {
            return Some(());
        }
        if !is_job && !is_silent {
            executed = shell.execute(&command);
        }
        None
    });
    let wrong =
        || format!("`{}` should print\n{}\nand prints\n{}", step.command, expected.join("\n"), executed.printed());
    found.is_none().then(wrong)
}
