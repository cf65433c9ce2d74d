//! Names of other programs' fields in this crate.
use super::tables::{Row, oracle, plain};
use ib_mad::{
    attribute::Structure,
    registry,
    rmpp::RmppFlags,
    wire::{Field, find},
};
use std::collections::{BTreeMap, BTreeSet};

/// Names that differ: structures by `class|attribute`, paths of fields by structure and pattern.
pub(super) struct Names {
    pub(super) attributes: BTreeMap<String, (String, u32)>,
    pub(super) fields: Vec<(String, String, String)>,
    pub(super) ours: BTreeSet<String>,
    /// Fields that C declares past the end of the datagram.
    pub(super) past: BTreeSet<String>,
}

pub(super) fn names() -> Names {
    let mut names =
        Names { attributes: BTreeMap::new(), fields: Vec::new(), ours: BTreeSet::new(), past: BTreeSet::new() };
    for line in oracle("names.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["attribute", theirs, ours] => {
                let (name, offset) = ours.split_once('@').unwrap_or((ours, "0"));
                names.attributes.insert(theirs.into(), (name.into(), offset.parse().unwrap()));
            }
            ["field", structure, theirs, ours] => {
                names.fields.push((structure.into(), theirs.into(), ours.into()));
            }
            ["ours", structure, path, _source] => {
                names.ours.insert(format!("{structure}.{path}"));
            }
            ["past", structure, theirs, _why] => {
                names.past.insert(format!("{structure}.{theirs}"));
            }
            _ => panic!("{line}"),
        }
    }
    names
}

/// Collects the paths of every field, part and element.
pub(super) fn paths(fields: &[Field], prefix: &str, out: &mut Vec<String>) {
    for field in fields.iter().filter(|field| !field.reserved) {
        let elements: Vec<String> = match field.count {
            1 => vec![format!("{prefix}{}", field.name)],
            count => (0..count).map(|index| format!("{prefix}{}[{index}]", field.name)).collect(),
        };
        if field.count > 1 {
            out.push(format!("{prefix}{}", field.name));
        }
        for element in elements {
            paths(field.parts, &format!("{element}."), out);
            out.push(element);
        }
    }
}

/// Matches a name with a pattern, in which `*` stands for a number; returns the number.
fn matches(pattern: &str, name: &str) -> Option<u32> {
    match pattern.split_once('*') {
        None => (pattern == name).then_some(0),
        Some((before, after)) => name.strip_prefix(before)?.strip_suffix(after)?.parse().ok(),
    }
}

/// Returns first bit and width of the oracle's field in a structure, and the path by which it was found.
pub(super) fn locate(
    structure: Structure,
    names: &Names,
    paths: &[String],
    field: &str,
) -> Result<(u32, u32, String), String> {
    for (name, pattern, path) in &names.fields {
        if name == structure.name
            && let Some(number) = matches(pattern, field)
        {
            let path = path
                .replace("{*}", &number.to_string())
                .replace("{*-1}", &number.saturating_sub(1).to_string())
                .replace("{*8}", &(number * 8).to_string());
            let (path, part) = path.split_once(':').unwrap_or((&path, ""));
            let (offset, bits) = find(structure.fields, path).ok_or(format!("no path {path}"))?;
            return Ok(match part.split_once('+') {
                None => (offset, bits, path.into()),
                Some((from, width)) => (offset + from.parse::<u32>().unwrap(), width.parse().unwrap(), path.into()),
            });
        }
    }
    let found: Vec<&String> =
        paths.iter().filter(|path| plain(path.rsplit('.').next().unwrap()) == plain(field)).collect();
    match found[..] {
        [path] => {
            let (offset, bits) = find(structure.fields, path).unwrap();
            Ok((offset, bits, path.clone()))
        }
        [] => Err("lacking".into()),
        _ => Err(format!("ambiguous: {found:?}")),
    }
}

pub(super) fn structures() -> BTreeMap<&'static str, Structure> {
    registry::all().chain([Structure::of::<RmppFlags>()]).map(|structure| (structure.name, structure)).collect()
}

pub(super) fn structure_of(row: &Row, names: &Names, all: &BTreeMap<&str, Structure>) -> Option<(Structure, u32)> {
    let listed = names.attributes.get(&format!("{}|{}", row.class, row.attribute));
    match listed {
        Some((name, offset)) => Some((*all.get(name.as_str())?, offset * 8)),
        None => all.values().find(|own| plain(own.name) == plain(&row.attribute)).map(|own| (*own, 0)),
    }
}
