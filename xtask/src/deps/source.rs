//! What the sources of a crate below the line may contain.
use super::{defect::Defect, graph::Crate};
use crate::{command, error::TaskError};
use proc_macro2::{Group, TokenStream, TokenTree};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// What the root of every crate that ships denies: rule 8 of CONTRIBUTING.md. Tests need no exception from it, so that it
/// is not among the workspace's lints.
const AGAINST_PANICS: [&str; 6] =
    ["unwrap_used", "expect_used", "panic", "indexing_slicing", "cast_possible_truncation", "cast_sign_loss"];

/// Roots that do not deny what may panic.
pub(super) fn roots_that_may_panic(member: &Crate) -> Result<Vec<Defect>, TaskError> {
    let mut defects = Vec::new();
    for path in roots(&member.folder.join("src"))? {
        let text: String = read(&path)?.split_whitespace().collect();
        let denied = text.split("#![deny(").skip(1).filter_map(|rest| rest.split(')').next()).collect::<Vec<_>>();
        let denies = |lint: &str| denied.iter().any(|list| list.split(',').any(|it| it == format!("clippy::{lint}")));
        if !AGAINST_PANICS.into_iter().all(denies) {
            defects.push(Defect::MayPanic { path: place(&path) });
        }
    }
    Ok(defects)
}

/// Crates that may have unsafe code: rule 5 of CONTRIBUTING.md.
const WITH_UNSAFE: [&str; 5] = ["acm-capi", "acm-plugin", "acm-provider", "ib-device", "ib-sim-preload"];

/// Returns the roots of other crates that do not forbid unsafe code.
pub(super) fn roots_that_allow_unsafe(member: &Crate) -> Result<Vec<Defect>, TaskError> {
    let mut defects = Vec::new();
    if !WITH_UNSAFE.contains(&member.name.as_str()) {
        for path in roots(&member.folder.join("src"))? {
            if !read(&path)?.lines().any(|line| line == "#![forbid(unsafe_code)]") {
                defects.push(Defect::AllowsUnsafe { path: place(&path) });
            }
        }
    }
    Ok(defects)
}

/// Every `unsafe` in the crate's sources, and a library that takes std unasked.
pub(super) fn check(member: &Crate) -> Result<Vec<Defect>, TaskError> {
    let mut defects = Vec::new();
    let library = member.folder.join("src/lib.rs");
    if !read(&library)?.lines().any(|line| line.trim() == "#![no_std]") {
        defects.push(Defect::Std { path: place(&library) });
    }
    for path in sources(&member.folder.join("src"))? {
        let mut lines = Vec::new();
        unsafe_lines(tokens(&path)?, &mut lines);
        defects.extend(lines.into_iter().map(|line| Defect::Unsafe { path: place(&path), line }));
    }
    Ok(defects)
}

/// The lines of every token `unsafe`, also inside macros. Words of comments and strings are no such tokens.
fn unsafe_lines(tokens: TokenStream, lines: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => unsafe_lines(group.stream(), lines),
            TokenTree::Ident(ident) if ident == "unsafe" => lines.push(ident.span().start().line),
            _ => {}
        }
    }
}

/// The tokens of a Rust file.
pub(crate) fn tokens(path: &Path) -> Result<TokenStream, TaskError> {
    read(path)?.parse().map_err(|problem| TaskError::Syntax { path: path.into(), problem: format!("{problem}") })
}

/// The Rust files in a folder and its folders, in order of name.
pub(super) fn sources(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let failed = |source| TaskError::Read { path: folder.into(), source };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Whether the file is the root of a library or a program.
pub(super) fn is_root(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "lib.rs" || name == "main.rs")
}

/// The crate roots in a package's `src`.
pub(super) fn roots(src: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let of_a_crate = |file: &PathBuf| {
        let folder = file.parent().unwrap_or(file);
        is_root(file) && (folder == src || folder.parent() == Some(&src.join("bin")))
    };
    Ok(sources(src)?.into_iter().filter(of_a_crate).collect())
}

