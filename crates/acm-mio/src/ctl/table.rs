//! Cache entries as text for administrators.
use super::{age::Age, columns};
use crate::control::{Contradicted, Entry, Path};

const COLUMNS: [&str; 9] = ["DESTINATION", "STATE", "SOURCE", "CONFIRMED", "USES", "USED", "USER", "PORT", "PARTITION"];

/// A table of entries that is printed page by page: a column gets wider from a page with a longer cell on. No cell has a
/// blank, and `-` stands for nothing.
#[derive(Debug)]
pub(super) struct Table {
    widths: [usize; COLUMNS.len()],
    /// The titles until they are printed.
    titles: Option<[&'static str; COLUMNS.len()]>,
    /// Number of entries so far.
    entries: u64,
}

impl Table {
    /// Returns a table with or without a line of titles.
    pub(super) fn new(no_header: bool) -> Self {
        Self { widths: [0; COLUMNS.len()], titles: (!no_header).then_some(COLUMNS), entries: 0 }
    }

    /// Returns a line for each entry of a page, under a line of titles on the first page with entries.
    pub(super) fn page(&mut self, entries: &[Entry]) -> String {
        if entries.is_empty() { String::new() } else { self.lines(entries) }
    }

    /// Returns the titles if there was no entry.
    pub(super) fn end(&mut self) -> String {
        self.lines(&[])
    }

    /// Returns the number of entries so far.
    pub(super) const fn entries(&self) -> u64 {
        self.entries
    }

