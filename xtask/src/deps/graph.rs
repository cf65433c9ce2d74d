//! The workspace's crates and what they depend on, out of cargo's metadata.
use cargo_metadata::{DependencyKind, Metadata};
use std::path::PathBuf;

/// A crate of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Crate {
    /// Its name.
    pub(super) name: String,
    /// Its folder.
    pub(super) folder: PathBuf,
    /// What it is built with; what only its tests use is left out.
    pub(super) depends: Vec<Dependency>,
}

/// A crate that another one is built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Its name.
    pub(super) name: String,
    /// Whether it is one of ours.
    pub(super) internal: bool,
    /// Whether a feature must ask for it.
    pub(super) optional: bool,
}

/// The workspace's crates, by name.
pub(super) fn crates(metadata: &Metadata) -> Vec<Crate> {
    let mut crates: Vec<_> = metadata
        .workspace_packages()
        .into_iter()
        .map(|package| Crate {
            name: package.name.to_string(),
            folder: package.manifest_path.parent().map(PathBuf::from).unwrap_or_default(),
            depends: package
                .dependencies
                .iter()
                .filter(|to| to.kind != DependencyKind::Development)
                .map(|to| Dependency { name: to.name.clone(), internal: to.path.is_some(), optional: to.optional })
                .collect(),
        })
        .collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_workspace() {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
        let crates = crates(&metadata);
        let wire = crates.iter().find(|member| member.name == "acm-wire").unwrap();
        assert!(wire.folder.join("src/lib.rs").is_file());
        let depends = |name: &str| wire.depends.iter().find(|to| to.name == name).cloned();
        let known = |name: &str, internal| Some(Dependency { name: name.into(), internal, optional: false });
        assert_eq!(depends("ib-mad"), known("ib-mad", true));
        assert_eq!(depends("nom"), known("nom", false));
        assert_eq!(depends("proptest"), None, "only its tests use it");
    }
}
