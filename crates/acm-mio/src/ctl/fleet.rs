//! `fleet`: compares the outputs of many nodes.
use super::columns;
use crate::{
    control::{Configuration, Entry},
    output::{Failure, Outcome, Output, note},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The outputs of a node.
#[derive(Clone, Debug, Default)]
struct Node {
    name: String,
    verdict: Option<String>,
    version: Option<String>,
    options: BTreeMap<String, String>,
    entries: Vec<Entry>,
}

/// The members of `acmctl status --json` that are compared.
#[derive(Deserialize)]
struct Status {
    verdict: String,
    version: String,
}

/// The place of a path: the port's GID and LID.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    gid: String,
    lid: String,
}

/// A thing that is wrong at a node, or that it has otherwise than most nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Difference {
    node: String,
    /// `file`, `verdict`, `version`, `option`, `owner` or `path`.
    what: &'static str,
    /// The option, the destination of the path, or `-`.
    name: String,
    has: String,
    /// The value of most nodes, or for a path the place of its owner.
    expected: String,
    /// True if the node with the address shows that this is wrong; false if most nodes have something else.
    wrong: bool,
}

impl Node {
    /// Parses the JSON objects of a file, in any order: those of `status`, `config` and `cache list`.
    ///
    /// # Errors
    /// The file cannot be read, or has something else.
    fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let node = Self::parse(name, &text)?;
        // Without a daemon, the commands print nothing.
        if node.verdict.is_none() { Err("it has no output of acmctl status".to_owned()) } else { Ok(node) }
    }

    fn parse(name: String, text: &str) -> Result<Self, String> {
        let mut node = Self { name, ..Self::default() };
        for object in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            let object = object.map_err(|error| error.to_string())?;
            node.add(object).map_err(|error| error.to_string())?;
        }
        Ok(node)
    }

    fn add(&mut self, mut object: Value) -> serde_json::Result<()> {
        if let Some(entries) = object.get_mut("entries") {
            self.entries.extend(serde_json::from_value::<Vec<Entry>>(entries.take())?);
        } else if object.get("options").is_some() {
            let options = serde_json::from_value::<Configuration>(object)?.options;
            self.options.extend(options.into_iter().map(|option| (option.name, option.value)));
        } else if object.get("ports").is_some() {
            let Status { verdict, version } = serde_json::from_value(object)?;
            (self.verdict, self.version) = (Some(verdict), Some(version));
        }
        Ok(())
    }

    fn difference(&self, what: &'static str, name: &str, has: &str, expected: &str, wrong: bool) -> Difference {
        let [node, name, has, expected] = [&self.name, name, has, expected].map(str::to_owned);
        Difference { node, what, name, has, expected, wrong }
    }
}

/// Returns the places that an entry has.
fn place(entry: &Entry) -> Option<Place> {
    let record = &entry.path.as_ref()?.record;
    let text = |key: &str| record.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    Some(Place { gid: text("dgid")?, lid: text("dlid")? })
}

/// Returns the value that most nodes have; of several, the first in order.
fn most<T: Ord + Clone>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let highest = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == highest).map(|(value, _)| value)
}

/// Returns all that is wrong or different, by node.
fn compare(nodes: &[Node]) -> Vec<Difference> {
    let mut found = Vec::new();
    let version = most(nodes.iter().filter_map(|node| node.version.clone()));
    let options: BTreeSet<&String> = nodes.iter().flat_map(|node| node.options.keys()).collect();
    let options: BTreeMap<&String, String> = options
        .into_iter()
        .filter_map(|name| Some((name, most(nodes.iter().filter_map(|node| node.options.get(name).cloned()))?)))
        .collect();
    for node in nodes {
        if let Some(verdict) = node.verdict.as_deref().filter(|verdict| *verdict != "ok") {
            found.push(node.difference("verdict", "-", verdict, "ok", false));
        }
        if let (Some(has), Some(most)) = (&node.version, &version)
            && has != most
        {
            found.push(node.difference("version", "-", has, most, false));
        }
        let others = node.options.iter().filter_map(|(name, has)| Some((name, has, options.get(name)?)));
        found.extend(
            others
                .filter(|(_, has, most)| has != most)
                .map(|(name, has, most)| node.difference("option", name, has, most, false)),
        );
    }
    found.extend(compare_paths(nodes));
    found.sort();
    found
}