    fn lines(&mut self, entries: &[Entry]) -> String {
        self.entries += entries.len() as u64;
        let titles = self.titles.take().map(|titles| titles.map(str::to_owned));
        let rows: Vec<_> = titles.into_iter().chain(entries.iter().map(row)).collect();
        columns::lines(&mut self.widths, &rows)
    }
}

/// Returns a number of entries in words.
pub(super) fn count(entries: u64) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

/// Returns a user without blanks, as conditions accept it: `1000`, `kernel`, `peer:10.0.0.1`.
pub(super) fn user(account: &str) -> String {
    account.strip_prefix("user ").unwrap_or(account).replace(' ', ":")
}

fn row(entry: &Entry) -> [String; COLUMNS.len()] {
    let Entry { endpoint, dest, state, path, .. } = entry;
    let [mut source, mut confirmed, mut uses, mut used, mut by] = [(); 5].map(|()| "-".to_owned());
    if let Some(path) = path {
        source.clone_from(&path.source);
        confirmed = Age::of_seconds(path.confirmed_ago).to_string();
        uses = path.uses.to_string();
        if let (Some(last_user), Some(ago)) = (&path.last_user, path.last_used_ago) {
            (used, by) = (Age::of_seconds(ago).to_string(), user(last_user));
        }
    }
    let (port, pkey) = endpoint.split_once(" pkey ").unwrap_or((endpoint, "-"));
    // `LID:5`, which conditions accept as well.
    [dest.replace(' ', ":"), state.clone(), source, confirmed, uses, used, by, port.to_owned(), pkey.to_owned()]
}

/// Returns what is cached for a destination, why, and for how long.
pub(super) fn explanation(entry: &Entry) -> String {
    let Entry { id, endpoint, dest, state, cause, .. } = entry;
    let mut lines = vec![format!("{dest} at {endpoint}: {state} (id {id})")];
    let reason = match cause.as_str() {
        "local address" => "it is an address of this node",
        "remote host" => "a remote host sent a request, and no local user",
        _ => "a local user or the kernel requested it",
    };
    lines.push(format!("cached because: {reason}"));
    if let Some(gid) = &entry.gid {
        let source = match entry.address_source.as_deref() {
            Some("file") => ", from the host file (addr_data_file)",
            Some("group") => ", from the multicast group",
            _ => "",
        };
        lines.push(format!("the peer's port: GID {gid}{source}"));
    }
    if let Some(path) = &entry.path {
        lines.extend(path_lines(path, entry.address_expires_in));
    } else if let Some(until) = entry.address_expires_in {
        lines.push(format!("the address expires in {}", Age::of_seconds(until)));
    }
    if let Some(Contradicted { ago, used, other }) = &entry.contradicted {
        lines.push(format!(
            "contradicted {} ago: the port {used} was used, and the port {other} had the address, too",
            Age::of_seconds(*ago)
        ));
    }
    if let Some(failed) = &entry.failure {
        lines.push(format!("the last lookup failed: {}", failed.reason));
        lines.push(format!("requests get this failure for another {}", Age::of_seconds(failed.expires_in)));
    }
    match state.as_str() {
        "asking" => lines.push("a multicast request for its location is open".to_owned()),
        "routing" => lines.push("a query for its path is open at the subnet administrator".to_owned()),
        "located" => lines.push("its location is cached, and the next request queries the path".to_owned()),
        "unknown" => lines.push("nothing is cached: the next request starts a lookup".to_owned()),
        _ => {}
    }
    lines.join("\n  ") + "\n"
}

fn path_lines(path: &Path, address_expires_in: Option<f64>) -> Vec<String> {
    let source = match path.source.as_str() {
        "local" => "it leads to this node itself",
        "sa" => "from the subnet administrator",
        "group" => "from the parameters of the shared multicast group",
        "copy" => "copied from another entry for the same port",
        "table" => "from the subnet administrator's table of all paths",
        "file" => "from a preload file",
        other => other,
    };
    let end =
        |seconds: Option<f64>| seconds.map_or("never".to_owned(), |seconds| format!("in {}", Age::of_seconds(seconds)));
    let mut lines = vec![
        format!("path: {}", path.summary),
        format!(
            "source: {source}, {} ago; last confirmed {} ago",
            Age::of_seconds(path.found_ago),
            Age::of_seconds(path.confirmed_ago)
        ),
        format!("expires: the address {}, the path {}", end(address_expires_in), end(path.expires_in)),
    ];
    match (&path.last_user, path.last_used_ago) {
        (Some(user), Some(ago)) => {
            lines.push(format!("requests answered: {}, the last of {user} {} ago", path.uses, Age::of_seconds(ago)));
        }
        _ => lines.push("requests answered: none".to_owned()),
    }
    if path.stale {
        lines.push("stale: an event may have made it wrong; it is renewed in the background".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_and_explanation_have_the_facts() {
        let path = Path {
            source: "sa".to_owned(),
            found_ago: 7300.0,
            confirmed_ago: 61.0,
            expires_in: None,
            stale: true,
            uses: 3,
            last_user: Some("user 7".to_owned()),
            last_used_ago: Some(4.2),
            summary: "LID 5 to LID 6".to_owned(),
            record: serde_json::Value::Null,
        };
        let entry = Entry {
            id: "4.2".to_owned(),
            endpoint: "sim0/1 pkey 0xffff".to_owned(),
            dest: "node2".to_owned(),
            state: "stale".to_owned(),
            cause: "user".to_owned(),
            gid: Some("fe80::7".to_owned()),
            address_source: Some("file".to_owned()),
            address_expires_in: Some(86_000.0),
            path: Some(path),
            failure: None,
            contradicted: Some(Contradicted { ago: 90.0, used: "fe80::7".to_owned(), other: "fe80::8".to_owned() }),
        };
        let lines = [
            "DESTINATION  STATE  SOURCE  CONFIRMED  USES  USED  USER  PORT    PARTITION",
            "node2        stale  sa      1m1s       3     4s    7     sim0/1  0xffff",
        ];
        let mut table = Table::new(false);
        let longer = Entry { dest: "n".repeat(13), ..entry.clone() };
        let pages = [&[], core::slice::from_ref(&entry), &[longer]].map(|page| table.page(page));
        let [none, first, second] = pages.each_ref().map(|page| page.lines().collect::<Vec<_>>());
        assert_eq!((none, first), (vec![], lines.to_vec()));
        assert_eq!(second, ["nnnnnnnnnnnnn  stale  sa      1m1s       3     4s    7     sim0/1  0xffff"]);
        assert_eq!((table.end(), table.entries()), (String::new(), 2));
        let empty = Table::new(false).end();
        assert!(empty.starts_with("DESTINATION  STATE  ") && empty.ends_with("PARTITION\n"), "{empty}");
        let mut plain = Table::new(true);
        assert_eq!((plain.page(core::slice::from_ref(&entry)).lines().count(), plain.end()), (1, String::new()));
        let text = explanation(&entry);
        for part in [
            "node2 at sim0/1 pkey 0xffff: stale (id 4.2)\n",
            "the peer's port: GID fe80::7, from the host file (addr_data_file)\n",
            "path: LID 5 to LID 6\n",
            "from the subnet administrator, 2h1m ago; last confirmed 1m1s ago\n",
            "expires: the address in 23h53m, the path never\n",
            "requests answered: 3, the last of user 7 4s ago\n",
            "stale: ",
            "contradicted 1m30s ago: the port fe80::7 was used, and the port fe80::8 had the address, too\n",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}
