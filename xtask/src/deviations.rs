//! The task `deviations`: each row of `docs/deviations.md`, and each bound of `docs/deadlines.md`, names the tests that
//! notice when it is gone.
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
const FILES: [&str; 2] = ["docs/deviations.md", "docs/deadlines.md"];

/// The task: the rows, and unless they are only to be listed, every test that they name.
///
/// # Errors
/// [`TaskError::Deviations`] with every row that names no test, one that is not there, or one that fails.
pub(crate) fn run(only_list: bool) -> Result<(), TaskError> {
    let tables = Table::read_all()?;
    for Table { file, rows, .. } in &tables {
        for row in rows {
            println!("{file}:{}: row {}, {}: {}", row.line, row.number, row.what, row.tests.join(", "));
        }
    }
    defects(&tables)?;
    if only_list {
        return Ok(());
    }
    let mut failed = BTreeSet::new();
    for (place, tests) in by_target(&tables) {
        let mut command = cargo(&["test"]);
        command.args(place.args()).args(["--", "--exact"]).args(&tests);
        let said = command::output(&mut command)?;
        print!("{said}");
        let passed = outcome::passed(&said);
        failed.extend(tests.into_iter().filter(|test| !passed.contains(test)).map(|test| (place.clone(), test)));
    }
    let of_table = |table: &Table| -> Vec<String> {
        let failed = table.found().filter(|(_, place, test)| failed.contains(&((*place).clone(), *test)));
        failed.map(|(row, place, test)| table.defect(row, &format!("{place}::{test} did not pass"))).collect()
    };
    let defects: Vec<String> = tables.iter().flat_map(of_table).collect();
    if !defects.is_empty() {
        return Err(TaskError::Deviations(defects));
    }
    println!("{} rows, every test passed", tables.iter().map(|table| table.rows.len()).sum::<usize>());
    Ok(())
}

/// What every run of the tests looks at first: that each row names tests, and that they are there.
///
/// # Errors
/// [`TaskError::Deviations`] with every row for which that is not so.
pub(crate) fn check() -> Result<(), TaskError> {
    let tables = Table::read_all()?;
    defects(&tables)?;
    for Table { file, rows, .. } in &tables {
        println!("  {} rows of {file}, each with its test", rows.len());
    }
    Ok(())
}

/// The rows of a file, and for each what became of the names of its tests.
#[derive(Debug)]
struct Table {
    file: &'static str,
    rows: Vec<Row>,
    tests: Vec<Vec<Result<(Place, String), Problem>>>,
}

impl Table {
    fn read_all() -> Result<Vec<Self>, TaskError> {
        let metadata = MetadataCommand::new().current_dir(command::root()).no_deps().exec()?;
        let mut known = tests_of::Known::new(&metadata);
        FILES.into_iter().map(|file| Self::read(file, &mut known)).collect()
    }

    fn read(file: &'static str, known: &mut tests_of::Known) -> Result<Self, TaskError> {
        let path = command::root().join(file);
        let text = fs::read_to_string(&path).map_err(|source| TaskError::Read { path, source })?;
        let rows = rows::rows(&text);
        let mut tests = Vec::new();
        for row in &rows {
            tests.push(row.tests.iter().map(|name| named::find(known, name)).collect::<Result<_, _>>()?);
        }
        Ok(Self { file, rows, tests })
    }

    fn defects(&self) -> Vec<String> {
        let mut defects = Vec::new();
        if self.rows.is_empty() {
            defects.push(format!("{}: no table with tests", self.file));
        }
        for (row, tests) in self.rows.iter().zip(&self.tests) {
            if tests.is_empty() {
                defects.push(self.defect(row, "names no test"));
            }
            defects.extend(tests.iter().filter_map(|test| Some(self.defect(row, &test.as_ref().err()?.to_string()))));
        }
        defects
    }

    /// Each row with each of its tests.
    fn found(&self) -> impl Iterator<Item = (&Row, &Place, &str)> {
        let of_row = |(row, tests)| -> Vec<(&Row, &Place, &str)> {
            let tests: &Vec<Result<(Place, String), Problem>> = tests;
            tests.iter().flatten().map(|(place, test)| (row, place, test.as_str())).collect()
        };
        self.rows.iter().zip(&self.tests).flat_map(of_row)
    }

    fn defect(&self, row: &Row, problem: &str) -> String {
        format!("{}:{}: row {}, {}: {problem}", self.file, row.line, row.number, row.what)
    }
}

fn defects(tables: &[Table]) -> Result<(), TaskError> {
    let defects: Vec<String> = tables.iter().flat_map(Table::defects).collect();
    if defects.is_empty() { Ok(()) } else { Err(TaskError::Deviations(defects)) }
}

/// The tests of all rows, one program after the other.
fn by_target(tables: &[Table]) -> BTreeMap<&Place, BTreeSet<&str>> {
    let mut by_target: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (_, place, test) in tables.iter().flat_map(Table::found) {
        by_target.entry(place).or_default().insert(test);
    }
    by_target
}
