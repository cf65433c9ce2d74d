//! Conditions on cache entries.
use super::{
    entry::{Entry, STALE},
    parameters::Parameters,
};
use acm_sansio::api::CacheEntry;
use acm_wire::Address;
use core::net::{IpAddr, Ipv6Addr};

/// The states of cache entries.
const STATES: [&str; 7] = ["unknown", "failed", "asking", "located", "routing", READY, STALE];
/// The core's state of an entry that is ready or stale.
const READY: &str = "ready";

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
            name: take("name").map(|name| checked_name(&name)).transpose()?,
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
        if let Some(user) = filter.user.as_deref().filter(|user| !Self::is_user(user)) {
            return Err(format!(
                "user={user}: expected a user's number, kernel, daemon, strangers or \"peer ADDRESS\""
            ));
        }
        match parameters.first() {
            None => Ok(filter),
            Some(key) => {
                Err(format!("{key}: expected name, endpoint, state, user, id, older or newer, each at most once"))
            }
        }
    }

    /// Reports whether a text is an account, or a user's number.
    pub(crate) fn is_user(text: &str) -> bool {
        let number = text.strip_prefix("user ").unwrap_or(text);
        number.parse::<u32>().is_ok() || ["kernel", "daemon", "strangers"].contains(&text) || text.starts_with("peer ")
    }

    /// Checks that one of these endpoints is the wanted one or at the wanted port.
    ///
    /// # Errors
    /// There is none; the text has all endpoints.
    pub(crate) fn check_endpoint(&self, endpoints: &[String]) -> Result<(), String> {
        let Some(wanted) = &self.endpoint else { return Ok(()) };
        if endpoints.iter().any(|endpoint| is_at(endpoint, wanted)) {
            return Ok(());
        }
        let all = if endpoints.is_empty() {
            "there is none".to_owned()
        } else {
            format!("there are: {}", endpoints.join(", "))
        };
        Err(format!("endpoint={wanted}: no such endpoint; {all}"))
    }

    /// Returns the wanted name or IP address; `None` for a LID, a name with a `*`, or no name.
    pub(crate) fn address(&self) -> Option<Address> {
        let name = self.name.as_deref().filter(|name| !name.contains('*') && name.parse::<u16>().is_err())?;
        Some(name.parse::<IpAddr>().map_or_else(|_| Address::from_text(name), Address::from))
    }

    /// Reports whether a destination has the requested name.
    pub(crate) fn is_named(&self, dest: &str) -> bool {
        self.name.as_deref().is_none_or(|wanted| has_name(dest, None, wanted))
    }

    /// Reports whether an entry has the requested name and state. This is cheaper than [`Filter::matches`].
    pub(crate) fn may_match(&self, found: &CacheEntry) -> bool {
        let has_name = |wanted: &str| {
            let gid = found.gid.map(|gid| gid.to_string());
            has_name(&found.dest.to_string(), gid.as_deref(), wanted)
        };
        let has_state = |wanted: &str| wanted == found.state || wanted == STALE && found.state == READY;
        self.state.as_deref().is_none_or(has_state) && self.name.as_deref().is_none_or(has_name)
    }

    /// Reports whether an entry meets all conditions.
    pub(crate) fn matches(&self, entry: &Entry) -> bool {
        let equal = |condition: &Option<String>, value: &str| condition.as_ref().is_none_or(|wanted| wanted == value);
        let age = entry.path.as_ref().map(|path| path.confirmed_ago);
        let user = entry.path.as_ref().and_then(|path| path.last_user.as_deref()).unwrap_or_default();
        self.name.as_deref().is_none_or(|wanted| has_name(&entry.dest, entry.gid.as_deref(), wanted))
            && self.endpoint.as_deref().is_none_or(|wanted| is_at(&entry.endpoint, wanted))
            && equal(&self.state, &entry.state)
            && equal(&self.id, &entry.id)
            && self.user.as_ref().is_none_or(|wanted| user == wanted || user.strip_prefix("user ") == Some(wanted))
            && self.older.is_none_or(|limit| age.is_some_and(|age| age >= limit))
            && self.newer.is_none_or(|limit| age.is_some_and(|age| age <= limit))
    }
}