fn compare_paths(nodes: &[Node]) -> Vec<Difference> {
    let mut found = Vec::new();
    let is_local = |entry: &&Entry| entry.cause == "local address";
    let mut owners: BTreeMap<String, BTreeMap<&str, BTreeSet<Place>>> = BTreeMap::new();
    let mut users: BTreeMap<String, Vec<(&Node, Place)>> = BTreeMap::new();
    for node in nodes {
        for entry in &node.entries {
            let (dest, Some(place)) = (entry.dest.to_lowercase(), place(entry)) else { continue };
            if is_local(&entry) {
                owners.entry(dest).or_default().entry(&node.name).or_default().insert(place);
            } else {
                users.entry(dest).or_default().push((node, place));
            }
        }
    }
    let text = |Place { gid, lid }: &Place| format!("{gid},LID:{lid}");
    for (dest, of) in owners.iter().filter(|(_, of)| of.len() > 1) {
        let first = of.keys().next().copied().unwrap_or_default();
        let others = nodes.iter().filter(|node| node.name != first && of.contains_key(node.name.as_str()));
        found.extend(others.map(|node| node.difference("owner", dest, &node.name, first, true)));
    }
    for (dest, users) in &users {
        let of_owners: BTreeSet<&Place> = owners.get(dest).into_iter().flat_map(BTreeMap::values).flatten().collect();
        let usual = most(users.iter().map(|(_, place)| place));
        let is_known = !of_owners.is_empty();
        let Some(expected) = of_owners.first().copied().or(usual) else { continue };
        for (node, place) in users {
            let is_right = if is_known { of_owners.contains(place) } else { place == expected };
            if !is_right {
                found.push(node.difference("path", dest, &text(place), &text(expected), is_known));
            }
        }
    }
    found
}

