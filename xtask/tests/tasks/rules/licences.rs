//! Licences and sources of dependencies, by `deny.toml`. `.ci/more` runs cargo-deny, which takes minutes to build.
use super::{none, read, root};
use cargo_metadata::{CargoOpt, MetadataCommand};

/// Crates whose licence is not an alternative of licences in `deny.toml`, each looked at.
const LOOKED_AT: [(&str, &str); 3] = [
    // Used by a test only, which generates the header of acm-capi.
    ("cbindgen", "MPL-2.0"),
    ("unicode-ident", "(MIT OR Apache-2.0) AND Unicode-3.0"),
    // For a test only. The file LICENSE of its package is the MIT licence.
    ("rdma-sys", "none"),
];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn licences_of_dependencies_are_allowed() {
    let rules = read(&root().join("deny.toml"));
    let list = |start: &str| rules.split_once(start).unwrap().1.split_once("\n]").unwrap().0.to_owned();
    let (allowed, denied) = (list("\nallow = ["), list("\ndeny = ["));
    let allows = |licence: &str| allowed.contains(&format!("\"{licence}\""));
    let mut defects = Vec::new();
    for target in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
        assert!(rules.contains(target));
        let mut command = MetadataCommand::new();
        command.current_dir(root()).features(CargoOpt::AllFeatures);
        let metadata = command.other_options(["--locked", "--filter-platform", target].map(str::to_owned)).exec();
        let metadata = metadata.unwrap();
        for node in &metadata.resolve.as_ref().unwrap().nodes {
            let user = metadata[&node.id].name.as_str();
            for to in &node.dependencies {
                let name = metadata[to].name.as_str();
                let is_denied = |rule: &str| {
                    rule.contains(&format!("crate = \"{name}\"")) && !rule.contains(&format!("wrappers = [\"{user}\"]"))
                };
                if denied.lines().any(is_denied) {
                    defects.push(format!("{user} -> {name}: denied by deny.toml"));
                }
            }
        }
        for package in metadata.packages {
            let (name, licence) = (package.name.as_str(), package.license.as_deref().unwrap_or("none"));
            // Old crates write `MIT/Apache-2.0`.
            let any = licence.replace('/', " OR ").split(" OR ").any(|licence| allows(licence.trim()));
            if !any && !LOOKED_AT.contains(&(name, licence)) {
                defects.push(format!("{name} {}: licence {licence}", package.version));
            }
            if package.source.is_some_and(|source| source.repr != CRATES_IO) {
                defects.push(format!("{name}: not from crates.io"));
            }
        }
    }
    none(defects);
}