/// Returns a name, IP address, LID or GID in the form of entries.
///
/// # Errors
/// The text looks like an address, and is none.
fn checked_name(text: &str) -> Result<String, String> {
    if text.contains('*') {
        return Ok(text.to_owned());
    }
    let bad = |expected: &str| Err(format!("{text}: expected {expected}, or a name"));
    let lid = text.get(..3).filter(|start| start.eq_ignore_ascii_case("lid")).and_then(|_| text.get(3..));
    let lid = lid.map(|rest| rest.trim_start_matches([' ', ':', '=']));
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    if let Some(lid) = lid.filter(|lid| is_number(lid)).or(Some(text).filter(|_| text.parse::<u64>().is_ok())) {
        let hex = lid.strip_prefix("0x").map(|digits| u16::from_str_radix(digits, 16));
        return hex
            .unwrap_or_else(|| lid.parse())
            .map_or_else(|_| bad("a LID from 0 to 65535"), |lid| Ok(lid.to_string()));
    }
    let gid = text.get(..4).filter(|start| start.eq_ignore_ascii_case("gid:")).and_then(|_| text.get(4..));
    let text = gid.unwrap_or(text);
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().map_or_else(|_| bad("an IPv6 address or a GID"), |ip| Ok(ip.to_string()));
    }
    let is_ip = text.contains('.') && text.chars().all(|letter| letter == '.' || letter.is_ascii_digit());
    if is_ip && text.parse::<IpAddr>().is_err() {
        return bad("an IPv4 address");
    }
    Ok(text.to_owned())
}

/// Reports whether an entry for a destination at a GID is for a name, an IP address, a LID or a GID. A `*` at the end
/// stands for any text. Names are compared without regard to case.
fn has_name(dest: &str, gid: Option<&str>, wanted: &str) -> bool {
    let is_it = |text: &str| match wanted.strip_suffix('*') {
        Some(start) => text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start)),
        None => text.eq_ignore_ascii_case(wanted),
    };
    let number = dest.strip_prefix("LID ").or_else(|| dest.strip_prefix("GID "));
    is_it(dest) || number.is_some_and(is_it) || gid.is_some_and(is_it)
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
            "gid": "fe80::7", "address_source": "group", "address_expires_in": null, "failure": null,
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
        for name in ["name=12", "name=LID12", "name=lid 12", "name=LID 0xc"] {
            let lid = Entry { dest: "LID 12".to_owned(), ..entry.clone() };
            assert!(filter(&[name]).unwrap().matches(&lid), "{name}");
        }
        for name in ["name=fe80::12", "name=GID:fe80::12"] {
            let gid = Entry { dest: "GID fe80::12".to_owned(), ..entry.clone() };
            assert!(filter(&[name]).unwrap().matches(&gid), "{name}");
        }
        let stale = Entry { state: STALE.to_owned(), ..entry.clone() };
        let state = |state: &str| filter(&[&format!("state={state}")]).unwrap().matches(&stale);
        assert_eq!([state("stale"), state("ready")], [true, false], "as the list has it");
        let lid = Entry { dest: "LID 12".to_owned(), path: None, ..entry };
        assert!(filter(&["name=12"]).unwrap().matches(&lid));
        for words in ["older=0", "newer=99999"] {
            assert!(!filter(&[words]).unwrap().matches(&lid), "{words}: without a path there is no age");
        }
    }

    #[test]
    fn unknown_condition_or_value_is_refused() {
        for words in [
            &["nmae=x"][..],
            &["older=x"],
            &["older=-1"],
            &["state=redy"],
            &["id=1.2", "id=1.3"],
            &["x"],
            &["user=root"],
            &["name=10.0.0.256"],
            &["name=fe80:::1"],
            &["name=LID 65536"],
            &["name=99999"],
        ] {
            let problem = filter(words).unwrap_err();
            assert!(problem.contains("expected"), "{words:?}: {problem}");
        }
    }

    #[test]
    fn unknown_endpoint_is_an_error_with_all_endpoints() {
        let endpoints = ["sim0/1 pkey 0xffff".to_owned(), "sim0/1 pkey 0x8001".to_owned()];
        let check = |word: &str| filter(&[word]).unwrap().check_endpoint(&endpoints);
        assert_eq!([check("endpoint=sim0/1"), check("endpoint=sim0/1 pkey 0x8001")], [Ok(()), Ok(())]);
        let text = "endpoint=sim0: no such endpoint; there are: sim0/1 pkey 0xffff, sim0/1 pkey 0x8001";
        assert_eq!(check("endpoint=sim0"), Err(text.to_owned()));
        assert!(filter(&["endpoint=x"]).unwrap().check_endpoint(&[]).unwrap_err().ends_with("there is none"));
    }

    #[test]
    fn states_are_those_of_the_core() {
        let mut states = Vec::new();
        Acm::new(Config::default(), 1).each_gauge(&mut |_, scope, _| {
            if let GaugeScope::State(state) = scope {
                states.push(state);
            }
        });
        assert_eq!(states, STATES[..6]);
    }
}
