//! Circles of modules: modules that need each other cannot be read one after the other.
use super::{folder, metadata, none, read, roots::roots, shown, sources};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// The number of modules that are in a circle. The numbers may only fall: the issue "components" divides the core.
const CIRCLES: &[(&str, usize)] = &[("crates/acm-mio/src/lib.rs", 2), ("crates/acm-trace/src/lib.rs", 5)];

#[test]
fn top_level_modules_have_no_circle() {
    let mut defects = Vec::new();
    for package in metadata().workspace_packages() {
        for root in roots(&folder(package).join("src")) {
            let allowed = CIRCLES.iter().find(|(file, _)| *file == shown(&root)).map_or(0, |(_, count)| *count);
            let edges = edges(&root);
            let circle = in_circles(&edges);
            if circle.len() > allowed {
                defects.push(format!("{}: {} modules, {allowed} allowed: {circle:?}", shown(&root), circle.len()));
            }
        }
    }
    none(defects);
}

/// From each top-level module of a crate to the modules whose items it names; or from each file to the files whose methods
/// it calls.
pub(super) type Edges = BTreeMap<String, BTreeSet<String>>;

pub(super) fn in_circles(edges: &Edges) -> Vec<&str> {
    let reaches_itself = |start: &&String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*start]);
        while let Some(at) = next.pop() {
            next.extend(edges.get(at).into_iter().flatten().filter(|to| seen.insert(*to)));
        }
        seen.contains(*start)
    };
    edges.keys().filter(reaches_itself).map(String::as_str).collect()
}

fn edges(root: &Path) -> Edges {
    let text = code(root);
    // Modules, and `use a::B` in the root: `crate::B` is an item of `a`.
    let mut homes = BTreeMap::new();
    for statement in text.split(';').map(|text| text.rsplit(['}', ')', ']', '\n']).next().unwrap_or_default()) {
        if let Some((_, module)) = statement.split_once("mod ") {
            homes.insert(module.to_owned(), module.to_owned());
        }
    }
    for tree in text.split("use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        let words = words(tree);
        if let [module, items @ ..] = words.as_slice() {
            homes.extend(items.iter().map(|item| ((*item).to_owned(), (*module).to_owned())));
        }
    }
    let own = root.parent().unwrap();
    // A macro may have the name of a module.
    let texts: Vec<String> = sources(own).iter().map(|file| code(file)).collect();
    let macros = texts
        .iter()
        .flat_map(|text| text.split("macro_rules! ").skip(1))
        .filter_map(|rest| words(rest).first().copied());
    let macros: BTreeSet<&str> = macros.collect();
    let mut edges = Edges::new();
    for file in sources(own) {
        let path = file.strip_prefix(own).unwrap().with_extension("");
        let path: Vec<_> = path.iter().filter_map(|part| part.to_str()).filter(|part| *part != "mod").collect();
        let Some(module) = path.first().filter(|name| homes.get(**name).is_some_and(|home| home == **name)) else {
            continue;
        };
        if !path.contains(&"tests") {
            let text = code(&file);
            let to_root = ["crate::".to_owned(), "super::".repeat(path.len())];
            let named = to_root.iter().flat_map(|prefix| behind(&text, prefix));
            let named =
                named.filter(|name| !macros.contains(*name)).filter_map(|name| homes.get(name.trim_end_matches(':')));
            edges.entry((*module).to_owned()).or_default().extend(named.filter(|to| to != module).cloned());
        }
    }
    edges
}

/// The first names behind each `prefix`: one, or those of the branches of a use tree. A path has a colon at its end.
fn behind<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let is_start = !text[..at].ends_with([':', '$', '_']) && !text[..at].ends_with(char::is_alphanumeric);
        let rest = &text[at + prefix.len()..];
        if is_start && rest.starts_with('{') {
            let mut depth = 0;
            let end = rest.find(|letter| {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                depth == 0
            });
            let mut depth = 0;
            let branches = rest[1..end.unwrap_or(1)].split(|letter| {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                letter == ',' && depth == 0
            });
            names.extend(branches.filter_map(|branch| first(branch.trim_start())));
        } else if is_start {
            names.extend(first(rest));
        }
    }
    names
}

/// `a` or `a:`.
fn first(path: &str) -> Option<&str> {
    let name = words(path).first()?.len();
    Some(if path[name..].starts_with("::") { &path[..=name] } else { &path[..name] })
}

pub(super) fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// A formatted file without comments and without items for tests.
pub(super) fn code(file: &Path) -> String {
    let text = read(file);
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//")).peekable();
    let mut code = String::new();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code = code + line + "\n";
            continue;
        }
        // To the end of the item, which is indented as its attribute.
        let indent = line.trim_end_matches("#[cfg(test)]");
        let is_end = |line: &str| {
            line.strip_prefix(indent).is_some_and(|rest| rest == "}" || !rest.starts_with(' ') && rest.ends_with(';'))
        };
        while lines.next().is_some_and(|line| !is_end(line)) {}
    }
    code
}

#[test]
fn circle_is_found_through_names_of_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::{A, inner::B};\n");
    write("a.rs", "//! [`crate::c`]\nmod inner;\nuse crate::{\n    b::{self, X},\n};\n");
    let tests = "#[cfg(test)]\nuse crate::{\n    c::C,\n};\n#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::c::C;\n}\n";
    write("a/inner.rs", &format!("fn f() {{\n    super::super::b::g()\n}}\n{tests}"));
    write("b.rs", "pub struct X;\nfn f(_: crate::B) {}\n");
    write("c.rs", "use super::A;\n");
    assert_eq!(in_circles(&edges(&folder.path().join("lib.rs"))), ["a", "b"]);
}
