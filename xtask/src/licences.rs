//! What this project is built with, checked against `deny.toml`: licences, refused crates, sources.
//!
//! These are the parts of `cargo deny check` that need neither cargo-deny, which takes minutes to build, nor advisories.
mod rules;

use crate::{command, error::TaskError};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use rules::{FILE, Rules};
use std::fs;

/// The check.
///
/// # Errors
/// [`TaskError::Licences`] with every crate that may not be here.
pub(crate) fn check() -> Result<(), TaskError> {
    let path = command::root().join(FILE);
    let text = fs::read_to_string(&path).map_err(|source| TaskError::Read { path, source })?;
    let rules = Rules::parse(&text).map_err(|problem| TaskError::Licences(vec![problem]))?;
    let mut defects = Vec::new();
    let mut checked = 0;
    for target in rules.targets() {
        let metadata = metadata(target, rules.all_features())?;
        for package in &metadata.packages {
            checked += 1;
            defects.extend(defect(package, &rules));
        }
    }
    defects.sort();
    defects.dedup();
    if !defects.is_empty() {
        return Err(TaskError::Licences(defects));
    }
    println!("  {checked} crates for {}: every licence is one of {FILE}'s", rules.targets().join(", "));
    Ok(())
}

fn metadata(target: &str, all_features: bool) -> Result<Metadata, TaskError> {
    let mut command = MetadataCommand::new();
    if all_features {
        command.features(cargo_metadata::CargoOpt::AllFeatures);
    }
    let filter = ["--locked", "--filter-platform", target].map(str::to_owned);
    Ok(command.current_dir(command::root()).other_options(filter).exec()?)
}

fn defect(package: &Package, rules: &Rules) -> Option<String> {
    let source = package.source.as_ref().map(|source| source.repr.as_str());
    let licence = match &package.license {
        Some(licence) => rules.licence(package.name.as_str(), licence),
        // Only a file of its own: what its first line says it is.
        None => match package.license_file().and_then(|file| fs::read_to_string(file).ok()) {
            Some(text) => rules.licence_text(&text),
            None => Err("says no licence".to_owned()),
        },
    };
    let problem = licence.and_then(|()| rules.name(package.name.as_str())).and_then(|()| rules.source(source)).err()?;
    Some(format!("{} {}: {problem}", package.name, package.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_here_may_be_here() {
        check().unwrap();
    }
}
