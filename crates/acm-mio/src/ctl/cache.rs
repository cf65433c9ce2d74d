//! `explain`, `cache list` and `cache flush`: entries of the cache of the running daemon.
use super::{
    age::Age,
    ask::{Ask, json_of},
    table::{self, Table},
};
use crate::{
    control::{Entry, Filter, Flushed, Page, Parameters},
    output::{Failure, Outcome, Output, note},
};
use nix::unistd::User;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeSet;

/// Conditions on entries. An entry meets all of them.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(id = "conditions", multiple = true)]
pub(super) struct Conditions {
    /// Names, IP addresses, LIDs or GIDs. A `*` at the end of one stands for any text.
    #[arg(value_name = "DEST")]
    dest: Vec<String>,
    /// Only entries in a state, as the list has it: unknown, failed, asking, located, routing, ready or stale.
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only failures: the state failed.
    #[arg(long, conflicts_with = "state")]
    failed: bool,
    /// Only entries of a port, such as mlx5_0/1.
    #[arg(long, value_name = "PORT")]
    port: Option<String>,
    /// Only entries of a partition of the port, such as 0x8001.
    #[arg(long, value_name = "P_KEY", requires = "port")]
    partition: Option<String>,
    /// Only entries that a user was the last to use: a name, a number, kernel, daemon, strangers or peer:ADDRESS.
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Only the entry with this id, which `explain` prints.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only paths that were confirmed longer ago, such as 1h30m.
    #[arg(long, value_name = "TIME")]
    older: Option<Age>,
    /// Only paths that were confirmed since.
    #[arg(long, value_name = "TIME")]
    newer: Option<Age>,
}

impl Conditions {
    /// Returns the parameters of a request for each destination; of one request if there is none.
    ///
    /// # Errors
    /// There is no such user, or no daemon.
    fn requests(&self, ask: Ask<'_>) -> Result<Vec<Parameters>, Failure> {
        let mut all = Parameters::default();
        let user = self.user.as_ref().map(|user| uid(ask, user)).transpose()?;
        let endpoint = self.port.as_ref().map(|port| match &self.partition {
            Some(pkey) => format!("{port} pkey {pkey}"),
            None => port.clone(),
        });
        let state = self.state.clone().or_else(|| self.failed.then(|| "failed".to_owned()));
        let ages = [("older", self.older), ("newer", self.newer)];
        let words = [("state", state), ("endpoint", endpoint), ("user", user), ("id", self.id.clone())];
        let ages = ages.map(|(key, age)| (key, age.map(|age| age.0.as_secs().to_string())));
        for (key, value) in words.into_iter().chain(ages) {
            if let Some(value) = value {
                all = all.with(key, value);
            }
        }
        Ok(match self.dest.as_slice() {
            [] => vec![all],
            names => names.iter().map(|name| all.clone().with("name", name)).collect(),
        })
    }
}

/// Prints all entries that meet the conditions, page by page, because 100,000 entries do not fit into small memory.
///
/// # Errors
/// A condition is wrong, no daemon answers, or writing failed.
pub(super) fn list(
    ask: Ask<'_>,
    conditions: &Conditions,
    no_header: bool,
    output: &mut Output<'_>,
) -> Result<Outcome, Failure> {
    let requests = conditions.requests(ask)?;
    if output.json {
        output.list("entries", |next| {
            each_page(ask, &requests, &mut |page| {
                for entry in &page.entries {
                    if !next(&serde_json::to_string(entry).map_err(|error| Failure::Failed(error.to_string()))?)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })
        })?;
        return Ok(Outcome::Good);
    }
    let mut table = Table::new(no_header);
    each_page(ask, &requests, &mut |page| {
        output.write(&table.page(&page.entries))?;
        Ok(!output.is_closed)
    })?;
    output.write(&table.end())?;
    note(&table::count(table.entries()));
    Ok(Outcome::Good)
}

/// Returns all entries.
///
/// # Errors
/// No daemon answers, or the user may not look.
pub(super) fn all(ask: Ask<'_>) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    each_page(ask, &[Parameters::default()], &mut |page| {
        entries.extend(page.entries);
        Ok(true)
    })?;
    Ok(entries)
}

