//! `deny.toml`, as far as it is checked without cargo-deny.
use serde::Deserialize;
use spdx::{Expression, ParseMode};

/// The one registry that crates may be from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// From the workspace's folder.
pub(super) const FILE: &str = "deny.toml";

/// What `deny.toml` says.
#[derive(Debug, Deserialize)]
pub(crate) struct Rules {
    graph: Graph,
    licenses: Licences,
    bans: Bans,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Graph {
    all_features: bool,
    targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// More that one crate may be under.
#[derive(Debug, Deserialize)]
struct Exception {
    allow: Vec<String>,
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Bans {
    deny: Vec<Denied>,
}

#[derive(Debug, Deserialize)]
struct Denied {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

impl Rules {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|problem| format!("{}: {problem}", FILE))
    }

    /// The targets whose crates count.
    pub(crate) fn targets(&self) -> &[String] {
        &self.graph.targets
    }

    pub(crate) const fn all_features(&self) -> bool {
        self.graph.all_features
    }

    /// Whether a crate's SPDX expression can be met by what is allowed.
    pub(crate) fn licence(&self, name: &str, expression: &str) -> Result<(), String> {
        // Old crates write `MIT/Apache-2.0`.
        let parsed = Expression::parse_mode(expression, ParseMode::LAX)
            .map_err(|problem| format!("licence {expression}: {}", problem.reason))?;
        let allowed = parsed.evaluate(|needed| {
            // An exception only gives more, but it is not what was looked at.
            needed.addition.is_none() && needed.license.id().is_some_and(|id| self.is_allowed(name, id.name))
        });
        if allowed { Ok(()) } else { Err(format!("licence {expression} is not allowed")) }
    }

    /// Whether a licence's own text begins with the name of one that is allowed.
    pub(crate) fn licence_text(&self, text: &str) -> Result<(), String> {
        let name = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let named = |id: &String| spdx::license_id(id).is_some_and(|id| id.full_name == name);
        if self.licenses.allow.iter().any(named) {
            Ok(())
        } else {
            Err(format!("licence file \"{name}\" is not allowed"))
        }
    }

    /// Whether the crate may be here at all.
    pub(crate) fn name(&self, name: &str) -> Result<(), String> {
        match self.bans.deny.iter().find(|denied| denied.name == name) {
            Some(denied) => Err(format!("refused: {}", denied.reason)),
            None => Ok(()),
        }
    }

    /// Whether it is from where crates may be from; `None` is this workspace.
    pub(crate) fn source(&self, source: Option<&str>) -> Result<(), String> {
        match source {
            None | Some(CRATES_IO) => Ok(()),
            Some(other) => Err(format!("is from {other}")),
        }
    }

    fn is_allowed(&self, name: &str, id: &str) -> bool {
        let exceptions = self.licenses.exceptions.iter().filter(|exception| exception.name == name);
        let more = exceptions.flat_map(|exception| &exception.allow);
        self.licenses.allow.iter().chain(more).any(|allowed| allowed == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
[graph]
all-features = true
targets = ["x86_64-unknown-linux-gnu"]
[licenses]
allow = ["MIT", "Unicode-3.0"]
exceptions = [{ allow = ["MPL-2.0"], crate = "tool" }]
[bans]
deny = [{ crate = "tokio", reason = "one loop" }]
"#;

    #[test]
    fn an_expression_needs_what_is_allowed() {
        let rules = Rules::parse(FILE).unwrap();
        for good in ["MIT", "MIT/Apache-2.0", "Apache-2.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert_eq!(rules.licence("any", good), Ok(()), "{good}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT WITH LLVM-exception", "MPL-2.0", "who knows"] {
            assert!(rules.licence("any", bad).is_err(), "{bad}");
        }
        // Of one crate alone.
        assert_eq!(rules.licence("tool", "MPL-2.0"), Ok(()));
        assert!(rules.licence("tool", "GPL-3.0-only").is_err());
    }

    #[test]
    fn a_file_is_known_by_its_first_line() {
        let rules = Rules::parse(FILE).unwrap();
        assert_eq!(rules.licence_text("\nMIT License\n\nCopyright"), Ok(()));
        assert!(rules.licence_text("GNU GENERAL PUBLIC LICENSE\nMIT License").is_err());
        assert!(rules.licence_text("").is_err());
    }

    #[test]
    fn names_and_sources() {
        let rules = Rules::parse(FILE).unwrap();
        assert_eq!(rules.name("tokio"), Err("refused: one loop".to_owned()));
        assert_eq!(rules.name("mio"), Ok(()));
        assert_eq!(rules.source(None), Ok(()));
        assert_eq!(rules.source(Some(CRATES_IO)), Ok(()));
        assert!(rules.source(Some("git+https://example.org/x")).is_err());
    }

    #[test]
    fn this_projects_file_can_be_read() {
        let rules = Rules::parse(include_str!("../../../deny.toml")).unwrap();
        assert!(rules.is_allowed("any", "MIT") && !rules.is_allowed("any", "GPL-3.0-only"));
        assert!(!rules.targets().is_empty() && Rules::parse("[graph]").is_err());
    }
}
