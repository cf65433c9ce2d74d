//! The provider of each subnet.
use crate::api::id::ProviderId;
use alloc::{collections::BTreeMap, vec::Vec};

/// The provider of each subnet, by the prefix of its GIDs (`provider`). Subnets of a provider that does not exist are
/// not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnets {
    /// Subnets with a provider of their own; `None`: not served.
    pub by_prefix: BTreeMap<u64, Option<ProviderId>>,
    /// The provider of all other subnets.
    pub default: Option<ProviderId>,
}

impl Subnets {
    /// Lets the built-in provider serve all subnets except these.
    #[must_use]
    pub fn all_but(prefixes: impl IntoIterator<Item = u64>) -> Self {
        let by_prefix = prefixes.into_iter().map(|prefix| (prefix, None)).collect();
        Self { by_prefix, default: Some(ProviderId::BUILT_IN) }
    }

    /// Lets the built-in provider serve only these subnets.
    #[must_use]
    pub fn only(prefixes: impl IntoIterator<Item = u64>) -> Self {
        let by_prefix = prefixes.into_iter().map(|prefix| (prefix, Some(ProviderId::BUILT_IN))).collect();
        Self { by_prefix, default: None }
    }

    /// Returns the assignment with this provider for one subnet.
    #[must_use]
    pub fn with(mut self, prefix: u64, provider: ProviderId) -> Self {
        self.by_prefix.insert(prefix, Some(provider));
        self
    }

    /// Returns the provider of the subnet with this prefix, or `None` if it is not served.
    #[must_use]
    pub fn provider(&self, prefix: u64) -> Option<ProviderId> {
        self.by_prefix.get(&prefix).copied().unwrap_or(self.default)
    }
}

impl Default for Subnets {
    /// Lets the built-in provider serve all subnets.
    fn default() -> Self {
        Self::all_but(Vec::new())
    }
}

/// The serialized form. Traces from before there were providers outside of the core contain `AllBut` or `Only`.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[derive(Default)]
struct AsText {
    #[serde(rename = "AllBut", skip_serializing)]
    all_but: Option<Vec<u64>>,
    #[serde(rename = "Only", skip_serializing)]
    only: Option<Vec<u64>>,
    by_prefix: Vec<(u64, Option<ProviderId>)>,
    default: Option<ProviderId>,
}

#[cfg(feature = "serde")]
impl serde::Serialize for Subnets {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let by_prefix = self.by_prefix.iter().map(|(prefix, provider)| (*prefix, *provider)).collect();
        AsText { by_prefix, default: self.default, ..AsText::default() }.serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Subnets {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match AsText::deserialize(deserializer)? {
            AsText { all_but: Some(prefixes), .. } => Self::all_but(prefixes),
            AsText { only: Some(prefixes), .. } => Self::only(prefixes),
            AsText { by_prefix, default, .. } => Self { by_prefix: by_prefix.into_iter().collect(), default },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnet_has_its_own_provider_or_the_default_or_none() {
        let (one, two) = (ProviderId(1), ProviderId(2));
        let providers_of = |subnets: &Subnets| [1, 2, 3].map(|prefix| subnets.provider(prefix));
        let ours = Some(ProviderId::BUILT_IN);
        assert_eq!(providers_of(&Subnets::default()), [ours; 3]);
        assert_eq!(providers_of(&Subnets::all_but([2])), [ours, None, ours]);
        assert_eq!(providers_of(&Subnets::only([2])), [None, ours, None]);
        assert_eq!(providers_of(&Subnets::all_but([2]).with(1, one)), [Some(one), None, ours]);
        assert_eq!(providers_of(&Subnets { default: Some(two), ..Subnets::only([2]) }), [Some(two), ours, Some(two)]);
    }
}
