//! The task `deps`: which crate may depend on which, what the pure ones may contain, and circles inside a crate.
mod arrows;
mod circles;
mod defect;
mod excuses;
mod graph;
mod imports;
mod pages;
mod source;

pub(crate) use source::tokens;

use crate::{command, error::TaskError};
use cargo_metadata::MetadataCommand;

/// The task. Prints the arrows that there are.
///
/// # Errors
/// [`TaskError::Defects`] with everything that is wrong.
pub(crate) fn run() -> Result<(), TaskError> {
    let metadata = MetadataCommand::new().current_dir(command::root()).no_deps().exec()?;
    let crates = graph::crates(&metadata);
    let mut defects = arrows::check(&crates);
    for member in crates.iter().filter(|member| arrows::is_below_the_line(&member.name)) {
        defects.extend(source::check(member)?);
    }
    for member in crates.iter().filter(|member| !arrows::is_for_tests(&member.name)) {
        defects.extend(source::roots_that_may_panic(member)?);
    }
    for member in &crates {
        defects.extend(source::roots_that_allow_unsafe(member)?);
        defects.extend(circles::check(member)?);
        defects.extend(pages::check(member)?);
    }
    if !defects.is_empty() {
        return Err(TaskError::Defects(defects.iter().map(ToString::to_string).collect()));
    }
    for member in &crates {
        let inner: Vec<_> = member.depends.iter().filter(|to| to.internal).map(|to| to.name.as_str()).collect();
        println!("  {:15} -> {}", member.name, if inner.is_empty() { "-".to_owned() } else { inner.join(", ") });
    }
    for (what, list) in [("circles", excuses::CIRCLES), ("functions in mod.rs", excuses::FUNCTIONS)] {
        list.iter().for_each(|excuse| println!("  {what} in {} are excused: {}", excuse.place, excuse.reason));
    }
    println!("  {} crates, every arrow is allowed, no other circle inside", crates.len());
    Ok(())
}
