//! Circles of methods: a type whose methods are in several files is layered by imports, but files whose methods call each
//! other cannot be read one after the other. A function that takes the whole value mutably counts as a method.
use super::{
    circles::{Edges, code, in_circles, words},
    none, root, sources,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// The folders of a type, and the number of its files that are in a circle. The numbers may only fall.
const TYPES: &[(&str, &str, usize)] = &[
    ("crates/acm-sansio/src/resolver", "Ibacmp", 0),
    ("crates/acm-mio/src/server/daemon", "Daemon", 8),
    ("crates/ib-sim/src/server", "Server", 6),
    ("crates/ib-sim/src/subnet", "Subnet", 11),
];

#[test]
fn methods_of_a_type_have_no_circle_of_files() {
    let mut defects = Vec::new();
    for (folder, of, allowed) in TYPES {
        let edges = edges(&root().join(folder), of);
        let circle = in_circles(&edges);
        assert!(edges.len() > 3, "{of} has methods in {folder}");
        if circle.len() != *allowed {
            defects.push(format!("{of}: {} files, {allowed} are listed: {circle:?}", circle.len()));
        }
    }
    none(defects);
}

/// The code of a file that belongs to a type.
struct Part {
    methods: BTreeSet<String>,
    /// Functions that take the whole value mutably.
    functions: BTreeSet<String>,
    calls: Calls,
}

#[derive(Default)]
struct Calls {
    methods: BTreeSet<String>,
    functions: BTreeSet<String>,
}

fn edges(folder: &Path, of: &str) -> Edges {
    let file = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    let is_test = |path: &Path| file(path).contains("tests");
    let parts: BTreeMap<String, Part> = sources(folder)
        .iter()
        .filter(|path| !is_test(path))
        .map(|path| (file(path), part(&code(path), of)))
        .filter(|(_, part)| !part.methods.is_empty() || !part.functions.is_empty())
        .collect();
    let calls = |from: &Part, to: &Part| {
        !from.calls.methods.is_disjoint(&to.methods) || !from.calls.functions.is_disjoint(&to.functions)
    };
    let edges = parts.iter().map(|(name, from)| {
        let to = parts.iter().filter(|(other, to)| *other != name && calls(from, to)).map(|(other, _)| other.clone());
        (name.clone(), to.collect())
    });
    edges.collect()
}

/// Reads formatted code: items begin in the first column, and end with a line `}`.
fn part(text: &str, of: &str) -> Part {
    let mut part = Part { methods: BTreeSet::new(), functions: BTreeSet::new(), calls: Calls::default() };
    for item in text.split("\n}\n") {
        let start = item.find("\nimpl").map_or(0, |at| at + 1);
        let head = item[start..].split('{').next().unwrap_or_default();
        let head = head.split(" where").next().unwrap_or_default();
        let is_impl = head.starts_with("impl") && words(head.rsplit(" for ").next().unwrap_or_default()).contains(&of);
        let whole = format!("&mut {of}");
        let takes_whole =
            item.split("\nfn ").chain(item.split(" fn ")).skip(1).filter(|rest| signature(rest).contains(&whole));
        let functions: Vec<&str> = takes_whole.filter_map(|rest| words(rest).first().copied()).collect();
        if is_impl {
            part.methods.extend(item.split("fn ").skip(1).filter_map(|rest| Some((*words(rest).first()?).to_owned())));
        }
        if is_impl || !functions.is_empty() {
            part.functions.extend(functions.iter().map(|name| (*name).to_owned()));
            part.calls.read(item, of);
        }
    }
    part
}

fn signature(rest: &str) -> &str {
    rest.split('{').next().unwrap_or_default()
}

impl Calls {
    fn read(&mut self, item: &str, of: &str) {
        for (at, _) in item.match_indices('(') {
            let path = item[..at].rsplit(|letter: char| !"_:.".contains(letter) && !letter.is_alphanumeric()).next();
            let path = path.unwrap_or_default();
            let Some(name) = path.rsplit(['.', ':']).next().filter(|name| !name.is_empty()) else { continue };
            let receiver = path[..path.len() - name.len()].trim_end_matches(['.', ':']);
            // A value that a function takes has the name of the type.
            if ["self", "Self", of, &of.to_lowercase()].contains(&receiver) {
                self.methods.insert(name.to_owned());
            }
            if !path.contains('.') {
                self.functions.insert(name.to_owned());
            }
        }
    }
}

#[test]
fn circle_is_found_through_methods_and_functions_of_the_whole_value() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.rs", "struct X;\n\nimpl X {\n    pub(crate) fn a(&mut self) {\n        self.b(1);\n    }\n}\n");
    write("b.rs", "impl Y for X {\n    fn b(&mut self, _: u8) {\n        super::c::c(self);\n    }\n}\n");
    write("c.rs", "use super::X;\n\npub(crate) fn c(x: &mut X) {\n    x.a();\n}\n");
    let data = "impl X {\n    fn d(&self) {\n        self.y.a();\n        self.a();\n    }\n}\n";
    write("d.rs", &format!("{data}\nimpl Y {{\n    fn e(&self) {{\n        self.d();\n    }}\n}}\n"));
    assert_eq!(in_circles(&edges(folder.path(), "X")), ["a.rs", "b.rs", "c.rs"]);
}