/// Prints what is wrong or different, a line for each.
///
/// # Errors
/// Writing failed.
pub(super) fn run(files: &[PathBuf], output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let (mut nodes, mut unread) = (Vec::new(), Vec::new());
    for path in files {
        match Node::read(path) {
            Ok(node) => nodes.push(node),
            Err(error) => unread.push((path, error)),
        }
    }
    let differences = compare(&nodes);
    let is_bad = !unread.is_empty() || differences.iter().any(|difference| difference.wrong);
    let paths: usize = nodes.iter().map(|node| node.entries.len()).sum();
    let with: BTreeSet<&str> = differences.iter().map(|difference| difference.node.as_str()).collect();
    if output.json {
        let unread: Vec<Value> = unread.iter().map(|(path, error)| json!({ "file": path, "reason": error })).collect();
        output.object(&json!({
            "nodes": nodes.len(), "entries": paths, "differences": differences, "unread": unread,
        }))?;
    } else {
        let titles = ["NODE", "WHAT", "NAME", "HAS", "EXPECTED", "WRONG"];
        let cell = |text: &str| text.replace(' ', ":");
        let row = |difference: &Difference| {
            let Difference { node, what, name, has, expected, wrong } = difference;
            let wrong = if *wrong { "yes" } else { "differs" };
            [cell(node), (*what).to_owned(), cell(name), cell(has), cell(expected), wrong.to_owned()]
        };
        output.write(&columns::table(titles, differences.iter().map(row)))?;
        unread.iter().for_each(|(path, error)| note(&format!("{}: {error}", path.display())));
        note(&format!(
            "{} nodes with {paths} entries compared; {} of them differ; a path is compared with the node that has the \
             address, or else with most nodes",
            nodes.len(),
            with.len()
        ));
    }
    Ok(match (is_bad, differences.is_empty()) {
        (true, _) => Outcome::Bad,
        (false, false) => Outcome::Degraded,
        (false, true) => Outcome::Good,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(dest: &str, is_local: bool, gid: &str, lid: u16) -> Value {
        let cause = if is_local { "local address" } else { "user" };
        json!({
            "id": "4.2", "endpoint": "sim0/1 pkey 0xffff", "dest": dest, "state": "ready", "cause": cause,
            "gid": gid, "address_source": null, "address_expires_in": null, "failure": null,
            "path": {
                "source": "sa", "found_ago": 1.0, "confirmed_ago": 1.0, "expires_in": null, "stale": false,
                "uses": 1, "last_user": null, "last_used_ago": null, "summary": "",
                "record": { "dgid": gid, "dlid": lid },
            },
        })
    }

    fn node(name: &str, version: &str, timeout: &str, entries: &[Value]) -> Node {
        let status = json!({ "schema": 1, "verdict": "ok", "problems": [], "version": version, "ports": [] });
        let option = json!({
            "name": "timeout", "value": timeout, "origin": "default", "line": null, "after_restart": null, "unused": null,
        });
        let config = json!({ "option_file": "/o", "address_file": "/a", "options": [option], "remarks": [] });
        let text = format!("{config}\n{status}\n{}", json!({ "entries": entries }));
        Node::parse(name.to_owned(), &text).unwrap()
    }

    fn differences(nodes: &[Node]) -> Vec<String> {
        let line = |difference: Difference| {
            let Difference { node, what, name, has, expected, wrong } = difference;
            format!("{node} {what} {name} {has} {expected} {wrong}")
        };
        compare(nodes).into_iter().map(line).collect()
    }

    #[test]
    fn nodes_that_agree_have_no_difference() {
        let nodes = ["a", "b", "c"]
            .map(|name| node(name, "1", "500", &[entry(name, true, name, 7), entry("x", false, "x", 9)]));
        assert_eq!(differences(&nodes), [""; 0]);
        assert_eq!(differences(&[]), [""; 0]);
    }

    #[test]
    fn value_of_the_minority_is_a_difference_and_a_path_that_the_owner_refutes_is_wrong() {
        let nodes = [
            node("a", "1", "500", &[entry("a", true, "fe80::a", 1), entry("x", false, "fe80::9", 9)]),
            node("b", "1", "500", &[entry("A", false, "fe80::b", 2), entry("x", false, "fe80::9", 9)]),
            node("c", "2", "700", &[entry("a", false, "fe80::a", 1), entry("x", false, "fe80::9", 8)]),
            node("d", "1", "500", &[entry("y", true, "fe80::d", 4)]),
            node("e", "1", "500", &[entry("y", true, "fe80::e", 5)]),
        ];
        let expected = [
            "b path a fe80::b,LID:2 fe80::a,LID:1 true",
            "c option timeout 700 500 false",
            "c path x fe80::9,LID:8 fe80::9,LID:9 false",
            "c version - 2 1 false",
            "e owner y e d true",
        ];
        assert_eq!(differences(&nodes), expected);
    }

    #[test]
    fn outcome_depends_on_the_worst_difference() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let verdict = |verdict: &str| json!({ "verdict": verdict, "version": "1", "ports": [] }).to_string();
        let outcome = |files: &[PathBuf]| run(files, &mut Output::new(&mut Vec::new(), false)).unwrap();
        let (good, degraded) = (write("n1.json", &verdict("ok")), write("n2.json", &verdict("degraded")));
        assert_eq!(outcome(core::slice::from_ref(&good)), Outcome::Good);
        assert_eq!(outcome(&[good.clone(), degraded]), Outcome::Degraded);
        assert_eq!(outcome(&[good.clone(), write("n3.json", "no JSON")]), Outcome::Bad);
        assert_eq!(outcome(&[good, write("n4.json", "")]), Outcome::Bad, "no daemon has answered there");
    }
}
