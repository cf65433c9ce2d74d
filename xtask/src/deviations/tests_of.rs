//! Which test functions a target has, read from its sources: nothing is built.
use crate::{deps, error::TaskError};
use cargo_metadata::{Metadata, Target, TargetKind};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Every package's targets, and the tests of those that were looked at.
#[derive(Debug)]
pub(super) struct Known {
    targets: BTreeMap<(String, String), Target>,
    tests: BTreeMap<PathBuf, Vec<String>>,
}

/// What stands for the library of a package in a test's name, or for its program if it has no library.
pub(super) const UNIT: &str = "unit";

impl Known {
    pub(super) fn new(metadata: &Metadata) -> Self {
        let mut targets = BTreeMap::new();
        for package in metadata.workspace_packages() {
            let of_kind = |kind: TargetKind| package.targets.iter().filter(move |target| target.is_kind(kind.clone()));
            let unit = of_kind(TargetKind::Lib)
                .chain(of_kind(TargetKind::RLib))
                .chain(of_kind(TargetKind::Bin).filter(|target| target.name == *package.name))
                .next();
            let unit = unit.into_iter().map(|target| (UNIT, target));
            let all = unit.chain(of_kind(TargetKind::Test).map(|target| (target.name.as_str(), target)));
            targets.extend(all.map(|(name, target)| ((package.name.to_string(), name.to_owned()), target.clone())));
        }
        Self { targets, tests: BTreeMap::new() }
    }

    pub(super) fn target(&self, package: &str, name: &str) -> Option<&Target> {
        self.targets.get(&(package.to_owned(), name.to_owned()))
    }

    /// The paths of a target's tests, as the test program calls them.
    pub(super) fn tests(&mut self, root: &Path) -> Result<&[String], TaskError> {
        if !self.tests.contains_key(root) {
            let mut tests = Vec::new();
            let folder = root.parent().unwrap_or(root);
            read(root, folder, &[], &mut tests)?;
            self.tests.insert(root.to_owned(), tests);
        }
        Ok(self.tests.get(root).map(Vec::as_slice).unwrap_or_default())
    }
}

/// Adds the tests of a file, a module at `path`, whose modules are in `folder`.
fn read(file: &Path, folder: &Path, path: &[String], tests: &mut Vec<String>) -> Result<(), TaskError> {
    scan(deps::tokens(file)?, folder, path, tests)
}

fn scan(tokens: TokenStream, folder: &Path, path: &[String], tests: &mut Vec<String>) -> Result<(), TaskError> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let (mut is_test, mut is_left_out, mut is_shared) = (false, false, false);
    while let [token, after @ ..] = rest {
        rest = after;
        match (token, after) {
            (TokenTree::Punct(hash), [TokenTree::Group(attribute), after @ ..]) if hash.as_char() == '#' => {
                let text = attribute.stream().to_string();
                is_test |= text == "test";
                is_left_out |= text.starts_with("ignore");
                // A file of another folder has helpers, and no tests.
                is_shared |= text.starts_with("path");
                rest = after;
            }
            (TokenTree::Ident(word), [TokenTree::Ident(name), after @ ..]) if word == "fn" => {
                if core::mem::take(&mut is_test) && !core::mem::take(&mut is_left_out) {
                    tests.push(joined(path, &name.to_string()).join("::"));
                }
                rest = after;
            }
            (TokenTree::Ident(word), [TokenTree::Ident(name), after @ ..]) if word == "mod" => {
                let name = name.to_string();
                let (inner, path) = (folder.join(&name), joined(path, &name));
                match after {
                    [TokenTree::Group(group), after @ ..] if group.delimiter() == Delimiter::Brace => {
                        scan(group.stream(), &inner, &path, tests)?;
                        rest = after;
                    }
                    _ if core::mem::take(&mut is_shared) => {}
                    _ => read(&file_of(&inner), &inner, &path, tests)?,
                }
            }
            // What a macro makes is seen where the macro is used.
            (TokenTree::Ident(word), [TokenTree::Punct(_), TokenTree::Ident(_), TokenTree::Group(_), after @ ..])
                if word == "macro_rules" =>
            {
                rest = after;
            }
            (TokenTree::Group(group), _) => scan(group.stream(), folder, path, tests)?,
            _ => {}
        }
    }
    Ok(())
}

/// The file of the module whose modules are in `folder`.
fn file_of(folder: &Path) -> PathBuf {
    let inner = folder.join("mod.rs");
    if inner.is_file() { inner } else { folder.with_extension("rs") }
}

fn joined(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn of_modules_files_and_macros() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write(
            "lib.rs",
            "mod a; #[path = \"../x.rs\"] mod x; mod b { mod c; #[cfg(test)] mod tests { #[test] fn one() {} fn helper() {} } }",
        );
        write("a.rs", "/// #[test] fn no() {}\n#[test]\n#[should_panic]\nfn two() { fn inner() {} }\nmod deep;");
        write(
            "a/deep/mod.rs",
            "proptest! { #![config] #[test] fn three(x in 0..1) {} }\n#[test] #[ignore] fn later() {}",
        );
        write("b/c.rs", "macro_rules! m { () => { #[test] fn made() {} } }\n#[test] fn four() {}");
        let mut known = Known { targets: BTreeMap::new(), tests: BTreeMap::new() };
        let tests = known.tests(&folder.path().join("lib.rs")).unwrap();
        assert_eq!(tests, ["a::two", "a::deep::three", "b::c::four", "b::tests::one"]);
    }

    #[test]
    fn our_own_workspace() {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
        let mut known = Known::new(&metadata);
        assert!(known.target("acm-sim", "unit").is_some() && known.target("acm-sim", "no_such").is_none());
        let root = known.target("xtask", "unit").unwrap().src_path.clone().into_std_path_buf();
        assert!(known.tests(&root).unwrap().contains(&"deviations::tests_of::tests::our_own_workspace".to_owned()));
    }
}