/// Whether an attribute, `[cfg(test)]` or one like it, leaves its item to tests.
pub(super) fn is_for_tests(attribute: &Group) -> bool {
    let mut tokens = attribute.stream().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else { return false };
    let mut words = BTreeSet::new();
    tokens.for_each(|token| all_words(token, &mut words));
    name == "cfg" && words.contains("test") && !words.contains("not")
}

fn all_words(token: TokenTree, words: &mut BTreeSet<String>) {
    match token {
        TokenTree::Group(group) => group.stream().into_iter().for_each(|token| all_words(token, words)),
        TokenTree::Ident(word) => drop(words.insert(word.to_string())),
        _ => {}
    }
}

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|source| TaskError::Read { path: path.into(), source })
}

/// The path from the workspace's folder, which editors can follow.
pub(super) fn place(path: &Path) -> PathBuf {
    path.strip_prefix(command::root()).unwrap_or(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_unsafe_code_and_only_code() {
        let source = "//! unsafe\n/* unsafe */ const A: &str = \"unsafe\"; fn unsafe_code() {}\n\
            fn f() { unsafe { g() } }\nmacro_rules! m { () => { unsafe impl Send for S {} }; }\n";
        let mut lines = Vec::new();
        unsafe_lines(source.parse().unwrap(), &mut lines);
        assert_eq!(lines, [3, 4]);
    }

    #[test]
    fn a_crate_that_may_panic() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("src/lib.rs");
        fs::create_dir_all(folder.path().join("src")).unwrap();
        let member = Crate { folder: folder.path().into(), ..Crate::default() };
        let lints = AGAINST_PANICS.map(|lint| format!("clippy::{lint}"));
        fs::write(&library, format!("//! Doc.\n#![deny(\n    {}\n)]\n", lints.join(",\n    "))).unwrap();
        assert_eq!(roots_that_may_panic(&member).unwrap(), []);
        fs::write(&library, format!("#![deny({})]\n", lints[1..].join(", "))).unwrap();
        assert_eq!(roots_that_may_panic(&member).unwrap(), [Defect::MayPanic { path: library.clone() }]);
    }

    #[test]
    fn root_without_forbid_is_found_unless_the_crate_may_have_unsafe_code() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("src/lib.rs");
        fs::create_dir_all(folder.path().join("src")).unwrap();
        let member = |name: &str| Crate { name: name.into(), folder: folder.path().into(), ..Crate::default() };
        fs::write(&library, "//! #![forbid(unsafe_code)]\n#![deny(unsafe_code)]\n").unwrap();
        assert_eq!(roots_that_allow_unsafe(&member("new")).unwrap(), [Defect::AllowsUnsafe { path: library.clone() }]);
        assert_eq!(roots_that_allow_unsafe(&member("ib-device")).unwrap(), []);
        fs::write(&library, "//! Doc.\n#![forbid(unsafe_code)]\n").unwrap();
        assert_eq!(roots_that_allow_unsafe(&member("new")).unwrap(), []);
    }

    #[test]
    fn a_crate_that_is_not_pure() {
        let folder = tempfile::tempdir().unwrap();
        let (library, inner) = (folder.path().join("src/lib.rs"), folder.path().join("src/a/b.rs"));
        fs::create_dir_all(folder.path().join("src/a")).unwrap();
        fs::write(&library, "mod a;\n").unwrap();
        fs::write(&inner, "\nunsafe fn f() {}\n").unwrap();
        let member = Crate { folder: folder.path().into(), ..Crate::default() };
        assert_eq!(
            check(&member).unwrap(),
            [Defect::Std { path: library.clone() }, Defect::Unsafe { path: inner.clone(), line: 2 }]
        );
        fs::write(&library, "//! Doc.\n#![no_std]\nmod a;\n").unwrap();
        fs::write(&inner, "fn f() {}\n").unwrap();
        assert_eq!(check(&member).unwrap(), []);
        fs::remove_file(&library).unwrap();
        assert!(matches!(check(&member), Err(TaskError::Read { .. })));
    }
}
