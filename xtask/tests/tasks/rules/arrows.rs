//! The table in ARCHITECTURE.md: the dependencies of each crate.
use super::{metadata, none, read, root};
use cargo_metadata::DependencyKind;

/// The dependencies that a crate may have.
struct Arrows {
    name: &'static str,
    /// Crates of the workspace.
    own: &'static [&'static str],
    /// Libraries of a crate below the line: those without std, clock and I/O, and those behind a feature.
    libraries: Option<[&'static [&'static str]; 2]>,
}

const fn above(name: &'static str, own: &'static [&'static str]) -> Arrows {
    Arrows { name, own, libraries: None }
}

const fn below(
    name: &'static str,
    own: &'static [&'static str],
    pure: &'static [&'static str],
    optional: &'static [&'static str],
) -> Arrows {
    Arrows { name, own, libraries: Some([pure, optional]) }
}

/// Crates that no crate depends on: they may depend on every crate.
const ENDS: [&str; 3] = ["acm-tests", "acm-fuzz", "xtask"];

/// The crates below the line come first. A crate stands behind the crates that it depends on.
const ARROWS: &[Arrows] = &[
    below("ib-mad", &[], &["bitflags", "thiserror", "zerocopy"], &["arbitrary", "serde"]),
    below(
        "acm-wire",
        &["ib-mad"],
        &["bitflags", "byteorder", "memchr", "nom", "thiserror", "zerocopy"],
        &["arbitrary", "serde"],
    ),
    below(
        "acm-sansio",
        &["acm-wire", "ib-mad"],
        &["bitflags", "foldhash", "hashbrown", "siphasher", "slab", "thiserror", "zerocopy"],
        &["arbitrary", "serde"],
    ),
    // The core is pure; the server, the client, the uplink to ibsim and the program, which writes traces, are features.
    below(
        "ib-sim",
        &["ib-mad"],
        &["bitflags", "thiserror", "zerocopy"],
        &[
            "acm-trace",
            "arbitrary",
            "clap",
            "mio",
            "nix",
            "signal-hook",
            "socket2",
            "tempfile",
            "tracing",
            "tracing-subscriber",
        ],
    ),
    above("ib-verbs-sys", &[]),
    above("ib-device", &["ib-mad", "ib-verbs-sys"]),
    above("acm-shm", &["acm-wire", "ib-mad"]),
    above("acm-client", &["acm-shm", "acm-wire", "ib-mad", "ib-device"]),
    above("acm-capi", &["acm-client", "acm-wire", "ib-mad"]),
    above("acm-trace", &["acm-sansio", "acm-wire", "ib-mad"]),
    above("acm-sim", &["ib-sim", "acm-trace", "acm-sansio", "acm-wire", "ib-mad"]),
    above("acm-provider", &["acm-wire", "ib-mad"]),
    above("acm-plugin", &["acm-provider", "acm-sansio", "acm-wire", "ib-mad", "ib-device"]),
    above(
        "acm-mio",
        &["acm-sansio", "acm-wire", "ib-mad", "ib-sim", "ib-device", "acm-plugin", "acm-shm", "acm-trace"],
    ),
    above("ib-sim-preload", &["ib-sim", "ib-mad", "ib-verbs-sys"]),
    above("acmrs", &["acm-provider", "acm-sansio", "acm-wire", "ib-device", "ib-mad"]),
];

/// True for crates that have no clock, no I/O and no unsafe code.
pub(super) fn is_below_the_line(name: &str) -> bool {
    ARROWS.iter().any(|arrows| arrows.name == name && arrows.libraries.is_some())
}

#[test]
fn crates_depend_on_what_the_table_allows() {
    let mut defects = Vec::new();
    for package in metadata().workspace_packages().into_iter().filter(|package| !ENDS.contains(&package.name.as_str()))
    {
        let Some(arrows) = ARROWS.iter().find(|arrows| arrows.name == package.name.as_str()) else {
            defects.push(format!("{}: not in this table; add it here and in ARCHITECTURE.md", package.name));
            continue;
        };
        for to in package.dependencies.iter().filter(|to| to.kind != DependencyKind::Development) {
            let name = to.name.as_str();
            let behind_feature = |[_, optional]: [&[&str]; 2]| to.optional && optional.contains(&name);
            let is_allowed = match (to.path.is_some(), arrows.libraries) {
                (true, libraries) => arrows.own.contains(&name) || libraries.is_some_and(behind_feature),
                (false, Some([pure, optional])) => pure.contains(&name) || behind_feature([pure, optional]),
                (false, None) => true,
            };
            if !is_allowed {
                defects.push(format!("{} -> {name}: the table does not allow this dependency", package.name));
            }
        }
    }
    none(defects);
}

#[test]
fn table_has_no_circle_and_no_arrow_from_below_to_above() {
    for (number, arrows) in ARROWS.iter().enumerate() {
        for to in arrows.own {
            let before = ARROWS.iter().take(number).find(|before| before.name == *to);
            let before = before.unwrap_or_else(|| panic!("{} stands before {to}", arrows.name));
            assert!(arrows.libraries.is_none() || before.libraries.is_some(), "{} -> {to}", arrows.name);
        }
    }
}

#[test]
fn architecture_has_the_dependencies_of_each_crate() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for Arrows { name, own, .. } in ARROWS {
        let row = text.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` | ")));
        let cell = row.and_then(|row| row.split('|').next()).unwrap_or_else(|| panic!("no row of {name}")).trim();
        let named = cell.split(", ").filter(|part| !part.is_empty() && !part.starts_with('('));
        assert_eq!(named.map(|part| part.trim_matches('`')).collect::<Vec<_>>(), *own, "{name}");
    }
}
