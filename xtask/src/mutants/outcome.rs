//! What cargo-mutants found, without the changes that change no behaviour.
use crate::{command, error::TaskError};
use core::fmt;
use serde::Deserialize;
use std::{collections::BTreeMap, fs, io, path::Path};

/// The changes that no test can notice.
const EQUIVALENT: &str = include_str!("equivalent.toml");

/// A list of changes that no test can notice.
#[derive(Debug, Deserialize)]
pub(crate) struct Known {
    equivalent: Vec<Equivalent>,
}

#[derive(Debug, Deserialize)]
struct Equivalent {
    file: String,
    change: String,
    after: Option<String>,
    reason: String,
}

impl Known {
    pub(crate) fn read() -> Result<Self, TaskError> {
        toml::from_str(EQUIVALENT).map_err(|problem| TaskError::Equivalent(problem.to_string()))
    }

    /// Why the change is equivalent. `above` gives the line above one of a file, as it is now.
    fn reason(&self, mutant: &Mutant, above: impl Fn(&Mutant) -> String) -> Option<&str> {
        let same = |known: &&Equivalent| {
            known.file == mutant.file
                && known.change == mutant.change
                && known.after.as_ref().is_none_or(|after| above(mutant).trim() == after)
        };
        self.equivalent.iter().find(same).map(|known| known.reason.as_str())
    }
}

/// A change, as cargo-mutants writes it: `file:line:column: change`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mutant {
    file: String,
    line: usize,
    change: String,
}

impl Mutant {
    fn parse(text: &str) -> Option<Self> {
        let (place, change) = text.split_once(": ")?;
        let mut place = place.splitn(3, ':');
        let (file, line) = (place.next()?, place.next()?.parse().ok()?);
        Some(Self { file: file.to_owned(), line, change: change.to_owned() })
    }
}

/// How many changes of a file were tested, and those that passed the tests.
#[derive(Debug, Default)]
struct File {
    tested: usize,
    equivalent: usize,
    survivors: Vec<String>,
}

/// What was found, by file.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    files: BTreeMap<String, File>,
    /// Changes that do not compile.
    unviable: usize,
}

impl Outcome {
    /// Reads what cargo-mutants wrote to a folder.
    pub(crate) fn read(folder: &Path, known: &Known) -> Result<Self, TaskError> {
        let list = |name: &str| {
            let path = folder.join("mutants.out").join(name);
            fs::read_to_string(&path).map_err(|source| TaskError::Read { path, source })
        };
        // A test that does not end has noticed.
        let noticed = list("caught.txt")? + &list("timeout.txt")?;
        Ok(Self::new(&list("missed.txt")?, &noticed, &list("unviable.txt")?, known, line_above))
    }

    fn new(missed: &str, noticed: &str, unviable: &str, known: &Known, above: impl Fn(&Mutant) -> String) -> Self {
        let mut outcome = Self { unviable: unviable.lines().count(), ..Self::default() };
        for mutant in noticed.lines().filter_map(Mutant::parse) {
            outcome.files.entry(mutant.file).or_default().tested += 1;
        }
        for (text, mutant) in missed.lines().filter_map(|text| Some((text, Mutant::parse(text)?))) {
            let reason = known.reason(&mutant, &above);
            let file = outcome.files.entry(mutant.file).or_default();
            if let Some(reason) = reason {
                println!("equivalent: {text}: {reason}");
                file.equivalent += 1;
            } else {
                file.tested += 1;
                file.survivors.push(text.to_owned());
            }
        }
        outcome
    }

    /// Whether more than `percent` of a hundred passed the tests.
    pub(crate) fn is_over(&self, percent: u32) -> bool {
        self.survived() * 100 > self.tested() * usize::try_from(percent).unwrap_or(usize::MAX)
    }

    fn tested(&self) -> usize {
        self.files.values().map(|file| file.tested).sum()
    }

    fn survived(&self) -> usize {
        self.files.values().map(|file| file.survivors.len()).sum()
    }
}

impl fmt::Display for Outcome {
    /// Each survivor, a table by file, and the sum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for survivor in self.files.values().flat_map(|file| &file.survivors) {
            writeln!(f, "survived: {survivor}")?;
        }
        let width = self.files.keys().map(String::len).max().unwrap_or_default();
        writeln!(f, "{:width$}  tested  survived  equivalent", "file")?;
        for (name, File { tested, equivalent, survivors }) in &self.files {
            writeln!(f, "{name:width$}  {tested:6}  {:8}  {equivalent:10}", survivors.len())?;
        }
        let equivalent: usize = self.files.values().map(|file| file.equivalent).sum();
        let (tested, survived) = (self.tested(), self.survived());
        let tenths = (survived * 1000).checked_div(tested).unwrap_or_default();
        let share = format!("{}.{} %", tenths / 10, tenths % 10);
        write!(f, "{survived} of {tested} survived, {share}; {equivalent} equivalent, {} do not compile", self.unviable)
    }
}

fn line_above(mutant: &Mutant) -> String {
    let text: io::Result<String> = fs::read_to_string(command::root().join(&mutant.file));
    let text = text.unwrap_or_default();
    mutant.line.checked_sub(2).and_then(|line| text.lines().nth(line)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = r#"
[[equivalent]]
file = "a.rs"
change = "replace | with ^ in f"
reason = "two bits"
[[equivalent]]
file = "a.rs"
change = "replace += with *= in <impl A for B>::g"
after = "else {"
reason = "never"
"#;

    fn outcome(missed: &str) -> Outcome {
        let above = |mutant: &Mutant| if mutant.line == 9 { "    else {" } else { "x" }.to_owned();
        Outcome::new(missed, "a.rs:1:1: x\nb.rs:2:2: y\n", "b.rs:3:3: z\n", &toml::from_str(KNOWN).unwrap(), above)
    }

    #[test]
    fn equivalent_ones_do_not_count() {
        let found = outcome("a.rs:7:5: replace | with ^ in f\na.rs:9:1: replace += with *= in <impl A for B>::g\n");
        assert_eq!((found.tested(), found.survived(), found.unviable), (2, 0, 1));
        assert!(!found.is_over(0));
    }

    #[test]
    fn others_do() {
        // Another file, another change, another place of the same change.
        let found = outcome(
            "b.rs:7:5: replace | with ^ in f\na.rs:7:5: replace | with & in f\n\
             a.rs:8:1: replace += with *= in <impl A for B>::g\n",
        );
        assert_eq!((found.tested(), found.survived()), (5, 3));
        assert!(found.is_over(59) && !found.is_over(60));
        let said = found.to_string();
        assert!(said.contains("survived: a.rs:7:5: replace | with & in f\n"), "{said}");
        assert!(said.contains("\na.rs       3         2           0\n"), "{said}");
        assert!(said.ends_with("3 of 5 survived, 60.0 %; 0 equivalent, 1 do not compile"), "{said}");
    }

    #[test]
    fn listed_ones_are_of_files_that_are_there() {
        for known in Known::read().unwrap().equivalent {
            let text = fs::read_to_string(command::root().join(&known.file)).unwrap();
            assert!(known.after.is_none_or(|after| text.contains(&after)) && !known.reason.is_empty());
            // A whole body that is replaced, or something in a function.
            let (named, _) = known.change.split_once(" -> ").unwrap_or((&known.change, ""));
            let function = named.rsplit("::").next().and_then(|name| name.rsplit(' ').next()).unwrap();
            assert!(text.contains(&format!("fn {function}")), "{}: {}", known.file, known.change);
        }
    }
}