/// Prints what is cached for a destination.
///
/// # Errors
/// The destination is wrong, no daemon answers, or writing failed.
pub(super) fn explain(ask: Ask<'_>, dest: &str, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let (mut host, mut entries) = (None, Vec::new());
    each_page(ask, &[Parameters::default().with("name", dest)], &mut |page| {
        host = page.host;
        entries.extend(page.entries);
        Ok(true)
    })?;
    let outcome = if entries.is_empty() { Outcome::Bad } else { Outcome::Good };
    if output.json {
        output.object(&json!({ "entries": entries, "host_file_gid": host }))?;
    } else if entries.is_empty() {
        let host = host.map_or(String::new(), |gid| format!(", and the host file has it at GID {gid}"));
        note(&format!("nothing is cached for {dest}: the next request starts a lookup{host}"));
    } else {
        entries.iter().try_for_each(|entry: &Entry| output.write(&table::explanation(entry)))?;
    }
    Ok(outcome)
}

/// Removes all entries that meet the conditions, and prints their number.
///
/// # Errors
/// A condition is wrong, no daemon answers, the user may not do it, or writing failed.
pub(super) fn flush(ask: Ask<'_>, conditions: &Conditions, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let mut total = 0;
    for parameters in conditions.requests(ask)? {
        let mut from = Some(0);
        while let Some(slot) = from {
            let page: Flushed = page_from(ask, "DELETE", &parameters, slot)?;
            total += page.flushed;
            from = page.next;
        }
    }
    output.result(&json!({ "flushed": total }), &format!("{} removed\n", table::count(total)))?;
    Ok(Outcome::Good)
}

/// Returns the form of a user in requests: a number in place of a name.
///
/// # Errors
/// There is no such user; the text has those of entries.
fn uid(ask: Ask<'_>, name: &str) -> Result<String, Failure> {
    if let Some(address) = name.strip_prefix("peer:") {
        return Ok(format!("peer {address}"));
    }
    if Filter::is_user(name) {
        return Ok(name.to_owned());
    }
    if let Ok(Some(user)) = User::from_name(name) {
        return Ok(user.uid.to_string());
    }
    let mut users = BTreeSet::new();
    each_page(ask, &[Parameters::default()], &mut |page| {
        users.extend(page.entries.into_iter().filter_map(|entry| entry.path?.last_user));
        Ok(true)
    })?;
    let users: Vec<String> = users.iter().map(|user| table::user(user)).collect();
    let all = if users.is_empty() { "there is none".to_owned() } else { format!("there are: {}", users.join(", ")) };
    Err(Failure::Failed(format!("{name}: no such user; of the users of entries {all}")))
}

/// Requests the page that begins at a slot.
fn page_from<T: DeserializeOwned>(
    ask: Ask<'_>,
    method: &str,
    parameters: &Parameters,
    slot: usize,
) -> Result<T, Failure> {
    let target = format!("/cache?{}", parameters.clone().with("from", slot).query());
    json_of(&ask(method, &target)?)
}

