//! Circles of files inside a crate: files that need each other cannot be read one after the other.
use super::{
    defect::Defect,
    excuses::{CIRCLES, covers},
    graph::Crate,
    imports::Modules,
    source::{place, roots},
};
use crate::error::TaskError;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

/// Every circle of files in a crate that has no excuse.
pub(super) fn check(member: &Crate) -> Result<Vec<Defect>, TaskError> {
    let mut defects = Vec::new();
    for root in roots(&member.folder.join("src"))? {
        let modules = Modules::read(&root)?;
        let circles = circles(&modules.edges());
        defects.extend(
            circles
                .into_iter()
                .map(|circle| circle.into_iter().map(place).collect::<Vec<_>>())
                .filter(|circle| !covers(CIRCLES, circle.iter().map(PathBuf::as_path)))
                .map(Defect::Circle),
        );
    }
    Ok(defects)
}

/// One shortest circle for each file that is in any, every one once.
fn circles<'a>(edges: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> Vec<Vec<&'a Path>> {
    let mut found: BTreeMap<BTreeSet<&Path>, Vec<&Path>> = BTreeMap::new();
    for start in edges.keys() {
        if let Some(circle) = circle_from(start, edges) {
            found.entry(circle.iter().copied().collect()).or_insert(circle);
        }
    }
    found.into_values().collect()
}

/// The shortest way from a file back to it.
fn circle_from<'a>(start: &'a Path, edges: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> Option<Vec<&'a Path>> {
    let mut came_from: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in edges.get(at).into_iter().flatten() {
            if *next == start {
                let mut circle = vec![at];
                while let Some(before) = circle.last().and_then(|file| came_from.get(file)) {
                    circle.push(before);
                }
                circle.reverse();
                return Some(circle);
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The circles of a crate with these files, as their names in `src`.
    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let src = folder.path().join("src");
        for (name, text) in files {
            let file = src.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let member = Crate { folder: folder.path().into(), ..Crate::default() };
        let name = |file: PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
        let circle = |defect| match defect {
            Defect::Circle(files) => files.into_iter().map(name).collect(),
            other => panic!("{other}"),
        };
        check(&member).unwrap().into_iter().map(circle).collect()
    }

    #[test]
    fn a_made_up_crate_with_circles() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use a::A;"),
            ("a.rs", "use crate::{b::{self, B as Other}, d::D};"),
            ("b.rs", "use super::c::C;"),
            ("c.rs", "pub struct C; fn f() { crate::a::g() }"),
            ("d.rs", "mod inner; use inner::Inner; pub struct D;"),
            ("d/inner.rs", "use super::D; pub struct Inner;"),
        ];
        assert_eq!(circles_of(&files), [vec!["a.rs", "b.rs", "c.rs"], vec!["d/inner.rs", "d.rs"]]);
    }

    #[test]
    fn a_name_is_of_the_file_that_has_it() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a/mod.rs", "//! Only names.\nmod inner; mod other; pub(crate) use inner::A; pub(crate) use other::O;"),
            ("a/inner.rs", "use super::O; use crate::b::Arc; pub struct A;"),
            ("a/other.rs", "pub struct O;"),
            ("b.rs", "use crate::A; use std::sync::Arc; pub struct B;"),
        ];
        assert_eq!(circles_of(&files), [] as [Vec<String>; 0]);
        let own_use = "mod a; mod b; pub use a::A; struct UsesIt(A);";
        let files = [("lib.rs", own_use), ("a.rs", "use crate::UsesIt; pub struct A;"), ("b.rs", "")];
        assert_eq!(circles_of(&files), [["a.rs", "lib.rs"]]);
        let named_alike = "mod a; pub use a::a; pub struct B;";
        let files = [("lib.rs", named_alike), ("a.rs", "use crate::B; pub fn a() {}")];
        assert_eq!(circles_of(&files), [] as [Vec<String>; 0]);
    }

    #[test]
    fn tests_comments_and_macros_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod fake;"),
            ("a.rs", "//! [`crate::b`]\nmacro_rules! m { () => { $crate::b::B } }\nuse crate::b::B;"),
            ("b.rs", "#[cfg(test)] use crate::{a}; #[cfg(test)] mod tests { use crate::a::A; }\npub struct B;"),
            ("fake.rs", "use crate::a::A; use crate::b::B;"),
        ];
        assert_eq!(circles_of(&files), [] as [Vec<String>; 0]);
    }

    #[test]
    fn programs_beside_a_library_are_crates_of_their_own() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a.rs", ""),
            ("bin/tool/main.rs", "mod a; mod b; use a::A; use b::B;"),
            ("bin/tool/a.rs", "use crate::b::B;"),
            ("bin/tool/b.rs", "use crate::a::A;"),
        ];
        assert_eq!(circles_of(&files), [["bin/tool/a.rs", "bin/tool/b.rs"]]);
    }
}
