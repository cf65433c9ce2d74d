//! Rows of documents that tests name: every difference from C ibacm and every bound has tests that fail without it (rules
//! 6 and 20). A comment above `#[test]` has the names of the rows.
use super::{none, read, root, shown, sources, tables::ON_REAL_KERNEL};
use std::collections::BTreeSet;

/// Documents, each with the title of the column that has the names of rows.
const PAGES: [(&str, &str); 2] = [("docs/deviations.md", "row"), ("docs/deadlines.md", "bound")];

#[test]
fn each_row_has_a_test_and_each_named_row_exists() {
    let mut defects = Vec::new();
    let files = ["crates", "tests"].into_iter().flat_map(|folder| sources(&root().join(folder)));
    let files: Vec<_> = files.map(|file| (shown(&file), read(&file))).collect();
    for (page, title) in PAGES {
        let text = read(&root().join(page));
        let names = names(&text, title);
        let rows: BTreeSet<_> = names.iter().copied().collect();
        assert_eq!(rows.len(), names.len(), "{page}: two rows have the same name");
        assert!(!rows.is_empty(), "{page}: no column `{title}`");
        let mut tested = BTreeSet::new();
        for (file, text) in &files {
            let runs_everywhere = !ON_REAL_KERNEL.iter().any(|program| file.contains(program));
            for (line, name, is_test) in comments(text, page) {
                if !rows.contains(name) {
                    defects.push(format!("{file}:{line}: {page} has no row {name}"));
                } else if !is_test {
                    defects.push(format!("{file}:{line}: no test follows"));
                } else if runs_everywhere {
                    tested.insert(name);
                }
            }
        }
        defects.extend(rows.difference(&tested).map(|name| format!("{page}: no test names the row {name}")));
    }
    none(defects);
}

/// The first cells of the tables whose first column has this title.
fn names<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let (mut names, mut is_inside) = (Vec::new(), None);
    for line in text.lines() {
        let Some(cell) = line.strip_prefix('|').and_then(|line| line.split('|').next()).map(str::trim) else {
            is_inside = None;
            continue;
        };
        if *is_inside.get_or_insert(cell == title) && cell != title && !cell.starts_with("---") {
            names.push(cell);
        }
    }
    names
}

/// The names of rows in comments: line, name, and whether a test follows that is not ignored.
fn comments<'a>(text: &'a str, page: &str) -> Vec<(usize, &'a str, bool)> {
    let (start, mut found) = (format!("// {page}: "), Vec::new());
    let mut lines = (1..).zip(text.lines().map(str::trim_start));
    while let Some((number, line)) = lines.next() {
        if let Some(names) = line.strip_prefix(&start) {
            let mut after = lines.clone().map(|(_, line)| line).skip_while(|line| line.starts_with("// docs/"));
            let is_test = after.next() == Some("#[test]") && !after.next().is_some_and(|line| line.starts_with("#[ig"));
            found.extend(names.split(", ").map(|name| (number, name, is_test)));
        }
    }
    found
}

#[test]
fn names_of_rows_are_those_of_tables_with_this_title() {
    let text = "| row | what |\n|---|---|\n| a | b |\n| c-d | e |\n\n| what | row |\n|---|---|\n| f | g |\n";
    assert_eq!(names(text, "row"), ["a", "c-d"]);
}

#[test]
fn comment_counts_only_above_a_test() {
    let text = "  // docs/x.md: a, b\n  // docs/y.md: z\n  #[test]\n  fn f() {}\n";
    assert_eq!(comments(text, "docs/x.md"), [(1, "a", true), (1, "b", true)]);
    let ignored = "// docs/x.md: a\n#[test]\n#[ignore = \"slow\"]\nfn f() {}\n// docs/x.md: b\nfn g() {}\n";
    assert_eq!(comments(ignored, "docs/x.md"), [(1, "a", false), (5, "b", false)]);
}
