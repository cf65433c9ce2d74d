//! The rows of the tables in `docs/deviations.md`.

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

/// Cells of a row: what, C ibacm, acm-mio, why, test.
const CELLS: usize = 5;

/// The rows of every table, without the heads. A row with fewer cells than its table has no tests.
pub(super) fn rows(text: &str) -> Vec<Row> {
    let (mut rows, mut in_table) = (Vec::new(), false);
    for (line, text) in (1..).zip(text.lines()) {
        let Some(inner) = text.trim().strip_prefix('|') else {
            in_table = false;
            continue;
        };
        // The first line of a table is its head, the second one a rule.
        if !core::mem::replace(&mut in_table, true) || inner.starts_with("---") {
            continue;
        }
        let cells: Vec<&str> = inner.trim_end_matches('|').split(" | ").map(str::trim).collect();
        let what = cells.first().copied().unwrap_or_default().to_owned();
        let last = cells.get(CELLS - 1).filter(|_| cells.len() == CELLS);
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
            | what | C | ours | why | test |\n|---|---|---|---|---|\n| i | j | k | `p t::f` |\n";
        let row = |line, number, what: &str, tests: &[&str]| Row {
            line,
            number,
            what: what.into(),
            tests: tests.iter().map(ToString::to_string).collect(),
        };
        let expected = [row(5, 1, "a", &["p t::f", "p unit::g"]), row(6, 2, "e", &[]), row(11, 3, "i", &[])];
        assert_eq!(rows(text), expected);
        assert_eq!(rows("no table"), []);
    }
}
