//! The task `deviations`: each row of `docs/deviations.md` names the tests that notice when its behaviour is gone.
mod named;
mod outcome;
mod rows;
mod tests_of;

use crate::{
    command::{self, cargo},
    error::TaskError,
};
use cargo_metadata::MetadataCommand;
use named::{Place, Problem};
use rows::Row;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// From the workspace's folder.
const FILE: &str = "docs/deviations.md";

/// The task: the rows, and unless they are only to be listed, every test that they name.
///
/// # Errors
/// [`TaskError::Deviations`] with every row that names no test, one that is not there, or one that fails.
pub(crate) fn run(only_list: bool) -> Result<(), TaskError> {
    let table = Table::read()?;
    for row in &table.rows {
        println!("{FILE}:{}: row {}, {}: {}", row.line, row.number, row.what, row.tests.join(", "));
    }
    table.defects()?;
    if only_list {
        return Ok(());
    }
    let mut failed = BTreeSet::new();
    for (place, tests) in table.by_target() {
        let mut command = cargo(&["test"]);
        command.args(place.args()).args(["--", "--exact"]).args(&tests);
        let said = command::output(&mut command)?;
        print!("{said}");
        let passed = outcome::passed(&said);
        failed.extend(tests.into_iter().filter(|test| !passed.contains(test)).map(|test| (place.clone(), test)));
    }
    let defects: Vec<_> =
        table.found().filter(|(_, place, test)| failed.contains(&((*place).clone(), *test))).collect();
    if defects.is_empty() {
        println!("{} rows, every test passed", table.rows.len());
        return Ok(());
    }
    let line = |(row, place, test): (&Row, &Place, &str)| defect(row, &format!("{place}::{test} did not pass"));
    Err(TaskError::Deviations(defects.into_iter().map(line).collect()))
}

/// What every run of the tests looks at first: that each row names tests, and that they are there.
///
/// # Errors
/// [`TaskError::Deviations`] with every row for which that is not so.
pub(crate) fn check() -> Result<(), TaskError> {
    let table = Table::read()?;
    table.defects()?;
    println!("  {} rows of {FILE}, each with its test", table.rows.len());
    Ok(())
}

/// The rows, and for each what became of the names of its tests.
#[derive(Debug)]
struct Table {
    rows: Vec<Row>,
    tests: Vec<Vec<Result<(Place, String), Problem>>>,
}

impl Table {
    fn read() -> Result<Self, TaskError> {
        let path = command::root().join(FILE);
        let text = fs::read_to_string(&path).map_err(|source| TaskError::Read { path, source })?;
        let rows = rows::rows(&text);
        let metadata = MetadataCommand::new().current_dir(command::root()).no_deps().exec()?;
        let mut known = tests_of::Known::new(&metadata);
        let mut tests = Vec::new();
        for row in &rows {
            tests.push(row.tests.iter().map(|name| named::find(&mut known, name)).collect::<Result<_, _>>()?);
        }
        Ok(Self { rows, tests })
    }

    fn defects(&self) -> Result<(), TaskError> {
        let mut defects = Vec::new();
        for (row, tests) in self.rows.iter().zip(&self.tests) {
            if tests.is_empty() {
                defects.push(defect(row, "names no test"));
            }
            defects.extend(tests.iter().filter_map(|test| Some(defect(row, &test.as_ref().err()?.to_string()))));
        }
        if defects.is_empty() { Ok(()) } else { Err(TaskError::Deviations(defects)) }
    }

    /// Each row with each of its tests.
    fn found(&self) -> impl Iterator<Item = (&Row, &Place, &str)> {
        let of_row = |(row, tests)| -> Vec<(&Row, &Place, &str)> {
            let tests: &Vec<Result<(Place, String), Problem>> = tests;
            tests.iter().flatten().map(|(place, test)| (row, place, test.as_str())).collect()
        };
        self.rows.iter().zip(&self.tests).flat_map(of_row)
    }

    /// The tests of all rows, one program after the other.
    fn by_target(&self) -> BTreeMap<&Place, BTreeSet<&str>> {
        let mut by_target: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (_, place, test) in self.found() {
            by_target.entry(place).or_default().insert(test);
        }
        by_target
    }
}

fn defect(row: &Row, problem: &str) -> String {
    format!("{FILE}:{}: row {}, {}: {problem}", row.line, row.number, row.what)
}
