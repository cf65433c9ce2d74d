//! Cache entries as text for administrators.
use super::entry::{Entry, Path};

const COLUMNS: [&str; 7] = ["DESTINATION", "STATE", "SOURCE", "CONFIRMED", "USES", "LAST USE", "ENDPOINT"];

/// A table of entries that is printed page by page: a column gets wider from a page with a longer cell on.
#[derive(Debug, Default)]
pub(super) struct Table {
    widths: [usize; COLUMNS.len()],
    /// Number of entries so far.
    entries: u64,
}

impl Table {
    /// Returns a line for each entry of a page, under a line of titles on the first page with entries.
    pub(super) fn page(&mut self, entries: &[Entry]) -> String {
        let titles = (self.entries == 0 && !entries.is_empty()).then(|| COLUMNS.map(str::to_owned));
        self.entries += entries.len() as u64;
        self.lines(titles.into_iter().chain(entries.iter().map(row)).collect())
    }

    /// Returns the number of entries, after the titles if there is no entry.
    pub(super) fn end(&mut self) -> String {
        let titles = (self.entries == 0).then(|| COLUMNS.map(str::to_owned));
        self.lines(titles.into_iter().collect()) + &count(self.entries) + "\n"
    }

    fn lines(&mut self, rows: Vec<[String; COLUMNS.len()]>) -> String {
        for row in &rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = cell.len().max(*width);
            }
        }
        let mut text = String::new();
        for row in rows {
            let cells: Vec<String> =
                row.iter().zip(self.widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            text += cells.join("  ").trim_end();
            text.push('\n');
        }
        text
    }
}

/// Returns a number of entries in words.
pub(super) fn count(entries: u64) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

fn row(entry: &Entry) -> [String; COLUMNS.len()] {
    let Entry { endpoint, dest, state, path, .. } = entry;
    let [mut source, mut confirmed, mut uses, mut last] = [(); 4].map(|()| "-".to_owned());
    if let Some(path) = path {
        source.clone_from(&path.source);
        confirmed = format!("{} ago", duration(path.confirmed_ago));
        uses = path.uses.to_string();
        if let (Some(user), Some(ago)) = (&path.last_user, path.last_used_ago) {
            last = format!("{user}, {} ago", duration(ago));
        }
    }
    let state = if path.as_ref().is_some_and(|path| path.stale) { format!("{state}, stale") } else { state.clone() };
    [dest.clone(), state, source, confirmed, uses, last, endpoint.clone()]
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
        lines.push(format!("the address expires in {}", duration(until)));
    }
    if let Some(failed) = &entry.failure {
        lines.push(format!("the last lookup failed: {}", failed.reason));
        lines.push(format!("requests get this failure for another {}", duration(failed.expires_in)));
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
    let end = |seconds: Option<f64>| seconds.map_or("never".to_owned(), |seconds| format!("in {}", duration(seconds)));
    let mut lines = vec![
        format!("path: {}", path.summary),
        format!(
            "source: {source}, {} ago; last confirmed {} ago",
            duration(path.found_ago),
            duration(path.confirmed_ago)
        ),
        format!("expires: the address {}, the path {}", end(address_expires_in), end(path.expires_in)),
    ];
    match (&path.last_user, path.last_used_ago) {
        (Some(user), Some(ago)) => {
            lines.push(format!("requests answered: {}, the last of {user} {} ago", path.uses, duration(ago)));
        }
        _ => lines.push("requests answered: none".to_owned()),
    }
    if path.stale {
        lines.push("stale: an event may have made it wrong; it is renewed in the background".to_owned());
    }
    lines
}

/// Returns a duration with its two largest units: `3 d 4 h`, `59 s`.
fn duration(seconds: f64) -> String {
    let whole = core::time::Duration::try_from_secs_f64(seconds).map_or(0, |duration| duration.as_secs());
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    match whole {
        ..60 => format!("{whole} s"),
        60..3600 => format!("{minutes} min {} s", whole % 60),
        3600..86_400 => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_has_its_two_largest_units() {
        let texts = [0.0, 59.9, 60.0, 3599.0, 3600.0, 86_399.0, 86_400.0, 1e300, -1.0].map(duration);
        let expected = ["0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "23 h 59 min", "1 d 0 h", "0 s", "0 s"];
        assert_eq!(texts, expected);
    }

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
            state: "ready".to_owned(),
            cause: "user".to_owned(),
            gid: Some("fe80::7".to_owned()),
            address_source: Some("file".to_owned()),
            address_expires_in: Some(86_000.0),
            path: Some(path),
            failure: None,
        };
        let lines = [
            "DESTINATION  STATE         SOURCE  CONFIRMED      USES  LAST USE         ENDPOINT",
            "node2        ready, stale  sa      1 min 1 s ago  3     user 7, 4 s ago  sim0/1 pkey 0xffff",
        ];
        let mut table = Table::default();
        let longer = Entry { dest: "n".repeat(13), ..entry.clone() };
        let pages = [&[], core::slice::from_ref(&entry), &[longer]].map(|page| table.page(page));
        let [none, first, second] = pages.each_ref().map(|page| page.lines().collect::<Vec<_>>());
        assert_eq!((none, first), (vec![], lines.to_vec()));
        assert_eq!(
            second,
            ["nnnnnnnnnnnnn  ready, stale  sa      1 min 1 s ago  3     user 7, 4 s ago  sim0/1 pkey 0xffff"]
        );
        assert_eq!(table.end(), "2 entries\n");
        let empty = Table::default().end();
        assert!(empty.starts_with("DESTINATION  STATE  ") && empty.ends_with("ENDPOINT\n0 entries\n"), "{empty}");
        let text = explanation(&entry);
        for part in [
            "node2 at sim0/1 pkey 0xffff: ready (id 4.2)\n",
            "the peer's port: GID fe80::7, from the host file (addr_data_file)\n",
            "path: LID 5 to LID 6\n",
            "from the subnet administrator, 2 h 1 min ago; last confirmed 1 min 1 s ago\n",
            "expires: the address in 23 h 53 min, the path never\n",
            "requests answered: 3, the last of user 7 4 s ago\n",
            "stale: ",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}