/// Requests the pages of the entries that meet one of the conditions, and passes each to `use_page` before the next
/// request. Ends when `use_page` returns `false`.
fn each_page(
    ask: Ask<'_>,
    requests: &[Parameters],
    use_page: &mut dyn FnMut(Page) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    for parameters in requests {
        let mut from = Some(0);
        while let Some(slot) = from {
            let page: Page = page_from(ask, "GET", parameters, slot)?;
            from = page.next;
            if !use_page(page)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::{Cell, RefCell};
    use std::io::{self, ErrorKind, Write};

    fn dest(name: &str) -> Conditions {
        Conditions { dest: vec![name.to_owned()], ..Conditions::default() }
    }

    fn nobody(_: &str, _: &str) -> Result<String, Failure> {
        Err(Failure::NoDaemon("none".to_owned()))
    }

    #[test]
    fn each_condition_is_a_parameter() {
        let conditions = Conditions {
            dest: vec!["a".to_owned(), "b*".to_owned()],
            port: Some("sim0/1".to_owned()),
            partition: Some("0x8001".to_owned()),
            failed: true,
            user: Some("peer:10.0.0.1".to_owned()),
            id: Some("4.2".to_owned()),
            older: Some("1h".parse().unwrap()),
            newer: Some("2d".parse().unwrap()),
            ..Conditions::default()
        };
        let words: Vec<String> = conditions.requests(&nobody).unwrap().iter().map(Parameters::words).collect();
        let rest = "state=failed endpoint=sim0/1 pkey 0x8001 user=peer 10.0.0.1 id=4.2 older=3600 newer=172800";
        assert_eq!(words, [format!("{rest} name=a"), format!("{rest} name=b*")]);
        let root = Conditions { user: Some("root".to_owned()), ..Conditions::default() };
        assert_eq!(root.requests(&nobody).unwrap()[0].words(), "user=0");
        assert_eq!(Conditions::default().requests(&nobody).unwrap(), [Parameters::default()]);
    }

    /// Standard output that is closed after a number of pages. Counts the requests before each.
    struct Pages<'a> {
        asked: &'a Cell<usize>,
        pages: Vec<usize>,
        room: usize,
    }

    impl Write for Pages<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.pages.len() == self.room {
                return Err(ErrorKind::BrokenPipe.into());
            }
            self.pages.push(self.asked.get());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn entry() -> serde_json::Value {
        json!({
            "id": "4.2", "endpoint": "sim0/1 pkey 0xffff", "dest": "a", "state": "located", "cause": "user",
            "gid": "fe80::7", "address_source": "group", "address_expires_in": null, "failure": null, "path": null,
        })
    }

    /// Lists the entries of a daemon that has one in each of three pages. Returns the number of requests before each
    /// write, and in all.
    fn list_of(room: usize) -> (Vec<usize>, usize) {
        let asked = Cell::new(0);
        let ask = |_: &str, _: &str| {
            asked.set(asked.get() + 1);
            let next = (asked.get() < 3).then(|| asked.get() * 256);
            Ok(json!({ "entries": [entry()], "next": next }).to_string())
        };
        let mut out = Pages { asked: &asked, pages: Vec::new(), room };
        assert_eq!(list(&ask, &Conditions::default(), false, &mut Output::new(&mut out, false)), Ok(Outcome::Good));
        (out.pages, asked.get())
    }

    #[test]
    fn each_page_is_written_before_the_next_request_and_a_closed_pipe_ends_it() {
        assert_eq!(list_of(9), (vec![1, 2, 3], 3));
        assert_eq!(list_of(1), (vec![1], 2));
        assert_eq!(list_of(0), (vec![], 1));
    }

    #[test]
    fn flush_requests_all_pages_with_its_conditions_and_adds_their_numbers() {
        let asked = RefCell::new(Vec::new());
        let ask = |method: &str, target: &str| {
            asked.borrow_mut().push(format!("{method} {target}"));
            let number = asked.borrow().len();
            let (flushed, next) = [(200, Some(256)), (0, Some(2304)), (34, None)][number - 1];
            Ok(json!({ "flushed": flushed, "next": next }).to_string())
        };
        for (as_json, expected) in [(false, "234 entries removed\n"), (true, "{\"schema\":1,\"flushed\":234}\n")] {
            let mut out = Vec::new();
            flush(&ask, &dest("a*"), &mut Output::new(&mut out, as_json)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
            let words = |request: String| {
                Parameters::of_query(request.strip_prefix("DELETE /cache?").unwrap()).unwrap().words()
            };
            let expected = [0, 256, 2304].map(|from| format!("name=a* from={from}"));
            assert_eq!(asked.take().into_iter().map(words).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn list_and_explanation_are_one_object_of_json() {
        let ask = |_: &str, _: &str| {
            Ok(json!({ "entries": [entry(), entry()], "next": null, "host": "fe80::9" }).to_string())
        };
        let mut out = Vec::new();
        let mut output = Output::new(&mut out, true);
        assert_eq!(list(&ask, &Conditions::default(), false, &mut output), Ok(Outcome::Good));
        assert_eq!(explain(&ask, "a", &mut output), Ok(Outcome::Good));
        let none = |_: &str, _: &str| Ok(json!({ "entries": [], "next": null }).to_string());
        assert_eq!(explain(&none, "a", &mut output), Ok(Outcome::Bad));
        let objects = serde_json::Deserializer::from_slice(&out).into_iter().map(Result::unwrap);
        let objects: Vec<serde_json::Value> = objects.collect();
        let lengths: Vec<_> = objects.iter().map(|object| object["entries"].as_array().unwrap().len()).collect();
        assert_eq!(lengths, [2, 2, 0]);
        assert!(objects.iter().all(|object| object["schema"] == 1) && objects[1]["host_file_gid"] == "fe80::9");
    }
}
