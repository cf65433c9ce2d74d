//! Conditions on cache entries.
use super::{entry::Entry, parameters::Parameters};

/// The names of the states of cache entries.
const STATES: [&str; 6] = ["unknown", "failed", "asking", "located", "routing", "ready"];

/// Conditions on cache entries. An entry must meet all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    name: Option<String>,
    endpoint: Option<String>,
    state: Option<String>,
    user: Option<String>,
    id: Option<String>,
    older: Option<f64>,
    newer: Option<f64>,
}

impl Filter {
    /// Parses the conditions.
    ///
    /// # Errors
    /// The first parameter that is no condition, or has a value that is invalid.
    pub(crate) fn parse(mut parameters: Parameters) -> Result<Self, String> {
        let mut seconds = |key: &str| match parameters.take(key) {
            None => Ok(None),
            Some(text) => match text.parse::<u32>() {
                Ok(seconds) => Ok(Some(f64::from(seconds))),
                Err(_) => Err(format!("{key}={text}: expected seconds")),
            },
        };
        let (older, newer) = (seconds("older")?, seconds("newer")?);
        let mut take = |key: &str| parameters.take(key);
        let filter = Self {
            name: take("name"),
            endpoint: take("endpoint"),
            state: take("state"),
            user: take("user"),
            id: take("id"),
            older,
            newer,
        };
        if let Some(state) = filter.state.as_deref().filter(|state| !STATES.contains(state)) {
            return Err(format!("state={state}: expected one of {}", STATES.join(", ")));
        }
        match parameters.first() {
            None => Ok(filter),
            Some(key) => {
                Err(format!("{key}: expected name, endpoint, state, user, id, older or newer, each at most once"))
            }
        }
    }

    /// Reports whether an entry meets all conditions.
    pub(crate) fn matches(&self, entry: &Entry) -> bool {
        let equal = |condition: &Option<String>, value: &str| condition.as_ref().is_none_or(|wanted| wanted == value);
        let age = entry.path.as_ref().map(|path| path.confirmed_ago);
        let user = entry.path.as_ref().and_then(|path| path.last_user.as_deref()).unwrap_or_default();
        self.name.as_deref().is_none_or(|wanted| has_name(entry, wanted))
            && self.endpoint.as_deref().is_none_or(|wanted| is_at(&entry.endpoint, wanted))
            && equal(&self.state, &entry.state)
            && equal(&self.id, &entry.id)
            && self.user.as_ref().is_none_or(|wanted| user == wanted || user.strip_prefix("user ") == Some(wanted))
            && self.older.is_none_or(|limit| age.is_some_and(|age| age >= limit))
            && self.newer.is_none_or(|limit| age.is_some_and(|age| age <= limit))
    }
}

/// Reports whether an entry is for a name, an IP address, a LID or a GID. A `*` at the end stands for any text. Names
/// are compared without regard to case.
fn has_name(entry: &Entry, wanted: &str) -> bool {
    let is_it = |text: &str| match wanted.strip_suffix('*') {
        Some(start) => text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start)),
        None => text.eq_ignore_ascii_case(wanted),
    };
    let dest = entry.dest.as_str();
    let number = dest.strip_prefix("LID ").or_else(|| dest.strip_prefix("GID "));
    is_it(dest) || number.is_some_and(is_it) || entry.gid.as_deref().is_some_and(is_it)
}

/// Reports whether an endpoint, `mlx5_0/1 pkey 0xffff`, is the wanted one or at the wanted port.
fn is_at(endpoint: &str, wanted: &str) -> bool {
    endpoint.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(" pkey "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::{Acm, Config, api::GaugeScope};

    fn filter(words: &[&str]) -> Result<Filter, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Filter::parse(Parameters::of_words(&words)?)
    }

    /// Returns an entry of two hours, which user 7 has used.
    fn entry() -> Entry {
        serde_json::from_value(serde_json::json!({
            "id": "4.2", "endpoint": "sim0/1 pkey 0xffff", "dest": "Node2", "state": "ready", "cause": "user",
            "gid": "fe80::7", "address_expires_in": null, "failure": null,
            "path": {
                "source": "sa", "found_ago": 9000.0, "confirmed_ago": 7200.0, "expires_in": null, "stale": false,
                "uses": 1, "last_user": "user 7", "last_used_ago": 3.0,
                "summary": "", "record": null,
            },
        }))
        .unwrap()
    }

    #[test]
    fn entry_meets_all_conditions_or_none() {
        let entry = entry();
        for words in [
            &[][..],
            &["name=node2"],
            &["name=NODE*"],
            &["name=*"],
            &["name=fe80::7"],
            &["endpoint=sim0/1"],
            &["endpoint=sim0/1 pkey 0xffff"],
            &["state=ready", "user=7"],
            &["user=user 7"],
            &["id=4.2"],
            &["older=7200", "newer=7200"],
        ] {
            assert!(filter(words).unwrap().matches(&entry), "{words:?}");
        }
        for words in [
            &["name=node"][..],
            &["name=node3*"],
            &["endpoint=sim0"],
            &["endpoint=sim0/1 pkey"],
            &["state=failed"],
            &["user=70"],
            &["id=4.3"],
            &["older=7201"],
            &["newer=7199"],
            &["name=node2", "state=located"],
        ] {
            assert!(!filter(words).unwrap().matches(&entry), "{words:?}");
        }
        let lid = Entry { dest: "LID 12".to_owned(), path: None, ..entry };
        assert!(filter(&["name=12"]).unwrap().matches(&lid) && !filter(&["older=0"]).unwrap().matches(&lid));
    }

    #[test]
    fn unknown_condition_or_value_is_refused() {
        for words in [&["nmae=x"][..], &["older=x"], &["older=-1"], &["state=redy"], &["id=1.2", "id=1.3"], &["x"]] {
            let problem = filter(words).unwrap_err();
            assert!(problem.contains("expected"), "{words:?}: {problem}");
        }
    }

    #[test]
    fn states_are_those_of_the_core() {
        let mut states = Vec::new();
        Acm::new(Config::default(), 1).each_gauge(&mut |_, scope, _| {
            if let GaugeScope::State(state) = scope {
                states.push(state);
            }
        });
        assert_eq!(states, STATES);
    }
}
