//! The rows of tables whose last column names tests.

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its line in the file.
    pub(super) line: usize,
    /// Which of all rows it is, from 1.
    pub(super) number: usize,
    /// Its first cell.
    pub(super) what: String,
    /// What stands in its last cell, without the backquotes.
    pub(super) tests: Vec<String>,
}

/// The head of the column.
const TEST: &str = "test";

/// The rows of every table that has the column, without the heads. A row with fewer cells than its table has no tests.
pub(super) fn rows(text: &str) -> Vec<Row> {
    let (mut rows, mut head) = (Vec::new(), None);
    for (line, text) in (1..).zip(text.lines()) {
        let Some(inner) = text.trim().strip_prefix('|') else {
            head = None;
            continue;
        };
        let cells: Vec<&str> = inner.strip_suffix('|').unwrap_or(inner).split(" |").map(str::trim).collect();
        // The first line of a table is its head, the second one a rule.
        let Some((count, has_tests)) = head else {
            head = Some((cells.len(), cells.last() == Some(&TEST)));
            continue;
        };
        if inner.starts_with("---") || !has_tests {
            continue;
        }
        let what = cells.first().copied().unwrap_or_default().to_owned();
        let last = cells.last().filter(|_| cells.len() == count);
        let names = last.into_iter().flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`'));
        let tests = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        rows.push(Row { line, number: rows.len() + 1, what, tests });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_tables_without_their_heads() {
        let text = "# Title\n\n| what | C | ours | why | test |\n|---|---|---|---|---|\n\
            | a | b | c | d | `p t::f`, `p unit::g` |\n| e | `x`, y | - | h |  |\n\nText.\n\
            | what | why |\n|---|---|\n| no | tests |\n\n\
            | what | C | ours | why | test |\n|---|---|---|---|---|\n| i | j | k | `p t::f` |\n";
        let row = |line, number, what: &str, tests: &[&str]| Row {
            line,
            number,
            what: what.into(),
            tests: tests.iter().map(ToString::to_string).collect(),
        };
        let expected = [row(5, 1, "a", &["p t::f", "p unit::g"]), row(6, 2, "e", &[]), row(15, 3, "i", &[])];
        assert_eq!(rows(text), expected);
        assert_eq!(rows("no table"), []);
    }
}
