//! Tables of documents whose last column names tests.
use super::{folder, metadata, none, read, root, sources};
use std::path::Path;

/// Every attack names tests that fail if it costs more.
const FILES: [&str; 1] = ["docs/attacks.md"];
/// Test programs that run only in the virtual machine.
pub(super) const ON_REAL_KERNEL: [&str; 2] = ["vm_kernel", "vm_rxe"];

#[test]
fn rows_of_tables_name_tests_that_exist() {
    let mut defects = Vec::new();
    for file in FILES {
        let text = read(&root().join(file));
        let rows = rows(&text);
        assert!(!rows.is_empty(), "{file}: no table with a column `test`");
        for (line, tests) in rows {
            let mut problems: Vec<String> = tests.iter().filter_map(|name| problem(name)).collect();
            if tests.is_empty() {
                problems.push("names no test".to_owned());
            }
            defects.extend(problems.iter().map(|problem| format!("{file}:{line}: {problem}")));
        }
    }
    none(defects);
}

/// The rows of tables that have the column `test` as their last one: line, and names in the last cell.
fn rows(text: &str) -> Vec<(usize, Vec<&str>)> {
    let (mut rows, mut head) = (Vec::new(), None);
    for (line, text) in (1..).zip(text.lines()) {
        let Some(inner) = text.trim().strip_prefix('|') else {
            head = None;
            continue;
        };
        let cells: Vec<&str> = inner.strip_suffix('|').unwrap_or(inner).split(" |").map(str::trim).collect();
        let Some((count, has_tests)) = head else {
            head = Some((cells.len(), cells.last() == Some(&"test")));
            continue;
        };
        if has_tests && !inner.starts_with("---") {
            let cell = cells.last().filter(|_| cells.len() == count).copied().unwrap_or_default();
            let names = cell.split(',').map(|name| name.trim().trim_matches('`'));
            rows.push((line, names.filter(|name| !name.is_empty()).collect()));
        }
    }
    rows
}

/// A defect of the name `package target::path::function`. The target `unit` is the tests beside the code.
fn problem(name: &str) -> Option<String> {
    let parts = name.split_once(' ').and_then(|(package, path)| Some((package, path.split_once("::")?)));
    let Some((package, (target, path))) = parts else {
        return Some(format!("`{name}` is no `package target::function`"));
    };
    if ON_REAL_KERNEL.contains(&target) {
        return Some(format!("`{name}` does not run everywhere"));
    }
    let metadata = metadata();
    let member = metadata.packages.iter().find(|member| member.name.as_str() == package);
    let tests = member.map(|member| match target {
        "unit" => tests(&folder(member).join("src")),
        _ => [
            tests(&folder(member).join("tests").join(target)),
            tests_of(Path::new(""), &folder(member).join(format!("tests/{target}.rs"))),
        ]
        .concat(),
    });
    let path: Vec<&str> = path.split("::").filter(|part| *part != "tests").collect();
    let is_it = |test: &&Vec<String>| test.ends_with(&path.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
    match tests.unwrap_or_default().iter().filter(is_it).count() {
        1 => None,
        0 => Some(format!("`{name}`: no such test")),
        several => Some(format!("`{name}`: {several} tests; name more of the path")),
    }
}

/// The paths of all tests in the files of a directory, without modules called `tests`.
fn tests(folder: &Path) -> Vec<Vec<String>> {
    sources(folder).iter().flat_map(|file| tests_of(file.strip_prefix(folder).unwrap(), file)).collect()
}

fn tests_of(inner: &Path, file: &Path) -> Vec<Vec<String>> {
    if !file.is_file() {
        return Vec::new();
    }
    let module: Vec<String> = inner.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_named = |part: &&String| !["lib", "main", "mod", "tests"].contains(&part.as_str());
    let (mut found, mut is_test) = (Vec::new(), false);
    let text = read(file);
    for line in text.lines().map(str::trim_start) {
        if line == "#[test]" {
            is_test = true;
        } else if line.starts_with("#[ignore") {
            is_test = false;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            if core::mem::take(&mut is_test) {
                found.push(module.iter().filter(is_named).cloned().chain([name.to_owned()]).collect());
            }
        }
    }
    found
}

#[test]
fn names_of_tests_are_found() {
    let own = "rules::tables::names_of_tests_are_found";
    assert_eq!(problem(&format!("xtask tasks::{own}")), None);
    assert_eq!(problem("xtask unit::tests::command_line_is_consistent"), None);
    for wrong in
        ["acm-sim", "acm-sim scenarios", "acm-sim no_such::f", "no-such unit::f", "xtask tasks::tables::problem"]
    {
        assert!(problem(wrong).is_some(), "{wrong}");
    }
    assert!(problem("acm-mio vm_kernel::x").is_some_and(|problem| problem.contains("everywhere")));
}

#[test]
fn rows_are_those_of_tables_with_a_column_for_tests() {
    let text =
        "| a | test |\n|---|---|\n| b | `p t::f`, `p unit::g` |\n| c |  |\n\n| d | why |\n|---|---|\n| e | f |\n";
    assert_eq!(rows(text), [(3, vec!["p t::f", "p unit::g"]), (4, vec![])]);
}
